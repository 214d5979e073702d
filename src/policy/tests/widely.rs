//! Who refuses is understood widely: whatever stands around a command, in whatever form a name is written.

use super::*;

/// An allowed program is no way for another, however the two stand together.
#[test]
fn what_is_allowed_carries_nothing_else_along() {
    let rules = [rule("allow Bash(git *)"), rule("deny Bash(rm *)"), rule("deny View(.env)")];
    let joined = |more: &str| {
        [
            format!("git status && {more}"),
            format!("git status; {more}"),
            format!("git status | {more}"),
            format!("git status || {more}"),
            format!("git status & {more}"),
            format!("git status\n{more}"),
            format!("git log \"$({more})\""),
            format!("git log `{more}`"),
            format!("git log <({more})"),
            format!("cat <<E | git apply\n$({more})\nE"),
            format!("git status && bash -c '{more}'"),
            format!("git status && eval {more}"),
            format!("git status && env {more}"),
            format!("git status && timeout 5 {more}"),
            format!("git status && ({more})"),
            format!("if git status; then {more}; fi"),
        ]
    };
    for mode in [Mode::Normal, Mode::AutoAccept, Mode::Plan, Mode::Yolo] {
        for line in joined("rm -rf x").iter().chain(&joined("grep KEY .env")).chain(&joined("head -c 99 ./.ENV")) {
            let said = verdict(mode, &rules, &[], &call(&format!("Bash {line}")));
            let known = !line.contains("<(");
            assert!(matches!(said, Verdict::Forbid(_)) || !known && said == Verdict::Ask, "{mode:?}: {line}: {said:?}");
        }
    }
    for tool in ["View", "LS", "GrepTool"] {
        assert!(matches!(verdict(Mode::Yolo, &rules, &[], &call(&format!("{tool} .env"))), Verdict::Forbid(_)), "{tool}");
    }
}

/// Whoever refuses means all names that a file system may take for the one; whoever allows means the one.
#[test]
fn names_are_the_same_in_any_form_for_who_refuses() {
    let deny = [rule("deny Edit(Über.txt)"), rule("deny View(docs/Straße/**)"), rule("deny View(notes)")];
    for text in
        ["Edit Über.txt", "Edit u\u{308}ber.TXT", "Edit ÜBER.txt", "Edit in/U\u{308}ber.txt", "View docs/STRASSE/x", "View no\u{200d}tes"]
    {
        assert!(matches!(verdict(Mode::Yolo, &deny, &[], &call(text)), Verdict::Forbid(_)), "{text}");
    }
    assert_eq!(verdict(Mode::Yolo, &deny, &[], &call("Edit uber.txt")), Verdict::Allow);
    let allow = [rule("allow Edit(Über.txt)")];
    assert_eq!(verdict(Mode::Normal, &allow, &[], &call("Edit Über.txt")), Verdict::Allow);
    for text in ["Edit U\u{308}ber.txt", "Edit über.txt"] {
        assert_eq!(verdict(Mode::Normal, &allow, &[], &call(text)), Verdict::Ask, "{text}");
    }
    // What steers git, or may hold secrets, whatever it looks like.
    for path in [
        ".g\u{200c}it/config",
        ".GI\u{200d}T/hooks/x",
        "GIT~1/config",
        ".git./config",
        ".backstitch\u{feff}/x",
        "agents.conﬁg.json",
        "HEAD.",
    ] {
        assert_eq!(verdict(Mode::AutoAccept, &[], &[], &call(&format!("Edit {path}"))), Verdict::Ask, "{path}");
    }
    for path in [".e\u{200c}nv", "\u{feff}.ENV", ".ſsh/x", "id_r\u{200e}sa"] {
        assert_eq!(verdict(Mode::Normal, &[], &[], &call(&format!("View {path}"))), Verdict::Ask, "{path}");
        assert_eq!(verdict(Mode::AutoAccept, &[], &[], &call(&format!("Edit {path}"))), Verdict::Ask, "{path}");
        assert_eq!(verdict(Mode::Normal, &[], &[], &call(&format!("Bash cat {path}"))), Verdict::Ask, "{path}");
    }
}
