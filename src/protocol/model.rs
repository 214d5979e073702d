//! What goes to a provider and what comes back, the same for every wire format.

use super::{Kept, Message, ModelId, Parameters, RequestId, ToolSpec, Usage, WireFormat};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// One request to a model. Cheap to clone: the large parts are shared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub id: RequestId,
    pub model: ModelId,
    pub system: Arc<str>,
    pub messages: Arc<Vec<Message>>,
    pub tools: Arc<Vec<ToolSpec>>,
}

/// A stream never fails to start; its last item is `Done` or `Failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StreamItem {
    Text(String),
    Reasoning(String),
    /// A piece of a tool call; pieces with the same `index` belong together. A name or id may come with any piece.
    CallDelta {
        index: usize,
        id: Option<String>,
        name: Option<String>,
        arguments: String,
    },
    /// What has to go back unchanged with the answer.
    Kept(Kept),
    Usage(Usage),
    Done(StopReason),
    Failed(ProviderError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    Finished,
    Calls,
    /// The output limit cut the answer.
    Length,
    Refused,
    /// The server took a break: sent back as it is, the answer goes on.
    Paused,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// The server's own words where it gave any.
    pub message: String,
    pub status: Option<u16>,
    pub retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProviderErrorKind {
    /// No provider or no such model is configured.
    NotConfigured,
    /// Nothing answered: refused, unreachable, name not found.
    Unreachable,
    /// 401, 403.
    Unauthorised,
    /// 404 and other 4xx: sending the same again won't help.
    Refused,
    /// 408, 409, 429, 5xx, overload: worth sending again.
    Busy,
    /// The stream ended in the middle of an answer.
    Cut,
    /// What came is not the protocol.
    Malformed,
    TimedOut,
}

impl ProviderErrorKind {
    /// May the same request be sent again, provided that nothing of an answer has come yet?
    pub fn worth_retrying(self) -> bool {
        use ProviderErrorKind::*;
        matches!(self, Unreachable | Busy | Cut | TimedOut)
    }
}

/// One provider as configured: an entry of `providers` in `agents.config.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    pub name: String,
    #[serde(alias = "baseURL", alias = "base_url")]
    pub base_url: String,
    #[serde(rename = "sdkProvider", skip_serializing_if = "WireFormat::is_default")]
    pub format: WireFormat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub context_windows: BTreeMap<String, u64>,
    /// Milliseconds without a byte until a request is given up; -1 = never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable_tools: bool,
    /// Do its models see images? Unknown where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Those that do; the others don't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision_models: Option<Arc<Vec<String>>>,
    /// Boxed: settings stand in commands and events, which stay small.
    #[serde(rename = "modelParameters", skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Box<Parameters>,
    /// Whether the server is asked to keep what comes again with each request; on where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_caching: Option<bool>,
}

impl ProviderSettings {
    /// Does this model see images, as far as the user has said?
    pub fn sees(&self, model: &str) -> Option<bool> {
        let listed = self.vision_models.as_ref().map(|models| models.iter().any(|m| m == model));
        listed.or(self.vision)
    }

    /// Tokens that a model has, as far as the user has said.
    pub fn window(&self, model: &str) -> Option<u64> {
        self.context_windows.get(model).copied().or(self.context_window)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    pub id: ModelId,
    /// Tokens, if known.
    pub context_window: Option<u64>,
    /// Whether it sees images, if known.
    #[serde(default)]
    pub vision: Option<bool>,
}

/// A model server that answered on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundServer {
    pub settings: ProviderSettings,
}
