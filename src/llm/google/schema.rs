//! JSON schemas cut down to what Gemini takes: it refuses a request for one word of a schema that it does not know.

use serde_json::{Map, Value, json};

const TAKEN: [&str; 18] = [
    "title",
    "description",
    "nullable",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "default",
    "example",
    "required",
    "enum",
    "propertyOrdering",
];
/// Nobody nests deeper; a schema that refers to itself does.
const DEEPEST: usize = 12;

/// `None` for a tool without parameters: an object without properties is refused.
pub fn parameters(schema: &Value) -> Option<Value> {
    let plain = cut(schema, schema, 0);
    plain["properties"].as_object().is_some_and(|properties| !properties.is_empty()).then_some(plain)
}

fn cut(schema: &Value, root: &Value, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return json!({ "type": "string" }) };
    if depth > DEEPEST {
        return json!({ "type": "object" });
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?)) {
        let mut referred = cut(target, root, depth + 1);
        if let Some(words) = schema.get("description") {
            referred["description"] = words.clone();
        }
        return referred;
    }
    let schema = &merged(schema);
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let named: Vec<_> = types.iter().filter(|kind| *kind != "null").collect();
            if named.len() < types.len() {
                put("nullable", true.into());
            }
            match &named[..] {
                [one] => put("type", (*one).clone()),
                several => {
                    let each = |kind: &&Value| cut(&with_type(schema, kind), root, depth + 1);
                    put("anyOf", several.iter().map(each).collect());
                    return Value::Object(out);
                }
            }
        }
        Some(kind) => put("type", kind.clone()),
        None if schema.contains_key("properties") => put("type", "object".into()),
        None if schema.contains_key("items") => put("type", "array".into()),
        None if schema.contains_key("enum") || schema.contains_key("const") => put("type", "string".into()),
        None => {}
    }
    if let Some(of) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
        let named: Vec<_> = of.iter().filter(|one| one["type"] != "null").collect();
        if named.len() < of.len() {
            put("nullable", true.into());
        }
        put("anyOf", named.iter().map(|one| cut(one, root, depth + 1)).collect());
    }
    if let Some(value) = schema.get("const") {
        put("enum", json!([value]));
    }
    for key in TAKEN {
        if let Some(value) = schema.get(key) {
            put(key, value.clone());
        }
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        put("properties", properties.iter().map(|(name, property)| (name.clone(), cut(property, root, depth + 1))).collect());
    }
    match schema.get("items") {
        Some(Value::Array(several)) => {
            put("items", several.first().map_or_else(|| json!({ "type": "string" }), |i| cut(i, root, depth + 1)))
        }
        Some(items) => put("items", cut(items, root, depth + 1)),
        // A list of anything has to be a list of something.
        None if schema.get("type").is_some_and(|kind| kind == "array") => put("items", json!({ "type": "string" })),
        None => {}
    }
    tidy(out)
}

/// Words that are taken, but not with everything.
fn tidy(mut out: Map<String, Value>) -> Value {
    let kind = out.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    // Only texts can be named one by one.
    if let Some(Value::Array(list)) = out.get_mut("enum") {
        list.retain(|one| one.as_str().is_some_and(|text| !text.is_empty()));
    }
    if kind != "string" || out.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        out.remove("enum");
    }
    let formats: &[&str] = match kind.as_str() {
        "string" => &["enum", "date-time"],
        "integer" => &["int32", "int64"],
        "number" => &["float", "double"],
        _ => &[],
    };
    if out.get("format").and_then(Value::as_str).is_none_or(|format| !formats.contains(&format)) {
        out.remove("format");
    }
    let known: Vec<String> = out.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect()).unwrap_or_default();
    if let Some(Value::Array(required)) = out.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| known.iter().any(|k| k == name)));
    }
    if out.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        out.remove("required");
    }
    // An empty schema means anything, for which there is no word.
    if !out.contains_key("type") && !out.contains_key("anyOf") {
        out.insert("type".into(), "string".into());
    }
    Value::Object(out)
}

fn with_type(schema: &Map<String, Value>, kind: &Value) -> Value {
    let mut one = schema.clone();
    one.insert("type".into(), kind.clone());
    Value::Object(one)
}

/// What must hold together, as one.
fn merged(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut out = schema.clone();
    let Some(Value::Array(all)) = out.remove("allOf") else { return out };
    for part in all {
        let Value::Object(part) = part else { continue };
        for (key, value) in part {
            match (out.get_mut(&key), value) {
                (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
                (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
                (None, value) => drop(out.insert(key, value)),
                _ => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_left() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
            "required": ["a", "gone"], "$defs": { "item": { "type": "object", "properties": { "x": { "const": "y" } } } },
            "properties": {
                "a": { "type": ["string", "null"], "description": "A.", "format": "uri", "minLength": 1, "examples": ["x"] },
                "b": { "type": "integer", "enum": [1, 2], "exclusiveMinimum": 0, "format": "int32" },
                "c": { "oneOf": [{ "type": "string", "enum": ["on", ""] }, { "type": "boolean" }, { "type": "null" }] },
                "d": { "type": "array" },
                "e": { "type": "array", "items": { "$ref": "#/$defs/item" } },
                "f": {},
                "g": { "allOf": [{ "properties": { "h": { "type": "number" } } }, { "required": ["h"] }] },
                "i": { "type": ["string", "number"] },
                "j": true
            }
        });
        assert_eq!(
            parameters(&schema).unwrap(),
            json!({ "type": "object", "required": ["a"], "properties": {
                "a": { "nullable": true, "type": "string", "description": "A.", "minLength": 1 },
                "b": { "type": "integer", "format": "int32" },
                "c": { "nullable": true, "anyOf": [{ "type": "string", "enum": ["on"] }, { "type": "boolean" }] },
                "d": { "type": "array", "items": { "type": "string" } },
                "e": { "type": "array", "items": { "type": "object", "properties": { "x": { "type": "string", "enum": ["y"] } } } },
                "f": { "type": "string" },
                "g": { "type": "object", "required": ["h"], "properties": { "h": { "type": "number" } } },
                "i": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
                "j": { "type": "string" }
            } })
        );
        assert_eq!(parameters(&json!({ "type": "object", "properties": {} })), None);
    }

    #[test]
    fn what_refers_to_itself_ends() {
        let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#" } } });
        assert!(parameters(&schema).unwrap().to_string().len() < 2_000);
        let twice = json!({ "properties": { "a": { "$ref": "#/properties/a" } } });
        assert!(parameters(&twice).is_some());
    }
}
