//! `Edit`: replaces one text of a file, or fails and leaves it alone.

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode::{self, Encoding},
    edit_adapt::{self, Adapted, Missed},
    edit_match::{self, Mismatch},
    registry,
    write::{self, Change},
};
use crate::protocol::{Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "Edit",
            &["string_replace", "str_replace", "edit_file", "MultiEdit", "multi_edit"],
            include_str!("../../assets/tools/edit.md"),
            json!({
                "file_path": {"type": "string"},
                "old_string": {"type": "string"},
                "new_string": {"type": "string"},
                "expected_replacements": {"type": "integer", "description": "default 1"},
            }),
            &["file_path", "old_string", "new_string"],
        )
    }

    fn also_takes(&self) -> Value {
        json!({
            "properties": {
                "replace_all": {"type": "boolean"},
                "edits": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "old_string": {"type": "string"},
                            "new_string": {"type": "string"},
                            "expected_replacements": {"type": "integer"},
                            "replace_all": {"type": "boolean"},
                        },
                        "required": ["old_string", "new_string"],
                    },
                },
            },
            "required": ["file_path"],
            "anyOf": [{"required": ["old_string", "new_string"]}, {"required": ["edits"]}],
        })
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        Ok(write::preview(&[plan(args, workspace)?], workspace))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            // If the file changed so that the text is gone, that it changed is the better reason.
            let change = plan(&call.args, cx.workspace).map_err(|error| write::stale(call, error, cx.workspace))?;
            write::make(&[change], call, cx.workspace)
        })
    }
}

/// One replacement, as it was asked for.
pub(super) struct Step<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// `None`: all there are.
    pub expected: Option<usize>,
}

impl<'a> Step<'a> {
    fn of(args: Args<'a>) -> Result<Self, ToolError> {
        let expected = match args.opt_number("expected_replacements")? {
            Some(0) => return Err(ToolError::new("Edit: `expected_replacements` has to be 1 or more.")),
            Some(n) => Some(n as usize),
            None if args.flag("replace_all")? => None,
            None => Some(1),
        };
        Ok(Step { old: args.text("old_string")?, new: args.text("new_string")?, expected })
    }

    /// Several in one call are carried out one after the other, all or none.
    fn all(args: Args<'a>) -> Result<Vec<Self>, ToolError> {
        let edits = match args.get("edits") {
            None => return Ok(vec![Step::of(args)?]),
            Some(edits) => edits.as_array().map(Vec::as_slice).unwrap_or_default(),
        };
        (1..).zip(edits).map(|(n, edit)| Step::of(Args::new("Edit", edit)?).map_err(|error| numbered(error, n, edits.len()))).collect()
    }
}

fn numbered(error: ToolError, n: usize, of: usize) -> ToolError {
    if of == 1 { error } else { ToolError(format!("Edit {n} of {of}: {error} Nothing of this call was carried out.")) }
}

fn plan(args: &Value, workspace: &Workspace) -> Result<Change, ToolError> {
    let args = Args::new("Edit", args)?;
    let path = workspace.resolve(args.filled("file_path")?);
    let steps = Step::all(args)?;
    let shown = workspace.shown(&path);
    let old = decode::read(&path, &shown, write::LARGEST)?;
    if let Some(old) = &old {
        workspace.seen.check(&path, old, workspace)?;
    }
    let (mut new, mut adapted) = (old.clone(), vec![]);
    for (n, step) in steps.iter().enumerate() {
        let (contents, how) = apply(new, step, &shown).map_err(|error| numbered(error, n + 1, steps.len()))?;
        new = Some(contents);
        adapted.extend(how);
    }
    adapted.dedup();
    let mut remark: String =
        adapted.iter().map(|how| format!(" old_string was found with {}; the file's own were kept.", how.what())).collect();
    let new = new.unwrap_or_default();
    if let Some(old) = &old {
        remark += &around(old, &new);
    }
    Ok(Change { path, old, new: Some(new), remark, ..Change::default() })
}

pub(super) fn apply(file: Option<Vec<u8>>, step: &Step, shown: &str) -> Result<(Vec<u8>, Option<Adapted>), ToolError> {
    let Step { old, new, expected } = *step;
    let file = match (file, old.is_empty()) {
        (None, true) => return Ok((new.as_bytes().to_vec(), None)),
        (None, false) => return Err(ToolError(format!("{shown} does not exist. To create it, leave old_string empty."))),
        (Some(_), true) => {
            return Err(ToolError(format!(
                "{shown} exists already, and an empty old_string only creates new files. Give the text to replace."
            )));
        }
        (Some(file), false) => file,
    };
    if old == new {
        return Err(ToolError::new("Edit: old_string and new_string are the same; there is nothing to change."));
    }
    let result = match decode::detect(&file) {
        Encoding::Binary => return Err(ToolError(format!("{shown} is a binary file; Edit works on text only."))),
        // The first line begins after it.
        Encoding::Ascii if file.starts_with(decode::BOM) && !old.starts_with('\u{feff}') => {
            let without = replace(&file[decode::BOM.len()..], old, new, expected);
            without.map(|(bytes, adapted)| ([decode::BOM, &bytes].concat(), adapted))
        }
        Encoding::Ascii => replace(&file, old, new, expected),
        Encoding::Utf16 { big_endian } => {
            let text = decode::utf16(&file, big_endian)
                .ok_or_else(|| ToolError(format!("{shown} is not valid UTF-16 and can't be edited without damage.")))?;
            replace(text.as_bytes(), old, new, expected)
                .map(|(bytes, adapted)| (decode::to_utf16(&String::from_utf8_lossy(&bytes), big_endian), adapted))
        }
    };
    result.map_err(|why| match why {
        Unmatched::Exactly(mismatch) => ToolError(explain(mismatch, &write::text(&file), old, expected, shown)),
        Unmatched::Nearly(missed) => ToolError(explain_nearly(missed, &write::text(&file), old, shown)),
    })
}

