//! The HTTP side over a socket: what is sent, when pieces arrive, and what happens to the connection.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::raw_http::{Ending, Response, Server};
use super::{BuildContext, EncodeCache, ErrorClass, Model, NoSink, Request, Sampling, Sink, Transcript, ask, provider};
use crate::event::Usage;

fn context(env: &'static [(&'static str, &'static str)]) -> BuildContext {
    let env = move |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    BuildContext { env: Arc::new(env), ..BuildContext::new("/") }
}

fn openai(mut settings: Value, base_url: &str, context: &BuildContext) -> Arc<dyn Model> {
    settings["model"] = "m".into();
    settings["base_url"] = base_url.into();
    provider("openai").unwrap().build(&settings, context).unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn a_request_carries_key_headers_and_a_length() {
    let server = Server::scripted(vec![Response::says("ok")]);
    let settings = json!({ "api_key": { "env": "KEY" }, "headers": { "X-Title": "t" } });
    let model = openai(settings, &format!("{}/", server.base_url()), &context(&[("KEY", "k1")]));
    assert_eq!(model.secrets(), ["k1"]);
    let reply = runtime().block_on(ask(&*model, "hello")).unwrap();
    assert_eq!(reply.text, "ok");
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some("Bearer k1"));
    assert_eq!(seen.header("x-title"), Some("t"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("content-length"), Some(seen.body.len().to_string().as_str()));
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["messages"], json!([{ "role": "user", "content": "hello" }]));
}

#[test]
fn a_missing_key_is_missed_at_the_call_and_not_before() {
    let server = Server::scripted(vec![Response::says("ok")]);
    let model = openai(json!({ "api_key": { "env": "NO_KEY" } }), &server.base_url(), &context(&[]));
    assert!(model.ready().unwrap_err().to_string().contains("NO_KEY"));
    let error = runtime().block_on(ask(&*model, "hi")).unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(error.message.contains("NO_KEY"), "{error}");
    assert!(server.seen().is_empty());
}

#[test]
fn the_connection_serves_the_next_call() {
    let server = Server::scripted(vec![Response::says("ok")]);
    let model = openai(json!({}), &server.base_url(), &context(&[]));
    runtime().block_on(async {
        for _ in 0..5 {
            ask(&*model, "hi").await.unwrap();
        }
    });
    let connections: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0; 5]);
}

#[test]
fn pieces_arrive_as_they_are_sent() {
    struct Times(Arc<Mutex<Vec<Instant>>>);
    impl Sink for Times {
        fn text(&mut self, _: &str) {
            self.0.lock().unwrap().push(Instant::now());
        }
        fn reasoning(&mut self, _: &str) {}
    }
    let piece = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let mut chunks: Vec<String> = (0..5).map(|at| piece(&at.to_string())).collect();
    chunks.push("data: [DONE]\n\n".to_owned());
    let server = Server::scripted(vec![Response::events(chunks).paced(Duration::from_millis(60))]);
    let model = openai(json!({}), &server.base_url(), &context(&[]));
    let times = Arc::new(Mutex::new(Vec::new()));
    let (transcript, sampling) = (Transcript::default(), Sampling::default());
    let request = plain_request(&transcript, &sampling);
    let mut sink = Times(Arc::clone(&times));
    let reply = runtime().block_on(model.call(request, &mut EncodeCache::default(), &mut sink)).unwrap();
    assert_eq!(reply.text, "01234");
    let times = times.lock().unwrap();
    // One burst at the end would have no gap at all; a crowded machine may swallow some of them.
    assert_eq!(times.len(), 5);
    let spread = times[4] - times[0];
    assert!(spread > Duration::from_millis(60), "{spread:?}");
}

fn plain_request<'a>(transcript: &'a Transcript, sampling: &'a Sampling) -> Request<'a> {
    Request {
        purpose: None,
        system: &[],
        transcript,
        last: "hi",
        retry: &[],
        tools: None,
        force_tool: None,
        schema: None,
        sampling,
        volatile: &[],
    }
}

