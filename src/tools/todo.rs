//! `Todo`: the model's list of steps, as the user sees it. Each call replaces the whole list; nothing else is touched.

use super::{RunContext, Tool, Workspace, args::Args, registry};
use crate::protocol::{Access, Block, Preview, TodoItem, TodoState, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};

const MOST: usize = 100;

#[derive(Debug)]
pub struct Todo;

impl Tool for Todo {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "Todo",
            &["TodoWrite", "todo_write", "update_plan"],
            include_str!("../../assets/tools/todo.md"),
            json!({
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string", "enum": TodoState::ALL.map(TodoState::name)},
                        },
                        "required": ["content", "status"],
                    },
                },
            }),
            &["todos"],
        )
    }

    fn also_takes(&self) -> Value {
        json!({"properties": {"todos": {"type": "array", "items": {"type": "object"}}}})
    }

    fn preview(&self, args: &Value, _: &Workspace) -> Result<Preview, ToolError> {
        let items = items(args)?;
        // It touches nothing, so nothing has to be allowed.
        Ok(Preview::new(Access::Read(vec![]), String::new(), Block::Todo(items)))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let items = items(&call.args)?;
            let done = items.iter().filter(|item| item.state == TodoState::Completed).count();
            let summary = format!("{done} of {} done", items.len());
            Ok(ToolOutput {
                for_model: format!("The user sees the list: {summary}."),
                for_user: Block::Todo(items),
                summary,
                failed: false,
            })
        })
    }
}

fn items(args: &Value) -> Result<Vec<TodoItem>, ToolError> {
    let args = Args::new("Todo", args)?;
    let Some(list) = args.get("todos").and_then(Value::as_array) else {
        return Err(args.missing("todos", "the whole list of {content, status}"));
    };
    if list.len() > MOST {
        return Err(ToolError(format!("The list has {} items; at most {MOST} are kept. Join small steps.", list.len())));
    }
    let item = |(n, item): (usize, &Value)| {
        let text = |names: &[&str]| names.iter().find_map(|name| item.get(name)?.as_str()).map(str::trim);
        let content = text(&["content", "step", "title", "text"]).filter(|content| !content.is_empty());
        let content = content.ok_or_else(|| ToolError(format!("Item {} has no content.", n + 1)))?;
        let state = TodoState::from_name(text(&["status", "state"]).unwrap_or("pending")).ok_or_else(|| {
            ToolError(format!("The status of item {} is none of {}.", n + 1, TodoState::ALL.map(TodoState::name).join(", ")))
        })?;
        Ok(TodoItem { content: content.into(), state })
    };
    list.iter().enumerate().map(item).collect()
}
