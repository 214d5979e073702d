//! **Pure**: a call's arguments against the tool's JSON schema, the one check for all tools, before anything is previewed.
//!
//! - All that is wrong is told at once, with what is right. What can't be meant otherwise is read as it is meant, and said.
//! - Of JSON Schema it knows what tools use: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, ranges and
//!   lengths, `anyOf`, `oneOf` (as `anyOf`), `allOf`, `nullable`, `$ref` within the schema. What it does not know forbids nothing.

use super::args::kind;
use crate::failure::nearest;
use serde_json::{Map, Number, Value};

/// A schema may refer to itself.
const DEEPEST: usize = 32;
/// So much of what is wrong is told.
const MOST: usize = 12;

#[derive(Debug, Default, PartialEq)]
pub struct Fit {
    /// The arguments as they are meant.
    pub value: Value,
    /// Each the end of a sentence that begins with the tool's name.
    pub wrong: Vec<String>,
    /// What was not to the letter.
    pub read_as: Vec<String>,
    /// Names at the top that the schema does not know.
    pub unknown: Vec<String>,
}

pub fn fit(schema: &Value, value: Value) -> Fit {
    let mut reader = Reader { root: schema, told: Fit::default() };
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        value => value,
    };
    let value = reader.value(schema, value, "", 0);
    Fit { value, ..reader.told }
}

/// The parameters, for who got them wrong.
pub fn parameters(schema: &Value) -> String {
    let required = required(schema);
    let one = |(name, of): (&String, &Value)| {
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        format!("`{name}` ({}{optional})", shape(of))
    };
    let all = schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(one).collect::<Vec<_>>();
    if all.is_empty() { "no arguments".into() } else { all.join(", ") }
}

fn shape(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(plain).collect::<Vec<_>>().join("|");
    }
    let names = |of: &Value| of.get("properties").and_then(Value::as_object).map(|of| of.keys().cloned().collect::<Vec<_>>().join(", "));
    match (types(schema)[..].first(), schema.get("items").and_then(names)) {
        (Some(&"array"), Some(names)) => format!("array of {{{names}}}"),
        _ => types(schema).join(" or "),
    }
}

struct Reader<'a> {
    root: &'a Value,
    told: Fit,
}

