//! Which tools a model is told of: a small one chooses better among few. What it is not told of it may call all the same.

use crate::protocol::{ToolProfile, ToolSpec};
use std::sync::Arc;

const MINIMAL: [&str; 7] = ["View", "Edit", "Replace", "Bash", "GlobTool", "GrepTool", "LS"];
const NANO: [&str; 5] = ["View", "Edit", "Replace", "Bash", "GrepTool"];

pub fn offered(profile: ToolProfile, model: &str, tools: &Arc<Vec<ToolSpec>>) -> Arc<Vec<ToolSpec>> {
    let only = |names: &[&str]| Arc::new(tools.iter().filter(|tool| names.contains(&tool.name.as_str())).cloned().collect());
    match profile {
        ToolProfile::Full => tools.clone(),
        ToolProfile::Minimal => only(&MINIMAL),
        ToolProfile::Nano => only(&NANO),
        ToolProfile::Auto => match billions(model) {
            Some(size) if size <= 4.0 => only(&NANO),
            Some(size) if size <= 15.0 => only(&MINIMAL),
            _ => tools.clone(),
        },
    }
}

/// Parameters by the model's name, in billions: the largest number before a `b`, or before an `m` for the tiny ones.
fn billions(model: &str) -> Option<f64> {
    let lower = model.to_lowercase();
    let numbers = |unit: char, factor: f64| {
        let ends = lower.match_indices(unit).filter(|(at, _)| !lower[at + 1..].starts_with(|c: char| c.is_alphanumeric()));
        let before = |(at, _): (usize, &str)| {
            let start = lower[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
            lower[start..at].trim_start_matches('.').parse::<f64>().ok()
        };
        ends.filter_map(before).map(|number| number * factor).fold(None, |most: Option<f64>, n| Some(most.map_or(n, |m| m.max(n))))
    };
    numbers('b', 1.0).or_else(|| numbers('m', 0.001))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_model_is_in_its_name() {
        for (name, size) in [
            ("qwen2.5-coder:7b", Some(7.0)),
            ("Qwen/Qwen3-30B-A3B-Instruct", Some(30.0)),
            ("llama3.2:1b-instruct-q4_K_M", Some(1.0)),
            ("gemma3:270m", Some(0.27)),
            ("phi-3.5B", Some(3.5)),
            ("mixtral-8x7b", Some(7.0)),
            ("gpt-5", None),
            ("claude-opus-4-1", None),
            ("b", None),
            ("1bit", None),
            ("ü7b", Some(7.0)),
        ] {
            assert_eq!(billions(name), size, "{name}");
        }
    }

    #[test]
    fn small_models_are_told_of_fewer_tools() {
        let spec =
            |name: &str| ToolSpec { name: name.into(), aliases: vec![], description: String::new(), schema: serde_json::Value::Null };
        let all = Arc::new(["Bash", "View", "Edit", "Replace", "LS", "GrepTool", "GlobTool", "Todo"].map(spec).to_vec());
        let count = |profile, model: &str| offered(profile, model, &all).len();
        assert_eq!([count(ToolProfile::Full, "x:1b"), count(ToolProfile::Minimal, "x"), count(ToolProfile::Nano, "x")], [8, 7, 5]);
        assert_eq!(["x:3b", "x:4b", "x:8b", "x:14b", "x:32b", "gpt-5"].map(|model| count(ToolProfile::Auto, model)), [5, 5, 7, 7, 8, 8]);
    }
}
