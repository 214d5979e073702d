//! A project, a home and everything else that a run may see: nothing of the machine's own.

use super::{DEADLINE, ModelServer, Term, processes};
use portable_pty::CommandBuilder;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
};
use tempfile::TempDir;

static NEXT: AtomicU32 = AtomicU32::new(1);

pub const BINARY: &str = env!("CARGO_BIN_EXE_backstitch");

pub struct Workspace {
    folder: TempDir,
    root: PathBuf,
    mark: String,
    extra: Vec<(String, String)>,
}

/// What a run without a terminal came to.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

impl Workspace {
    /// A trusted project without a provider.
    pub fn bare() -> Workspace {
        let workspace = Workspace::untrusted();
        let list = json!({ "folders": [workspace.root()] });
        workspace.write_abs(&workspace.data().join("trusted.json"), &list.to_string());
        workspace
    }

    pub fn untrusted() -> Workspace {
        let folder = tempfile::Builder::new().prefix("bs-it-").tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        for name in ["home", "tmp", "home/shop"] {
            fs::create_dir_all(real.join(name)).unwrap();
        }
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Workspace { root: real.join("home/shop"), folder, mark: format!("BACKSTITCH_IT_MARK={mark}."), extra: vec![] }
    }

    /// A trusted project whose provider is this server.
    pub fn new(server: &ModelServer) -> Workspace {
        let workspace = Workspace::bare();
        workspace.configure(server);
        workspace
    }

    pub fn configure(&self, server: &ModelServer) {
        self.write_abs(&self.config_file(), &provider_config(server));
    }

    pub fn file(self, name: &str, text: &str) -> Workspace {
        self.write(name, text);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Workspace {
        self.extra.push((name.into(), value.into()));
        self
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> PathBuf {
        self.root.parent().unwrap().to_path_buf()
    }

    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/backstitch")
    }

    pub fn config_file(&self) -> PathBuf {
        self.home().join(".config/backstitch/agents.config.json")
    }

    pub fn write(&self, name: &str, text: &str) {
        self.write_abs(&self.root.join(name), text);
    }

    pub fn write_abs(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.root.join(name)).unwrap()).unwrap()
    }

    /// Every file of the project with its bytes.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.root).into_iter().map(|path| (path.strip_prefix(&self.root).unwrap().into(), fs::read(&path).unwrap())).collect()
    }

    /// The journals of this project's sessions.
    pub fn journals(&self) -> Vec<PathBuf> {
        let all = files_below(&self.data().join("sessions"));
        all.into_iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    pub fn variables(&self) -> Vec<(String, String)> {
        let home = self.home().display().to_string();
        let tmp = self.temporary().display().to_string();
        let (name, value) = self.mark.split_once('=').unwrap();
        let mut all: Vec<(String, String)> = [
            ("PATH", std::env::var("PATH").unwrap().as_str()),
            ("HOME", &home),
            ("XDG_CONFIG_HOME", &format!("{home}/.config")),
            ("XDG_DATA_HOME", &format!("{home}/.local/share")),
            ("XDG_STATE_HOME", &format!("{home}/.local/state")),
            ("XDG_CACHE_HOME", &format!("{home}/.cache")),
            ("TMPDIR", &tmp),
            ("TERM", "xterm-256color"),
            // The emulator of the tests breaks no line anew, as a plain xterm.
            ("XTERM_VERSION", "XTerm(390)"),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            (name, value),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        for (name, value) in &self.extra {
            all.retain(|(known, _)| known != name);
            all.push((name.clone(), value.clone()));
        }
        all
    }

    /// Programs of this workspace that still run.
    pub fn processes(&self) -> Vec<(i32, String)> {
        processes::with_mark(&self.mark)
    }

    pub fn start(&self) -> Term {
        self.start_sized(&[], 100, 30)
    }

    pub fn start_with(&self, arguments: &[&str]) -> Term {
        self.start_sized(arguments, 100, 30)
    }

    pub fn start_sized(&self, arguments: &[&str], columns: u16, rows: u16) -> Term {
        Term::start(self.command(BINARY, arguments), columns, rows, "")
    }

    /// For a terminal.
    pub fn command(&self, program: &str, arguments: &[&str]) -> CommandBuilder {
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        self.variables().into_iter().for_each(|(name, value)| command.env(name, value));
        command.args(arguments);
        command.cwd(&self.root);
        command
    }

    pub fn plain_command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables()).args(arguments).current_dir(&self.root);
        command
    }

    /// Without a terminal, to its end.
    pub fn run(&self, arguments: &[&str], stdin: &str) -> Ended {
        ended(self.plain_command(BINARY, arguments), stdin)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        processes::end_all(&self.mark);
    }
}

pub fn ended(mut command: Command, stdin: &str) -> Ended {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever doesn't read its input is free not to.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let output = receive.recv_timeout(DEADLINE).expect("the program does not end").unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

pub fn provider_config(server: &ModelServer) -> String {
    let provider = json!({ "name": "test", "baseUrl": server.base_url(), "apiKey": "sk-test-key", "models": ["test-model"] });
    json!({ "backstitch": { "providers": [provider] } }).to_string()
}

pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
