//! Jupyter notebooks as text: the cells in order, with what they printed. Pure.

use serde_json::Value;

/// Characters of one output that are shown.
const OUTPUT: usize = 2_000;

/// `None` for what is no notebook after all.
pub fn text(bytes: &[u8]) -> Option<String> {
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let language = notebook.pointer("/metadata/kernelspec/language").or(notebook.pointer("/metadata/language_info/name"));
    let language = language.and_then(Value::as_str).unwrap_or("code");
    let mut text = String::new();
    for (n, cell) in (1..).zip(cells) {
        let kind = match cell.get("cell_type").and_then(Value::as_str) {
            Some("code") | None => language,
            Some(kind) => kind,
        };
        text.push_str(&format!("── cell {n}: {kind}\n{}\n", joined(cell.get("source")).trim_end()));
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let printed = printed(output);
            if !printed.trim().is_empty() {
                text.push_str(&format!("── output of cell {n}\n{}\n", printed.trim_end()));
            }
        }
    }
    Some(text)
}

/// The format has texts as one string or as a list of lines.
fn joined(source: Option<&Value>) -> String {
    match source {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn printed(output: &Value) -> String {
    let data = output.get("data");
    let text = match output.get("output_type").and_then(Value::as_str) {
        Some("error") => {
            let part = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", part("ename"), part("evalue"))
        }
        Some("stream") => joined(output.get("text")),
        _ => joined(data.and_then(|data| data.get("text/plain"))),
    };
    let picture = data.and_then(Value::as_object).is_some_and(|data| data.keys().any(|kind| kind.starts_with("image/")));
    let text = if picture { format!("{text}\n(a picture)") } else { text };
    match text.char_indices().nth(OUTPUT) {
        Some((at, _)) => format!("{}… (cut; {} bytes)", &text[..at], text.len()),
        None => text,
    }
}
