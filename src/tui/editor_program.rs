//! A text in the user's own editor: a private temporary file, the program over the whole terminal, the file read back.
//!
//! The screen has to be left before: the program gets the terminal as it was before us.

use super::jobs::Draft;
use crate::protocol::Notice;
use std::{
    io::{self, Write},
    process::Command,
};

/// The text as the editor left it; `program` may have arguments (`code --wait`).
pub fn edit(program: &str, draft: &Draft) -> Result<String, Notice> {
    let failed = |what: String| {
        Notice::error(format!("The editor did not work: {what}")).hint("VISUAL or EDITOR names the one to use; the text is as it was")
    };
    match run(program, draft) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(status)) => Err(failed(format!("{program} ended with {status}"))),
        Err(error) => Err(failed(format!("{program}: {error}"))),
    }
}

fn run(program: &str, Draft { text, ending, .. }: &Draft) -> io::Result<Result<String, std::process::ExitStatus>> {
    let mut file = tempfile::Builder::new().prefix("backstitch-").suffix(ending).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // As git does it: the setting is a piece of shell, the file an argument.
    let status = Command::new("sh").arg("-c").arg(format!("{program} \"$@\"")).arg(program).arg(file.path()).status()?;
    if !status.success() {
        return Ok(Err(status));
    }
    // Editors replace files: what counts is what has the name now.
    let edited = String::from_utf8_lossy(&std::fs::read(file.path())?).into_owned();
    // Editors end the last line, prompts don't.
    let edited = if text.ends_with('\n') { edited.as_str() } else { edited.strip_suffix('\n').unwrap_or(&edited) };
    Ok(Ok(edited.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_back_or_stays() {
        let edit = |program: &str, text: &str| {
            let draft = Draft { text: text.into(), call: None, ending: ".rs".into() };
            super::edit(program, &draft)
        };
        assert_eq!(edit("sh -c 'case $1 in *.rs) echo yes > \"$1\";; esac' x", ""), Ok("yes".into()));
        assert_eq!(edit("true", "a\nb"), Ok("a\nb".into()));
        assert_eq!(edit("sh -c 'echo more >> \"$1\"' x", "one\n"), Ok("one\nmore\n".into()));
        assert_eq!(edit("sh -c 'printf \"new\\n\" > \"$1.x\"; mv \"$1.x\" \"$1\"' x", "old"), Ok("new".into()));
        for program in ["false", "/no/such/editor"] {
            assert!(edit(program, "a").unwrap_err().text.contains(program));
        }
    }
}
