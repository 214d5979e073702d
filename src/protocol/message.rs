//! The conversation as the model sees it.

use super::{CallId, ModelId, WireFormat};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the user sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub text: String,
    /// In the order in which the text names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// A picture that goes with a prompt; its label stands where it belongs in the text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `[image 1: 640×480 png]`, as the text has it.
    pub label: String,
    pub media_type: String,
    /// In base64; shared, since every request holds it.
    pub data: Arc<str>,
    pub width: u32,
    pub height: u32,
}

impl Image {
    /// Gives it its label.
    pub fn numbered(mut self, number: usize) -> Image {
        let kind = self.media_type.rsplit('/').next().unwrap_or_default();
        self.label = format!("[image {number}: {}×{} {kind}]", self.width, self.height);
        self
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {} bytes in base64)", self.label, self.data.len())
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt::from(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Prompt { text, images: vec![] }
    }
}

/// On disk a prompt without images is its text, as it has always been.
mod said {
    use super::Prompt;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        Text(String),
        Prompt(Prompt),
    }

    pub fn serialize<S: Serializer>(prompt: &Prompt, to: S) -> Result<S::Ok, S::Error> {
        if prompt.images.is_empty() { prompt.text.serialize(to) } else { prompt.serialize(to) }
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Prompt, D::Error> {
        Ok(match Said::deserialize(from)? {
            Said::Text(text) => text.into(),
            Said::Prompt(prompt) => prompt,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    User(#[serde(with = "said")] Prompt),
    Assistant {
        text: String,
        reasoning: String,
        calls: Vec<CallRequest>,
        /// In the order of the answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<Kept>,
    },
    /// Exactly one for each call, in the order in which the model asked.
    Result {
        call: CallId,
        provider_id: String,
        name: String,
        content: String,
        failed: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

/// What belongs to an answer and means something only to the model that gave it: signed thoughts, encrypted reasoning. It goes back
/// unchanged while the conversation is with that model, and to nobody else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub format: WireFormat,
    pub model: ModelId,
    /// Bytes of the answer's text that came before it.
    pub text: usize,
    /// Calls that had begun before it.
    pub calls: usize,
    /// In the format's own words.
    pub value: serde_json::Value,
}

/// A call as the model wrote it. `arguments` is always a valid JSON object by the time it is stored: some servers refuse a
/// whole history because of one broken string in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRequest {
    pub id: CallId,
    pub provider_id: String,
    pub name: String,
    pub arguments: String,
}

/// Tokens, as counted by the provider; 0 where it did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    /// Of the input, what was read from the server's cache.
    pub cached: u64,
    /// Of the output.
    pub reasoning: u64,
    /// Of the input, what was put into the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
        self.written += other.written;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_old_journals_are_read_and_new_ones_have_only_what_there_is() {
        let old = r#"{"Assistant":{"text":"a","reasoning":"","calls":[]}}"#;
        let message: Message = serde_json::from_str(old).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), old);
        let usage: Usage = serde_json::from_str(r#"{"input":1,"output":2,"cached":0,"reasoning":0}"#).unwrap();
        assert_eq!(usage.written, 0);
    }

    #[test]
    fn a_prompt_without_images_is_its_text_on_disk() {
        let plain = Message::User("hi".into());
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"User":"hi"}"#);
        assert_eq!(serde_json::from_str::<Message>(r#"{"User":"hi"}"#).unwrap(), plain);
        let image = Image { label: "[image 1]".into(), media_type: "image/png".into(), data: "AAAA".into(), width: 1, height: 1 };
        let with = Message::User(Prompt { text: "look".into(), images: vec![image] });
        assert_eq!(serde_json::from_str::<Message>(&serde_json::to_string(&with).unwrap()).unwrap(), with);
    }
}
