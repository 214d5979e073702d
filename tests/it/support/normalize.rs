//! What differs from run to run, made the same: paths, times, ids, counts of milliseconds.

use super::Workspace;

pub fn normalize(text: &str, workspace: &Workspace) -> String {
    let root = workspace.root().display().to_string();
    let mut out = text.replace(&root, "[ROOT]").replace(&workspace.home().display().to_string(), "[HOME]");
    // `2026-11-30`
    out = replace_shape(&out, "dddd-dd-dd", "[DATE]");
    // Runs of hex digits: ids of checkpoints and sessions.
    replace_shape(&out, "hhhhhhhhhhhh", "[ID]")
}

/// `d` is a digit, `h` a lower-case hex digit; a longer run of the last kind belongs to it.
fn replace_shape(text: &str, shape: &str, with: &str) -> String {
    let fits = |kind: char, c: char| match kind {
        'd' => c.is_ascii_digit(),
        'h' => c.is_ascii_digit() || matches!(c, 'a'..='f'),
        other => c == other,
    };
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::new(), 0);
    let last = shape.chars().last().unwrap();
    while at < chars.len() {
        let length = shape.chars().count();
        if at + length <= chars.len() && shape.chars().zip(&chars[at..]).all(|(kind, c)| fits(kind, *c)) {
            at += length;
            while at < chars.len() && fits(last, chars[at]) {
                at += 1;
            }
            out += with;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

#[test]
fn dates_and_ids_become_names() {
    assert_eq!(replace_shape("on 2026-11-30, so", "dddd-dd-dd", "[DATE]"), "on [DATE], so");
    assert_eq!(replace_shape("id 0123456789abcdef01 x abc", "hhhhhhhhhhhh", "[ID]"), "id [ID] x abc");
}
