//! Reads the arguments of a call, with errors that tell a model what to send instead.
//!
//! What is unmistakable is accepted: a number in quotes, `null` for an argument that is left out.

use crate::protocol::ToolError;
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub struct Args<'a> {
    tool: &'a str,
    value: &'a Value,
}

impl<'a> Args<'a> {
    pub fn new(tool: &'a str, value: &'a Value) -> Result<Self, ToolError> {
        match value {
            Value::Object(_) | Value::Null => Ok(Args { tool, value }),
            other => Err(ToolError(format!("{tool}: the arguments have to be one JSON object, but are {}.", kind(other)))),
        }
    }

    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.value.get(name).filter(|v| !v.is_null())
    }

    pub fn text(&self, name: &str) -> Result<&'a str, ToolError> {
        self.opt_text(name)?.ok_or_else(|| self.missing(name, "a string"))
    }

    pub fn opt_text(&self, name: &str) -> Result<Option<&'a str>, ToolError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A string that must not be blank.
    pub fn filled(&self, name: &str) -> Result<&'a str, ToolError> {
        let text = self.text(name)?;
        if text.trim().is_empty() { Err(ToolError(format!("{}: `{name}` is empty.", self.tool))) } else { Ok(text) }
    }

    pub fn opt_number(&self, name: &str) -> Result<Option<u64>, ToolError> {
        const WANTED: &str = "a whole number of 0 or more";
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = match value {
            Value::Number(n) => n.as_u64().or_else(|| n.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0 && *f < 1e15).map(|f| f as u64)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.wrong(name, WANTED, value))
    }

    pub fn flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(b)) => Ok(*b),
            Some(Value::String(s)) if s == "true" || s == "false" => Ok(s == "true"),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Also takes a single string for a list of one, and a list that was written as JSON in a string.
    pub fn list(&self, name: &str) -> Result<Vec<String>, ToolError> {
        const WANTED: &str = "a list of strings";
        let Some(value) = self.get(name) else { return Ok(vec![]) };
        match value {
            Value::String(text) => match serde_json::from_str::<Vec<String>>(text) {
                Ok(list) => Ok(list),
                Err(_) => Ok(vec![text.clone()]),
            },
            Value::Array(items) => items.iter().map(|i| i.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name, WANTED, i))).collect(),
            other => Err(self.wrong(name, WANTED, other)),
        }
    }

    pub fn missing(&self, name: &str, wanted: &str) -> ToolError {
        let given = match self.value {
            Value::Object(map) if !map.is_empty() => {
                format!("given were: {}", map.keys().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", "))
            }
            _ => "no arguments were given".into(),
        };
        ToolError(format!("{}: `{name}` ({wanted}) is missing; {given}.", self.tool))
    }

    fn wrong(&self, name: &str, wanted: &str, got: &Value) -> ToolError {
        ToolError(format!("{}: `{name}` has to be {wanted}, but is {}.", self.tool, kind(got)))
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the string {:?}", s.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_say_what_to_send() {
        let value = json!({"path": 3, "limit": "x"});
        let args = Args::new("View", &value).unwrap();
        assert_eq!(args.text("file_path").unwrap_err().0, "View: `file_path` (a string) is missing; given were: `path`, `limit`.");
        assert_eq!(args.text("path").unwrap_err().0, "View: `path` has to be a string, but is the number 3.");
        assert_eq!(
            args.opt_number("limit").unwrap_err().0,
            "View: `limit` has to be a whole number of 0 or more, but is the string \"x\"."
        );
        assert!(Args::new("View", &json!([1])).is_err());
    }

    #[test]
    fn takes_what_is_unmistakable() {
        let value = json!({"a": "12", "b": 3.0, "c": null, "d": "[\"x\",\"y\"]", "e": "z", "f": "true", "g": -1});
        let args = Args::new("T", &value).unwrap();
        assert_eq!(args.opt_number("a"), Ok(Some(12)));
        assert_eq!(args.opt_number("b"), Ok(Some(3)));
        assert_eq!(args.opt_number("c"), Ok(None));
        assert_eq!(args.list("d").unwrap(), ["x", "y"]);
        assert_eq!(args.list("e").unwrap(), ["z"]);
        assert_eq!(args.flag("f"), Ok(true));
        assert!(args.opt_number("g").is_err());
    }
}
