//! Arguments that are not quite JSON, read as they were meant, where only one thing can be meant.
//!
//! Nothing that is valid JSON comes here. What would have to be guessed is refused: a quotation mark too many, a text or a list
//! that was cut off.

use serde_json::{Map, Value};

const DEEPEST: usize = 64;

/// The object, and what was wrong with it, in a few words.
pub fn repaired(text: &str) -> Option<(Value, String)> {
    let mut wrong = vec![];
    let inside = unfenced(text.trim(), &mut wrong);
    let mut reader = Reader { rest: inside, wrong, depth: 0 };
    let value = reader.value()?;
    reader.blanks();
    if !reader.rest.is_empty() {
        if !reader.rest.chars().all(|c| matches!(c, '}' | ']') || c.is_whitespace()) {
            return None;
        }
        reader.note("a bracket too many at the end");
    }
    match value {
        Value::Object(_) => Some((value, reader.wrong.join(", "))),
        // An object that was written as a text.
        Value::String(text) => {
            let object = serde_json::from_str(&text).ok().filter(Value::is_object)?;
            reader.note("the object stood in quotes");
            Some((object, reader.wrong.join(", ")))
        }
        _ => None,
    }
}

fn unfenced<'a>(text: &'a str, wrong: &mut Vec<&'static str>) -> &'a str {
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    wrong.push("a fence around it");
    inside.strip_prefix("json").unwrap_or(inside).trim()
}

struct Reader<'a> {
    rest: &'a str,
    wrong: Vec<&'static str>,
    depth: usize,
}