#[test]
fn dropping_the_call_closes_the_connection() {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n";
    let server = Server::scripted(vec![Response::events([half]).ending(Ending::Stall)]);
    let model = openai(json!({}), &server.base_url(), &context(&[]));
    runtime().block_on(async {
        let arrived = async {
            while server.seen().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        tokio::select! {
            reply = ask(&*model, "hi") => panic!("a reply to a call that never ends: {reply:?}"),
            () = arrived => {}
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        while server.left() == 0 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert_eq!(server.left(), 1);
}

#[test]
fn comments_do_not_keep_a_silent_stream_alive() {
    let first = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n".to_owned();
    let comments = (0..200).map(|_| ": still here\n\n".to_owned());
    let server =
        Server::scripted(vec![Response::events([first].into_iter().chain(comments)).paced(Duration::from_millis(50))]);
    let model = openai(json!({ "idle_timeout": "1s" }), &server.base_url(), &context(&[]));
    let begun = Instant::now();
    let error = runtime().block_on(ask(&*model, "hi")).unwrap_err();
    assert_eq!((error.class, error.partial_text.as_str()), (ErrorClass::IncompleteStream, "Half"));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn a_slow_stream_with_content_is_not_silent() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let done = "data: [DONE]\n\n";
    let chunks = std::iter::repeat_n(piece, 8).chain([done]);
    let server = Server::scripted(vec![Response::events(chunks).paced(Duration::from_millis(250))]);
    let model = openai(json!({ "idle_timeout": "1500ms" }), &server.base_url(), &context(&[]));
    assert_eq!(runtime().block_on(ask(&*model, "hi")).unwrap().text, "xxxxxxxx");
}

#[test]
fn a_finished_reply_does_not_wait_for_a_server_that_never_closes() {
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    for body in [whole.to_owned(), format!("{whole}data: [DONE]\n\n")] {
        let server = Server::scripted(vec![Response::events([body]).ending(Ending::Stall)]);
        let model = openai(json!({}), &server.base_url(), &context(&[]));
        let begun = Instant::now();
        assert_eq!(runtime().block_on(ask(&*model, "hi")).unwrap().text, "Hi");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::scripted(vec![Response::says("stolen")]);
    let server = Server::scripted(vec![Response::status(307).header("location", &other.base_url())]);
    let model = openai(json!({ "api_key": { "env": "KEY" } }), &server.base_url(), &context(&[("KEY", "k1")]));
    let error = runtime().block_on(ask(&*model, "hi")).unwrap_err();
    assert_eq!(error.class, ErrorClass::BadRequest);
    assert!(error.message.contains(&other.base_url()), "{error}");
    assert!(other.seen().is_empty());
}

#[test]
fn nobody_listening_says_so() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let model = openai(json!({}), &url, &context(&[]));
    let mut sink = NoSink;
    let (transcript, sampling) = (Transcript::default(), Sampling::default());
    let mut cache = EncodeCache::default();
    let call = model.call(plain_request(&transcript, &sampling), &mut cache, &mut sink);
    let error = runtime().block_on(call).unwrap_err();
    assert_eq!(error.class, ErrorClass::ServerError);
    assert!(error.message.contains(&url) && error.message.contains("refused"), "{error}");
}

#[test]
fn a_body_that_only_claims_to_be_gzip_is_a_decode_error() {
    let server = Server::scripted(vec![Response::events(["data: [DONE]\n\n"]).header("content-encoding", "gzip")]);
    let model = openai(json!({}), &server.base_url(), &context(&[]));
    let error = runtime().block_on(ask(&*model, "hi")).unwrap_err();
    assert_eq!(error.class, ErrorClass::Decode, "{error}");
}

#[test]
fn bad_settings_are_refused() {
    let cases = [
        json!({ "model": "m", "base_url": "localhost:8080" }),
        json!({ "model": "m", "base_url": "ftp://x" }),
        json!({ "model": "m", "headers": { "a b": "c" } }),
        json!({ "model": "m", "extra": { "messages": [] } }),
        json!({ "model": "m", "modle": "n" }),
        json!({}),
    ];
    for settings in cases {
        assert!(provider("openai").unwrap().build(&settings, &context(&[])).is_err(), "{settings}");
    }
}

#[test]
fn every_provider_asks_the_right_place_with_its_key() {
    // A server that refuses: what was sent is all that matters.
    let server = Server::scripted(vec![Response::status(400).body(["{}"])]);
    let base = server.base_url();
    let cases = [
        ("anthropic", "/v1/messages", "x-api-key", "k1"),
        ("gemini", "/v1/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", "k1"),
        ("ollama", "/v1/api/chat", "authorization", "Bearer k1"),
        ("openai", "/v1/chat/completions", "authorization", "Bearer k1"),
        ("responses", "/v1/responses", "authorization", "Bearer k1"),
    ];
    for (at, (name, path, header, value)) in cases.into_iter().enumerate() {
        let settings = json!({ "model": "m", "base_url": base, "api_key": { "env": "KEY" } });
        let model = provider(name).unwrap().build(&settings, &context(&[("KEY", "k1")])).unwrap();
        assert_eq!(model.secrets(), ["k1"], "{name}");
        runtime().block_on(ask(&*model, "hi")).unwrap_err();
        let seen = &server.seen()[at];
        assert_eq!(seen.line, format!("POST {path} HTTP/1.1"));
        assert_eq!(seen.header(header), Some(value), "{name}");
    }
}

#[test]
fn keys_have_names_of_their_own_and_local_servers_need_none() {
    let words = |name: &str| {
        let model = provider(name).unwrap().build(&json!({ "model": "m" }), &context(&[])).unwrap();
        model.ready().err().map(|error| error.to_string()).unwrap_or_default()
    };
    let keys = [("anthropic", "ANTHROPIC"), ("gemini", "GEMINI"), ("openai", "OPENAI"), ("responses", "OPENAI")];
    for (name, key) in keys {
        assert!(words(name).contains(&format!("{key}_API_KEY is not set")), "{name}: {}", words(name));
    }
    assert_eq!(words("ollama"), "");
}

#[test]
fn a_server_that_refuses_the_protocol_is_told_apart() {
    let body = r#"{"error":"m does not support tools"}"#;
    let server = Server::scripted(vec![Response::status(400).body([body])]);
    let ask_with = |protocol: &str| {
        let settings = json!({ "model": "m", "base_url": server.base_url(), "protocol": protocol });
        let model = provider("ollama").unwrap().build(&settings, &context(&[])).unwrap();
        runtime().block_on(ask(&*model, "hi")).unwrap_err()
    };
    let error = ask_with("tools");
    assert_eq!(error.class, ErrorClass::BadRequest);
    assert!(
        error.message.contains("refuses `protocol: tools`") && error.message.contains("`protocol: json`"),
        "{error}"
    );
    assert!(!ask_with("json").message.contains("protocol"));
}

#[test]
fn a_cached_token_is_paid_for_once() {
    // Of 1000 tokens 600 were read from the cache and 100 written to it.
    let price = json!({ "input": 10, "output": 20, "cache_read": 1, "cache_write": 12 });
    let cost = |name: &str, input: u64| {
        let settings = json!({ "model": "m", "price": price });
        let model = provider(name).unwrap().build(&settings, &context(&[])).unwrap();
        model.info().cost(Usage { input, output: 50, cache_read: 600, cache_write: 100 }).unwrap()
    };
    let expected = (300.0 * 10.0 + 600.0 * 1.0 + 100.0 * 12.0 + 50.0 * 20.0) / 1e6;
    for (name, input) in [("anthropic", 300), ("gemini", 1000), ("ollama", 1000), ("openai", 1000), ("responses", 1000)]
    {
        assert!((cost(name, input) - expected).abs() < 1e-12, "{name}: {} {expected}", cost(name, input));
    }
}
