//! `http`: what is sent, what comes back, and what a value cannot do to the host.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::support::{World, step};

/// Answers one request after the other with `answer`; gives its address and what it was asked.
async fn server(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 64 * 1024];
            let read = stream.read(&mut bytes).await.unwrap_or(0);
            notes.lock().unwrap().push(String::from_utf8_lossy(&bytes[..read]).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, asked)
}

const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nX-Two: a\r\nX-Two: b\r\ncontent-length: 7\r\nconnection: close\r\n\r\n{\"n\":1}";
const MISSING: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 7\r\nconnection: close\r\n\r\nno such";

async fn run(address: &str, args: Value) -> Result<Value, String> {
    World::new()
        .with("address", json!(address))
        .with("params", json!({ "q": "a b&c=d", "list": [1, 2], "none": null, "path": "@evil.test/" }))
        .run("http", args)
        .await
}

#[tokio::test]
async fn a_request_is_sent_as_written() {
    let (address, asked) = server(JSON).await;
    let args = json!({
        "url": "http://{{ address }}/search?x=1", "headers": { "X-Key": "k {{ params.q }}" },
        "query": { "q": "{{ params.q }}", "l": "{{ params.list }}", "skip": "{{ params.none }}" }
    });
    let result = run(&address, args).await.unwrap();
    assert_eq!(
        (&result["status"], &result["json"], &result["body"]),
        (&json!(200), &json!({ "n": 1 }), &json!("{\"n\":1}"))
    );
    assert_eq!((&result["headers"]["x-two"], &result["truncated"]), (&json!("a, b"), &json!(false)));
    let text = asked.lock().unwrap()[0].clone();
    assert!(text.starts_with("GET /search?x=1&q=a+b%26c%3Dd&l=1&l=2 HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("x-key: k a b&c=d\r\n"), "{text}");
}

#[tokio::test]
async fn a_body_makes_a_post() {
    let (address, asked) = server(JSON).await;
    run(&address, json!({ "url": "http://{{ address }}/", "json": { "l": "{{ params.list }}" } })).await.unwrap();
    run(&address, json!({ "url": "http://{{ address }}/", "body": "text {{ params.q }}", "method": "put" }))
        .await
        .unwrap();
    run(&address, json!({ "url": "http://{{ address }}/", "body": "{{ params.none }}" })).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    assert!(asked[0].starts_with("POST /") && asked[0].contains("content-type: application/json"), "{}", asked[0]);
    assert!(asked[0].ends_with("{\"l\":[1,2]}"), "{}", asked[0]);
    assert!(asked[1].starts_with("PUT /") && asked[1].ends_with("text a b&c=d"), "{}", asked[1]);
    assert!(asked[2].starts_with("GET /"), "{}", asked[2]);
    assert!(step("http", &json!({ "url": "http://x", "body": "a", "json": 1 })).is_err());
}

#[tokio::test]
async fn a_failing_status_fails_the_step_unless_it_is_not_checked() {
    let (address, _) = server(MISSING).await;
    let error = run(&address, json!("http://{{ address }}/x")).await.unwrap_err();
    assert!(error.contains("status 404") && error.contains("no such"), "{error}");
    let result = run(&address, json!({ "url": "http://{{ address }}/x", "check": false })).await.unwrap();
    assert_eq!((&result["status"], &result["json"]), (&json!(404), &json!(null)));
}

#[tokio::test]
async fn a_value_does_not_change_the_host() {
    let (address, asked) = server(JSON).await;
    let args = json!({ "url": format!("http://{address}{{{{ params.path }}}}") });
    let error = run(&address, args).await.unwrap_err();
    assert!(error.contains("changes the host"), "{error}");
    assert_eq!(asked.lock().unwrap().len(), 0);
    let args = json!({ "url": format!("http://{address}/{{{{ params.path }}}}") });
    run(&address, args).await.unwrap();
    let port = address.rsplit(':').next().unwrap();
    let world = World::new().with("port", json!(port));
    world.run("http", json!("http://127.0.0.1:{{ port }}/")).await.unwrap();
}

#[tokio::test]
async fn private_addresses_are_closed_to_a_step_that_obeys_the_policy() {
    let (address, asked) = server(JSON).await;
    let error = run(&address, json!({ "url": "http://{{ address }}/", "obey_policy": true })).await.unwrap_err();
    assert!(error.contains("policy") && error.contains("127.0.0.1"), "{error}");
    assert_eq!(asked.lock().unwrap().len(), 0);
}