enum Unmatched {
    Exactly(Mismatch),
    Nearly(Missed),
}

/// Exactly, or else with what can't be meant otherwise.
fn replace(file: &[u8], old: &str, new: &str, expected: Option<usize>) -> Result<(Vec<u8>, Option<Adapted>), Unmatched> {
    match (edit_match::replace(file, old, new, expected), std::str::from_utf8(file)) {
        (Ok(bytes), _) => Ok((bytes, None)),
        (Err(Mismatch::Count(lines)), Ok(text)) if lines.is_empty() => match edit_adapt::replace(text, old, new, expected) {
            Ok((text, adapted)) => Ok((text.into_bytes(), Some(adapted))),
            Err(missed) => Err(Unmatched::Nearly(missed)),
        },
        (Err(mismatch), _) => Err(Unmatched::Exactly(mismatch)),
    }
}

fn explain_nearly(missed: Missed, file: &str, old: &str, shown: &str) -> String {
    match missed {
        Missed::NotFound => explain(Mismatch::Count(vec![]), file, old, None, shown),
        Missed::Ambiguous(adapted, lines) => format!(
            "old_string was not found in {shown} as it is; with {} it occurs {} times ({}). Nothing was changed. Copy the text exactly.",
            adapted.what(),
            lines.len(),
            in_lines(&lines)
        ),
        Missed::Indentation(line) => format!(
            "old_string was found in {shown} at line {line} with another indentation, but new_string can't be indented in the same way. \
             Nothing was changed. Copy the indentation of the file."
        ),
    }
}

fn in_lines(lines: &[usize]) -> String {
    let list: Vec<_> = lines.iter().take(20).map(usize::to_string).collect();
    let more = if lines.len() > 20 { ", …" } else { "" };
    format!("line{} {}{more}", if lines.len() == 1 { "" } else { "s" }, list.join(", "))
}

fn explain(mismatch: Mismatch, file: &str, old: &str, expected: Option<usize>, shown: &str) -> String {
    match mismatch {
        Mismatch::Count(lines) if lines.is_empty() => {
            let hint = match edit_match::nearest(file, old) {
                Some((n, line, true)) => format!(
                    " Line {n} starts the same but for blanks or what follows it: {:?}. View the file around it and copy the text exactly.",
                    line.chars().take(200).collect::<String>()
                ),
                Some((n, line, false)) => format!(" The nearest line is {n}: {:?}.", line.chars().take(200).collect::<String>()),
                None => " View the file first.".into(),
            };
            format!("old_string was not found in {shown}; nothing was changed.{hint}")
        }
        Mismatch::Count(lines) => format!(
            "old_string occurs {} times in {shown} ({}), not {}; nothing was changed. Include more lines around it, or set expected_replacements.",
            lines.len(),
            in_lines(&lines),
            expected.unwrap_or(1)
        ),
        Mismatch::Overlapping(lines) => {
            format!(
                "The places where old_string occurs in {shown} overlap ({}); nothing was changed. Include more lines.",
                in_lines(&lines)
            )
        }
        Mismatch::Encoding => {
            format!("{shown} is not UTF-8, so only ASCII text can be inserted; nothing was changed. Use a command to convert or edit it.")
        }
        Mismatch::MidCharacter(line) => format!(
            "{shown} is not UTF-8 and old_string may begin inside a character in line {line}; nothing was changed. Begin it at a line start."
        ),
    }
}

/// The lines around the first change, numbered, so that the model needs no second look.
fn around(old: &[u8], new: &[u8]) -> String {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same_end = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (first, last) = (edit_match::line_of(new, same), edit_match::line_of(new, new.len() - same_end));
    if decode::detect(new) != Encoding::Ascii {
        return String::new();
    }
    let mut text = String::from("\n");
    for (n, line) in write::text(new).lines().enumerate().skip(first.saturating_sub(4)).take((last - first).min(30) + 7) {
        text.push_str(&format!("{:>6}\t{}\n", n + 1, line.chars().take(300).collect::<String>()));
    }
    text.truncate(text.trim_end().len());
    text
}
