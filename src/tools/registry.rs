//! The tools in the order in which the model reads them, and the other names that models know them by.
//!
//! Whatever name and argument names come in, tools see only their own.

use super::{
    RunContext, Tool, Workspace, aliases, ask, edit, file_op, glob, grep, ls, patch, plan, replace,
    schema::{self, Fit},
    shell, todo, view, web,
};
use crate::atomic::spot;
use crate::protocol::{Access, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, WebSettings};
use serde_json::Value;
use std::path::PathBuf;

type Make = fn(&WebSettings) -> Box<dyn Tool>;

const TOOLS: &[Make] = &[
    |_| Box::new(shell::Bash),
    |_| Box::new(shell::BashOutput),
    |_| Box::new(shell::KillBash),
    |_| Box::new(view::View),
    |_| Box::new(edit::Edit),
    |_| Box::new(replace::Replace),
    |_| Box::new(file_op::FileOp),
    |_| Box::new(ls::Ls),
    |_| Box::new(grep::Grep),
    |_| Box::new(glob::Glob),
    |web| Box::new(web::WebFetch::new(web)),
    |web| Box::new(web::search::WebSearch::new(web)),
    |_| Box::new(todo::Todo),
    |_| Box::new(ask::AskUser),
    |_| Box::new(plan::ExitPlanMode),
    |_| Box::new(patch::Patch),
];

/// What models say of a call to whoever looks at it. It means nothing to the call.
const ASIDES: [&str; 12] = [
    "explanation",
    "description",
    "reason",
    "reasoning",
    "thought",
    "thoughts",
    "purpose",
    "instructions",
    "requires_approval",
    "task_progress",
    "toolSummary",
    "toolAction",
];

struct Known {
    spec: ToolSpec,
    /// The schema of all that it takes.
    takes: Value,
    tool: Box<dyn Tool>,
}

pub struct Registry {
    tools: Vec<Known>,
    /// The settings have switched these off.
    disabled: Vec<String>,
}

impl Default for Registry {
    fn default() -> Self {
        Registry::with(&WebSettings::default())
    }
}

impl Registry {
    /// Ours, as the user has set them.
    pub fn with(web: &WebSettings) -> Self {
        Registry::new(TOOLS.iter().map(|make| make(web)))
    }

    /// Other tools than ours: scripted ones in tests, later those of servers.
    pub fn new(tools: impl IntoIterator<Item = Box<dyn Tool>>) -> Self {
        Registry { tools: tools.into_iter().map(Known::of).collect(), disabled: vec![] }
    }

