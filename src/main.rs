//! The program: reads the command line and hands over to a front end.

use backstitch::{app, cli::Cli};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => app::run(cli),
        Err(error) => {
            // Help and version are no errors. A closed pipe behind them is none of ours.
            let _ = error.print();
            ExitCode::from(u8::from(error.use_stderr()))
        }
    }
}
