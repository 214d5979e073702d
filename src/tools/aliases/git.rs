//! Git tools of other agents, as commands of our shell: judged, asked about and run as any command is.

use crate::protocol::{CommandPattern, ToolError};
use serde_json::{Map, Value};

/// The command line; `None` if this is no such tool.
pub fn command(name: &str, given: &Map<String, Value>) -> Option<Result<String, ToolError>> {
    let name = name.trim().to_lowercase();
    let args = Arguments { tool: &name, given };
    let words = match name.as_str() {
        "git_status" => Ok(words(&["git", "status", "--short", "--branch"])),
        "git_diff" => args.diff(),
        "git_log" => args.log(),
        "git_add" => args.add(),
        "git_commit" => args.commit(),
        "git_pr" => args.pull_request(),
        _ => return None,
    };
    // As a shell reads them back, each word for itself.
    Some(words.map(|words| CommandPattern { words, open: false }.to_string()))
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

struct Arguments<'a> {
    tool: &'a str,
    given: &'a Map<String, Value>,
}

type Words = Result<Vec<String>, ToolError>;

impl Arguments<'_> {
    fn flag(&self, name: &str) -> bool {
        self.given.get(name).is_some_and(|value| *value == true || *value == "true")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    fn number(&self, name: &str, most: u64) -> Option<u64> {
        let value = self.given.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).map(|number| number.min(most))
    }

    /// A revision or the like: never an option.
    fn plain(&self, name: &str) -> Result<Option<String>, ToolError> {
        match self.text(name) {
            Some(text) if text.starts_with('-') => Err(ToolError(format!("{}: `{name}` can't begin with a dash.", self.tool))),
            text => Ok(text.map(str::to_owned)),
        }
    }

    fn required(&self, name: &str) -> Result<&str, ToolError> {
        self.text(name).ok_or_else(|| ToolError(format!("{}: `{name}` is missing.", self.tool)))
    }

    fn diff(&self) -> Words {
        let mut line = words(&["git", "diff"]);
        line.extend(self.flag("staged").then(|| "--cached".to_owned()));
        line.extend(self.flag("stat").then(|| "--stat".to_owned()));
        line.extend(self.plain("base")?);
        line.extend(self.text("file").into_iter().flat_map(|file| ["--".to_owned(), file.to_owned()]));
        Ok(line)
    }

    fn log(&self) -> Words {
        let mut line = words(&["git", "log", "--date=short", "--format=%h %ad %an: %s"]);
        line.push(format!("--max-count={}", self.number("count", 50).unwrap_or(10)));
        for name in ["author", "since", "grep"] {
            line.extend(self.text(name).map(|text| format!("--{name}={text}")));
        }
        line.extend(self.plain("branch")?);
        line.extend(self.text("file").into_iter().flat_map(|file| ["--".to_owned(), file.to_owned()]));
        Ok(line)
    }

    fn add(&self) -> Words {
        let files: Vec<String> = match self.given.get("files") {
            Some(Value::Array(files)) => files.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(file)) => vec![file.clone()],
            _ => vec![],
        };
        let mut line = words(&["git", "add"]);
        if self.flag("all") {
            line.push("--all".into());
        } else if self.flag("update") {
            line.push("--update".into());
        } else if files.is_empty() {
            return Err(ToolError("git_add: `files`, `all` or `update` is missing.".into()));
        }
        if !files.is_empty() {
            line.push("--".into());
            line.extend(files);
        }
        Ok(line)
    }

    fn commit(&self) -> Words {
        let mut line = words(&["git", "commit"]);
        line.extend(self.flag("amend").then(|| "--amend".to_owned()));
        line.extend(self.flag("noVerify").then(|| "--no-verify".to_owned()));
        if !self.flag("amend") || self.text("message").is_some() {
            line.push(format!("--message={}", self.required("message")?));
        } else {
            line.push("--no-edit".into());
        }
        line.extend(self.text("body").map(|body| format!("--message={body}")));
        Ok(line)
    }

    fn pull_request(&self) -> Words {
        let inner = |name: &str| match self.given.get(name) {
            Some(Value::Object(given)) => Some(given.clone()),
            Some(Value::Bool(true)) => Some(Map::new()),
            _ => None,
        };
        if let Some(given) = inner("create") {
            let create = Arguments { tool: self.tool, given: &given };
            let mut line = words(&["gh", "pr", "create"]);
            line.push(format!("--title={}", create.required("title")?));
            line.push(format!("--body={}", create.text("body").unwrap_or_default()));
            line.extend(create.text("base").map(|base| format!("--base={base}")));
            line.extend(create.flag("draft").then(|| "--draft".to_owned()));
            return Ok(line);
        }
        if let Some(number) = self.number("view", u64::MAX) {
            return Ok(words(&["gh", "pr", "view", &number.to_string()]));
        }
        let given = inner("list").unwrap_or_default();
        let list = Arguments { tool: self.tool, given: &given };
        let mut line = words(&["gh", "pr", "list"]);
        for name in ["state", "author"] {
            line.extend(list.text(name).map(|text| format!("--{name}={text}")));
        }
        line.extend(list.number("limit", 100).map(|limit| format!("--limit={limit}")));
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_becomes_a_command_whose_words_are_words() {
        for (name, args, expected) in [
            ("git_status", json!({}), "git status --short --branch"),
            ("git_diff", json!({"staged": true, "file": "a b.rs"}), "git diff --cached -- 'a b.rs'"),
            ("git_diff", json!({"base": "main", "stat": "true"}), "git diff --stat main"),
            ("git_diff", json!({"file": "-x; rm a"}), "git diff -- '-x; rm a'"),
            (
                "git_log",
                json!({"count": 500, "author": "A B", "branch": "dev", "file": "x"}),
                "git log --date=short '--format=%h %ad %an: %s' --max-count=50 '--author=A B' dev -- x",
            ),
            ("git_add", json!({"files": ["a", "b'c"]}), r"git add -- a 'b'\''c'"),
            ("GIT_ADD", json!({"all": true}), "git add --all"),
            ("git_commit", json!({"message": "Fix `x` $(rm y)", "body": "why"}), "git commit '--message=Fix `x` $(rm y)' --message=why"),
            ("git_commit", json!({"amend": true, "noVerify": true}), "git commit --amend --no-verify --no-edit"),
            ("git_pr", json!({"create": {"title": "T", "draft": true}}), "gh pr create --title=T --body= --draft"),
            ("git_pr", json!({"view": 7}), "gh pr view 7"),
            ("git_pr", json!({"list": {"state": "open", "limit": 5}}), "gh pr list --state=open --limit=5"),
        ] {
            assert_eq!(command(name, args.as_object().unwrap()).unwrap().unwrap(), expected, "{name} {args}");
        }
        for (name, args, why) in [
            ("git_diff", json!({"base": "--output=x"}), "`base` can't begin with a dash"),
            ("git_log", json!({"branch": "-p"}), "`branch` can't begin with a dash"),
            ("git_add", json!({}), "`files`, `all` or `update` is missing"),
            ("git_commit", json!({}), "`message` is missing"),
            ("git_pr", json!({"create": {}}), "`title` is missing"),
        ] {
            let error = command(name, args.as_object().unwrap()).unwrap().unwrap_err().0;
            assert!(error.contains(why), "{error}");
        }
        assert!(command("git", &Map::new()).is_none());
    }
}
