//! Plans: exact, partial, overtaken by changes, cut off.

use super::*;
use crate::protocol::{Action, Planned, SessionId, TurnId};

fn paths(plan: &Plan) -> Vec<String> {
    let sign = |file: &Planned| match file.action() {
        Action::Change => '~',
        Action::Delete => '-',
        Action::Recreate => '+',
    };
    plan.files.iter().map(|file| format!("{}{}", sign(file), file.path.display())).collect()
}

fn reasons(skipped: &[Skipped]) -> Vec<String> {
    skipped.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect()
}

#[test]
fn a_plan_says_what_will_be_done_and_makes_no_checkpoint() {
    let mut b = Bench::new();
    for file in ["changed", "deleted", "same"] {
        b.write(file, "1\n");
    }
    let first = b.take();
    b.write("changed", "2\n");
    b.write("new", "2\n");
    fs::remove_file(b.root.join("deleted")).unwrap();
    let plan = b.plan(&first);
    assert_eq!(paths(&plan), ["~changed", "+deleted", "-new"]);
    assert_eq!([Action::Change, Action::Delete, Action::Recreate].map(|a| plan.count(a)), [1, 1, 1]);
    assert_eq!(b.commits(), 1);
    let shown = b.store.show(&plan).unwrap();
    assert_eq!(names(&shown), ["~changed", "+deleted", "-new"]);
    assert_eq!((shown[0].old.as_deref(), shown[0].new.as_deref()), (Some("2\n"), Some("1\n")));
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!((restored.changes, restored.skipped), (shown, vec![]));
    assert_eq!(paths(&b.plan(&first)), Vec::<String>::new());
}

