//! Real commands in every kind of sandbox that this system has.

use super::*;
use std::{collections::BTreeMap, fs, process::Command};

struct Yard {
    _dir: tempfile::TempDir,
    top: PathBuf,
}

impl Yard {
    fn new() -> Yard {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in ["p/src", "p/.git/hooks", "p/.git/modules/sub/hooks", "home/.cache", "outside", "tmp", "data", "approved"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        for (file, text) in [
            ("p/.git/HEAD", "ref: refs/heads/main\n"),
            ("p/.git/config", "[core]\n\tbare = false\n"),
            ("p/.git/modules/sub/HEAD", "ref: refs/heads/main\n"),
            ("p/.git/hooks/pre-commit", "mine"),
            ("home/.bashrc", "mine"),
            ("outside/file", "mine"),
            ("data/journal", "mine"),
        ] {
            fs::write(top.join(file), text).unwrap();
        }
        Yard { _dir: dir, top }
    }

    fn root(&self) -> PathBuf {
        self.top.join("p")
    }

    fn sandbox(&self, settings: SandboxSettings, means: Means) -> Sandbox {
        Sandbox {
            settings,
            ours: vec![self.top.join("data")],
            temporary: vec![self.top.join("tmp")],
            home: Some(self.top.join("home")),
            means: OnceLock::from(means),
        }
    }

    /// What it prints, whether it ends well, and what had to be put right.
    fn run(&self, sandbox: &Sandbox, opened: &[PathBuf], script: &str) -> (String, bool, Vec<String>) {
        let mut cage = sandbox.cage(&self.root(), &self.root(), opened).unwrap().unwrap();
        let mut words = cage.before.iter().cloned().chain(["/bin/sh", "-c", script].map(OsString::from));
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.root());
        cage.enclose(&mut command);
        let done = command.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        (text, done.status.success(), cage.check())
    }

    /// Every file and what is in it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let walk = ignore::WalkBuilder::new(&self.top).standard_filters(false).build();
        let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        files.map(|entry| (entry.path().strip_prefix(&self.top).unwrap().to_path_buf(), fs::read(entry.path()).unwrap())).collect()
    }
}

/// All that work here, each with whether the kernel keeps the exceptions.
fn available(yard: &Yard) -> Vec<(Means, bool)> {
    let mut all = vec![];
    #[cfg(target_os = "linux")]
    {
        use linux::{Can, View};
        let landlock = linux::landlock_version() > 0;
        for view in [View::Privileged, View::Own] {
            all.push((Means::Kernel(Can { landlock, view }), true));
            all.push((Means::Kernel(Can { landlock: false, view }), true));
        }
        all.extend(landlock.then_some((Means::Kernel(Can { landlock, view: View::No }), false)));
        all.extend(program("bwrap", &yard.root()).map(|bwrap| (Means::Bubblewrap(bwrap), true)));
    }
    #[cfg(target_os = "macos")]
    all.push((Means::Seatbelt, true));
    all.retain(|(means, _)| {
        let sandbox = yard.sandbox(SandboxSettings::default(), means.clone());
        sandbox.build(means, &sandbox.confines(&yard.root(), &[]), &yard.root()).is_ok_and(runs)
    });
    all
}

