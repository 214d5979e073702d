//! What a server says when it says no: its own words, and whether asking again can help.
//!
//! Messages are bounded and free of control characters, whatever the body was.

use super::provider;
use crate::protocol::{ProviderError, ProviderErrorKind as Kind};
use serde_json::Value;
use std::time::Duration;

const LONGEST: usize = 600;

/// An answer with a status other than 2xx.
pub fn refused(status: u16, reason: &str, retry_after: Option<Duration>, body: &[u8]) -> ProviderError {
    let words = words(body).unwrap_or_else(|| reason.to_owned());
    let out_of_credit = words_of_code(body).is_some_and(|code| code.contains("insufficient_quota"));
    ProviderError {
        kind: if out_of_credit { Kind::Refused } else { kind_of(status) },
        message: if words.is_empty() { format!("HTTP {status}") } else { format!("{words} (HTTP {status})") },
        status: Some(status),
        retry_after: retry_after.or_else(|| delay_of(body)),
    }
}

/// Google says in the body how long to wait: `"retryDelay": "34s"`.
fn delay_of(body: &[u8]) -> Option<Duration> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get(0).unwrap_or(&value).get("error")?;
    let delay = error.get("details")?.as_array()?.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok().filter(|delay| *delay < Duration::from_secs(86_400))
}

/// An error object inside a stream that began well.
pub fn in_stream(error: Option<&Value>, raw: &[u8]) -> ProviderError {
    let number = |key: &str| error.and_then(|e| e.get(key)).and_then(|v| v.as_u64().or_else(|| v.as_str()?.parse().ok()));
    let status = ["code", "status", "status_code"].iter().find_map(|key| number(key)).and_then(|n| u16::try_from(n).ok());
    let status = status.filter(|status| (400..600).contains(status));
    let own = error.and_then(message).map(|text| bounded(&text, LONGEST));
    let words = own.or_else(|| words(raw)).unwrap_or_else(|| "The server reported an error without a message.".to_owned());
    let text = String::from_utf8_lossy(&raw[..raw.len().min(4096)]).to_ascii_lowercase();
    let passing =
        ["overload", "rate_limit", "rate limit", "unavailable", "server_error", "internal", "timeout", "timed out", "try again", "busy"];
    let named = error.and_then(|e| e.get("type")).and_then(Value::as_str).unwrap_or_default();
    let kind = match status {
        Some(status) => kind_of(status),
        None if matches!(named, "authentication_error" | "permission_error") => Kind::Unauthorised,
        None if named == "invalid_request_error" => Kind::Refused,
        None if named == "api_error" => Kind::Busy,
        None if passing.iter().any(|word| text.contains(word)) => Kind::Busy,
        None => Kind::Refused,
    };
    ProviderError { status, ..provider::error(kind, words) }
}

/// Does a refusal speak of images, in any of the ways in which servers do?
pub fn about_images(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let words = ["image", "vision", "multimodal", "multi-modal", "mmproj", "content must be a string", "valid string", "unknown variant"];
    words.iter().any(|word| message.contains(word))
}

fn kind_of(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Unauthorised,
        408 | 409 | 425 | 429 => Kind::Busy,
        501 | 505 => Kind::Refused,
        500.. => Kind::Busy,
        _ => Kind::Refused,
    }
}

/// The message in a body, in any of the shapes that servers give it. `None` for web pages and empty bodies.
pub fn words(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&body[..body.len().min(64 << 10)]);
    let text = text.trim_start_matches('\u{feff}').trim();
    let found = match serde_json::from_str::<Value>(text) {
        Ok(value) => message(&value)?,
        Err(_) if text.starts_with('<') => return None,
        Err(_) => text.to_owned(),
    };
    Some(bounded(&found, LONGEST)).filter(|words| !words.is_empty())
}

fn message(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(items) => {
            let all: Vec<_> = items.iter().filter_map(message).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Object(map) => {
            ["error", "message", "detail", "msg", "errors", "error_description"].iter().find_map(|key| message(map.get(*key)?))
        }
        _ => None,
    }
}

fn words_of_code(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get("error")?;
    Some(["code", "type"].iter().filter_map(|key| error.get(key)?.as_str()).collect::<Vec<_>>().join(" "))
}

/// One line, no control characters, at the most `longest` characters.
pub fn bounded(text: &str, longest: usize) -> String {
    let mut words = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == longest {
            words.push('…');
            break;
        }
        words.push(if c.is_control() { ' ' } else { c });
    }
    words
}

/// `Retry-After`: seconds, or a date.
pub fn retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
    const LONGEST_WAIT: f64 = 86_400.0;
    let value = value.trim();
    let seconds = match value.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?.duration_since(now).as_secs_f64(),
    };
    (!seconds.is_nan()).then(|| Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_WAIT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_words_are_found() {
        let cases: [(u16, &str, Kind, &str); 13] = [
            (401, r#"{"error":{"message":"Bad key","type":"auth"}}"#, Kind::Unauthorised, "Bad key (HTTP 401)"),
            (404, r#"{"error":"model 'x' not found"}"#, Kind::Refused, "model 'x' not found (HTTP 404)"),
            (400, r#"{"message":"too long"}"#, Kind::Refused, "too long (HTTP 400)"),
            (422, r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"b"}]}"#, Kind::Refused, "field required; b (HTTP 422)"),
            (422, r#"{"detail":"nope"}"#, Kind::Refused, "nope (HTTP 422)"),
            (400, r#"[{"error":{"code":400,"message":"in a list"}}]"#, Kind::Refused, "in a list (HTTP 400)"),
            (429, r#"{"error":{"message":"slow down"}}"#, Kind::Busy, "slow down (HTTP 429)"),
            (429, r#"{"error":{"message":"No credit","code":"insufficient_quota"}}"#, Kind::Refused, "No credit (HTTP 429)"),
            (529, r#"{"error":{"message":null}}"#, Kind::Busy, "Reason (HTTP 529)"),
            (502, "<html><body>nginx</body></html>", Kind::Busy, "Reason (HTTP 502)"),
            (500, "", Kind::Busy, "Reason (HTTP 500)"),
            (500, "plain\u{1b}[31m words\n", Kind::Busy, "plain [31m words (HTTP 500)"),
            (403, "\u{feff}{\"error\":\"no\"}", Kind::Unauthorised, "no (HTTP 403)"),
        ];
        for (status, body, kind, message) in cases {
            let error = refused(status, "Reason", None, body.as_bytes());
            assert_eq!((error.kind, error.message.as_str(), error.status), (kind, message, Some(status)), "{body}");
        }
        assert!(refused(500, "", None, &[b'x'; 100_000]).message.chars().count() < 700);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: jiff::Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let after = |value| retry_after(value, now).map(|wait| wait.as_millis());
        assert_eq!(after("3"), Some(3_000));
        assert_eq!(after(" 0.25 "), Some(250));
        assert_eq!(after("Mon, 30 Nov 2026 12:00:09 GMT"), Some(9_000));
        assert_eq!(after("Mon, 30 Nov 2026 11:00:00 GMT"), Some(0));
        assert_eq!(after("-5"), Some(0));
        assert_eq!(after("1e300"), Some(86_400_000));
        assert_eq!(after("NaN"), None);
        assert_eq!(after("soon"), None);
    }
}