/// A file that is not as it was when the plan was made is somebody's work.
#[test]
fn what_changed_since_the_plan_is_left_alone() {
    let mut b = Bench::new();
    for file in ["a", "b", "gone", "mode"] {
        b.write(file, "1");
    }
    let first = b.take();
    for file in ["a", "b", "new", "mode"] {
        b.write(file, "2");
    }
    fs::remove_file(b.root.join("gone")).unwrap();
    let plan = b.plan(&first);
    for file in ["a", "new", "gone"] {
        b.write(file, "3");
    }
    fs::set_permissions(b.root.join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!(names(&restored.changes), ["~b"]);
    let changed = |file: &str| format!("{file}: it changed since the plan was made; left as it is");
    assert_eq!(reasons(&restored.skipped), ["new", "a", "gone", "mode"].map(changed));
    let is = |file: &str| fs::read_to_string(b.root.join(file)).unwrap();
    assert_eq!(["a", "new", "gone", "mode", "b"].map(is), ["3", "3", "3", "2", "1"]);
    b.restore(&restored.before);
    assert_eq!(fs::read_to_string(b.root.join("b")).unwrap(), "2");
}

#[test]
fn only_what_was_chosen_comes_back() {
    let mut b = Bench::new();
    for file in ["a", "ab", "dir/x", "dir/sub/y", "dirt"] {
        b.write(file, "1");
    }
    let first = b.take();
    for file in ["a", "ab", "dir/x", "dir/sub/y", "dirt", "dir/new"] {
        b.write(file, "2");
    }
    let mut only = |paths: &[&str]| {
        let wanted = Wanted { only: Some(paths.iter().map(PathBuf::from).collect()), ..all(&first) };
        paths_of(&mut b, &wanted)
    };
    fn paths_of(b: &mut Bench, wanted: &Wanted) -> Vec<String> {
        paths(&b.store.plan(wanted).unwrap())
    }
    assert_eq!(only(&["a"]), ["~a"]);
    assert_eq!(only(&["dir"]), ["-dir/new", "~dir/sub/y", "~dir/x"]);
    assert_eq!(only(&["./dir/sub/", "a/../dirt"]), ["~dir/sub/y", "~dirt"]);
    assert_eq!(only(&["nothing"]), Vec::<String>::new());
    assert_eq!(only(&[]), Vec::<String>::new());
    assert_eq!(only(&["."]).len(), 6);
    let root = b.root.clone();
    let wanted = Wanted { only: Some(vec![root.join("dir/x")]), ..all(&first) };
    let plan = b.store.plan(&wanted).unwrap();
    let mut expected = copy(&root);
    expected.insert(b"dir/x".to_vec(), (0, b"1".to_vec()));
    b.store.restore(&plan).unwrap();
    assert_eq!(copy(&root), expected);
}

/// What can't be done is known before.
#[test]
fn what_is_in_the_way_is_in_the_plan() {
    let mut b = Bench::new();
    b.write(".gitignore", "ignored\n");
    b.write("file", "1");
    b.write("empty", "1");
    b.write("dir/a", "1");
    let first = b.take();
    for file in ["file", "empty"] {
        fs::remove_file(b.root.join(file)).unwrap();
    }
    fs::create_dir_all(b.root.join("empty/deep/er")).unwrap();
    b.write("file/ignored", "precious");
    b.write("file/new", "2");
    fs::remove_dir_all(b.root.join("dir")).unwrap();
    b.write("dir", "now a file");
    let plan = b.plan(&first);
    assert_eq!(paths(&plan), ["-dir", "+dir/a", "+empty", "-file/new"]);
    assert_eq!(reasons(&plan.skipped), ["file: a folder with files that stay is in its place"]);
    let chosen = b.store.plan(&Wanted { only: Some(vec!["dir/a".into()]), ..all(&first) }).unwrap();
    let at = b.root.join("dir");
    assert_eq!((chosen.files.len(), reasons(&chosen.skipped)), (0, vec![format!("dir/a: {} is no folder now", at.display())]));
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!(restored.skipped, plan.skipped);
    assert_eq!(names(&restored.changes), ["-dir", "+dir/a", "+empty", "-file/new"]);
    assert_eq!(fs::read(b.root.join("file/ignored")).unwrap(), b"precious");
    assert_eq!(fs::read(b.root.join("empty")).unwrap(), b"1");
}

/// As after a crash: the plan is on disk, some files are done, one is neither.
#[test]
fn a_restore_that_was_cut_off_is_finished() {
    let mut b = Bench::new();
    let latin = std::ffi::OsStr::from_bytes(b"caf\xe9");
    for file in ["done", "rest", "neither"] {
        b.write(file, "1");
    }
    fs::write(b.root.join(latin), "1").unwrap();
    let (first, expected) = (b.take(), copy(&b.root));
    for file in ["done", "rest", "neither", "new"] {
        b.write(file, "2");
    }
    fs::write(b.root.join(latin), "2").unwrap();
    let plan = b.plan(&first);
    assert!(!was_cut_off(&b.data, &b.root));
    assert_eq!(b.store.unfinished().unwrap(), None);
    cut_off::write(b.store.folder(), &plan).unwrap();
    assert!(was_cut_off(&b.data, &b.root));
    b.write("done", "1");
    b.write("neither", "3");
    fs::remove_file(b.root.join("new")).unwrap();
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    let rest = b.store.unfinished().unwrap().unwrap();
    assert_eq!(paths(&rest), [format!("~{}", Path::new(latin).display()), "~rest".into()]);
    assert_eq!(reasons(&rest.skipped), ["neither: it is neither as it was nor as it was to be; left as it is"]);
    b.store.restore(&rest).unwrap();
    assert!(!was_cut_off(&b.data, &b.root));
    b.write("neither", "1");
    assert_eq!(copy(&b.root), expected);
    // Nothing left to do, or not wanted.
    cut_off::write(b.store.folder(), &plan).unwrap();
    assert_eq!(b.store.unfinished().unwrap(), None);
    cut_off::write(b.store.folder(), &plan).unwrap();
    b.store.forget_unfinished();
    assert!(!was_cut_off(&b.data, &b.root));
}

/// Whatever a plan says, repositories are not written.
#[test]
fn a_plan_that_is_not_ours_changes_nothing() {
    let mut b = Bench::new();
    b.write(".git/config", "theirs");
    b.write("a", "1");
    let first = b.take();
    b.write("a", "2");
    let plan = b.plan(&first);
    let mut forged = plan.clone();
    forged.files.clear();
    for path in [".git/config", "../outside", "sub/.git/hooks/x"] {
        forged.files.push(Planned { path: path.into(), now: None, then: plan.files[0].then.clone() });
    }
    let mut version = plan.files[0].then.clone().unwrap();
    version.id = "no id".into();
    forged.files.push(Planned { path: "b".into(), now: None, then: Some(version) });
    let before = copy(b.root.parent().unwrap().join("project").as_path());
    let restored = b.store.restore(&forged).unwrap();
    assert_eq!((restored.changes.len(), restored.skipped.len()), (0, 4));
    assert_eq!(copy(&b.root), before);
    assert!(!b.root.parent().unwrap().join("outside").exists());
}

#[test]
fn two_names_of_one_file_both_go_back() {
    let mut b = Bench::new();
    b.write("a", "one");
    fs::hard_link(b.root.join("a"), b.root.join("b")).unwrap();
    let first = b.take();
    b.write("a", "two");
    b.take();
    let restored = b.restore(&first);
    assert_eq!(restored.skipped, []);
    assert_eq!((fs::read(b.root.join("a")).unwrap(), fs::read(b.root.join("b")).unwrap()), (b"one".to_vec(), b"one".to_vec()));
    b.fsck();
}

#[test]
fn what_another_session_did_meanwhile_stays() {
    let mut b = Bench::new();
    let label = |kind, session: &str| Label { session: Some(SessionId(session.into())), turn: Some(TurnId(1)), ..Label::new(kind, "x") };
    b.write("mine", "1");
    b.write("both", "1");
    let open = b.store.take(&label(Kind::BeforeTurn, "a")).unwrap().id;
    b.write("mine", "2");
    b.store.take(&label(Kind::BeforeTurn, "b")).unwrap();
    b.write("theirs", "3");
    b.write("both", "3");
    b.store.take(&label(Kind::AfterTurn, "b")).unwrap();
    b.write("new", "4");
    let close = b.store.take(&label(Kind::AfterTurn, "a")).unwrap().id;
    let plan = b.store.plan(&Wanted { to: open, since: Some(close), only: None }).unwrap();
    let paths: Vec<_> = plan.files.iter().map(|file| file.path.display().to_string()).collect();
    let skipped: Vec<_> = plan.skipped.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!((paths.join(" "), skipped.join(" ")), ("mine new".to_string(), "both theirs".to_string()));
    assert!(plan.skipped[0].1.contains("another session"));
}

/// Two sessions whose calls run at the same time, without a checkpoint between their changes.
struct Two {
    b: Bench,
    other: GitStore,
}

impl Two {
    fn new() -> Two {
        let b = Bench::new();
        let other = GitStore::open(&b.data, &b.root).unwrap();
        Two { b, other }
    }

    fn store(&mut self, session: &str) -> &mut GitStore {
        if session == "a" { &mut self.b.store } else { &mut self.other }
    }

    fn take(&mut self, kind: Kind, session: &str) -> CheckpointId {
        let label = Label { session: Some(SessionId(session.into())), turn: Some(TurnId(1)), ..Label::new(kind, "x") };
        self.store(session).take(&label).unwrap().id
    }

    /// A call is about to run: an edit of a file, or a command.
    fn begins(&mut self, session: &str, file: Option<&str>) -> CheckpointId {
        let files: Vec<PathBuf> = file.map(|file| self.b.root.join(file)).into_iter().collect();
        self.store(session).cover(&files);
        let id = self.take(Kind::BeforeTurn, session);
        self.store(session).acts(&SessionId(session.into()), &files);
        id
    }

    fn rests(&mut self, session: &str) {
        self.store(session).rests(&SessionId(session.into()));
    }

    fn lasts(&mut self, session: &str, lasts: bool) {
        self.store(session).lasts(&SessionId(session.into()), lasts);
    }

    /// What an undo would do, and what it would leave and why.
    fn undo(&mut self, session: &str, open: &CheckpointId, close: &CheckpointId) -> (String, String) {
        let wanted = Wanted { to: open.clone(), since: Some(close.clone()), only: None };
        let plan = self.store(session).plan(&wanted).unwrap();
        let unclear = |why: &str| if why.contains("command ran at the same time") { "?" } else { "" };
        let skipped: Vec<String> = plan.skipped.iter().map(|(path, why)| format!("{}{}", path.display(), unclear(why))).collect();
        (paths(&plan).join(" "), skipped.join(" "))
    }
}

#[test]
fn what_changed_while_anothers_command_ran_is_not_taken_back_with_ones_own() {
    let told = |done: &str, left: &str| (done.to_string(), left.to_string());
    // Two commands: whose a change is can't be told, whichever is undone, and also where the other's end keeps nothing new.
    let mut t = Two::new();
    t.b.write("x", "1");
    let open_a = t.begins("a", None);
    t.b.write("by-a", "a");
    let open_b = t.begins("b", None);
    t.b.write("x", "b");
    t.b.write("by-a", "a again");
    t.rests("a");
    let close_a = t.take(Kind::AfterTurn, "a");
    t.rests("b");
    let close_b = t.take(Kind::AfterTurn, "b");
    assert_eq!(close_a, close_b, "nothing has changed in between");
    assert_eq!(t.undo("a", &open_a, &close_a), told("", "by-a? x?"));
    assert_eq!(t.undo("b", &open_b, &close_b), told("", "by-a? x?"));

    // An edit is known by its file.
    let mut t = Two::new();
    t.b.write("x", "1");
    t.b.write("edited", "1");
    let open_a = t.begins("a", Some("edited"));
    let open_b = t.begins("b", None);
    t.b.write("edited", "2");
    t.b.write("x", "b");
    t.rests("a");
    let close_a = t.take(Kind::AfterTurn, "a");
    t.rests("b");
    let close_b = t.take(Kind::AfterTurn, "b");
    assert_eq!(t.undo("a", &open_a, &close_a), told("~edited", "x"));
    assert_eq!(t.undo("b", &open_b, &close_b), told("~x", "edited"));

    // What runs in the background goes on when its call has ended, through calls that come later, and until it ends itself.
    let mut t = Two::new();
    t.b.write("x", "1");
    t.b.write("edited", "1");
    t.begins("a", None);
    t.lasts("a", true);
    t.rests("a");
    t.take(Kind::AfterTurn, "a");
    t.begins("a", Some("more"));
    t.rests("a");
    t.take(Kind::AfterTurn, "a");
    let open_b = t.begins("b", Some("edited"));
    t.b.write("edited", "2");
    t.b.write("x", "by the command");
    t.rests("b");
    let close_b = t.take(Kind::AfterTurn, "b");
    assert_eq!(t.undo("b", &open_b, &close_b), told("~edited", "x"));
    t.lasts("a", false);
    t.b.write("z", "nobody's");
    t.take(Kind::BeforeTurn, "b");
    let open_b = t.begins("b", None);
    t.b.write("y", "b");
    t.rests("b");
    let close_b = t.take(Kind::AfterTurn, "b");
    assert_eq!(t.undo("b", &open_b, &close_b), told("-y", ""));

    // One after the other: each has its own, and what came after an end is nobody's.
    let mut t = Two::new();
    t.b.write("x", "1");
    let open_a = t.begins("a", None);
    t.b.write("x", "a");
    t.rests("a");
    let close_a = t.take(Kind::AfterTurn, "a");
    let open_b = t.begins("b", None);
    t.b.write("y", "b");
    t.rests("b");
    let close_b = t.take(Kind::AfterTurn, "b");
    assert_eq!(t.undo("a", &open_a, &close_a), told("~x", ""));
    assert_eq!(t.undo("b", &open_b, &close_b), told("-y", ""));
    // Nothing of this can concern anybody any more.
    for _ in 0..3 {
        t.b.write("x", "more");
        t.begins("a", None);
        t.rests("a");
        t.b.write("x", "and more");
        t.take(Kind::AfterTurn, "a");
    }
    let noted = fs::read_to_string(t.b.store.folder().join("activity.json")).unwrap();
    assert!(noted.matches("\"session\"").count() <= 2, "{noted}");
}
