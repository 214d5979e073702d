//! The searches: what is asked of each engine, what is told of its answer, and what is never told.

use super::*;
use crate::{
    protocol::{SearchProvider, SearchSettings, Secret},
    tools::web::search::WebSearch,
};

const KEY: &str = "sk-very-secret";

fn bench(provider: SearchProvider, key: Option<&str>, url: Option<String>) -> Bench {
    let settings = SearchSettings { provider, key: key.map(|key| Secret(key.into())), url };
    assert!(!format!("{settings:?}").contains(KEY));
    let settings = WebSettings { search: Some(settings), ..WebSettings::default() };
    let mut bench = Bench::new(&[]);
    bench.registry = Registry::new([Box::new(WebSearch::new(&settings)) as Box<dyn crate::tools::Tool>]);
    bench
}

#[test]
fn each_engine_is_asked_in_its_own_words() {
    let brave = r#"{"web": {"results": [{"title": "A <b>b</b> &amp; c", "url": "https://a.example/", "description": "one <strong>two</strong>"},
        {"title": "x", "url": "javascript:x"}, {"url": "https://b.example/"}]}}"#;
    let plain = r#"{"results": [{"title": "A **b** & c", "url": "https://a.example/", "content": "one **two**"},
        {"title": "", "url": "https://b.example/", "content": null}]}"#;
    for (provider, path, body, asked) in [
        (SearchProvider::Brave, "/brave", brave, vec!["GET /brave?q=rust+%26+x&count=3", "x-subscription-token: sk-very-secret"]),
        (
            SearchProvider::Tavily,
            "/tavily",
            plain,
            vec!["POST /tavily", "authorization: bearer sk-very-secret", r#"{"query":"rust & x","max_results":3}"#],
        ),
        (SearchProvider::Searxng, "/searx", plain, vec!["GET /searx/search?q=rust+%26+x&format=json"]),
    ] {
        let server = Server::start(move |_, _| Server::answer("application/json", body));
        let bench = bench(provider, Some(KEY), Some(server.url("127.0.0.1", path)));
        let output = bench.run("web_search", json!({"query": " rust  & x ", "max_results": "3"})).unwrap();
        assert_eq!(
            inside(&output.for_model),
            "1. A **b** & c\n   https://a.example/\n   one **two**\n2. \n   https://b.example/\n   ",
            "{provider:?}"
        );
        assert_eq!(output.summary, "2 results");
        let head = server.heads().remove(0).to_lowercase();
        for part in asked {
            assert!(head.contains(&part.to_lowercase()), "{provider:?}: {head}");
        }
        assert_eq!(head.contains(KEY), provider != SearchProvider::Searxng, "a key goes only to whoever needs one");
    }
}

#[test]
fn it_names_its_host_and_is_offered_only_when_configured() {
    let access = |provider, url: Option<&str>| {
        bench(provider, Some(KEY), url.map(str::to_owned)).call("WebSearch", json!({"query": "x"})).unwrap().1.access
    };
    let network = |host: &str| Access::Network { host: host.into() };
    assert_eq!(access(SearchProvider::Brave, None), network("api.search.brave.com"));
    assert_eq!(access(SearchProvider::Tavily, None), network("api.tavily.com"));
    assert_eq!(access(SearchProvider::Searxng, Some("http://localhost:8888/")), network("localhost:8888"));
    let names = |registry: &Registry| registry.specs().into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(names(&bench(SearchProvider::Brave, Some(KEY), None).registry), ["WebSearch"]);
    let default = Bench::new(&[]);
    assert!(!names(&default.registry).contains(&"WebSearch".into()));
    assert!(default.text("web_search", json!({"query": "x"})).contains("No web search is configured"));
}

#[test]
fn what_goes_wrong_is_said_without_the_key() {
    let server = Server::start(|path, port| match path.split('?').next().unwrap() {
        "/401" => Server::raw(&format!("HTTP/1.1 401 Unauthorized\r\nContent-Length: {}\r\n\r\n{KEY}", KEY.len())),
        "/429" => Server::raw("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"),
        "/302" => Server::redirect(&format!("http://other.test:{port}/")),
        "/html" => Server::answer("text/html", "<p>x"),
        "/none" => Server::answer("application/json", r#"{"web": {}}"#),
        _ => Server::raw("no http"),
    });
    for (path, told) in [
        ("/401", "answered 401 Unauthorized. The user's key was refused."),
        ("/429", "There were too many searches"),
        ("/302", "Redirects are not followed."),
        ("/html", "did not answer in JSON"),
        ("/none", "found nothing"),
        ("/broken", "failed: "),
    ] {
        let text = bench(SearchProvider::Brave, Some(KEY), Some(server.url("127.0.0.1", path))).text("WebSearch", json!({"query": "x"}));
        assert!(text.contains(told) && !text.contains(KEY), "{path}: {text}");
    }
    assert!(server.heads().iter().all(|head| head.contains("/401") || !head.contains("other.test")));
    let text = |provider, key, url: Option<&str>| bench(provider, key, url.map(str::to_owned)).text("WebSearch", json!({"query": "x"}));
    assert!(text(SearchProvider::Brave, None, None).contains("The web search has no key: brave needs one."));
    assert!(text(SearchProvider::Brave, Some("a\nb"), None).contains("characters that can't be sent"));
    assert!(text(SearchProvider::Searxng, None, None).contains("is not a URL"));
    assert!(text(SearchProvider::Searxng, None, Some("ftp://x")).contains("is not a URL"));
    let long = bench(SearchProvider::Brave, Some(KEY), None).text("WebSearch", json!({"query": "x".repeat(500)}));
    assert!(long.contains("more than 400 characters"), "{long}");
}