#[test]
fn a_command_writes_what_it_may_and_nothing_else() {
    for (means, _) in available(&Yard::new()) {
        let yard = Yard::new();
        let sandbox = yard.sandbox(SandboxSettings::default(), means.clone());
        let top = yard.top.display();
        for fine in [
            "echo x > new && echo y >> src/deep && mkdir -p a/b && mv new a/b/ && rm src/deep && ln -s a l".to_owned(),
            format!("echo x > {top}/tmp/t && echo x > {top}/home/.cache/c"),
            "echo x > .git/index && mkdir .git/objects && git config --file .git/config branch.x.merge refs/heads/x".into(),
            "echo x > /dev/null && cat /dev/zero | head -c 1 > /dev/null && echo x 2> /dev/null".into(),
            format!("cat {top}/outside/file {top}/home/.bashrc"),
        ] {
            let (text, ended, righted) = yard.run(&sandbox, &[], &fine);
            assert!(ended && righted.is_empty(), "{means:?}: {fine}: {text} {righted:?}");
        }
        let before = yard.files();
        for refused in [
            format!("echo evil > {top}/outside/file"),
            format!("echo evil > {top}/outside/new"),
            format!("rm {top}/outside/file"),
            format!("mv {top}/outside/file here"),
            format!("mkdir {top}/outside/folder"),
            format!("echo evil >> {top}/home/.bashrc"),
            format!("echo evil > {top}/home/.zshrc"),
            format!("echo evil > {top}/data/journal"),
            format!("ln {top}/outside/file hard && echo evil > hard"),
            format!("ln -s {top}/outside/file soft; echo evil > soft"),
            format!("python3 -c \"open('{top}/outside/file', 'w').write('evil')\" || exit 1"),
            format!("(cd {top}/outside && echo evil > file)"),
            format!("sh -c 'echo evil > {top}/outside/file' & wait $!"),
        ] {
            let (text, ended, _) = yard.run(&sandbox, &[], &refused);
            assert!(!ended, "{means:?}: {refused}: {text}");
        }
        let after = yard.files();
        let kept = |files: &BTreeMap<PathBuf, Vec<u8>>| -> BTreeMap<PathBuf, Vec<u8>> {
            files.iter().filter(|(path, _)| !path.starts_with("p")).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
        };
        assert_eq!(kept(&before), kept(&after), "{means:?}");
    }
}

#[test]
fn what_steers_git_and_us_stays_whoever_tries_what() {
    for (means, enforced) in available(&Yard::new()) {
        for evil in [
            "echo evil > .git/hooks/pre-commit",
            "echo evil > .git/hooks/post-commit",
            "rm -f .git/hooks/pre-commit",
            "mv .git/hooks .git/old && mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
            "mv .git .gone && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
            "mv ../p ../q && mkdir -p ../p/.git/hooks",
            "echo evil > .git/modules/sub/hooks/post-checkout",
            "mkdir .backstitch && echo evil > .backstitch/x",
            "echo '{}' > agents.config.json",
            "echo /elsewhere > .git/commondir",
            "printf '[core]\\n\\tfsmonitor = ./evil\\n' > .git/config",
            "printf '[core]\\n\\tsshCommand = ./evil\\n' > .git/config.worktree",
            "rm .git/config; ln -s ../src/evil .git/config; printf '[core]\\n\\tpager = ./evil\\n' > src/evil",
            "umount .git/hooks; umount -l .git/hooks; mount -o remount,rw,bind .git/hooks; echo evil > .git/hooks/pre-commit",
            "unshare -Urm sh -c 'umount .git/hooks; mount -o remount,rw,bind .git/hooks; echo evil > .git/hooks/pre-commit'",
        ] {
            let yard = Yard::new();
            let sandbox = yard.sandbox(SandboxSettings::default(), means.clone());
            let (text, _, righted) = yard.run(&sandbox, &[], evil);
            let read = |name: &str| fs::read_to_string(yard.root().join(name)).ok();
            let state = format!("{means:?}: {evil}: {text} {righted:?}");
            assert_eq!(read(".git/hooks/pre-commit").as_deref(), Some("mine"), "{state}");
            // Without one git obeys nothing.
            assert!(read(".git/config").is_none_or(|text| text == "[core]\n\tbare = false\n"), "{state}");
            for gone in
                [".git/hooks/post-commit", ".git/modules/sub/hooks/post-checkout", ".backstitch", "agents.config.json", ".git/commondir"]
            {
                assert!(!yard.root().join(gone).exists(), "{gone}: {state}");
            }
            assert!(!read(".git/config.worktree").is_some_and(|text| text.contains("evil")), "{state}");
            // Nothing is thrown away, and whatever was undone is said.
            assert!(enforced || !righted.is_empty() || text.contains("denied") || text.contains("permitted"), "{state}");
        }
    }
}

