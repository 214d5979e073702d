//! A command's parts, as they are read: each part of a chain on its own row. For the eye only; what runs is the command as it is.

/// The parts of `a && b; c | d`, each with the operator that ends it; pipes stay together. A command that is not plainly a chain (more
/// than one line, a here-document, a loop, a quote without its end) is one part.
pub fn parts(command: &str) -> Vec<&str> {
    let compound = ["for", "while", "until", "if", "case", "select", "function"];
    let whole = vec![command];
    if command.contains(['\n', '\r']) || command.contains("<<") || command.split_whitespace().any(|word| compound.contains(&word)) {
        return whole;
    }
    let (mut parts, mut from, mut depth) = (vec![], 0, 0_usize);
    let (mut quote, mut comment) = (None, false);
    let mut chars = command.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            _ if comment => {}
            (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()),
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '#') if before.is_whitespace() => comment = true,
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, ';' | '&' | '|') if depth == 0 => {
                let double = chars.next_if(|(_, next)| *next == c).is_some();
                // A pipe, a background job or a redirection ends no part that is worth a row.
                if double && c != ';' || !double && c == ';' {
                    let end = at + if double { 2 } else { 1 };
                    parts.push(command[from..end].trim());
                    from = end;
                }
            }
            _ => {}
        }
        before = c;
    }
    if quote.is_some() || depth > 0 {
        return whole;
    }
    let rest = command[from..].trim();
    if !rest.is_empty() {
        parts.push(rest);
    }
    if parts.len() > 1 { parts } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chains_are_parted_and_nothing_else_is() {
        for (command, expected) in [
            ("make", &["make"][..]),
            ("cd a && make -j2 || echo no; rm -f x", &["cd a &&", "make -j2 ||", "echo no;", "rm -f x"]),
            ("a | b && c", &["a | b &&", "c"]),
            ("a 2>&1 && b & c", &["a 2>&1 &&", "b & c"]),
            ("echo 'a && b' \"c; d\" \\; && (e; f)", &["echo 'a && b' \"c; d\" \\; &&", "(e; f)"]),
            ("a; b;", &["a;", "b;"]),
            ("a # b; c", &["a # b; c"]),
            ("echo a#b; c", &["echo a#b;", "c"]),
            ("for i in 1 2; do echo $i; done", &["for i in 1 2; do echo $i; done"]),
            ("cat <<E; b", &["cat <<E; b"]),
            ("echo 'open; b", &["echo 'open; b"]),
            ("a;\nb", &["a;\nb"]),
            ("x=$(a; b); c", &["x=$(a; b);", "c"]),
        ] {
            assert_eq!(parts(command), expected, "{command}");
        }
    }

    proptest! {
        #[test]
        fn nothing_of_a_command_is_lost(command in "[a-c '\"`\\\\;&|(){}#$<é]{0,30}") {
            let all = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(all(&parts(&command).concat()), all(&command));
        }
    }
}
