//! The tools as the engine uses them: by name, previewed, then run with what the preview saw.

mod background;
mod commands;
mod edits;
mod file_op;
mod files;
mod folder;
mod patch;
mod search;
mod shell;
mod swapped;
mod web;

use super::{Cancel, Registry, RunContext, Workspace};
use crate::protocol::{CallId, Job, JobEnd, Preview, ToolCall, ToolError, ToolOutput};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
    registry: Registry,
    /// Of a runtime that another thread drives, as in the engine: tools run on threads that may block.
    handle: tokio::runtime::Handle,
    _stop: tokio::sync::oneshot::Sender<()>,
    cancel: Cancel,
    progress: Mutex<Vec<String>>,
    /// What runs in the background, as the engine would have it: each on a thread of its own.
    jobs: Mutex<Vec<std::thread::JoinHandle<JobEnd>>>,
}

impl Bench {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("project");
        fs::create_dir(&root).unwrap();
        for (path, contents) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), contents).unwrap();
        }
        let workspace = Workspace::new(&root, &top.join("spill")).unwrap();
        // What a test begins with, the model knows.
        files.iter().for_each(|(path, contents)| workspace.seen.note(&root.join(path), contents));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (handle, (_stop, stopped)) = (runtime.handle().clone(), tokio::sync::oneshot::channel());
        std::thread::spawn(move || drop(runtime.block_on(stopped)));
        Bench {
            workspace,
            root,
            registry: Registry::default(),
            handle,
            _stop,
            cancel: Cancel::new(),
            progress: Mutex::default(),
            jobs: Mutex::default(),
            _dir: dir,
        }
    }

    fn call(&self, name: &str, args: Value) -> Result<(ToolCall, Preview), ToolError> {
        let preview = self.registry.preview(name, args.clone(), &self.workspace)?;
        let (name, args) = self.registry.canonical(name, args)?;
        Ok((ToolCall { id: CallId(1), name, args, basis: preview.basis.clone() }, preview))
    }

    fn run_call(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let progress = |text| self.progress.lock().unwrap().push(text);
        let background = |_: Job, command: futures::future::BoxFuture<'static, JobEnd>| {
            let handle = self.handle.clone();
            self.jobs.lock().unwrap().push(std::thread::spawn(move || handle.block_on(command)));
        };
        let cx = RunContext { workspace: &self.workspace, cancel: self.cancel.clone(), progress: &progress, background: &background };
        self.handle.block_on(self.registry.run(call, &cx))
    }

    fn run(&self, name: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.run_call(&self.call(name, args)?.0)
    }

    fn text(&self, name: &str, args: Value) -> String {
        match self.run(name, args) {
            Ok(output) => output.for_model.replace(self.root.to_str().unwrap(), "ROOT"),
            Err(error) => format!("Error: {error}"),
        }
    }

    /// Waits for what runs in the background: the runtime must not go before it.
    fn end_jobs(&self) {
        self.workspace.jobs.close();
        self.jobs.lock().unwrap().drain(..).for_each(|job| drop(job.join()));
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.join(path)).unwrap()
    }

    /// Everything below the root, to see that nothing else was left there.
    fn names(&self) -> Vec<String> {
        fn visit(folder: &Path, root: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                names.push(path.strip_prefix(root).unwrap().display().to_string());
                if path.is_dir() && !path.is_symlink() {
                    visit(&path, root, names);
                }
            }
        }
        let mut names = vec![];
        visit(&self.root, &self.root, &mut names);
        names.sort();
        names
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.end_jobs();
    }
}
