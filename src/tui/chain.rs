//! A command as it is read: each part of a chain on its own row, with what it would touch. For the eye only; what runs is the command as
//! it is.

use crate::{
    command_line,
    protocol::{CommandPart, Touch},
};
use backstitch_components::{
    code::Highlighter,
    text::{
        row::split,
        sanitize::{one_line, reveal},
        span::Line,
        wrap::wrap_hanging,
    },
    theme::Role,
};
use std::path::Path;

/// Names that stand in one row; the others are counted.
const NAMES: usize = 3;

/// Places in the command; `None` for all of it.
type Within = Option<(usize, usize)>;

/// All of a command, wrapped, never cut: nobody can approve what they could not read.
pub fn rows(command: &str, width: usize) -> Vec<Line> {
    rows_with(command, width, &|_| vec![])
}

/// [`rows`], and beside each part or below it what it would touch.
pub fn rows_with_touches(command: &str, parts: &[CommandPart], root: &Path, width: usize) -> Vec<Line> {
    rows_with(command, width, &|within| {
        let its = parts.iter().filter(|part| within.is_none_or(|(from, to)| (from..to).contains(&part.at.0)));
        notes(its, root)
    })
}

/// `notes`: what stands beside the part of the line between two places, or of all of it.
fn rows_with(command: &str, width: usize, notes: &dyn Fn(Within) -> Vec<(Role, String)>) -> Vec<Line> {
    let mut highlighter = Highlighter::for_language("sh");
    // Nothing invisible may hide in what is approved.
    let clean = reveal(command);
    let parts: Vec<(&str, Within)> = if clean == command {
        command_line::rows(command).into_iter().map(|row| (&command[row.clone()], Some((row.start, row.end)))).collect()
    } else {
        vec![(&clean, None)]
    };
    let mut rows: Vec<Line> = vec![];
    for (text, within) in parts {
        for line in text.trim().split('\n') {
            let mark = if rows.is_empty() { "    $ " } else { "      " };
            let line: Line = highlighter.push_line(line).into_iter().collect();
            rows.extend(wrap_hanging(&line, width, &Line::styled(mark, Role::Dim), &Line::plain("      ")));
        }
        let mut notes = notes(within).into_iter().peekable();
        // Beside it where there is room, the rest below.
        if let (Some(last), Some((role, note))) = (rows.last_mut(), notes.peek()) {
            let note = Line::styled(note.clone(), *role);
            if last.width() + note.width() + 3 <= width {
                let min_left = last.width();
                *last = split(last.clone(), note, width, min_left);
                notes.next();
            }
        }
        for (role, note) in notes {
            rows.extend(wrap_hanging(&Line::styled(note, role), width, &Line::styled("        ↳ ", Role::Dim), &Line::plain("          ")));
        }
    }
    rows
}

/// What parts touch, in a few words: what matters most first.
fn notes<'a>(parts: impl Iterator<Item = &'a CommandPart>, root: &Path) -> Vec<(Role, String)> {
    let (mut grave, mut read, mut written) = (vec![], vec![], vec![]);
    let mut add = |note: String| {
        if !grave.contains(&note) {
            grave.push(note);
        }
    };
    for touch in parts.flat_map(|part| &part.touches) {
        match touch {
            Touch::Reads(path) if command_line::is_secret(path) => add(format!("reads {} (secret)", shown(path, root))),
            Touch::Reads(path) | Touch::Lists(path) | Touch::Repository(path) => read.push(shown(path, root)),
            Touch::Writes(path) => written.push(shown(path, root)),
            Touch::Deletes => add("deletes".into()),
            Touch::Network => add("network".into()),
            Touch::Project => add("runs the project's code".into()),
            Touch::Program(name) => add(format!("nothing is known of {}", one_line(name))),
            Touch::Unknown(why) => add(format!("can't be analysed: {}", one_line(why))),
        }
    }
    if !written.is_empty() {
        grave.push(format!("writes {}", some_of(written)));
    }
    let grave = (!grave.is_empty()).then(|| (Role::Warning, grave.join(" · ")));
    let read = (!read.is_empty()).then(|| (Role::Dim, format!("reads {}", some_of(read))));
    grave.into_iter().chain(read).collect()
}

fn shown(path: &Path, root: &Path) -> String {
    let inside = path.strip_prefix(root).ok().map(|rest| if rest.as_os_str().is_empty() { Path::new(".") } else { rest });
    one_line(&inside.unwrap_or(path).to_string_lossy()).into_owned()
}

fn some_of(mut names: Vec<String>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(at: (usize, usize), touches: Vec<Touch>) -> CommandPart {
        CommandPart { at, words: vec![], touches, said: vec![] }
    }

    fn texts(rows: &[Line]) -> Vec<String> {
        rows.iter().map(|row| row.text().trim_end().to_owned()).collect()
    }

    #[test]
    fn each_part_says_what_it_would_touch() {
        let command = "cat a && curl http://x | tee out; rm b";
        let parts = [
            part((0, 5), vec![Touch::Reads("/p/a".into())]),
            part((9, 22), vec![Touch::Network]),
            part((25, 32), vec![Touch::Writes("/p/out".into())]),
            part((34, 38), vec![Touch::Deletes]),
        ];
        assert_eq!(
            texts(&rows_with_touches(command, &parts, Path::new("/p"), 50)),
            [
                "    $ cat a &&                             reads a",
                "      curl http://x | tee out;",
                "        ↳ network · writes out",
                "      rm b                                 deletes",
            ]
        );
        assert_eq!(texts(&rows(command, 50)), ["    $ cat a &&", "      curl http://x | tee out;", "      rm b"]);
    }

    proptest! {
        #[test]
        fn nothing_of_a_command_is_lost_and_no_row_is_too_wide(command in "[a-c '\"`\\\\;&|(){}#$<é\n]{0,40}", width in 24..80_usize) {
            let all = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let shown = rows(&command, width);
            let whole: String = shown.iter().map(Line::text).collect();
            prop_assert_eq!(all(&whole), format!("$ {command}").chars().filter(|c| !c.is_whitespace()).collect::<String>());
            let parts = [part((0, command.len()), vec![Touch::Network, Touch::Reads("/p/a".into()), Touch::Unknown("x".into())])];
            for row in rows_with_touches(&command, &parts, Path::new("/p"), width) {
                prop_assert!(row.width() <= width, "{:?}", row.text());
            }
        }
    }
}
