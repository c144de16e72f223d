//! Where requests may go, against servers on this machine and a lookup of our own.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::policy::{Access, HttpRequest, HttpResponse, Reach};

/// A server that gives one answer to everything and notes what it was asked.
pub(super) struct Server {
    pub(super) port: u16,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) async fn new(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, notes) = (answer.clone(), Arc::clone(&notes));
                tokio::spawn(async move {
                    let mut bytes = vec![0; 64 * 1024];
                    let read = stream.read(&mut bytes).await.unwrap_or(0);
                    notes.lock().unwrap().push(String::from_utf8_lossy(&bytes[..read]).into_owned());
                    let _ = stream.write_all(answer.as_bytes()).await;
                    if answer.ends_with("hang") {
                        tokio::time::sleep(Duration::from_secs(30)).await;
                    }
                });
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Go\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn request(url: &str, reach: Reach) -> HttpRequest {
    HttpRequest {
        method: "GET".into(),
        url: url.into(),
        headers: Vec::new(),
        body: None,
        timeout: Duration::from_secs(5),
        max_bytes: 1000,
        max_redirects: 3,
        reach,
    }
}

/// Names under `.test` lead to these addresses, one list a lookup, the last for ever.
fn access(rules: serde_json::Value, addresses: &'static [&'static [&'static str]]) -> (Access, Arc<AtomicUsize>) {
    let lookups = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lookups);
    let access = Access::new(std::path::Path::new("/nonexistent"), &[], serde_json::from_value(rules).unwrap())
        .with_lookup(Arc::new(move |_| {
            let call = counter.fetch_add(1, Ordering::SeqCst);
            let found: Vec<IpAddr> =
                addresses[call.min(addresses.len() - 1)].iter().map(|text| text.parse().unwrap()).collect();
            Box::pin(async move { Ok(found) })
        }));
    (access, lookups)
}

const HERE: &[&[&str]] = &[&["127.0.0.1"]];

