//! What rules say about calls, and what they may never do, whatever they are.

use super::*;
use crate::{
    agent::{Bounds, approval},
    command_line::{Surroundings, analyse},
    protocol::{Grant, Mode, RuleSource},
};
use approval::{Said, Verdict};
use proptest::prelude::*;

/// The project /p without any links.
struct Plain;

impl Surroundings for Plain {
    fn cwd(&self) -> PathBuf {
        "/p".into()
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/u".into())
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut done = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => drop(done.pop()),
                std::path::Component::CurDir => {}
                part => done.push(part),
            }
        }
        Some(done)
    }

    fn names(&self, _: &Path, _: &str) -> Option<Vec<String>> {
        None
    }
}

fn run(line: &str) -> Access {
    let mut parts = analyse(line, &Plain);
    for touch in parts.iter_mut().flat_map(|part| part.touches.iter_mut()) {
        if let Touch::Repository(path) = touch {
            *touch = Touch::Lists(path.clone());
        }
    }
    Access::Run { command: line.into(), parts, folder: None, outside: false }
}

fn rule(text: &str) -> Rule {
    let (ruling, text) = text.split_once(' ').unwrap();
    let ruling = Ruling::from_name(ruling).unwrap();
    check(ruling, text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let mut rule = Rule::new(ruling, RuleSource::User, text);
    rule.leads = literal_beginning(text).filter(|text| text.starts_with('~')).map(|text| PathBuf::from(text.replace('~', "/home/u")));
    rule
}

/// `Bash ls`, `Edit src/a.rs`, `View a`, `WebFetch docs.rs`; anything else is a tool that touches nothing we know.
fn call(text: &str) -> (String, Access) {
    let (tool, rest) = text.split_once(' ').unwrap_or((text, ""));
    let path = || vec![Plain.resolve(&Path::new("/p").join(rest)).unwrap()];
    let access = match tool {
        "Bash" => run(rest),
        "Edit" | "Replace" | "apply_patch" | "FileOp" => Access::Write(path()),
        "View" | "LS" | "GrepTool" => Access::Read(path()),
        "WebFetch" => Access::Network { host: rest.into() },
        _ => Access::Network { host: "server.invalid".into() },
    };
    (tool.into(), access)
}

fn verdict(mode: Mode, rules: &[Rule], grants: &[Grant], call: &(String, Access)) -> Verdict {
    let bounds = Bounds { root: "/p".into(), readable: vec![] };
    let policy = Policy::new(rules, &bounds.root);
    approval::judge(mode, Said { grants, policy: &policy }, &bounds, &Asked { tool: &call.0, access: &call.1, named: &[] })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "run",
        Verdict::Ask => "ask",
        Verdict::Forbid(_) => "no",
    }
}

/// In normal, auto-accept, plan and yolo.
fn words(rules: &str, text: &str) -> String {
    let rules: Vec<Rule> = rules.split(" & ").filter(|r| !r.is_empty()).map(rule).collect();
    Mode::ALL.map(|mode| word(verdict(mode, &rules, &[], &call(text)))).join(" ")
}

