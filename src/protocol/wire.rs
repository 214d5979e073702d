//! How a provider is spoken to: the wire format, and the parameters that its models are asked with.

use serde::{Deserialize, Serialize};

/// `sdkProvider` of a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireFormat {
    /// OpenAI's chat completions, which nearly every server speaks.
    #[default]
    #[serde(rename = "openai-compatible")]
    Completions,
    #[serde(rename = "openai")]
    Responses,
    #[serde(rename = "anthropic")]
    Anthropic,
    #[serde(rename = "google")]
    Google,
    #[serde(rename = "ollama")]
    Ollama,
}

impl WireFormat {
    /// The names by which it is chosen; the first of each is the one that is written.
    pub const NAMES: [(&str, WireFormat); 8] = [
        ("openai-compatible", WireFormat::Completions),
        ("openai", WireFormat::Responses),
        ("openai-responses", WireFormat::Responses),
        ("anthropic", WireFormat::Anthropic),
        ("google", WireFormat::Google),
        ("gemini", WireFormat::Google),
        ("ollama", WireFormat::Ollama),
        ("openai-chat", WireFormat::Completions),
    ];

    pub fn from_name(name: &str) -> Option<WireFormat> {
        let name = name.trim().to_ascii_lowercase();
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// Where the format's own maker serves it. Anybody may serve chat completions.
    pub fn default_url(self) -> Option<&'static str> {
        match self {
            WireFormat::Completions => None,
            WireFormat::Responses => Some("https://api.openai.com/v1"),
            WireFormat::Anthropic => Some("https://api.anthropic.com/v1"),
            WireFormat::Google => Some("https://generativelanguage.googleapis.com/v1beta"),
            WireFormat::Ollama => Some("http://localhost:11434"),
        }
    }

    /// The variables that may hold the key of the maker's own server.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            WireFormat::Completions | WireFormat::Ollama => &[],
            WireFormat::Responses => &["OPENAI_API_KEY"],
            WireFormat::Anthropic => &["ANTHROPIC_API_KEY"],
            WireFormat::Google => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        }
    }

    /// Is this address on the host of [`Self::default_url`]? A key from the environment goes nowhere else.
    pub fn is_at_home(self, address: &str) -> bool {
        let Some(host) = self.default_url().and_then(|url| url.split('/').nth(2)) else { return false };
        let rest = address.trim().strip_prefix("https://").and_then(|rest| rest.strip_prefix(host));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Tokens that a request is given where nobody has said how many there are. Only Ollama has to be told; its own default
    /// is less than the tools alone take.
    pub fn default_window(self) -> Option<u64> {
        (self == WireFormat::Ollama).then_some(16_384)
    }

    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn is_default(&self) -> bool {
        *self == WireFormat::default()
    }
}

/// What a model is asked with; what is not set is not sent. Under the names of Nanocoder's `modelParameters`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Parameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// Tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`: which of them there are is the model's affair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Tokens; outranks the effort where a format has both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_budget: Option<u64>,
    /// `auto`, `concise` or `detailed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_summary: Option<String>,
}

impl Parameters {
    pub fn is_empty(&self) -> bool {
        *self == Parameters::default()
    }

    /// Fills what is not set from `lower`.
    pub fn merge(&mut self, lower: &Parameters) {
        self.temperature = self.temperature.or(lower.temperature);
        self.top_p = self.top_p.or(lower.top_p);
        self.top_k = self.top_k.or(lower.top_k);
        self.max_tokens = self.max_tokens.or(lower.max_tokens);
        if self.stop.is_empty() {
            self.stop.clone_from(&lower.stop);
        }
        self.frequency_penalty = self.frequency_penalty.or(lower.frequency_penalty);
        self.presence_penalty = self.presence_penalty.or(lower.presence_penalty);
        // Together: a budget that somebody set for all must not outrank an effort that was set for one.
        if self.reasoning_effort.is_none() && self.reasoning_budget.is_none() {
            self.reasoning_effort.clone_from(&lower.reasoning_effort);
            self.reasoning_budget = lower.reasoning_budget;
        }
        if self.reasoning_summary.is_none() {
            self.reasoning_summary.clone_from(&lower.reasoning_summary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_from_the_environment_goes_home_only() {
        let anthropic = WireFormat::Anthropic;
        for home in ["https://api.anthropic.com", "https://api.anthropic.com/v1", " https://api.anthropic.com/v1/ "] {
            assert!(anthropic.is_at_home(home), "{home}");
        }
        for other in [
            "http://api.anthropic.com/v1",
            "https://api.anthropic.com.evil.example/v1",
            "https://api.anthropic.com@evil.example/",
            "https://api.anthropic.com\\@evil.example/",
            "https://api.anthropic.com:8443/",
            "https://evil.example/https://api.anthropic.com/",
            "https://api.openai.com/v1",
            "",
        ] {
            assert!(!anthropic.is_at_home(other), "{other}");
        }
        assert!(!WireFormat::Completions.is_at_home("https://api.openai.com/v1"));
    }

    #[test]
    fn every_format_is_written_by_the_name_that_is_read() {
        for (name, format) in WireFormat::NAMES {
            assert_eq!(WireFormat::from_name(name), Some(format));
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{}\"", format.name()));
        }
        assert_eq!(WireFormat::from_name(" Anthropic "), Some(WireFormat::Anthropic));
        assert_eq!(WireFormat::from_name("telegraph"), None);
    }

    #[test]
    fn what_is_set_for_one_outranks_what_is_set_for_all() {
        let all = Parameters { temperature: Some(1.0), reasoning_budget: Some(9), stop: vec!["x".into()], ..Default::default() };
        let mut one = Parameters { temperature: Some(0.0), reasoning_effort: Some("low".into()), ..Default::default() };
        one.merge(&all);
        assert_eq!((one.temperature, one.reasoning_budget, one.stop.len()), (Some(0.0), None, 1));
    }
}
