//! The environment: references to it in settings, and the provider that it can describe by itself.
//!
//! `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL` make a provider. Whoever sets `OPENAI_MODEL` for a start means it: then
//! it comes before what is configured. Without a model it is only one provider more, after the others: many people have a key or
//! an address in their shell for some other program.

use crate::protocol::ProviderSettings;

/// Where variables are looked up. Tests bring their own.
pub type Env<'a> = dyn Fn(&str) -> Option<String> + 'a;

pub const ENV_PROVIDER: &str = "openai-env";
const OPENAI: &str = "https://api.openai.com/v1";

pub fn add_provider(providers: &mut Vec<ProviderSettings>, env: &Env) {
    let set = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let (base_url, api_key, model) = (set("OPENAI_BASE_URL"), set("OPENAI_API_KEY"), set("OPENAI_MODEL"));
    if base_url.is_none() && api_key.is_none() {
        return;
    }
    let first = model.is_some();
    let provider = ProviderSettings {
        name: ENV_PROVIDER.into(),
        base_url: base_url.unwrap_or_else(|| OPENAI.into()),
        api_key,
        models: model.into_iter().collect(),
        ..ProviderSettings::default()
    };
    providers.retain(|other| other.name != ENV_PROVIDER);
    providers.insert(if first { 0 } else { providers.len() }, provider);
}

/// Replaces `$NAME`, `${NAME}` and `${NAME:-default}`. A variable that is not set gives nothing, and its name goes to `unset`.
/// What a variable holds is not looked at again.
pub fn expand(text: &str, env: &Env, unset: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (name, default, length) = match reference(rest) {
            Some(found) => found,
            None => ("", None, 1),
        };
        if name.is_empty() {
            out.push('$');
        } else {
            match (env(name).filter(|value| !value.is_empty()), default) {
                (Some(value), _) => out.push_str(&value),
                (None, Some(default)) => out.push_str(default),
                (None, None) => unset.push(name.to_owned()),
            }
        }
        rest = &rest[length..];
    }
    out + rest
}

/// The variables that a text refers to, each once.
pub fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (at, _) in text.match_indices('$') {
        if let Some((name, ..)) = reference(&text[at..])
            && !names.iter().any(|known| known == name)
        {
            names.push(name.into());
        }
    }
    names
}

/// Name, default and length of the reference that `text` begins with.
fn reference(text: &str) -> Option<(&str, Option<&str>, usize)> {
    if let Some(inner) = text.strip_prefix("${") {
        let end = inner.find('}')?;
        let (name, default) = match inner[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..end], None),
        };
        return (name_length(name) == name.len() && !name.is_empty()).then_some((name, default, end + 3));
    }
    let length = name_length(&text[1..]);
    (length > 0).then(|| (&text[1..=length], None, length + 1))
}

/// Capitals only: a dollar sign in a password is seldom followed by them.
fn name_length(text: &str) -> usize {
    let fits = |(at, b): (usize, &u8)| b.is_ascii_uppercase() || *b == b'_' || at > 0 && b.is_ascii_digit();
    text.as_bytes().iter().enumerate().take_while(|(at, b)| fits((*at, b))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_once() {
        let env = |name: &str| match name {
            "KEY" => Some("k$KEY".to_owned()),
            "EMPTY" => Some(String::new()),
            "A_1" => Some("ž".to_owned()),
            _ => None,
        };
        let cases = [
            ("plain", "plain", ""),
            ("$KEY", "k$KEY", ""),
            ("Bearer ${KEY}!", "Bearer k$KEY!", ""),
            ("${A_1}$A_1-x", "žž-x", ""),
            ("${NO:-http://localhost:1/v1}", "http://localhost:1/v1", ""),
            ("${EMPTY:-d}|${NO:-}", "d|", ""),
            ("$NO/${GONE}", "/", "NO GONE"),
            ("pa$$word $1 $ $key ${key} ${KEY", "pa$$word $1 $ $key ${key} ${KEY", ""),
            ("ž$ž", "ž$ž", ""),
        ];
        for (text, expected, expected_unset) in cases {
            let mut unset = vec![];
            assert_eq!((expand(text, &env, &mut unset).as_str(), unset.join(" ").as_str()), (expected, expected_unset), "{text}");
        }
    }

    #[test]
    fn a_model_in_the_environment_comes_first_and_a_mere_key_last() {
        let with = |variables: &[(&str, &str)]| {
            let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let mut providers = vec![ProviderSettings { name: "own".into(), ..Default::default() }];
            add_provider(&mut providers, &env);
            providers.into_iter().map(|p| format!("{} {} {} {:?}", p.name, p.base_url, p.models.join(","), p.api_key)).collect::<Vec<_>>()
        };
        let own = "own   None";
        assert_eq!(with(&[]), [own]);
        assert_eq!(with(&[("OPENAI_MODEL", "m")]), [own]);
        assert_eq!(with(&[("OPENAI_API_KEY", "k")]), [own, "openai-env https://api.openai.com/v1  Some(\"k\")"]);
        assert_eq!(with(&[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")]), ["openai-env https://api.openai.com/v1 m Some(\"k\")", own]);
        assert_eq!(
            with(&[("OPENAI_BASE_URL", "http://l:1"), ("OPENAI_MODEL", "m"), ("OPENAI_API_KEY", " ")]),
            ["openai-env http://l:1 m None", own]
        );
        assert_eq!(with(&[("OPENAI_BASE_URL", "http://l:1")]), [own, "openai-env http://l:1  None"]);
    }
}