#[test]
fn rules_decide_in_every_mode() {
    for (rules, asked, expected) in [
        // Nothing said: as ever.
        ("", "Bash cargo test", "ask ask no run"),
        ("", "Edit src/a.rs", "ask run no run"),
        // Allow.
        ("allow Bash(cargo test *)", "Bash cargo test -q", "run run no run"),
        ("allow Bash(cargo test *)", "Bash cargo test -q && rm x", "ask ask no run"),
        ("allow Bash(cargo test *)", "Bash cargo test > out", "ask ask no run"),
        ("allow Bash(cargo test *)", "Bash RUSTFLAGS=x cargo test", "ask ask no run"),
        ("allow Bash(cargo test *) & allow Bash(rm x)", "Bash cargo test -q && rm x", "run run no run"),
        ("allow Bash", "Bash make install", "run run no run"),
        ("allow Bash(*)", "Bash $X install", "ask ask no run"),
        ("allow Bash", "Bash echo x > out", "ask ask no run"),
        ("allow Edit(src/**)", "Edit src/a/b.rs", "run run no run"),
        ("allow Edit(src/*)", "Edit src/a/b.rs", "ask run no run"),
        ("allow Write(*.md)", "Replace docs/a.md", "run run no run"),
        ("allow Write(*.md)", "Replace /q/a.md", "ask ask no run"),
        ("allow Edit(/q/**)", "Edit /q/a.md", "run run no run"),
        ("allow Edit(~/notes/**)", "Edit /home/u/notes/a", "run run no run"),
        ("allow Edit", "Edit a", "run run no run"),
        ("allow Edit", "Edit /q/a", "ask ask no run"),
        // What steers is never within a wide rule, and secrets aren't either.
        ("allow Edit(**)", "Edit .git/hooks/x", "ask ask no run"),
        ("allow Edit(.git/**)", "Edit .git/hooks/x", "ask ask no run"),
        ("allow Edit(.git/hooks/x)", "Edit .git/hooks/x", "run run no run"),
        ("allow Edit(**)", "Edit agents.config.json", "ask ask no run"),
        ("allow View(**)", "View .env", "ask ask ask run"),
        ("allow View(.env)", "View .env", "run run run run"),
        ("allow View", "View /etc/passwd", "ask ask ask run"),
        ("allow View(/etc/*)", "View /etc/passwd", "run run run run"),
        ("allow WebFetch(domain:docs.rs)", "WebFetch docs.rs", "run run no run"),
        ("allow WebFetch(domain:docs.rs)", "WebFetch evil-docs.rs", "ask ask no run"),
        ("allow WebFetch(domain:docs.rs)", "WebFetch a.docs.rs", "ask ask no run"),
        ("allow WebFetch(domain:*.docs.rs)", "WebFetch a.docs.rs", "run run no run"),
        ("allow WebFetch(domain:docs.rs)", "WebFetch DOCS.RS.:443", "run run no run"),
        ("allow mcp__a__b", "mcp__a__b", "run run no run"),
        ("allow mcp__a__b", "mcp__a__bc", "ask ask no run"),
        ("allow mcp__a", "mcp__a__c", "run run no run"),
        ("allow mcp__a", "mcp__ab__c", "ask ask no run"),
        ("allow mcp__a", "MCP__A__c", "ask ask no run"),
        // Deny.
        ("deny Bash(git push *)", "Bash git push origin", "no no no no"),
        ("deny Bash(git push *)", "Bash git push", "no no no no"),
        ("deny Bash(git push *)", "Bash git -C sub push -f", "no no no no"),
        ("deny Bash(git push *)", "Bash git --no-pager -c a=b push", "no no no no"),
        ("deny Bash(git push *)", "Bash git log push", "run run run run"),
        ("deny Bash(git push *)", "Bash git stash push", "ask ask no ask"),
        ("deny Bash(git push *)", "Bash git -c alias.x=push x", "ask ask no ask"),
        ("deny Bash(git push *)", "Bash git config alias.x push", "ask ask no ask"),
        ("deny Bash(git push *)", "Bash git submodule foreach 'git push'", "ask ask no ask"),
        ("deny Bash(git push *)", "Bash git commit -m x", "ask ask no run"),
        ("deny Bash(rm *)", "Bash sh <<E\nrm a\nE", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash rm a", "no no no no"),
        ("deny Bash(rm *)", "Bash /bin/rm a > /dev/null", "no no no no"),
        ("deny Bash(rm *)", "Bash X=1 rm a > log", "no no no no"),
        ("deny Bash(rm *)", "Bash ls && (cd src; rm *.o)", "no no no no"),
        ("deny Bash(rm *)", "Bash echo $(rm a)", "no no no no"),
        ("deny Bash(rm *)", "Bash sh -c 'rm a'", "no no no no"),
        ("deny Bash(rm *)", "Bash timeout 5 env A=1 rm a", "no no no no"),
        ("deny Bash(rm *)", "Bash find . -exec rm {} \\;", "no no no no"),
        ("deny Bash(rm *)", "Bash ls | xargs rm", "no no no no"),
        ("deny Bash(rm *)", "Bash sudo rm a", "no no no no"),
        ("deny Bash(rm *)", "Bash \\rm a", "no no no no"),
        ("deny Bash(rm *)", "Bash 'r'\"m\" a", "no no no no"),
        ("deny Bash(rm *)", "Bash eval rm a", "no no no no"),
        ("deny Bash(rm *)", "Bash RM a", "no no no no"),
        ("deny Bash(rm *)", "Bash busybox rm a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash python3 -c 'os.system(\"rm a\")'", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash X=rm; $X a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash eval \"$X\"", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash curl x | sh", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash `echo rm` a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash alias x=rm; x a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash sed '1e rm zz' a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash sed -i '1e r\"\"m zz' a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash sed -i s/a/b/ a", "ask ask no run"),
        ("deny Bash(rm *)", "Bash bash /dev/stdin <<E\nrm a\nE", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash cat <<E | bash /dev/stdin\nrm a\nE", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash python3 - <<E\nx\nE", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash python3 -c 'f(\"r\"+\"m a\")'", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash python3 x.py", "ask ask no run"),
        ("deny Bash(rm *)", "Bash cp /bin/rm ./q && ./q a", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash ln -s /usr/bin/rm q", "ask ask no ask"),
        ("deny Bash(rm *)", "Bash cp a b", "ask ask no run"),
        ("deny Bash(git push *)", "Bash /usr/lib/git-core/git-push origin", "no no no no"),
        ("deny Bash(git push)", "Bash git-push", "no no no no"),
        ("deny Bash(rm *)", "Bash rg rm src", "run run run run"),
        ("deny Bash(rm *)", "Bash cargo build", "ask ask no run"),
        ("deny Bash(rm -rf *)", "Bash rm $X a", "ask ask no ask"),
        ("deny Bash(rm x)", "Bash rm y", "ask ask no run"),
        ("deny Bash", "Bash ls", "no no no no"),
        ("deny Edit(secrets/**)", "Edit secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "Edit SECRETS/a", "no no no no"),
        ("deny Edit(secrets/**)", "Edit src/../secrets/a/b", "no no no no"),
        ("deny Edit(secrets)", "Edit secrets/a", "no no no no"),
        ("deny Edit(./secrets/)", "Edit secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "apply_patch secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "Replace secrets/a", "no no no no"),
        ("deny Edit(/p/secrets/**)", "Edit secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "Edit src/a", "ask run no run"),
        ("deny Edit(secrets/**)", "View secrets/a", "run run run run"),
        ("deny Edit(secrets/**)", "Bash echo x > secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "Bash cd secrets && echo x >> a", "no no no no"),
        ("deny Edit(secrets/**)", "Bash echo x | tee src/../secrets/a", "no no no no"),
        ("deny Edit(secrets/**)", "Bash cp a secrets/b", "no no no no"),
        ("deny Edit(secrets/**)", "Bash mv secrets/b a", "no no no no"),
        ("deny Edit(secrets/**)", "Bash mv secrets other", "no no no no"),
        ("deny Edit(secrets/**)", "Bash rm -r secrets", "no no no no"),
        ("deny Edit(secrets/in/**)", "Bash rm -r secrets", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash cp -t secrets a", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash cp --target-directory=secrets a", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash make", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash ./x", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash sed -i s/a/b/ other", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash git checkout .", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash curl -o x y", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash echo x > $Y", "ask ask no ask"),
        ("deny Edit(secrets/**)", "Bash echo x > other", "ask ask no run"),
        ("deny Edit(secrets/**)", "Bash cat secrets/a", "run run run run"),
        ("deny Edit(secrets/**) & allow Bash(make *)", "Bash make all", "run run no run"),
        ("deny Edit", "Edit a", "no no no no"),
        ("deny Write", "Bash touch a", "no no no no"),
        ("deny View(.env)", "View .env", "no no no no"),
        ("deny View(.env)", "View deep/down/.ENV", "no no no no"),
        ("deny Read(.env)", "View .env.example", "run run run run"),
        ("deny View(.env)", "Bash cat .env", "no no no no"),
        ("deny View(.env)", "Bash cat < ./src/../.env", "no no no no"),
        ("deny View(.env)", "Bash cp .env x", "no no no no"),
        ("deny View(.env)", "Bash ln -s .env x", "no no no no"),
        ("deny View(.env)", "Bash git show HEAD:.env", "no no no no"),
        ("deny View(.env)", "Bash python3 x.py", "ask ask no ask"),
        ("deny View(.env)", "Bash tar cf x .env", "ask ask no ask"),
        ("deny View(.env)", "FileOp .env", "no no no no"),
        ("deny View(.env)", "Edit .env", "ask ask no run"),
        ("deny Edit(secrets/**)", "FileOp secrets/a", "no no no no"),
        ("deny View(p)", "View src/a", "run run run run"),
        ("deny GrepTool", "GrepTool src", "no no no no"),
        ("deny GrepTool", "View src", "run run run run"),
        ("deny WebFetch(domain:evil.com)", "WebFetch evil.com", "no no no no"),
        ("deny WebFetch(domain:evil.com)", "WebFetch a.EVIL.com.", "no no no no"),
        ("deny WebFetch(domain:evil.com)", "WebFetch user@evil.com:80", "no no no no"),
        ("deny WebFetch(domain:evil.com)", "WebFetch notevil.com", "ask ask no run"),
        ("deny WebFetch(domain:evil.com)", "Bash curl evil.com", "ask ask no ask"),
        ("deny mcp__a", "MCP__A__b", "no no no no"),
        // The strictest wins, whoever says it.
        ("allow Bash(git *) & deny Bash(git push *)", "Bash git push", "no no no no"),
        ("allow Bash & ask Bash(git push *)", "Bash git push", "ask ask no ask"),
        ("ask Edit(Cargo.toml)", "Edit Cargo.toml", "ask ask no ask"),
        ("ask Bash(ls *)", "Bash ls src", "ask ask ask ask"),
        ("allow Edit(**) & ask Edit(src/**) & deny Edit(src/gen/**)", "Edit src/gen/a", "no no no no"),
        ("allow Edit(**) & ask Edit(src/**) & deny Edit(src/gen/**)", "Edit src/a", "ask ask no ask"),
        ("allow Edit(**) & ask Edit(src/**) & deny Edit(src/gen/**)", "Edit a", "run run no run"),
    ] {
        assert_eq!(words(rules, asked), expected, "{rules} | {asked} | {:?}", call(asked).1);
    }
}

#[test]
fn a_rule_is_about_where_its_links_lead_and_about_their_names() {
    let mut deny = rule("deny Edit(link/**)");
    deny.leads = Some("/p/real".into());
    let judged = |access: Access, named: &[PathBuf]| {
        let policy = Policy::new(&[deny.clone()], Path::new("/p"));
        policy.limit(&Asked { tool: "Edit", access: &access, named })
    };
    assert!(matches!(judged(Access::Write(vec!["/p/real/a".into()]), &[]), Some(Limit::Denied(_))));
    assert!(matches!(judged(Access::Write(vec!["/p/other/a".into()]), &["/p/link/a".into()]), Some(Limit::Denied(_))));
    assert_eq!(judged(Access::Write(vec!["/p/other/a".into()]), &[]), None);
    // A link in the project does not take a rule that allows along with it.
    let mut allow = rule("allow Edit(src/**)");
    allow.leads = Some("/home/u/.ssh".into());
    assert!(!Policy::new(&[allow], Path::new("/p")).allows_write(Path::new("/home/u/.ssh/authorized_keys"), Path::new("/p")));
}

#[test]
fn mistakes_are_told_with_what_is_right() {
    for (text, expected) in [
        ("Bsh(ls)", "there is no tool \"Bsh\". Did you mean \"Bash\"?"),
        ("Frobnicate", "there is no tool \"Frobnicate\"."),
        ("Bash(ls", "the closing parenthesis is missing"),
        ("Bash ls)", "a parenthesis is missing"),
        ("Bash(npm run test:*)", "what may follow is written with a blank before it: `Bash(npm run test *)`"),
        ("Bash(a * b)", "* may only be the last word; the others stand for themselves"),
        ("Bash(a > b)", "a pattern can't set or redirect anything"),
        ("Bash()", "a pattern is a program and its words"),
        ("Edit()", "a path is missing between the parentheses"),
        ("Edit(../x)", "`..` leads nowhere in a rule: write the path from the project's folder, from / or from ~/"),
        ("Edit([)", "not a glob: unclosed character class; missing ']'"),
        ("WebFetch(docs.rs)", "hosts are written `domain:docs.rs`"),
        ("WebFetch(https://docs.rs)", "hosts are written `domain:docs.rs`"),
        ("WebFetch(domain:)", "a domain is a name such as docs.rs, or *.docs.rs for what is below it"),
        ("Todo(x)", "a rule about Todo takes no pattern"),
        ("mcp__", "a server's tool is written mcp__server__tool, all of them mcp__server"),
        ("mcp__a__*b", "a server's tool is written mcp__server__tool, all of them mcp__server"),
    ] {
        assert_eq!(check(Ruling::Deny, text), Err(expected.into()), "{text}");
    }
    // Whoever has such a rule all the same is asked about everything.
    let broken = Rule::new(Ruling::Deny, RuleSource::Project, "Bsh(ls)");
    for mode in Mode::ALL {
        assert_eq!(verdict(mode, std::slice::from_ref(&broken), &[], &call("View a")), Verdict::Ask);
    }
}

/// Whatever a pattern covers it refuses, too.
fn patterns() -> impl Strategy<Value = String> {
    let words =
        prop::sample::select(vec!["git", "push", "rm", "cargo", "test", "-f", "-C", "x", "make", "echo", "cat", ".env", "sh", "-c"]);
    (prop::collection::vec(words, 1..4), any::<bool>()).prop_map(|(words, open)| words.join(" ") + if open { " *" } else { "" })
}

fn paths() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "src/**",
        "secrets/**",
        "secrets",
        ".env",
        "**/.env",
        "*.rs",
        "**",
        "/p/src/a.rs",
        "/q/**",
        "src/*",
        "src/{a,b}.rs",
        ".git/**",
        "Secrets/a",
        "~/x/**",
    ])
    .prop_map(str::to_owned)
}

fn rules() -> impl Strategy<Value = Rule> {
    let text = prop_oneof![
        patterns().prop_map(|p| format!("Bash({p})")),
        paths().prop_map(|p| format!("Edit({p})")),
        paths().prop_map(|p| format!("View({p})")),
        prop::sample::select(vec!["Bash", "Edit", "View", "LS", "WebFetch", "WebFetch(domain:a.b)", "mcp__a", "mcp__a__b", "Nonsense"])
            .prop_map(str::to_owned),
    ];
    (prop::sample::select(Ruling::ALL.to_vec()), text).prop_map(|(ruling, text)| Rule::new(ruling, RuleSource::User, text))
}

fn calls() -> impl Strategy<Value = (String, Access)> {
    let line = prop::sample::select(vec![
        "ls",
        "cat .env",
        "git push -f x",
        "rm -f x",
        "cargo test",
        "cargo test -f > x",
        "make",
        "make x && git push",
        "sh -c 'rm x'",
        "$X",
        "echo x > secrets/a",
        "cat src/a.rs",
        "git -C x push",
        "cp .env x",
        "git push $(cat x)",
        "X=1 make",
        "xargs rm",
        "(",
        "while a; do rm x; done",
    ]);
    let path = || prop::sample::select(vec!["src/a.rs", "secrets/a", ".env", "/q/a", ".git/config", "a/b/.env", "SECRETS/A"]);
    prop_oneof![
        line.prop_map(|line| call(&format!("Bash {line}"))),
        path().prop_map(|path| call(&format!("Edit {path}"))),
        path().prop_map(|path| call(&format!("View {path}"))),
        prop::sample::select(vec!["WebFetch a.b", "WebFetch c.d", "mcp__a__b", "mcp__c__d"]).prop_map(call),
    ]
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Forbid(_) => 2,
    }
}

fn grants() -> impl Strategy<Value = Vec<Grant>> {
    prop::collection::vec(
        prop::sample::select(vec![Grant::Edits, Grant::Command("make".into()), Grant::Command("$X".into()), Grant::Host("a.b".into())]),
        0..3,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn who_forbids_or_asks_never_permits(
        some in prop::collection::vec(rules(), 0..6), at in any::<prop::sample::Index>(), more in rules(), call in calls(), grants in grants(),
    ) {
        for mode in Mode::ALL {
            let before = strictness(&verdict(mode, &some, &grants, &call));
            let mut with = some.clone();
            with.insert(at.index(some.len() + 1), more.clone());
            let after = strictness(&verdict(mode, &with, &grants, &call));
            if more.ruling == Ruling::Allow {
                // Who allows takes at the most a question away, never a refusal.
                prop_assert!(after <= before && (before < 2 || after == 2), "{more}: {before} → {after}");
            } else {
                prop_assert!(after >= before, "{more}: {before} → {after}");
            }
        }
    }

    #[test]
    fn no_rule_lets_run_what_it_does_not_know(some in prop::collection::vec(rules(), 0..8), call in calls()) {
        if let Access::Run { parts, .. } = &call.1 {
            let opaque = parts.iter().any(|part| part.words.is_empty() && !part.is_read());
            for mode in [Mode::Normal, Mode::AutoAccept] {
                prop_assert!(!opaque || verdict(mode, &some, &[], &call) != Verdict::Allow, "{some:?}");
            }
        }
        if !call.1.changes_nothing() {
            prop_assert!(matches!(verdict(Mode::Plan, &some, &[], &call), Verdict::Forbid(_)));
        }
    }

    #[test]
    fn what_is_covered_is_spoken_of(pattern in patterns(), other in patterns(), path in paths(), file in "[a-z./A-Z]{1,12}") {
        if let (Ok(patterns), Access::Run { parts, .. }) = (crate::command_line::parse_patterns(&pattern), run(other.trim_end_matches(" *"))) {
            for part in &parts {
                for pattern in &patterns {
                    prop_assert!(!command_line::covers(pattern, part) || command_line::speaks_of(pattern, part) == Speaks::Yes);
                }
            }
        }
        let file = Plain.resolve(&Path::new("/p").join(&file)).unwrap();
        if let Ok(paths) = paths::Paths::parse(&path, Path::new("/p"), Some(Path::new("/home/u/x"))) {
            prop_assert!(!paths.covers(&file) || paths.covers_widely(&file));
        }
    }
}
