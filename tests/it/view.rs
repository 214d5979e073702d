//! What `View` shows besides text files.

use crate::support::*;
use serde_json::json;

/// One page that says `text`.
fn document(text: &str) -> Vec<u8> {
    let stream = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
    ];
    let (mut file, mut places) = (b"%PDF-1.4\n".to_vec(), vec![]);
    for (n, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.extend(format!("{n} 0 obj\n{object}\nendobj\n").bytes());
    }
    let start = file.len();
    file.extend(b"xref\n0 6\n0000000000 65535 f \n");
    places.iter().for_each(|at| file.extend(format!("{at:010} 00000 n \n").bytes()));
    file.extend(format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

#[test]
fn a_document_is_read_as_text_and_a_broken_one_is_an_error() {
    let view = |file: &str| Reply::call("View", json!({ "file_path": file }));
    let server = ModelServer::start([view("a.pdf"), view("broken.pdf"), view("cut.pdf"), Reply::text("Read.")]);
    let w = Workspace::new(&server);
    let whole = document("The answer is 42.");
    std::fs::write(w.root().join("a.pdf"), &whole).unwrap();
    std::fs::write(w.root().join("broken.pdf"), "%PDF-1.7\nnothing of the kind").unwrap();
    std::fs::write(w.root().join("cut.pdf"), &whole[..whole.len() / 2]).unwrap();
    let ended = w.run(&["run", "look"], "");
    assert_eq!(ended.stdout.trim_end(), "Read.", "{}", ended.stderr);
    let told = |n: usize| server.request(n).last().1.to_owned();
    assert_eq!(told(2), "     1\t── page 1 of 1\n     2\tThe answer is 42.\n");
    for n in [3, 4] {
        assert!(told(n).contains("can't be read as text"), "{}", told(n));
    }
}