#[test]
fn what_was_approved_is_open_and_nothing_beside_it() {
    for (means, _) in available(&Yard::new()) {
        let yard = Yard::new();
        let sandbox =
            yard.sandbox(SandboxSettings { writable: vec![yard.top.join("approved")], ..SandboxSettings::default() }, means.clone());
        let top = yard.top.display();
        let opened = [yard.top.join("outside/file"), yard.top.join("home/new"), yard.top.join("home/.bashrc")];
        for fine in [format!("echo more >> {top}/outside/file"), format!("echo x > {top}/approved/x")] {
            assert!(yard.run(&sandbox, &opened, &fine).1, "{means:?}: {fine}");
        }
        // Not the whole home for one new file in it, and no start-up file whoever said so.
        for refused in
            [format!("echo x > {top}/outside/other"), format!("echo x > {top}/home/new"), format!("echo x >> {top}/home/.bashrc")]
        {
            let (text, ended, _) = yard.run(&sandbox, &opened, &refused);
            // Where only Landlock is, an approved file is open though nobody should write it, and nothing tells them apart.
            let kept = fs::read_to_string(yard.top.join("home/.bashrc")).unwrap() == "mine";
            assert!(!ended || kept, "{means:?}: {refused}: {text}");
        }
        assert_eq!(fs::read_to_string(yard.top.join("home/.bashrc")).unwrap(), "mine");
    }
}

#[test]
fn without_a_network_the_machine_itself_may_still_be_reached_where_that_can_be() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\"");
    for (means, _) in available(&Yard::new()) {
        let yard = Yard::new();
        let (text, reached, _) = yard.run(&yard.sandbox(SandboxSettings::default(), means.clone()), &[], &connect);
        assert!(reached, "{means:?}: {text}");
        let off = yard.sandbox(SandboxSettings { network: false, ..SandboxSettings::default() }, means.clone());
        let (_, reached, _) = yard.run(&off, &[], &connect);
        assert!(!reached, "{means:?}");
        if matches!(&means, Means::Kernel(can) if can.view != linux::View::No) {
            let own =
                "python3 -c \"import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 2)\"";
            let (text, reached, _) = yard.run(&off, &[], own);
            assert!(reached, "{means:?}: {text}");
        }
    }
}

#[test]
fn services_that_would_do_it_instead_are_out_of_reach() {
    let yard = Yard::new();
    let socket = yard.top.join("outside/service");
    let _service = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let connect = format!("python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}')\"", socket.display());
    for (means, enforced) in available(&yard) {
        let sandbox = yard.sandbox(SandboxSettings::default(), means.clone());
        assert!(yard.run(&sandbox, &[], &connect).1, "{means:?}: it could be reached otherwise");
        let mut confines = sandbox.confines(&yard.root(), &[]);
        confines.services.push(socket.clone());
        let mut cage = sandbox.build(&means, &confines, &yard.root()).unwrap();
        let mut words = cage.before.iter().cloned().chain(["/bin/sh", "-c", &connect].map(OsString::from));
        let mut command = Command::new(words.next().unwrap());
        command.args(words).stderr(Stdio::null());
        cage.enclose(&mut command);
        assert_eq!(command.status().unwrap().success(), !enforced, "{means:?}");
    }
}

#[test]
fn a_command_has_terminals_but_not_the_users() {
    for (means, _) in available(&Yard::new()).into_iter().filter(|(_, enforced)| *enforced) {
        let yard = Yard::new();
        let sandbox = yard.sandbox(SandboxSettings::default(), means.clone());
        let own = "python3 -c \"import pty, os; pid, fd = pty.fork(); (os.write(1, b'inside'), os._exit(0)) if pid == 0 else print(os.read(fd, 99))\"";
        let (text, ended, _) = yard.run(&sandbox, &[], own);
        assert!(ended && text.contains("inside"), "{means:?}: {text}");
    }
}

#[test]
fn it_says_what_it_is() {
    let yard = Yard::new();
    assert_eq!(Sandbox::default().status(&yard.root()), "off: the settings say so");
    assert!(!Sandbox::default().is_on(&yard.root()));
    let sandbox = Sandbox::new(SandboxSettings { network: false, ..SandboxSettings::default() }, vec![]);
    assert_eq!(sandbox.is_on(&yard.root()), !available(&yard).is_empty());
    assert!(!sandbox.is_on(&yard.root()) || sandbox.status(&yard.root()).contains("network off"));
}

#[test]
fn a_failure_that_speaks_of_a_sandbox_is_told_from_another() {
    assert!(may_have_stopped("sh: 1: cannot create /x: Read-only file system\n"));
    assert!(may_have_stopped("Error: EACCES: permission denied, open '/x'"));
    assert!(!may_have_stopped("assertion failed: left == right"));
    assert!(!may_have_stopped(&format!("Permission denied\n{}", "ok\n".repeat(5_000))));
}
