//! Secrets that are known by their shape: the keys of well-known providers, and what stands where only a secret stands.

use super::{
    find::Span,
    made_up::{is_made_up, is_random},
};
use regex::Regex;
use std::sync::LazyLock;

/// What a match has to be besides.
#[derive(Clone, Copy)]
enum Check {
    /// Nothing that an example would have in its place.
    Real,
    /// The shape alone says little: capitals, small letters and digits, as chance makes them.
    Random,
}
use Check::{Random, Real};

/// Kind, shape, check. One group, which is the secret. None can be matched in two ways, and where one may be long nothing has to follow.
const SHAPES: &[(&str, &str, Check)] = &[
    ("Anthropic key", r"\b(sk-ant-[A-Za-z0-9_-]{20,})", Real),
    ("OpenRouter key", r"\b(sk-or-v1-[0-9a-f]{32,})", Real),
    ("OpenAI key", r"\b(sk-[A-Za-z0-9_-]{20,})", Random),
    ("AWS access key", r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b", Real),
    ("GitHub token", r"\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})", Real),
    ("GitLab token", r"\b(gl(?:pat|dt|rt|ptt|oas|cbt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,})", Real),
    ("Slack token", r"\b(xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,})", Real),
    ("Slack webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/(T[A-Za-z0-9_/]{20,})", Real),
    ("Discord webhook", r"discord(?:app)?\.com/api/webhooks/\d{10,20}/([A-Za-z0-9_-]{40,})", Real),
    ("Stripe key", r"\b((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})", Real),
    ("Google key", r"\b(AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})", Real),
    ("npm token", r"\b(npm_[A-Za-z0-9]{36})\b", Real),
    ("PyPI token", r"\b(pypi-AgE[A-Za-z0-9_-]{40,})", Real),
    ("RubyGems key", r"\b(rubygems_[a-f0-9]{40,})", Real),
    ("Docker token", r"\b(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})", Real),
    ("Hugging Face token", r"\b(hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,})", Random),
    ("SendGrid key", r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})", Real),
    ("Mailgun key", r"\b(key-[0-9a-f]{32})\b", Real),
    ("Twilio key", r"\b(SK[0-9a-f]{32})\b", Real),
    ("Groq key", r"\b(gsk_[A-Za-z0-9]{40,})", Real),
    ("xAI key", r"\b(xai-[A-Za-z0-9]{60,})", Real),
    ("Perplexity key", r"\b(pplx-[A-Za-z0-9]{40,})", Real),
    ("Replicate token", r"\b(r8_[A-Za-z0-9]{30,})", Real),
    ("Tavily key", r"\b(tvly-[A-Za-z0-9-]{20,})", Real),
    ("DigitalOcean token", r"\b(do[opr]_v1_[a-f0-9]{64})", Real),
    ("Databricks token", r"\b(dapi[0-9a-f]{32})", Real),
    ("Shopify token", r"\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})", Real),
    ("Telegram token", r"\b(\d{8,10}:AA[A-Za-z0-9_-]{33})", Real),
    ("Linear key", r"\b(lin_api_[A-Za-z0-9]{32,})", Real),
    ("Notion token", r"\b(ntn_[A-Za-z0-9]{40,})", Real),
    ("Atlassian token", r"\b(ATATT3[A-Za-z0-9_=-]{40,})", Real),
    ("Vault token", r"\b(hv[sb]\.[A-Za-z0-9_-]{24,})", Real),
    ("Doppler token", r"\b(dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,})", Real),
    ("Supabase key", r"\b(sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", Real),
    ("Figma token", r"\b(fig[dour]_[A-Za-z0-9_-]{36,})", Random),
    ("age key", r"\b(AGE-SECRET-KEY-1[0-9A-Z]{50,})", Real),
    ("Azure key", r"(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})", Real),
    ("JWT", r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})", Real),
    (
        "authorization",
        r#"(?i)\bauthorization["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,4}(?:bearer|basic|token|apikey)\s{1,3}([A-Za-z0-9._~+/=-]{8,})"#,
        Real,
    ),
    ("authorization", r"\bBearer\s{1,3}([A-Za-z0-9._~+/=-]{20,})", Random),
    ("password", r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'`<>{}$\\]{0,200}:([^\s/@"'`<>{}$\\]{3,200})@[^\s@]"#, Real),
    ("password", r#"\bmachine\s{1,9}\S{1,200}\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(\S{3,200})"#, Real),
    (PRIVATE_KEY, r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(-----)", Real),
];

const PRIVATE_KEY: &str = "private key";
/// Of a key's body: what is longer is not one.
const KEY_BYTES: usize = 32 << 10;
/// Shorter ones are numbers of lines, or the end of a key's last line.
const KEY_LINE: usize = 16;

static SEARCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all: Vec<&str> = SHAPES.iter().map(|(_, shape, _)| *shape).collect();
    let each: String = all.iter().map(|shape| format!("(?:{shape})")).collect::<Vec<_>>().join("|");
    // Letters are the plain ones: nothing here is about others. A test builds it.
    Regex::new(&each.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]")).ok()
});

pub fn find(text: &str, spans: &mut Vec<Span>) {
    let Some(search) = &*SEARCH else { return };
    for found in search.captures_iter(text) {
        let Some((at, secret)) = (0..SHAPES.len()).find_map(|at| Some((at, found.get(at + 1)?))) else { continue };
        let (kind, _, check) = SHAPES[at];
        if kind == PRIVATE_KEY {
            body(text, secret.end(), spans);
            continue;
        }
        let value = secret.as_str();
        let real = match check {
            Real => !is_made_up(value),
            Random => !is_made_up(value) && is_random(value),
        };
        if real {
            spans.push(Span::new(secret.range(), kind));
        }
    }
}

/// The lines of a private key, each by itself: with numbers before them, with `\n` between them, or cut off, they are the same.
fn body(text: &str, from: usize, spans: &mut Vec<Span>) {
    let bytes = &text.as_bytes()[from..text.len().min(from + KEY_BYTES)];
    let (mut at, mut strangers) = (0, 0);
    while at < bytes.len() {
        // A line break as JSON and others write it.
        if bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r')) {
            at += 2;
            continue;
        }
        if bytes[at..].starts_with(b"-----") {
            return;
        }
        let length = bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')).count();
        if length >= KEY_LINE {
            strangers = 0;
            spans.push(Span::new(from + at..from + at + length, PRIVATE_KEY));
        } else if length == 0 && !bytes[at].is_ascii_whitespace() {
            strangers += 1;
            // This has no end: it was cut, and something else has begun.
            if strangers > 100 {
                return;
            }
        }
        at += length.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_one_that_can_be_searched_for_and_has_one_group() {
        for (kind, shape, _) in SHAPES {
            assert_eq!(Regex::new(shape).unwrap().captures_len(), 2, "{kind}");
        }
        assert!(SEARCH.is_some());
    }
}
