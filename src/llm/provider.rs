//! What every model server looks like to the rest of the program.
//!
//! A stream never fails to start; its last item is `Done` or `Failed`, and nothing follows it; dropping it aborts the request.

use crate::protocol::{ModelInfo, ProviderError, ProviderErrorKind, ProviderSettings, Request, StreamItem, WireFormat};
use futures::{future::BoxFuture, stream::BoxStream};

pub trait Provider: Send + Sync {
    /// The models that can be asked for, the configured ones first.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>>;

    fn stream(&self, request: Request) -> BoxStream<'static, StreamItem>;
}

pub(super) fn error(kind: ProviderErrorKind, message: impl Into<String>) -> ProviderError {
    ProviderError { kind, message: message.into(), status: None, retry_after: None }
}

/// What the user can do about it, one sentence each.
pub fn hints(error: &ProviderError, settings: &ProviderSettings) -> Vec<String> {
    use ProviderErrorKind::*;
    let format = settings.format;
    let variables = format.key_variables().join(" or ");
    let hint = match error.kind {
        NotConfigured => "Add a provider to agents.config.json, or set OPENAI_BASE_URL and OPENAI_MODEL.",
        Unreachable if format == WireFormat::Ollama => "Is Ollama running (ollama serve), and is baseUrl right?",
        Unreachable => "Is the model server running, and is baseUrl right?",
        Unauthorised if !variables.is_empty() && format.is_at_home(&settings.base_url) => {
            return vec![format!("Check the apiKey of this provider in agents.config.json, or {variables}.")];
        }
        Unauthorised => "Check the apiKey of this provider in agents.config.json, or OPENAI_API_KEY.",
        Refused if error.status == Some(404) && format == WireFormat::Ollama => "Is the model there? `ollama pull NAME` fetches it.",
        Refused if error.status == Some(404) && format != WireFormat::Completions => "Check the model's name and baseUrl.",
        Refused if error.status == Some(404) => "Check the model's name and baseUrl: most servers want it to end in /v1.",
        TimedOut => "A longer requestTimeout (milliseconds, -1 = none) can be set for the provider.",
        Malformed if format != WireFormat::Completions => {
            return vec![format!("Is baseUrl that of a server for \"sdkProvider\": \"{}\"?", format.name())];
        }
        Malformed => "Is baseUrl that of an OpenAI-compatible server? Most want it to end in /v1.",
        Refused | Busy | Cut => return vec![],
    };
    vec![hint.into()]
}

/// Adds an item, merged with the one before it where both are pieces of the same thing: a reader pays for what changed, not for
/// how finely a server cuts it.
pub(super) fn push_merged(items: &mut Vec<StreamItem>, item: StreamItem) {
    use StreamItem::*;
    match (items.last_mut(), item) {
        (_, Text(new) | Reasoning(new)) if new.is_empty() => {}
        (Some(Text(text)), Text(new)) => text.push_str(&new),
        (Some(Reasoning(text)), Reasoning(new)) => text.push_str(&new),
        (Some(CallDelta { index, id, name, arguments }), CallDelta { index: same, id: new_id, name: new_name, arguments: new })
            if *index == same && (id.is_none() || new_id.is_none()) && (name.is_none() || new_name.is_none()) =>
        {
            if new_id.is_some() {
                *id = new_id;
            }
            if new_name.is_some() {
                *name = new_name;
            }
            arguments.push_str(&new);
        }
        (_, item) => items.push(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_about_the_server_that_was_asked() {
        let hint = |kind, status, format: WireFormat, base_url: &str| {
            let settings = ProviderSettings { format, base_url: base_url.into(), ..Default::default() };
            hints(&ProviderError { status, ..error(kind, "x") }, &settings).join(" ")
        };
        let kind = ProviderErrorKind::Unauthorised;
        assert!(
            hint(kind, None, WireFormat::Google, "https://generativelanguage.googleapis.com").contains("GEMINI_API_KEY or GOOGLE_API_KEY")
        );
        assert!(!hint(kind, None, WireFormat::Anthropic, "https://hub.example").contains("ANTHROPIC_API_KEY"));
        let kind = ProviderErrorKind::Malformed;
        assert!(hint(kind, None, WireFormat::Responses, "").contains("\"sdkProvider\": \"openai\""));
        assert!(hint(kind, None, WireFormat::Completions, "").contains("/v1"));
        let kind = ProviderErrorKind::Refused;
        assert!(hint(kind, Some(404), WireFormat::Ollama, "").contains("ollama pull"));
        assert_eq!(hint(kind, Some(400), WireFormat::Ollama, ""), "");
    }
}
