//! `ExitPlanMode`: the plan that ends plan mode, if the user accepts it. It touches nothing itself; the mode changes with the answer.

use super::{RunContext, Tool, Workspace, args::Args, registry};
use crate::protocol::{Access, Block, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// In bytes: what a person reads before saying yes.
const MOST: usize = 60_000;

#[derive(Debug)]
pub struct ExitPlanMode;

impl Tool for ExitPlanMode {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "ExitPlanMode",
            &["exit_plan_mode", "exitplanmode", "present_plan"],
            include_str!("../../assets/tools/plan.md"),
            json!({ "plan": {"type": "string"} }),
            &["plan"],
        )
    }

    fn preview(&self, args: &Value, _: &Workspace) -> Result<Preview, ToolError> {
        let plan = plan(args)?;
        Ok(Preview::new(Access::Plan, title(&plan), Block::Markdown(plan.as_str().into())))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let plan = plan(&call.args)?;
            Ok(ToolOutput {
                for_model: "The user accepted the plan, and plan mode is over. Carry it out now.".into(),
                for_user: Block::Markdown(plan.as_str().into()),
                summary: "accepted".into(),
                failed: false,
            })
        })
    }
}

fn plan(args: &Value) -> Result<String, ToolError> {
    let args = Args::new("ExitPlanMode", args)?;
    let plan = args.get("plan").and_then(Value::as_str).map(str::trim).filter(|plan| !plan.is_empty());
    let plan = plan.ok_or_else(|| args.missing("plan", "the plan, in Markdown"))?;
    if plan.len() > MOST {
        return Err(ToolError(format!("The plan has {} bytes; a person reads at most {MOST}. Say it shorter.", plan.len())));
    }
    Ok(plan.to_owned())
}

/// Its first line, without what makes it a heading.
fn title(plan: &str) -> String {
    plan.lines()
        .map(|line| line.trim_start_matches(['#', ' ']))
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(100)
        .collect()
}