async fn get(access: &Access, url: &str, reach: Reach) -> Result<HttpResponse, String> {
    access.http(&request(url, reach)).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn the_authors_requests_reach_this_machine_and_the_models_do_not() {
    let server = Server::new(ok("hello")).await;
    let (access, _) = access(json!([{ "tool": "http_request", "hosts": ["*"], "decision": "allow" }]), HERE);
    for host in ["127.0.0.1", "localhost.test", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"] {
        let url = format!("http://{host}:{}/", server.port);
        let response = get(&access, &url, Reach::AsWritten).await.unwrap();
        assert_eq!((response.status, response.body.as_slice()), (200, b"hello".as_slice()), "{host}");
        let asked = server.asked().len();
        let words = get(&access, &url, Reach::Policy).await.unwrap_err();
        assert!(words.contains("this machine or of a private network"), "{host}: {words}");
        assert_eq!(server.asked().len(), asked, "{host}: a refused request must not connect");
    }
}

#[tokio::test]
async fn link_local_addresses_are_refused_to_everybody_and_without_a_connection() {
    let (access, _) = access(json!([]), &[&["169.254.169.254"]]);
    for host in ["169.254.169.254", "metadata.test", "[fe80::1]", "[::ffff:169.254.169.254]"] {
        for reach in [Reach::AsWritten, Reach::Policy] {
            let start = Instant::now();
            let words = get(&access, &format!("http://{host}/latest/meta-data/"), reach).await.unwrap_err();
            assert!(words.contains("link-local"), "{host}: {words}");
            assert!(start.elapsed() < Duration::from_secs(1), "{host}: it was tried");
        }
    }
}

#[tokio::test]
async fn a_rule_that_names_a_host_opens_it() {
    let server = Server::new(ok("hello")).await;
    let host = format!("127.0.0.1:{}", server.port);
    let (named, _) = access(json!([{ "tool": "http_request", "hosts": [host], "decision": "allow" }]), HERE);
    assert!(get(&named, &format!("http://{host}/"), Reach::Policy).await.is_ok());
    let (denied, _) = access(json!([{ "tool": "http_request", "hosts": [host], "decision": "deny" }]), HERE);
    assert!(get(&denied, &format!("http://{host}/"), Reach::Policy).await.is_err());
    let (name, _) = access(json!([{ "tool": "http_request", "hosts": ["intranet.test"], "decision": "allow" }]), HERE);
    assert!(get(&name, &format!("http://intranet.test:{}/", server.port), Reach::Policy).await.is_ok());
}

/// The name's address changes between the judgement and the connection: there is one lookup for both.
#[tokio::test]
async fn a_name_is_looked_up_once_and_the_judged_address_is_used() {
    let (access, lookups) = access(json!([]), &[&["198.51.100.7"], &["127.0.0.1"]]);
    let server = Server::new(ok("rebound")).await;
    let mut request = request(&format!("http://rebind.test:{}/", server.port), Reach::Policy);
    request.timeout = Duration::from_millis(300);
    assert!(access.http(&request).await.is_err(), "nothing answers at the address that was judged");
    assert_eq!((lookups.load(Ordering::SeqCst), server.asked().len()), (1, 0));
}

#[tokio::test]
async fn of_several_addresses_only_those_that_fit_are_used() {
    let (access, _) = access(json!([]), &[&["127.0.0.1", "10.0.0.1"]]);
    let server = Server::new(ok("private")).await;
    assert!(get(&access, &format!("http://mixed.test:{}/", server.port), Reach::Policy).await.is_err());
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_redirect_is_judged_like_a_request() {
    let inner = Server::new(ok("secret")).await;
    let outer = Server::new(redirect(302, &format!("http://127.0.0.1:{}/", inner.port))).await;
    let rules = json!([{ "tool": "http_request", "hosts": ["open.test"], "decision": "allow" }]);
    let (access, _) = access(rules, HERE);
    let url = format!("http://open.test:{}/", outer.port);
    let words = get(&access, &url, Reach::Policy).await.unwrap_err();
    assert!(words.contains("redirect") && words.contains("127.0.0.1"), "{words}");
    assert_eq!((outer.asked().len(), inner.asked().len()), (1, 0));
    let response = get(&access, &url, Reach::AsWritten).await.unwrap();
    assert_eq!(
        (response.body.as_slice(), response.url),
        (b"secret".as_slice(), format!("http://127.0.0.1:{}/", inner.port))
    );
    let metadata = Server::new(redirect(302, "http://169.254.169.254/")).await;
    let words = get(&access, &format!("http://open.test:{}/", metadata.port), Reach::AsWritten).await.unwrap_err();
    assert!(words.contains("link-local"), "{words}");
    let file = Server::new(redirect(302, "file:///etc/passwd")).await;
    assert!(get(&access, &format!("http://open.test:{}/", file.port), Reach::AsWritten).await.is_err());
}

#[tokio::test]
async fn credentials_do_not_follow_to_another_host() {
    let evil = Server::new(ok("thanks")).await;
    let outer = Server::new(redirect(302, &format!("http://evil.test:{}/", evil.port))).await;
    let (access, _) = access(json!([]), HERE);
    let mut request = request(&format!("http://api.allowed.test:{}/", outer.port), Reach::AsWritten);
    for (name, value) in
        [("Authorization", "Bearer s3cret"), ("Cookie", "s3cret"), ("x-api-key", "s3cret"), ("accept", "text/plain")]
    {
        request.headers.push((name.into(), value.into()));
    }
    access.http(&request).await.unwrap();
    assert_eq!(outer.asked()[0].matches("s3cret").count(), 3);
    let second = evil.asked()[0].to_ascii_lowercase();
    assert!(!second.contains("s3cret") && second.contains("accept: text/plain"), "{second}");
    let back = Server::new(redirect(302, "/next")).await;
    request.url = format!("http://api.allowed.test:{}/", back.port);
    request.max_redirects = 1;
    assert!(access.http(&request).await.unwrap_err().to_string().contains("more than 1 times"));
    assert_eq!(back.asked()[1].matches("s3cret").count(), 3, "the same host gets them again");
}

#[tokio::test]
async fn a_body_stays_with_its_host() {
    let other = Server::new(ok("got it")).await;
    let (access, _) = access(json!([]), HERE);
    for (status, sent) in [(307, false), (303, true)] {
        let outer = Server::new(redirect(status, &format!("http://other.test:{}/", other.port))).await;
        let mut request = request(&format!("http://one.test:{}/", outer.port), Reach::AsWritten);
        request.method = "post".into();
        request.body = Some(b"s3cret".to_vec());
        assert_eq!(access.http(&request).await.is_ok(), sent, "{status}");
        assert!(outer.asked()[0].starts_with("POST "));
    }
    let asked = other.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("GET ") && !asked[0].contains("s3cret"), "{}", asked[0]);
}

#[tokio::test]
async fn size_and_time_are_limited() {
    let (access, _) = access(json!([]), HERE);
    let long = Server::new(ok(&"x".repeat(5000))).await;
    let response = get(&access, &format!("http://127.0.0.1:{}/", long.port), Reach::AsWritten).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), (1000, true));
    let slow = Server::new("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhang".into()).await;
    let mut request = request(&format!("http://127.0.0.1:{}/", slow.port), Reach::AsWritten);
    request.timeout = Duration::from_millis(300);
    let start = Instant::now();
    assert!(access.http(&request).await.unwrap_err().to_string().contains("in time"));
    assert!(start.elapsed() < Duration::from_secs(2));
    let moved = Server::new(redirect(302, "/next")).await;
    request.url = format!("http://127.0.0.1:{}/", moved.port);
    request.max_redirects = 0;
    assert_eq!(access.http(&request).await.unwrap().status, 302);
}

#[tokio::test]
async fn what_cannot_be_asked_is_told() {
    let (access, _) = access(json!([]), &[&[]]);
    for (url, words) in [
        ("ftp://example.com/", "http:// or https://"),
        ("no url", "no URL"),
        ("http://nowhere.test/", "no address"),
        ("http://127.0.0.1:1/", "127.0.0.1"),
    ] {
        let told = get(&access, url, Reach::AsWritten).await.unwrap_err();
        assert!(told.contains(words), "{url}: {told}");
    }
    let mut request = request("http://127.0.0.1/", Reach::AsWritten);
    request.headers.push(("x".into(), "a\r\nb: c".into()));
    assert!(access.http(&request).await.unwrap_err().to_string().contains("header `x`"));
}
