//! The conversation as the model sees it.

use super::CallId;
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
    pub cached: u64,
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
