//! What fits, what is read as it is meant, and what is told of the rest.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean"},
            "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "mode": {"type": "string", "enum": ["content", "files"]},
            "where": {"$ref": "#/$defs/place"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            "maybe": {"type": ["string", "null"]},
            "steps": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]}},
        },
        "required": ["file_path"],
        "$defs": {"place": {
            "type": "object",
            "properties": {"line": {"type": "integer"}, "inner": {"$ref": "#/$defs/place"}},
            "required": ["line"],
            "additionalProperties": false,
        }},
    })
}

fn with(more: Value) -> Value {
    let mut args = json!({"file_path": "a"});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    args
}

#[test]
fn what_is_right_stays_as_it_is() {
    for more in [
        json!({}),
        json!({"limit": 1, "ratio": 0.5, "deep": true, "names": [], "mode": "files"}),
        json!({"where": {"line": 1, "inner": {"line": 2}}, "either": [1, 2], "maybe": null}),
        json!({"either": 3, "steps": [{"old": "x", "more": 1}]}),
    ] {
        let fitted = fit(&schema(), with(more.clone()));
        assert_eq!(fitted, Fit { value: with(more), ..Fit::default() });
    }
}

#[test]
fn what_can_be_meant_in_one_way_is_read_so_and_said() {
    for (given, read) in [
        (json!({"limit": "12"}), json!({"limit": 12})),
        (json!({"ratio": " 0.5 "}), json!({"ratio": 0.5})),
        (json!({"deep": "True"}), json!({"deep": true})),
        (json!({"names": "a b"}), json!({"names": ["a b"]})),
        (json!({"names": "[\"a\", \"b\"]"}), json!({"names": ["a", "b"]})),
        (json!({"where": "{\"line\": \"3\"}"}), json!({"where": {"line": 3}})),
        (json!({"mode": "Files"}), json!({"mode": "files"})),
        (json!({"either": "7"}), json!({"either": 7})),
        (json!({"maybe": 7}), json!({"maybe": "7"})),
        (json!({"steps": {"old": "x"}}), json!({"steps": [{"old": "x"}]})),
        (json!({"steps": "[{\"old\": \"x\"}]"}), json!({"steps": [{"old": "x"}]})),
    ] {
        let fitted = fit(&schema(), with(given.clone()));
        assert_eq!((fitted.value, fitted.wrong), (with(read), vec![]), "{given}");
        assert!(!fitted.read_as.is_empty(), "{given}");
    }
    // Nothing that anybody has to be told.
    for (given, read) in [(json!({"limit": null, "where": null}), json!({})), (json!({"limit": 3.0}), json!({"limit": 3}))] {
        assert_eq!(fit(&schema(), with(given)), Fit { value: with(read), ..Fit::default() });
    }
}

#[test]
fn all_that_is_wrong_is_told_with_what_is_right() {
    for (given, wrong) in [
        (json!({}), vec!["`file_path` (a string) is missing"]),
        (json!({"file_path": null}), vec!["`file_path` (a string) is missing"]),
        (json!({"file_pth": "a"}), vec!["there is no `file_pth`: did you mean `file_path`?", "`file_path` (a string) is missing"]),
        (json!([1]), vec!["what is given has to be an object, but is a list"]),
        (with(json!({"limit": "x"})), vec!["`limit` has to be a whole number, but is the string \"x\""]),
        (with(json!({"limit": 1.5})), vec!["`limit` has to be a whole number, but is the number 1.5"]),
        (with(json!({"limit": 0})), vec!["`limit` has to be at least 1, but is 0"]),
        (with(json!({"limit": "101"})), vec!["`limit` has to be at most 100, but is 101"]),
        (with(json!({"names": ["a", "b", "c", "d"]})), vec!["`names` has to be at most 3 in number, but is 4"]),
        (with(json!({"names": [["a"]]})), vec!["`names[0]` has to be a string, but is a list"]),
        (with(json!({"mode": "file"})), vec!["`mode` has to be one of content, files, but is the string \"file\" (did you mean files?)"]),
        (with(json!({"deep": "perhaps"})), vec!["`deep` has to be true or false, but is the string \"perhaps\""]),
        (
            with(json!({"where": {"lin": 1}})),
            vec!["there is no `lin` in `where`: did you mean `line`?", "`line` (a whole number) is missing in `where`"],
        ),
        (with(json!({"where": {"line": 1, "inner": {"line": 2, "zzz": 0}}})), vec!["there is no `zzz` in `where.inner`"]),
        (with(json!({"steps": [{"old": "x"}, {}]})), vec!["`old` (a string) is missing in `steps[1]`"]),
        (with(json!({"either": true})), vec!["`either` has to be a whole number, but is true"]),
        (
            with(json!({"limit": [], "deep": 3, "ratio": {}})),
            vec![
                "`limit` has to be a whole number, but is a list",
                "`deep` has to be true or false, but is the number 3",
                "`ratio` has to be a number, but is an object",
            ],
        ),
    ] {
        assert_eq!(fit(&schema(), given.clone()).wrong, wrong, "{given}");
    }
    assert_eq!(fit(&schema(), with(json!({"colour": 1}))).unknown, ["colour"]);
    assert!(parameters(&schema()).starts_with("`file_path` (string), `limit` (integer, optional)"));
    assert_eq!(parameters(&json!({})), "no arguments");
}

#[test]
fn of_several_ways_the_one_that_was_begun_is_told() {
    let schema = json!({
        "type": "object",
        "properties": {"old": {"type": "string"}, "new": {"type": "string"}, "edits": {"type": "array"}},
        "anyOf": [{"required": ["old", "new"]}, {"required": ["edits"]}],
    });
    assert_eq!(fit(&schema, json!({"edits": []})).wrong, Vec::<String>::new());
    assert_eq!(fit(&schema, json!({"new": "x"})).wrong, ["`old` (a string) is missing"]);
    assert_eq!(fit(&schema, json!({})).wrong, ["`old` (a string) is missing", "`new` (a string) is missing"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\\[\\]{}\"0-9.]{0,8}".prop_map(Value::from),
        Just("#/$defs/x".into()),
    ];
    let key = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "required",
        "enum",
        "const",
        "$defs",
        "x",
        "minimum",
        "maxLength",
        "additionalProperties",
        "nullable",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

proptest! {
    /// Schemas come from servers that nobody knows, arguments from models.
    #[test]
    fn no_schema_and_no_value_does_harm(schema in any_json(), value in any_json()) {
        let fitted = fit(&schema, value);
        prop_assert!(fitted.wrong.len() <= MOST);
        parameters(&schema);
    }

    /// What was read once is right by then.
    #[test]
    fn reading_twice_changes_nothing(value in any_json()) {
        let once = fit(&schema(), value);
        if once.wrong.is_empty() {
            let twice = fit(&schema(), once.value.clone());
            prop_assert_eq!(twice.value, once.value);
            prop_assert!(twice.wrong.is_empty() && twice.read_as.is_empty());
        }
    }
}
