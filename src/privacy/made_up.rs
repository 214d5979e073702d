//! What stands in the place of a secret and is none: examples, references, names of types.

/// Words that are written where a secret would be.
const WORDS: [&str; 62] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "apikey",
    "api_key",
    "api-key",
    "key",
    "string",
    "str",
    "text",
    "bytes",
    "number",
    "integer",
    "boolean",
    "bool",
    "object",
    "array",
    "null",
    "none",
    "nil",
    "undefined",
    "unknown",
    "any",
    "true",
    "false",
    "required",
    "optional",
    "invalid",
    "missing",
    "incorrect",
    "wrong",
    "empty",
    "default",
    "changeme",
    "change_me",
    "change-me",
    "changeit",
    "replaceme",
    "placeholder",
    "example",
    "dummy",
    "sample",
    "todo",
    "fixme",
    "redacted",
    "removed",
    "hidden",
    "masked",
    "censored",
    "foobar",
    "testing",
    "username",
    "user",
    "value",
    "credentials",
];

/// Is this what an example has instead of a secret?
pub fn is_made_up(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    if WORDS.contains(&lower.as_str()) {
        return true;
    }
    let starts =
        ["your", "my_", "{", "my-", "mypass", "<", "${", "$(", "{{", "%{", "enc[", "[secret:", "os.environ", "process.env", "env."];
    let holds = [
        "xxxx",
        "****",
        "....",
        "••••",
        "example",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "your_",
        "your-",
        "replace_",
        "replace-",
        "insert_",
        "insert-",
        "redacted",
        "dummy",
    ];
    if starts.iter().any(|start| lower.starts_with(start)) || holds.iter().any(|part| lower.contains(part)) || lower.contains('…') {
        return true;
    }
    let mut seen = [false; 256];
    bytes.iter().for_each(|b| seen[usize::from(*b)] = true);
    let kinds = seen.iter().filter(|there| **there).count();
    kinds <= if bytes.len() >= 20 { 4 } else { 2 }
}

/// Capitals, small letters and digits.
pub fn is_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}
