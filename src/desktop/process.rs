//! A program of the desktop, run to its end or to its time limit.

use std::{
    io::{self, Read},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

#[derive(Debug)]
pub struct Ran {
    pub ok: bool,
    pub stdout: Vec<u8>,
}

/// `NotFound` if there is no such program. At the most `limit` bytes of its output are taken.
pub fn run(program: &str, arguments: &[&str], limit: u64, within: Duration) -> io::Result<Ran> {
    let mut command = Command::new(program);
    let mut child = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let Some(stdout) = child.stdout.take() else { return Err(io::Error::other("no output")) };
    let (send, receive) = std::sync::mpsc::channel();
    // It ends with the program, whose end of the pipe is the only one.
    std::thread::Builder::new().name("desktop-read".into()).spawn(move || {
        let mut bytes = vec![];
        let read = stdout.take(limit).read_to_end(&mut bytes).map(|_| bytes);
        let _ = send.send(read);
    })?;
    let until = Instant::now() + within;
    let read = receive.recv_timeout(within);
    let ok = match &read {
        Ok(Ok(_)) => ends(&mut child, until)?,
        _ => None,
    };
    if ok.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    match read {
        Ok(bytes) => Ok(Ran { ok: ok.unwrap_or(false), stdout: bytes? }),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("{program} did not answer within {} s", within.as_secs()))),
    }
}

/// Whether it went well; `None` if it still runs at the limit.
fn ends(child: &mut Child, until: Instant) -> io::Result<Option<bool>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_taken_and_a_program_that_hangs_is_ended() {
        let ran = run("sh", &["-c", "echo hi"], 100, Duration::from_secs(20)).unwrap();
        assert_eq!((ran.ok, ran.stdout.as_slice()), (true, b"hi\n".as_slice()));
        assert!(!run("sh", &["-c", "exit 3"], 100, Duration::from_secs(20)).unwrap().ok);
        let missing = run("no-such-program-here", &[], 100, Duration::from_secs(20)).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let hung = run("sleep", &["1007"], 100, Duration::from_millis(50)).unwrap_err();
        assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
    }
}
