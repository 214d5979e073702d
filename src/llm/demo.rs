//! The demo: a small project with a failing test, and the script of a model that mends it.
//!
//! Only the model is scripted. The script's edits must apply to the project as it is embedded here; a test holds them together.

use super::{
    Registry,
    scripted::{self, Script, Scripted},
};
use crate::protocol::{ModelId, ProviderSettings};
use std::{fs, io, path::Path, sync::Arc, time::Duration};

/// Between two words.
const PACE: Duration = Duration::from_millis(15);

const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("../../assets/demo/README.md")),
    ("lib/dates.sh", include_str!("../../assets/demo/lib/dates.sh")),
    ("tests/run.sh", include_str!("../../assets/demo/tests/run.sh")),
];

/// What to type first.
pub const SUGGESTION: &str = "Fix the failing test";

/// Writes the project into `folder`; never over a file that is there.
pub fn unpack(folder: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        io::Write::write_all(&mut fs::File::create_new(path)?, text.as_bytes())?;
    }
    Ok(())
}

/// One provider, whose only model follows the script, at about the pace of a real one.
pub fn registry() -> Registry {
    let model = ModelId { provider: "demo".into(), model: "scripted".into() };
    let settings = ProviderSettings {
        name: model.provider.clone(),
        models: vec![model.model.clone()],
        context_window: Some(scripted::CONTEXT_WINDOW),
        ..ProviderSettings::default()
    };
    let mut registry = Registry::default();
    registry.insert(settings, Arc::new(Scripted::new(model, script(), PACE)));
    registry
}

pub fn script() -> Script {
    // Embedded, and parsed by a test: what can't fail any more has nobody to tell.
    Script::from_json(include_str!("../../assets/demo/script.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        llm::{provider::Provider, scripted::Call},
        protocol::{CallId, CallRequest, Message, Request, RequestId, StreamItem},
    };
    use futures::StreamExt;
    use std::process::Command;

    fn run(folder: &Path, test: &str) -> (bool, String) {
        let output = Command::new("sh").arg(test).current_dir(folder).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    /// What the tools do, in short: the calls of the demo need no more.
    fn carry_out(folder: &Path, call: &Call) {
        let text = |key: &str| call.args[key].as_str().unwrap();
        match call.name.as_str() {
            "View" => assert!(folder.join(text("file_path")).is_file()),
            "GrepTool" => assert!(FILES.iter().any(|(_, file)| file.contains(text("pattern")))),
            "Edit" => {
                let path = folder.join(text("file_path"));
                let before = fs::read_to_string(&path).unwrap();
                assert_eq!(before.matches(text("old_string")).count(), 1);
                fs::write(path, before.replace(text("old_string"), text("new_string"))).unwrap();
            }
            "Replace" => fs::write(folder.join(text("file_path")), text("content")).unwrap(),
            "Bash" => {
                let (success, output) = run(folder, text("command").strip_prefix("sh ").unwrap());
                assert!(success, "{output}");
            }
            other => panic!("the demo calls {other}"),
        }
    }

    /// Plays a turn through the scripted provider, carrying out its calls; gives the last text.
    fn play(folder: &Path, prompt: &str, deny: &str) -> (Vec<String>, String) {
        let id = ModelId { provider: "demo".into(), model: "scripted".into() };
        let model = Scripted::new(id.clone(), script(), Duration::ZERO);
        let mut messages = vec![Message::User(prompt.into())];
        let mut names = vec![];
        loop {
            let request =
                Request { id: RequestId(1), model: id.clone(), system: "".into(), messages: messages.clone().into(), tools: vec![].into() };
            let items: Vec<_> = futures::executor::block_on(model.stream(request).collect());
            let mut said = String::new();
            let mut calls = vec![];
            for item in items {
                match item {
                    StreamItem::Text(text) => said.push_str(&text),
                    StreamItem::CallDelta { name, arguments, .. } => {
                        calls.push(Call { name: name.unwrap(), args: serde_json::from_str(&arguments).unwrap() });
                    }
                    _ => {}
                }
            }
            if calls.is_empty() {
                return (names, said);
            }
            let request =
                |call: &Call| CallRequest { id: CallId(1), provider_id: "x".into(), name: call.name.clone(), arguments: "{}".into() };
            messages.push(Message::Assistant {
                text: said,
                reasoning: String::new(),
                calls: calls.iter().map(request).collect(),
                kept: vec![],
            });
            for call in calls {
                let failed = call.name == deny;
                if !failed {
                    carry_out(folder, &call);
                }
                names.push(call.name.clone());
                messages.push(Message::Result {
                    call: CallId(1),
                    provider_id: "x".into(),
                    name: call.name,
                    content: String::new(),
                    images: vec![],
                    failed,
                });
            }
        }
    }

    #[test]
    fn the_test_fails_before_and_passes_after() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        let (success, output) = run(folder.path(), "tests/run.sh");
        assert!(!success && output.contains("FAIL  February 1900: expected 28, got 29") && output.contains("1 failed"), "{output}");

        for prompt in [SUGGESTION, "why is the leap year check broken?", "repair lib/dates.sh please"] {
            let folder = tempfile::tempdir().unwrap();
            unpack(folder.path()).unwrap();
            let (calls, last) = play(folder.path(), prompt, "");
            assert_eq!(calls, ["View", "GrepTool", "Edit", "Bash"], "{prompt}");
            assert!(last.contains("/undo") && last.contains("```sh") && last.contains("| 1900 |"));
            assert!(run(folder.path(), "tests/run.sh").0);
        }
    }

    #[test]
    fn a_declined_edit_is_not_called_a_success() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        let (calls, last) = play(folder.path(), SUGGESTION, "Edit");
        assert_eq!(calls, ["View", "GrepTool", "Edit"]);
        assert!(last.contains("still fails"), "{last}");
    }

    #[test]
    fn other_prompts_plan_write_or_explain() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        assert_eq!(play(folder.path(), "Make a plan for the fix", "").0, ["View", "View"]);
        assert_eq!(play(folder.path(), "Write another test", "").0, ["Replace", "Bash"]);
        let (calls, last) = play(folder.path(), "hello", "");
        assert!(calls.is_empty() && last.contains(SUGGESTION));
    }

    #[test]
    fn the_demo_has_one_model() {
        assert_eq!(registry().resolve(None, None).unwrap().id.to_string(), "demo/scripted");
    }

    #[test]
    fn unpacking_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        assert!(unpack(folder.path()).is_err());
    }
}
