//! Which addresses and URLs are refused: a table, for whoever looks for one that was forgotten.

use crate::tools::web::address::{Named, Reach, checked, reach};
use std::net::IpAddr;

const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
];

const PRIVATE: &[&str] = &[
    "127.0.0.1",
    "127.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "::1",
    "fc00::1",
    "fdff:ffff::1",
    "fec0::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "::127.0.0.1",
    "::10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b::c0a8:101",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:c0a8:101::1",
    "2001:db9::5efe:10.0.0.1",
    "2a00:1::200:5efe:192.168.1.1",
    // Teredo: the client's address with every bit turned.
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe",
];

const NEVER: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "ff05::2",
    "2001:db8::1",
    "2001:10::1",
    "2001:20::1",
    "3fff::1",
    "100::1",
    "4000::1",
    "64:ff9b:1::1",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:db9::5efe:169.254.169.254",
    "2001:0:4136:e378:8000:63bf:5601:5601",
];

#[test]
fn every_range_is_where_it_belongs() {
    let told = |list: &[&'static str]| list.iter().map(|ip| (*ip, reach(ip.parse::<IpAddr>().unwrap()))).collect::<Vec<_>>();
    for (ip, reach) in told(PUBLIC) {
        assert_eq!(reach, Reach::Public, "{ip}");
    }
    for (ip, reach) in told(PRIVATE) {
        assert!(matches!(reach, Reach::Private(_)), "{ip}: {reach:?}");
    }
    for (ip, reach) in told(NEVER) {
        assert!(matches!(reach, Reach::Never(_)), "{ip}: {reach:?}");
    }
}

#[test]
fn urls_that_are_refused_whatever_they_lead_to() {
    let none = Named::default();
    for (url, why) in [
        ("", "not a URL"),
        ("ftp://example.com/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("data:text/html,x", "only http and https"),
        ("gopher://example.com:70/", "only http and https"),
        ("mailto:a@example.com", "only http and https"),
        ("https://user@example.com/", "a name or a password"),
        ("https://user:pass@example.com/", "a name or a password"),
        ("https://example.com@10.0.0.1/", "a name or a password"),
        ("http://example.com:22/", "the port 22 is not"),
        ("http://example.com:6379/", "the port 6379 is not"),
        ("http://example.com:0/", "the port 0 is not"),
        ("http://127.0.0.1/", "an address of this machine"),
        ("http://127.1/", "an address of this machine"),
        ("http://2130706433/", "an address of this machine"),
        ("http://0x7f.0.0.1/", "an address of this machine"),
        ("http://0177.0.0.1/", "an address of this machine"),
        ("http://017700000001/", "an address of this machine"),
        ("http://0x7f000001/", "an address of this machine"),
        ("http://127。0。0。1/", "an address of this machine"),
        ("http://①②⑦.0.0.1/", "an address of this machine"),
        // Public, but written so that nobody sees it.
        ("http://134744072/", "the address 8.8.8.8 is not written plainly"),
        ("http://0x8.8.8.8/", "not written plainly"),
        ("http://010.8.8.8/", "not written plainly"),
        ("http://8.8.2056/", "not written plainly"),
        ("http://[::1]/", "an address of this machine"),
        ("http://[::ffff:7f00:1]/", "an address of this machine"),
        ("http://[fe80::1%25eth0]/", "not a URL"),
        ("http://[fe80::1]/", "a link-local address"),
        ("http://169.254.169.254/latest/meta-data/", "a link-local address"),
        ("http://100.100.100.200/", "the provider's own network"),
        ("http://0/", "an address of nothing"),
        ("http://localhost/", "a host of this machine or network"),
        ("http://LOCALHOST./", "a host of this machine or network"),
        ("http://a.localhost/", "a host of this machine or network"),
        ("http://metadata.google.internal/", "a host of this machine or network"),
        ("http://printer.local/", "a host of this machine or network"),
        ("http://intranet/", "a host of this machine or network"),
        ("http://box.lan/", "a host of this machine or network"),
        ("localhost:3000/x", "is not one of 80, 443, 8080, 8443"),
        ("http://example.com\\@10.0.0.1/", "backslashes"),
        ("http://exa\tmple.com/", "control characters"),
        ("http://example.com/ x", "blanks"),
        ("http://exa\u{200b}mple..com:99999/", "not a URL"),
    ] {
        let told = checked(url, &none).map(|url| url.to_string()).unwrap_err().0;
        assert!(told.contains(why), "{url}: {told}");
    }
    let told = checked("https://user:hunter2@example.com/x", &none).unwrap_err().0;
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn the_user_may_name_private_hosts() {
    let named = Named::new(&["localhost".into(), " Docs.Lan:3000 ".into(), "10.0.0.7".into(), "169.254.169.254".into(), "".into()]);
    for url in ["http://localhost:5173/", "https://localhost/", "http://docs.lan:3000/x", "http://10.0.0.7:9/"] {
        assert!(checked(url, &named).is_ok(), "{url}: {:?}", checked(url, &named));
    }
    for url in [
        "http://docs.lan/",
        "http://docs.lan:8080/",
        "http://10.0.0.8/",
        "http://a.localhost/",
        "http://169.254.169.254/",
        "http://127.0.0.1/",
    ] {
        assert!(checked(url, &named).is_err(), "{url}");
    }
    assert!(!named.has("") && !named.has("docs") && named.has("docs.lan"));
}

#[test]
fn urls_are_understood_as_people_write_them() {
    for (text, url) in [
        ("docs.rs/serde", "https://docs.rs/serde"),
        (" https://docs.rs ", "https://docs.rs/"),
        ("example.com:8080/x", "https://example.com:8080/x"),
        ("http://8.8.8.8/x?y=1:2", "http://8.8.8.8/x?y=1:2"),
        ("HTTP://EXAMPLE.com/A", "http://example.com/A"),
    ] {
        assert_eq!(checked(text, &Named::default()).unwrap().as_str(), url);
    }
}
