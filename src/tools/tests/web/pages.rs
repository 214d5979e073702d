//! What becomes of pages: Markdown, character encodings, and pages that want to cost much.

use super::*;

/// A page without what the server adds.
fn markdown(html: &str) -> String {
    read("text/html; charset=utf-8", html.as_bytes())
}

fn read(kind: &str, body: &[u8]) -> String {
    let answer = Server::bytes(kind, body);
    let server = Server::start(move |_, _| answer.clone());
    let told = Bench::web(&["docs.test"]).fetch(&server.url("docs.test", "/a/b"));
    inside(&told).replace(&format!("http://docs.test:{}", server.port), "")
}

#[test]
fn html_becomes_markdown() {
    for (html, expected) in [
        ("<h2>A <em>b</em></h2>text<h3></h3><p>c", "## A *b*\n\ntext\n\nc"),
        ("<p>a<b> b </b>c <i></i>d</p>", "a **b** c d"),
        ("a &amp; &lt;b&gt; &nbsp; &#x41;&eacute;", "a & <b> Aé"),
        ("<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul>f", "- a\n- b\n  - c\n- d\n\n  e\n\nf"),
        ("<ol start=9><li>a</li><li>b<br>c</li></ol>", "9. a\n10. b\n    c"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"),
        ("<pre><code class='x language-rust'>fn a() {\n    b\n}\n</code></pre>", "```rust\nfn a() {\n    b\n}\n```"),
        ("<pre>a &lt;b&gt;\n\n<span>```</span></pre>", "````\na <b>\n\n```\n````"),
        ("<ul><li>a<pre>b\nc</pre></li></ul>", "- a\n\n  ```\n  b\n  c\n  ```"),
        ("use <code> a`b  c</code>.", "use ``a`b c``."),
        ("<a href='../c?d=1#e'>x</a> <a href='//o.example/(p)'>y</a>", "[x](/c?d=1#e) [y](http://o.example/%28p%29)"),
        ("<base href='https://o.example/q/'><a href=r>x</a>", "[x](https://o.example/q/r)"),
        ("<a href='#z'>x</a> <a href='javascript:y()'>y</a> <a>z</a> <a href='data:,a'>d</a>", "x y z d"),
        ("<h2>T<a href='#t'>¶</a></h2>", "## T"),
        ("<img src=a.png alt='A  plan'><img src=b.png><img alt=c src='data:x'>", "![A plan](/a/a.png)![c]"),
        ("<a href=x><img src=a.png></a>y", "y"),
        ("<table><tr><th>A<th>B<tr><td>1|2<td><p>x</p><p>y</p><tr><td><td>z</table>", "| A | B |\n| --- | --- |\n| 1\\|2 | x y |\n| | z |"),
        ("<table><tr><td><h1>Big</h1><td>side</table>", "# Big\n\nside"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\n\nc\nd"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("10<sup>6</sup> <del>x</del>", "10^6 ~~x~~"),
        ("a<script>b</script><style>c</style><!-- d --><noscript>e</noscript><svg><title>f</title><path/></svg>g", "ag"),
        ("<div hidden>a</div><p style='display : none'>b<p>c<span aria-hidden=true>d</span>", "c"),
        ("<p>a\u{200b}\u{202e}b\u{e0041}\u{1b}[31m", "ab[31m"),
        ("</p></b></x>a</td><p>b</div>c", "a\n\nbc"),
        ("<title>One\n two</title><p>x<svg><title>no</title></svg>", "Title: One two\n\nx"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn what_is_around_every_page_is_left_out_unless_it_is_the_page() {
    let words = "word ".repeat(60);
    let page = |main: &str| format!("<nav>menu</nav><header>top</header>{main}<div>beside</div><footer>bottom</footer>");
    assert_eq!(markdown(&page(&format!("<main><p>{words}</main>"))), words.trim());
    assert_eq!(markdown(&page(&format!("<div>{words}</div>"))), format!("top\n\n{}\n\nbeside", words.trim()));
    let links = "<a href=x>one</a> ".repeat(20);
    assert!(markdown(&format!("<nav>{links}</nav>")).starts_with("[one](/a/x)"));
}

#[test]
fn every_encoding_is_read_as_it_was_meant() {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("ž€".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (kind, body, expected) in [
        ("text/plain; charset=utf-8", "ž€".as_bytes(), "ž€"),
        ("text/plain", "ž€".as_bytes(), "ž€"),
        ("text/plain", b"caf\xe9 \x80", "café €"),
        ("text/plain; charset=\"ISO-8859-2\"", b"\xbe", "ž"),
        ("text/plain; Charset=shift_jis", b"\x93\xfa\x96{", "日本"),
        ("text/html", b"<meta charset=windows-1250>\x9e", "ž"),
        ("text/html", b"<meta http-equiv=content-type content='text/html; charset=gbk'>\xd6\xd0", "中"),
        ("text/html; charset=utf-8", b"<meta charset=gbk>\xc5\xbe", "ž"),
        ("application/xml", b"<?xml version='1.0' encoding='koi8-r'?>\xc1", "<?xml version='1.0' encoding='koi8-r'?>а"),
        ("text/html", "<meta charset=utf-16>ž".as_bytes(), "ž"),
        // The mark outranks what the header says.
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbf\xc5\xbe", "ž"),
        ("text/plain; charset=utf-8", &utf16, "ž€"),
        ("text/plain; charset=no-such", "ž".as_bytes(), "ž"),
        ("text/plain; charset=utf-8", b"a\xffb", "a\u{fffd}b"),
    ] {
        assert_eq!(read(kind, body), expected, "{kind}: {body:?}");
    }
}

/// Each of these makes one reader of pages or another take quadratic time or memory, or run out of stack.
#[test]
fn pages_that_want_to_cost_much_do_not() {
    let many = |n: usize, text: &str| text.repeat(n);
    let formats: String = (0..20_000).map(|n| format!("<b id={n}><p>")).collect();
    let attributes: String = (0..50_000).map(|n| format!(" a{n}")).collect();
    for (what, html) in [
        ("deep", many(50_000, "<div>") + "end"),
        ("deep lists", many(20_000, "<ul><li>x") + "end"),
        ("deep quotes", many(20_000, "<blockquote>\n") + &many(20_000, "x<br>") + "end"),
        ("tables in tables", many(20_000, "<table><tr><td>") + "end"),
        ("marks", many(30_000, "<i>a</i>") + "end"),
        ("open marks", formats + "end"),
        ("wrong ends", many(30_000, "<b>") + &many(30_000, "</q>") + "end"),
        ("attributes", format!("<p{attributes}>end")),
        ("wide table", many(1, "<table><tr><th>a") + &many(10_000, "<td>") + &many(10_000, "<tr><td>x") + "</table>end"),
        ("ticks", format!("<code>{}</code>end", (1..500).map(|n| "`".repeat(n) + " ").collect::<String>())),
        ("not closed", format!("<p>end<{}", many(500_000, "a"))),
        ("references", many(50_000, "&amp") + "end"),
    ] {
        let server = Server::pages(&[("/", "text/html", &html)]);
        let (bench, mut from) = (Bench::web(&["docs.test"]), 0);
        let last = loop {
            let told = bench.fetched(json!({"url": server.url("docs.test", "/"), "offset": from})).for_model;
            match told.rsplit_once("go on with offset ") {
                Some((_, next)) => from = next.trim_end_matches('.').parse().unwrap(),
                None => break told,
            }
        };
        assert!(last.contains("end"), "{what}: {}", &last[..last.len().min(400)]);
    }
}
