//! Completion and history in the real program: files by `@`, commands by one enter, what was typed in an earlier run.

use crate::support::*;

fn tree(w: &Workspace) {
    for n in 0..3_000 {
        w.write(&format!("pkg{}/module{}/part_{n}.rs", n % 10, n % 70), "");
    }
    w.write(".gitignore", "ignored/\n");
    w.write("ignored/needle.rs", "");
    w.write("docs/the needle.md", "");
}

#[test]
fn files_are_found_among_thousands_and_enter_sends_them() {
    let server = ModelServer::start([Reply::text("Read."), Reply::text("Again.")]);
    let w = Workspace::new(&server);
    tree(&w);
    let mut t = w.start();
    t.ready().type_("read @needle").shows("▸ docs/the needle.md").shows("1/1").type_("\t");
    t.shows("@\"docs/the needle.md\"").hides("▸").type_("please").shows("please").enter().sees("Read.");
    assert_eq!(server.request(1).last(), ("user", "read @\"docs/the needle.md\" please"));
    t.ready().type_("@part_2999").shows("▸ pkg9/module59/part_2999.rs").enter().hides("▸").enter().sees("Again.");
    assert_eq!(server.request(2).last(), ("user", "@pkg9/module59/part_2999.rs "));
}

#[test]
fn a_command_of_the_menu_runs_by_one_enter() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().type_("/mo").shows("▸ /model").type_("de").shows("▸ /mode ").enter().shows("▸ normal").type_("pl").shows("▸ plan").enter();
    t.hides("▸").shows("plan ·").type_("/exi").shows("▸ /exit").enter();
    assert_eq!(t.exits().exit_code(), 0);
}

#[test]
fn what_was_typed_is_there_in_the_next_run() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("the first prompt").sees("One.").hides("esc interrupts").ctrl('c').shows("again").ctrl('c').exits();
    let mut t = w.start();
    t.ready().type_("\x1b[A").screen_is("it is back", |s| s.lines().any(|l| l.starts_with("❯ the first prompt")));
    t.type_("!").shows("prompt!").ctrl('r').shows("Typed before").esc().hides("Typed before");
    t.enter().sees("Two.");
    assert_eq!(server.request(2).last(), ("user", "the first prompt!"));
}

#[test]
fn the_prompt_is_written_in_the_users_own_editor() {
    let server = ModelServer::start([Reply::text("Fine.")]);
    let w = Workspace::new(&server).file("edit.sh", "printf 'and more' >> \"$1\"\n");
    let script = w.root().join("edit.sh");
    let w = w.env("EDITOR", &format!("sh {}", script.display()));
    let mut t = w.start();
    t.ready().type_("some text ").shows("some text").ctrl('g').shows("some text and more").enter().sees("Fine.");
    assert_eq!(server.request(1).last(), ("user", "some text and more"));
}