fn required(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn words(wanted: &str) -> &str {
    match wanted {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

/// The one value of this type that can be meant.
fn meant(value: &Value, wanted: &str, schema: &Value) -> Option<Value> {
    let parsed = |text: &str| serde_json::from_str::<Value>(text.trim()).ok().filter(|parsed| is(parsed, wanted));
    match (wanted, value) {
        ("integer" | "number", Value::String(text)) => parsed(text),
        ("boolean" | "object", Value::String(text)) => parsed(&text.to_lowercase()).filter(Value::is_boolean).or_else(|| parsed(text)),
        ("array", Value::String(text)) => parsed(text).or_else(|| {
            let items = schema.get("items").map(types).unwrap_or_default();
            (items.is_empty() || items.contains(&"string")).then(|| vec![value.clone()].into())
        }),
        // One for a list of one.
        ("array", Value::Object(_) | Value::Number(_)) => {
            let item = schema.get("items").filter(|items| types(items).iter().any(|wanted| is(value, wanted)));
            item.map(|_| vec![value.clone()].into())
        }
        ("string", Value::Bool(_)) => Some(value.to_string().into()),
        // Of a fraction it is not known how it was written.
        ("string", Value::Number(number)) if !number.is_f64() => Some(value.to_string().into()),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    fn wrong(&mut self, what: String) {
        if self.told.wrong.len() < MOST {
            self.told.wrong.push(what);
        }
    }

    fn value(&mut self, schema: &'a Value, value: Value, at: &str, depth: usize) -> Value {
        let schema = self.referred(schema);
        if depth > DEEPEST || !schema.is_object() {
            return value;
        }
        let mut value = self.typed(schema, value, at);
        value = self.listed(schema, value, at);
        self.bounded(schema, &value, at);
        value = match value {
            Value::Object(given) => Value::Object(self.object(schema, given, at, depth)),
            Value::Array(items) => match schema.get("items") {
                Some(of) if of.is_object() => {
                    let item = |(n, item)| self.value(of, item, &format!("{at}[{n}]"), depth + 1);
                    items.into_iter().enumerate().map(item).collect()
                }
                _ => Value::Array(items),
            },
            value => value,
        };
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            value = self.value(part, value, at, depth + 1);
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(several) = schema.get(name).and_then(Value::as_array).filter(|several| !several.is_empty()) {
                value = self.any(several, value, at, depth);
            }
        }
        value
    }

    fn referred(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..DEEPEST {
            let Some(name) = schema.get("$ref").and_then(Value::as_str) else { return schema };
            let Some(found) = name.strip_prefix('#').and_then(|name| self.root.pointer(name)) else { return &Value::Null };
            schema = found;
        }
        &Value::Null
    }

    fn typed(&mut self, schema: &'a Value, value: Value, at: &str) -> Value {
        let types = types(schema);
        let nullable = value.is_null() && schema.get("nullable") == Some(&Value::Bool(true));
        if types.is_empty() || nullable {
            return value;
        }
        if types.iter().any(|wanted| is(&value, wanted)) {
            // A whole number may have been written with a point.
            let whole = value.as_f64().filter(|n| types.contains(&"integer") && value.is_f64() && n.fract() == 0.0 && n.abs() < 1e15);
            return whole.map_or(value, |n| Value::Number(Number::from(n as i64)));
        }
        match types.iter().find_map(|wanted| Some((wanted, meant(&value, wanted, schema)?))) {
            Some((wanted, read)) => {
                self.told.read_as.push(format!("`{at}` ({}) as {}", kind(&value), words(wanted)));
                read
            }
            None => {
                let wanted: Vec<&str> = types.iter().map(|wanted| words(wanted)).collect();
                self.wrong(format!("{} has to be {}, but is {}", named(at), wanted.join(" or "), kind(&value)));
                value
            }
        }
    }

    fn listed(&mut self, schema: &Value, value: Value, at: &str) -> Value {
        let one = schema.get("const").map(std::slice::from_ref);
        let Some(allowed) = one.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice)) else { return value };
        if allowed.contains(&value) || value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
            return value;
        }
        let text = plain(&value);
        let mut alike = allowed.iter().filter(|allowed| plain(allowed).to_lowercase() == text.trim().to_lowercase());
        if let (Some(same), None) = (alike.next(), alike.next()) {
            self.told.read_as.push(format!("`{at}` ({}) as {same}", kind(&value)));
            return same.clone();
        }
        let names: Vec<String> = allowed.iter().map(plain).collect();
        let near = nearest(&text, names.iter().map(String::as_str)).map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        // What has the wrong type has been told of.
        if types(schema).is_empty() || types(schema).iter().any(|wanted| is(&value, wanted)) {
            self.wrong(format!("{} has to be one of {}, but is {}{near}", named(at), names.join(", "), kind(&value)));
        }
        value
    }

    fn bounded(&mut self, schema: &Value, value: &Value, at: &str) {
        let (size, what) = match value {
            Value::Number(number) => (number.as_f64(), ""),
            Value::String(text) => (Some(text.chars().count() as f64), "Length"),
            Value::Array(items) => (Some(items.len() as f64), "Items"),
            _ => return,
        };
        let Some(size) = size else { return };
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let (least, most) =
            if what.is_empty() { ("minimum".into(), "maximum".into()) } else { (format!("min{what}"), format!("max{what}")) };
        let unit = match what {
            "Length" => " long",
            "Items" => " in number",
            _ => "",
        };
        let mut tell = |how: &str, bound: f64| self.wrong(format!("{} has to be {how} {bound}{unit}, but is {size}", named(at)));
        if let Some(least) = bound(&least).filter(|least| size < *least) {
            tell("at least", least);
        }
        if let Some(most) = bound(&most).filter(|most| size > *most) {
            tell("at most", most);
        }
        if let Some(above) = bound("exclusiveMinimum").filter(|above| unit.is_empty() && size <= *above) {
            tell("more than", above);
        }
        if let Some(below) = bound("exclusiveMaximum").filter(|below| unit.is_empty() && size >= *below) {
            tell("less than", below);
        }
    }

    fn object(&mut self, schema: &'a Value, given: Map<String, Value>, at: &str, depth: usize) -> Map<String, Value> {
        let required = required(schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        let allowed = schema.get("additionalProperties");
        let mut read = Map::new();
        for (name, value) in given {
            let inner = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            match properties.and_then(|properties| properties.get(&name)) {
                // Left out, in other words.
                Some(of) if value.is_null() && !self.takes_null(of) => {}
                Some(of) => drop(read.insert(name, self.value(of, value, &inner, depth + 1))),
                None => {
                    let value = match allowed {
                        Some(of) if of.is_object() => self.value(of, value, &inner, depth + 1),
                        _ => value,
                    };
                    read.insert(name, value);
                }
            }
        }
        if let Some(properties) = properties {
            let free: Vec<&str> = properties.keys().map(String::as_str).filter(|name| !read.contains_key(*name)).collect();
            let unknown: Vec<String> = read.keys().filter(|name| !properties.contains_key(*name)).cloned().collect();
            for name in unknown.into_iter().filter(|_| !allowed.is_some_and(Value::is_object)) {
                match nearest(&name, free.iter().copied()) {
                    Some(near) => self.wrong(format!("there is no `{name}`{}: did you mean `{near}`?", within(at))),
                    None if allowed == Some(&Value::Bool(false)) => self.wrong(format!("there is no `{name}`{}", within(at))),
                    None if at.is_empty() => self.told.unknown.push(name),
                    None => {}
                }
            }
        }
        for name in required.iter().filter(|name| !read.contains_key(**name)) {
            // A part of the schema may ask for what another describes.
            let properties = properties.or_else(|| self.root.get("properties").filter(|_| at.is_empty())?.as_object());
            let of = properties.and_then(|properties| properties.get(*name)).map(|of| self.referred(of));
            let wanted: Vec<&str> = of.map(types).unwrap_or_default().into_iter().map(words).collect();
            let wanted = if wanted.is_empty() { String::new() } else { format!(" ({})", wanted.join(" or ")) };
            self.wrong(format!("`{name}`{wanted} is missing{}", within(at)));
        }
        read
    }

    fn takes_null(&self, schema: &'a Value) -> bool {
        let schema = self.referred(schema);
        let types = types(schema);
        let union = ["anyOf", "oneOf"].iter().any(|name| schema.get(*name).is_some());
        types.is_empty() || union || types.contains(&"null") || schema.get("nullable") == Some(&Value::Bool(true))
    }

    /// The first that fits to the letter, else the first that fits; else what is wrong with the one that is meant, as far as can be told.
    fn any(&mut self, several: &'a [Value], value: Value, at: &str, depth: usize) -> Value {
        let mut tried: Vec<(usize, Value, Fit)> = vec![];
        for (n, one) in several.iter().enumerate() {
            let mut reader = Reader { root: self.root, told: Fit::default() };
            let read = reader.value(one, value.clone(), at, depth + 1);
            let told = reader.told;
            if told.wrong.is_empty() && told.read_as.is_empty() {
                return read;
            }
            tried.push((n, read, told));
        }
        let absent = |n: usize| required(self.referred(&several[n])).iter().filter(|name| value.get(**name).is_none()).count();
        let given = |n: usize| required(self.referred(&several[n])).len() - absent(n);
        let best = tried.into_iter().min_by_key(|(n, _, told)| {
            (
                !told.wrong.is_empty(),
                if value.is_object() { usize::MAX - given(*n) } else { 0 },
                if value.is_object() { 0 } else { told.wrong.len() },
            )
        });
        let Some((_, read, told)) = best else { return value };
        if told.wrong.is_empty() {
            self.told.read_as.extend(told.read_as);
            return read;
        }
        told.wrong.into_iter().for_each(|wrong| self.wrong(wrong));
        value
    }
}

fn named(at: &str) -> String {
    if at.is_empty() { "what is given".into() } else { format!("`{at}`") }
}

fn within(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(" in `{at}`") }
}

#[cfg(test)]
mod tests;
