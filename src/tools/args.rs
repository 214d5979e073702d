//! The arguments of a call as its tool takes them: they have been read by the tool's schema before ([`super::schema`]).
//!
//! What a schema does not say, such as that a text must not be blank, has its errors here.

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
        let number = |value: &Value| value.as_u64().ok_or_else(|| self.wrong(name, "a whole number of 0 or more", value));
        self.get(name).map(number).transpose()
    }

    pub fn flag(&self, name: &str) -> Result<bool, ToolError> {
        let flag = |value: &Value| value.as_bool().ok_or_else(|| self.wrong(name, "true or false", value));
        Ok(self.get(name).map(flag).transpose()?.unwrap_or_default())
    }

    pub fn list(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let text = |item: &Value| item.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name, "a list of strings", item));
        match self.get(name) {
            None => Ok(vec![]),
            Some(Value::Array(items)) => items.iter().map(text).collect(),
            Some(other) => Err(self.wrong(name, "a list of strings", other)),
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

pub(super) fn kind(value: &Value) -> String {
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
}