impl Reader<'_> {
    fn note(&mut self, what: &'static str) {
        if !self.wrong.contains(&what) {
            self.wrong.push(what);
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, c: char) -> bool {
        self.blanks();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.blanks();
        match self.rest.chars().next()? {
            '{' => self.deeper(Self::object),
            '[' => self.deeper(Self::array),
            '"' | '\'' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        self.depth += 1;
        let value = if self.depth > DEEPEST { None } else { read(self) };
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value> {
        self.eat('{');
        let mut map = Map::new();
        loop {
            if self.eat('}') {
                if !map.is_empty() {
                    self.note("a comma too many");
                }
                return Some(Value::Object(map));
            }
            let key = match self.rest.chars().next()? {
                '"' | '\'' => self.string()?,
                _ => self.bare_key()?,
            };
            if !self.eat(':') {
                return None;
            }
            let text = matches!(self.rest.trim_start().chars().next(), Some('"' | '\'' | '{' | '['));
            let value = self.value()?;
            map.insert(key, value);
            if self.eat('}') {
                return Some(Value::Object(map));
            }
            if self.eat(',') {
                continue;
            }
            // Only the very last bracket may be missing, and only behind something that has an end of its own.
            if self.rest.is_empty() && self.depth == 1 && text {
                self.note("the last bracket was missing");
                return Some(Value::Object(map));
            }
            return None;
        }
    }

    fn array(&mut self) -> Option<Value> {
        self.eat('[');
        let mut items = vec![];
        loop {
            if self.eat(']') {
                if !items.is_empty() {
                    self.note("a comma too many");
                }
                return Some(Value::Array(items));
            }
            items.push(self.value()?);
            if self.eat(']') {
                return Some(Value::Array(items));
            }
            if !self.eat(',') {
                return None;
            }
        }
    }

    fn bare_key(&mut self) -> Option<String> {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))?;
        let (key, rest) = self.rest.split_at(end);
        if key.is_empty() {
            return None;
        }
        self.rest = rest;
        self.note("a name without quotes");
        Some(key.into())
    }

    /// Numbers, and the words that stand for themselves, Python's as well.
    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| c.is_whitespace() || ",}]".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = match word {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" | "undefined" => Value::Null,
            word => serde_json::from_str(word).ok()?,
        };
        if matches!(word, "True" | "False" | "None" | "undefined") {
            self.note("a word of another language");
        }
        self.rest = rest;
        Some(value)
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        if quote == '\'' {
            self.note("single quotes");
        }
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return Some(text);
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        // As far as it goes: a pair of them is one character.
                        let mut digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let high =
                            |digits: &str| digits.get(..2).is_some_and(|d| matches!(d.to_lowercase().as_str(), "d8" | "d9" | "da" | "db"));
                        if high(&digits) {
                            digits.extend(chars.by_ref().take(6).map(|(_, c)| c));
                        }
                        text.push_str(&serde_json::from_str::<String>(&format!("\"\\u{digits}\"")).ok()?);
                    }
                    c @ ('"' | '\\' | '/') => text.push(c),
                    '\'' => text.push('\''),
                    c => {
                        self.note("a backslash that escapes nothing");
                        text.extend(['\\', c]);
                    }
                },
                c if c.is_control() => {
                    self.note("a line end or tab inside quotes");
                    text.push(c);
                }
                c => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_can_only_mean_one_thing_is_read() {
        for (text, expected, wrong) in [
            (r#"{"a": 1,}"#, json!({"a": 1}), "a comma too many"),
            (r#"{"a": [1, 2,], "b": {"c": 1,},}"#, json!({"a": [1, 2], "b": {"c": 1}}), "a comma too many"),
            ("{'a': 'x \"y\"'}", json!({"a": "x \"y\""}), "single quotes"),
            ("{a: 'it\\'s'}", json!({"a": "it's"}), "a name without quotes, single quotes"),
            (r#"{"a": True, "b": None}"#, json!({"a": true, "b": null}), "a word of another language"),
            ("{\"a\": \"one\ntwo\tthree\"}", json!({"a": "one\ntwo\tthree"}), "a line end or tab inside quotes"),
            (r#"{"a": "\d+ \u00fc \ud834\udd1e \n"}"#, json!({"a": "\\d+ ü 𝄞 \n"}), "a backslash that escapes nothing"),
            ("```json\n{\"a\": 1}\n```", json!({"a": 1}), "a fence around it"),
            (r#"{"a": "x""#, json!({"a": "x"}), "the last bracket was missing"),
            (r#"{"a": 1}}"#, json!({"a": 1}), "a bracket too many at the end"),
            (r#""{\"a\": 1}""#, json!({"a": 1}), "the object stood in quotes"),
        ] {
            assert_eq!(repaired(text), Some((expected, wrong.into())), "{text}");
        }
    }

    #[test]
    fn what_would_have_to_be_guessed_is_not() {
        for text in [
            "",
            "{",
            r#"{"a""#,
            r#"{"a": "x"#,
            r#"{"a": 1"#,
            r#"{"a": [1, 2"#,
            r#"{"a": {"b": "c"}, "d": {"e": "f""#,
            r#"{"a": "echo "hi" there"}"#,
            r#"{"a": "x" "b": "y"}"#,
            "{'a': 'it's'}",
            r#"{"a": 1} {"b": 2}"#,
            r#"{"a": \ud834}"#,
            r#"{"a": "\ud834"}"#,
            "[1]",
            "rm -rf /",
            "{\"a\": yes}",
        ] {
            assert_eq!(repaired(text), None, "{text}");
        }
        assert_eq!(repaired(&"{\"a\":".repeat(100_000)), None);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::String)
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn valid_json_means_what_it_means(value in prop::collection::vec((any::<String>(), values()), 0..5)) {
            let value = Value::Object(value.into_iter().collect());
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(repaired(&text), Some((value.clone(), String::new())));
                // With something cut off it is the same or nothing, never something else in any member.
                for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                    let Some((read, wrong)) = repaired(&text[..end]) else { continue };
                    // Save for the members behind the last one, which nobody can know of.
                    let (Value::Object(read), Value::Object(all)) = (&read, &value) else { unreachable!() };
                    prop_assert_eq!(wrong, "the last bracket was missing", "{}", &text[..end]);
                    prop_assert!(read.iter().zip(all).all(|(a, b)| a == b) && read.len() <= all.len(), "{}", &text[..end]);
                }
            }
        }
    }
}
