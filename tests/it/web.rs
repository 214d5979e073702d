//! Fetching and searching on the screen: the question names the host, whatever the call shows, and a no connects to nothing.

use crate::support::*;
use serde_json::json;
use std::net::TcpListener;

#[test]
fn the_question_names_the_host() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let place = elsewhere.local_addr().unwrap();
    let server = ModelServer::start([
        Reply::call("WebSearch", json!({ "query": "where it goes" })),
        Reply::call("fetch_url", json!({ "url": "https://docs.example/page" })),
        Reply::call("WebFetch", json!({ "url": format!("http://{place}/") })),
        Reply::text("As you like."),
    ]);
    let w = Workspace::new(&server).env("SEARXNG_URL", &format!("http://{place}"));
    let mut t = w.start();
    t.ready().ask("go").shows(&format!("Connect to this host?  {place}")).shows("where it goes").shows("yes, this host this session");
    t.press('n').enter();
    t.shows("Connect to this host?  docs.example").press('n').enter();
    t.sees("As you like.");
    assert!(elsewhere.accept().is_err(), "nobody connected");
    let told: Vec<String> = (2..=4).map(|n| server.request(n).last().1.to_owned()).collect();
    assert!(told[0].contains("declined") && told[1].contains("declined"), "{told:?}");
    assert!(told[2].contains("can't be fetched"), "{told:?}");
}
