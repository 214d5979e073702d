//! A file of configuration as text that knows its lines: JSON with comments and trailing commas.

use crate::failure::Failure;
use jsonc_parser::{CollectOptions, ParseOptions, ast, common::Ranged};
use std::{io, path::Path};

/// No honest configuration is longer.
const LONGEST: u64 = 4 << 20;

pub const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The text of a file; `None` if there is none.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let read = || {
        let length = std::fs::metadata(path)?;
        if !length.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        if length.len() > LONGEST {
            return Err(io::Error::other("it is larger than 4 MB"));
        }
        std::fs::read_to_string(path)
    };
    match read() {
        Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the file holds; `None` if it is empty.
pub fn value<'a>(path: &Path, text: &'a str) -> Result<Option<ast::Value<'a>>, Failure> {
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    Ok(parsed.map_err(|error| fail(path, error.line_display(), &format!("{}.", error.kind())))?.value)
}

/// The object that the file holds; `None` if it is empty.
pub fn parse<'a>(path: &Path, text: &'a str) -> Result<Option<ast::Object<'a>>, Failure> {
    match value(path, text)? {
        None => Ok(None),
        Some(ast::Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(fail(path, line(text, other.start()), &format!("A configuration is an object, {{ … }}, not {}.", kind(&other)))),
    }
}

fn fail(path: &Path, line: usize, what: &str) -> Failure {
    Failure::config(format!("{}:{line}: {what}", path.display()))
}

pub fn line(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// A value in words, for messages.
pub fn kind(value: &ast::Value) -> String {
    match value {
        ast::Value::StringLit(text) => {
            let short: String = text.value.chars().take(40).collect();
            format!("{short:?}")
        }
        ast::Value::NumberLit(number) => number.value.chars().take(40).collect(),
        ast::Value::BooleanLit(flag) => flag.value.to_string(),
        ast::Value::Object(_) => "an object".into(),
        ast::Value::Array(_) => "a list".into(),
        ast::Value::NullKeyword(_) => "null".into(),
    }
}
