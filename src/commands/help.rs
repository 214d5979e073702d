//! `/help`: the commands.

use super::{ALL, Outcome, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "help",
    arguments: "",
    help: "list the commands",
    run: |_, _| {
        let usage = |c: &SlashCommand| format!("/{} {}", c.name, c.arguments).trim_end().to_string();
        let width = ALL.iter().map(|c| usage(c).len()).max().unwrap_or(0);
        let mut rows: Vec<String> = ALL.iter().map(|c| format!("{:width$}   {}", usage(c), c.help)).collect();
        rows.push(format!("{:width$}   {}", "!command", "run a shell command yourself; its output joins the conversation"));
        rows.push(format!("{:width$}   {}", "?", "the keys"));
        Outcome::Say(rows.join("\n"))
    },
};