    /// Of those that the model is told of.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.offered(false).cloned().collect()
    }

    /// Of those that it is told of besides when a command has been started in the background.
    pub fn job_specs(&self) -> Vec<ToolSpec> {
        self.offered(true).cloned().collect()
    }

    pub fn get(&self, name: &str) -> Result<&dyn Tool, ToolError> {
        self.find(name).map(|known| known.tool.as_ref())
    }

    /// What a call would touch and do, under the tool's own name and with the links that its paths go through.
    pub fn preview(&self, name: &str, args: Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let (known, fit) = self.fitted(name, args)?;
        let (name, args, tool) = (known.spec.name.clone(), fit.value, &known.tool);
        if !fit.wrong.is_empty() {
            return Err(ToolError(format!("{name}: {}. It takes: {}.", fit.wrong.join("; "), schema::parameters(&known.spec.schema))));
        }
        workspace.settle();
        let (preview, named) = workspace.named_in(|| tool.preview(&args, workspace));
        let mut preview = preview.map_err(|error| placed(error, &args, workspace))?;
        preview.basis.folder = Some(workspace.cwd());
        if let Access::Read(paths) | Access::Write(paths) = &preview.access {
            preview.basis.paths.clone_from(paths);
        }
        preview.named.extend(named);
        let unknown: Vec<String> =
            fit.unknown.iter().filter(|name| !ASIDES.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
        // It may have been what makes the call harmless.
        if !unknown.is_empty() && matches!(preview.access, Access::Write(_) | Access::Run { .. }) {
            let (unknown, takes) = (unknown.join(", "), schema::parameters(&known.takes));
            return Err(ToolError(format!("{name}: there is no {unknown}; nothing was done. It takes: {takes}.")));
        }
        let left_out = (!unknown.is_empty()).then(|| format!("There is no {} of {name}: it was left out.", unknown.join(", ")));
        let read = (!fit.read_as.is_empty()).then(|| format!("Read as it was meant: {}.", fit.read_as.join(", ")));
        let read_as = read.into_iter().chain(left_out).collect::<Vec<_>>().join(" ");
        Ok(Preview { tool: name, read_as, ..preview })
    }

    /// Carries a call out, if everything starts where it did when the call was previewed.
    pub async fn run(&self, call: &ToolCall, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let tool = self.get(&call.name)?;
        if call.basis.folder.as_ref().is_some_and(|folder| *folder != cx.workspace.cwd() || spot::is_folder(folder).is_err()) {
            return Err(ToolError::new("The working folder has changed since this was asked about; nothing was done. Call it again."));
        }
        tool.run(call, cx).await.map_err(|error| placed(error, &call.args, cx.workspace))
    }

    /// The tool's own name and its own argument names for a call as a model wrote it.
    pub fn canonical(&self, name: &str, args: Value) -> Result<(String, Value), ToolError> {
        self.fitted(name, args).map(|(known, fit)| (known.spec.name.clone(), fit.value))
    }

    fn fitted(&self, name: &str, args: Value) -> Result<(&Known, Fit), ToolError> {
        let (name, args) = aliases::translated(name, args)?;
        let known = self.find(&name)?;
        let args = match args {
            Value::Object(given) => Value::Object(aliases::renamed(&known.spec.name, given)),
            args => args,
        };
        Ok((known, schema::fit(&known.takes, args)))
    }

    /// Without these; what is no tool comes back.
    pub fn disable(&mut self, names: &[String]) -> Vec<String> {
        let (known, unknown): (Vec<String>, Vec<String>) = names.iter().cloned().partition(|name| self.find(name).is_ok());
        let mut own: Vec<String> = known.iter().filter_map(|name| Some(self.find(name).ok()?.spec.name.clone())).collect();
        if own.iter().any(|name| name == "Bash") {
            // There is nothing that they could reach.
            own.extend(["BashOutput", "KillBash"].map(String::from));
        }
        self.disabled = own;
        unknown
    }

    /// What a call would touch that somebody asks about: a command, or `Edit path`, `View path`, `WebFetch host`.
    pub fn would_touch(&self, text: &str, workspace: &Workspace) -> Result<(String, Access, Vec<PathBuf>), ToolError> {
        let (tool, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let found = self.find(tool).ok().map(|known| known.spec.name.as_str()).filter(|_| !rest.is_empty());
        let path = || (workspace.resolve(rest.trim()), workspace.links(rest.trim()));
        Ok(match (found, tool) {
            (Some(name @ ("Edit" | "Replace")), _) => (name.into(), Access::Write(vec![path().0]), path().1),
            (Some(name @ ("View" | "LS" | "GrepTool" | "GlobTool")), _) => (name.into(), Access::Read(vec![path().0]), path().1),
            // A host, or the URL that has it.
            (Some(name @ "WebFetch"), _) => {
                let args = serde_json::json!({ "url": rest.trim() });
                let host = self.preview(name, args, workspace).map(|preview| preview.access);
                (name.into(), host.unwrap_or_else(|_| Access::Network { host: rest.trim().into() }), vec![])
            }
            (found, _) => {
                let command = if found == Some("Bash") && tool != "shell" { rest } else { text };
                let preview = self.preview("Bash", serde_json::json!({ "command": command }), workspace)?;
                (preview.tool, preview.access, preview.named)
            }
        })
    }

    fn offered(&self, with_jobs: bool) -> impl Iterator<Item = &ToolSpec> {
        let on = |spec: &&ToolSpec| !self.disabled.contains(&spec.name);
        let wanted = move |tool: &dyn Tool| tool.offered() && tool.offered_with_jobs() == with_jobs;
        self.tools.iter().filter(move |known| wanted(known.tool.as_ref())).map(|known| &known.spec).filter(on)
    }

    fn find(&self, name: &str) -> Result<&Known, ToolError> {
        let known = |same: &dyn Fn(&str) -> bool| self.tools.iter().find(|k| same(&k.spec.name) || k.spec.aliases.iter().any(|a| same(a)));
        let found = known(&|n| n == name).or_else(|| known(&|n| n.eq_ignore_ascii_case(name.trim())));
        let tools = || self.offered(false).map(|spec| spec.name.as_str()).collect::<Vec<_>>().join(", ");
        match found {
            Some(known) if self.disabled.contains(&known.spec.name) => {
                Err(ToolError(format!("The tool {name:?} is switched off in the user's settings. The tools are: {}.", tools())))
            }
            Some(found) => Ok(found),
            None => Err(ToolError(format!("There is no tool {name:?}. The tools are: {}.", tools()))),
        }
    }
}

impl Known {
    fn of(tool: Box<dyn Tool>) -> Known {
        let (spec, also) = (tool.spec(), tool.also_takes());
        let mut takes = spec.schema.clone();
        for (name, more) in also.as_object().into_iter().flatten() {
            match (takes.get_mut(name), more) {
                (Some(Value::Object(own)), Value::Object(more)) => own.extend(more.clone()),
                _ => takes[name] = more.clone(),
            }
        }
        Known { spec, takes, tool }
    }
}

/// What failed may have been looked for in the wrong folder.
fn placed(error: ToolError, args: &Value, workspace: &Workspace) -> ToolError {
    let relative = |name: &str| args.get(name).and_then(Value::as_str).is_some_and(|path| !path.starts_with(['/', '~']));
    match workspace.elsewhere() {
        Some(folder) if relative("file_path") || relative("path") => ToolError(format!(
            "{} (Relative paths start in the working folder, {}; `cd` with Bash changes it.)",
            error.0,
            workspace.titled(&folder)
        )),
        _ => error,
    }
}

/// A tool's description of itself; the prose is in `assets/tools`.
pub(super) fn spec(name: &str, aliases: &[&str], prose: &str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        aliases: aliases.iter().map(|a| (*a).into()).collect(),
        description: prose.trim().into(),
        schema: serde_json::json!({"type": "object", "properties": properties, "required": required}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_alias_finds_its_tool() {
        let registry = Registry::default();
        for (alias, name) in [
            ("read_file", "View"),
            ("Read", "View"),
            ("write_file", "Replace"),
            ("Write", "Replace"),
            ("string_replace", "Edit"),
            ("str_replace", "Edit"),
            ("execute_bash", "Bash"),
            ("shell", "Bash"),
            ("find_files", "GlobTool"),
            ("Glob", "GlobTool"),
            ("search_file_contents", "GrepTool"),
            ("Grep", "GrepTool"),
            ("list_directory", "LS"),
            ("bash", "Bash"),
            ("TaskOutput", "BashOutput"),
            ("KillShell", "KillBash"),
            ("ls", "LS"),
            ("fetch_url", "WebFetch"),
            ("web_fetch", "WebFetch"),
            ("fetch", "WebFetch"),
            ("web_search", "WebSearch"),
        ] {
            assert_eq!(registry.canonical(alias, Value::Null).unwrap().0, name);
            assert_eq!(registry.get(alias).unwrap().spec().name, name);
        }
        let error = registry.get("frobnicate").err().unwrap();
        assert_eq!(
            error.0,
            "There is no tool \"frobnicate\". The tools are: Bash, View, Edit, Replace, FileOp, LS, GrepTool, GlobTool, WebFetch, Todo, AskUser, ExitPlanMode."
        );
    }

    #[test]
    fn argument_names_are_translated() {
        let registry = Registry::default();
        let edit = registry.canonical("str_replace", json!({"path": "a", "old_str": "b", "new_str": "c"})).unwrap();
        assert_eq!(edit, ("Edit".into(), json!({"file_path": "a", "old_string": "b", "new_string": "c"})));
        let both = registry.canonical("View", json!({"path": "x", "file_path": "y"})).unwrap();
        assert_eq!(both.1, json!({"file_path": "y"}));
        assert_eq!(registry.canonical("search_file_contents", json!({"query": "q"})).unwrap().1, json!({"pattern": "q"}));
    }

    /// Local models pay for every token.
    #[test]
    fn all_specs_together_stay_small() {
        let sent: Vec<_> = Registry::default()
            .specs()
            .into_iter()
            .map(|s| json!({"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.schema}}))
            .collect();
        let size = serde_json::to_string(&sent).unwrap().len();
        assert!(size < 5_000, "{size} bytes");
    }
}
