//! `AskUser`: a question of the model, with options or free text. It touches nothing; the answer is the user's alone.

use super::{RunContext, Tool, Workspace, args::Args, registry};
use crate::protocol::{Access, Block, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};

const MOST_OPTIONS: usize = 8;
/// In bytes.
const LONGEST_QUESTION: usize = 8_000;
const LONGEST_OPTION: usize = 200;

#[derive(Debug)]
pub struct AskUser;

impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "AskUser",
            &["ask_user", "AskUserQuestion", "ask_question", "ask_followup_question"],
            include_str!("../../assets/tools/ask.md"),
            json!({ "question": {"type": "string"}, "options": {"type": "array", "items": {"type": "string"}} }),
            &["question"],
        )
    }

    fn also_takes(&self) -> Value {
        let option = json!({"anyOf": [{"type": "string"}, {"type": "object"}]});
        // What a model has put there for an answer counts for nothing.
        json!({"properties": {"options": {"type": "array", "items": option}, "answer": {}}})
    }

    fn preview(&self, args: &Value, _: &Workspace) -> Result<Preview, ToolError> {
        let (question, options) = asked(args)?;
        let title = question.lines().next().unwrap_or_default().chars().take(100).collect();
        Ok(Preview::new(Access::Question { options }, title, Block::Markdown(question.as_str().into())))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let (question, _) = asked(&call.args)?;
            // Put there by whoever carried the answer here, never by the model.
            let answer = call.args.get("answer").and_then(Value::as_str).unwrap_or_default().trim();
            if answer.is_empty() {
                return Err(ToolError("Nobody has answered.".into()));
            }
            Ok(ToolOutput {
                for_model: format!("The user answered: {answer}"),
                for_user: Block::Markdown(format!("{question}\n\n**{}**", answer.replace('*', "\\*")).into()),
                summary: "answered".into(),
                failed: false,
            })
        })
    }
}

fn asked(args: &Value) -> Result<(String, Vec<String>), ToolError> {
    let args = Args::new("AskUser", args)?;
    let question = args.filled("question")?.trim().to_owned();
    if question.len() > LONGEST_QUESTION {
        return Err(ToolError(format!("The question has {} bytes; a person reads at most {LONGEST_QUESTION}.", question.len())));
    }
    // Some give each option a label and a description.
    let text = |option: &Value| {
        let label = option.as_str().or_else(|| ["label", "text", "value"].iter().find_map(|name| option.get(name)?.as_str()));
        label.map(|label| label.trim().to_owned()).filter(|label| !label.is_empty() && label.len() <= LONGEST_OPTION)
    };
    let given = args.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let options: Option<Vec<String>> = given.iter().map(text).collect();
    match options {
        Some(options) if options.len() <= MOST_OPTIONS => Ok((question, options)),
        _ => Err(ToolError(format!(
            "`options` are at most {MOST_OPTIONS} texts of at most {LONGEST_OPTION} bytes. Ask with fewer or shorter ones."
        ))),
    }
}
