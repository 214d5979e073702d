//! What every model server looks like to the rest of the program.
//!
//! A stream never fails to start; its last item is `Done` or `Failed`, and nothing follows it; dropping it aborts the request.

use crate::protocol::{ModelInfo, ProviderError, ProviderErrorKind, Request, StreamItem};
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
pub fn hints(error: &ProviderError) -> Vec<String> {
    use ProviderErrorKind::*;
    let hint = match error.kind {
        NotConfigured => "Add a provider to agents.config.json, or set OPENAI_BASE_URL and OPENAI_MODEL.",
        Unreachable => "Is the model server running, and is baseUrl right?",
        Unauthorised => "Check the apiKey of this provider in agents.config.json, or OPENAI_API_KEY.",
        Refused if error.status == Some(404) => "Check the model's name and baseUrl: most servers want it to end in /v1.",
        TimedOut => "A longer requestTimeout (milliseconds, -1 = none) can be set for the provider.",
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
