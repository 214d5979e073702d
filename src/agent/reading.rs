//! What comes from a model or its server, read: arguments as it wrote them, errors as they are best explained.

use super::repair;
use crate::protocol::{ProviderError, ProviderErrorKind};
use serde_json::Value;

/// Models write no arguments at all as readily as `{}`.
/// What is not quite JSON comes with what was wrong with it; `whole`: nothing of it was cut off.
pub fn parse_arguments(text: &str, whole: bool) -> Result<(Value, Option<String>), String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok((Value::Object(Default::default()), None));
    }
    let parsed = serde_json::from_str(text);
    let repaired = || repair::repaired(text).filter(|_| whole).map(|(value, wrong)| (value, Some(wrong)));
    match parsed {
        Ok(value @ Value::Object(_)) => Ok((value, None)),
        Ok(_) => repaired().ok_or_else(|| "the arguments must be a JSON object".into()),
        Err(error) => {
            if let Some(repaired) = repaired() {
                return Ok(repaired);
            }
            let start: String = text.chars().take(200).collect();
            Err(format!("the arguments are not valid JSON ({error}); they began with: {start}"))
        }
    }
}

/// Arguments as they are told again.
pub fn short(args: &Value) -> String {
    let text = args.to_string();
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The argument that matters, as far as it can be told without the tool.
pub fn title(arguments: &Value) -> String {
    let named = ["command", "file_path", "path", "pattern"].iter().find_map(|name| arguments.get(name)?.as_str());
    named.unwrap_or_default().chars().take(200).collect()
}

pub fn hint_for(error: &ProviderError) -> Option<&'static str> {
    match error.kind {
        ProviderErrorKind::Unauthorised => Some("check the provider's API key"),
        ProviderErrorKind::Unreachable => Some("is the model server running, and is its address right?"),
        ProviderErrorKind::NotConfigured => Some("/model chooses a model; /setup adds a provider"),
        ProviderErrorKind::Busy => Some("the server is overloaded: try again later, or choose another model with /model"),
        _ => None,
    }
}

/// `1 file`, `3 files`.
pub fn files(n: usize) -> String {
    if n == 1 { "1 file".into() } else { format!("{n} files") }
}
