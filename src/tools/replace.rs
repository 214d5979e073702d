//! `Replace`: writes a whole file, in the encoding and with the line ends that it had.

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode::{self, Encoding},
    registry,
    write::{self, Change},
};
use crate::protocol::{Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Replace;

impl Tool for Replace {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "Replace",
            &["write_file", "Write", "create_file"],
            include_str!("../../assets/tools/replace.md"),
            json!({"file_path": {"type": "string"}, "content": {"type": "string"}}),
            &["file_path", "content"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        Ok(write::preview(&[plan(args, workspace)?], workspace))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let change = plan(&call.args, cx.workspace).map_err(|error| write::stale(call, error, cx.workspace))?;
            write::make(&[change], call, cx.workspace)
        })
    }
}

fn plan(args: &Value, workspace: &Workspace) -> Result<Change, ToolError> {
    let args = Args::new("Replace", args)?;
    let path = workspace.resolve(args.filled("file_path")?);
    let content = args.text("content")?;
    let old = decode::read(&path, &workspace.shown(&path), write::LARGEST)?;
    let (new, kept) = match &old {
        Some(old) => {
            workspace.seen.check(&path, old, workspace)?;
            like(old, content)
        }
        None => (content.as_bytes().to_vec(), None),
    };
    let remark = kept.map_or(String::new(), |kept| format!(" Its {kept} kept."));
    Ok(Change { path, old, new: Some(new), remark, ..Change::default() })
}

/// `content` as the old file would have it. Models write `\n` and no byte order mark whatever the file had.
fn like(old: &[u8], content: &str) -> (Vec<u8>, Option<&'static str>) {
    let encoding = decode::detect(old);
    let text = write::text(old);
    let newlines = text.matches('\n').count();
    let crlf = newlines > 0 && newlines == text.matches("\r\n").count() && !content.contains('\r') && content.contains('\n');
    let content = if crlf && encoding != Encoding::Binary { content.replace('\n', "\r\n") } else { content.to_owned() };
    let crlf = crlf.then_some("CRLF line ends were");
    match encoding {
        Encoding::Utf16 { big_endian } => {
            (decode::to_utf16(content.trim_start_matches('\u{feff}'), big_endian), Some("UTF-16 encoding was"))
        }
        Encoding::Ascii if old.starts_with(decode::BOM) && !content.starts_with('\u{feff}') => {
            ([decode::BOM, content.as_bytes()].concat(), crlf.or(Some("byte order mark was")))
        }
        Encoding::Ascii => (content.into_bytes(), crlf),
        Encoding::Binary => (content.into_bytes(), None),
    }
}
