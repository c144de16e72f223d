//! `model ask` against a server that sends exactly what real servers were seen to send.

use std::time::Duration;

use serde_json::Value;

use super::Folder;
use crate::raw_http::{Ending, Response, Server};

/// The response of a row.
fn response(row: &Value) -> Response {
    let chunk = |value: &Value| match value {
        Value::String(text) => text.clone().into_bytes(),
        other => data_encoding::BASE64.decode(other["b64"].as_str().unwrap().as_bytes()).unwrap(),
    };
    let status = u16::try_from(row["status"].as_u64().unwrap()).unwrap();
    let mut response = Response::status(status).body(row["body_chunks"].as_array().unwrap().iter().map(chunk));
    if response.chunks.len() > 1 {
        response = response.paced(Duration::from_millis(2));
    }
    for (name, value) in row["headers"].as_object().unwrap() {
        response = response.header(name, value.as_str().unwrap());
    }
    response.ending(match row["transport_end"].as_str() {
        Some("reset") => Ending::Reset,
        Some("stall") => Ending::Stall,
        _ => Ending::Eof,
    })
}

/// What is wrong with the program's answer; of usage only the counters count that the row names.
fn fault(expected: &Value, got: &Value) -> Option<String> {
    let same = |key: &str, value: &Value| match (key, value) {
        ("usage", Value::Object(counters)) => counters.iter().all(|(name, n)| got["usage"][name] == *n),
        _ => got[key] == *value,
    };
    expected
        .as_object()
        .unwrap()
        .iter()
        .find(|(key, value)| !same(key, value))
        .map(|(key, value)| format!("{key}: expected {value}, got {}", got[key.as_str()]))
}

#[test]
fn every_response_gives_its_text_or_its_error_class() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../cases/stream/sse_cases.json")).unwrap();
    let folder = Folder::new(&[]);
    let mut faults = Vec::new();
    // A date in Retry-After needs a clock that stands still: that row is tested inside the crate.
    for row in rows.iter().filter(|row| row.get("now").is_none()) {
        let server = Server::scripted(vec![response(row)]);
        let done = folder.run(&[
            "model",
            "ask",
            "--provider",
            row["provider"].as_str().unwrap(),
            "--base-url",
            &server.base_url(),
            "--model",
            "m",
            "--no-retry",
            "--idle-timeout",
            "3s",
            "--format",
            "json",
            "hi",
        ]);
        let code = if row["expected"]["error_class"].is_null() { 0 } else { 1 };
        if done.code != Some(code) {
            faults.push(format!("{}: exits with {:?}, expected {code}: {}", row["id"], done.code, done.stderr));
        } else if let Some(fault) = fault(&row["expected"], &done.json()) {
            faults.push(format!("{}: {fault}", row["id"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_key_and_the_question_are_sent() {
    let server = Server::scripted(vec![Response::says("Hello\nyou")]);
    let folder = Folder::new(&[("question.txt", "What is \"this\"?")]);
    let url = server.base_url();
    let arguments = [
        "model",
        "ask",
        "--provider",
        "openai",
        "--base-url",
        &url,
        "--model",
        "big",
        "--api-key-env",
        "MY_KEY",
        "@question.txt",
    ];
    let mut command = folder.loopwright(&arguments);
    let output = command.env("MY_KEY", "sk-something").output().unwrap();
    let done = super::Done::of(&output).exits(0);
    assert_eq!(done.stdout, "Hello\nyou\n");
    assert!(done.stderr.contains("openai:big (finish: stop; 7 tokens in, 2 out)"), "{done:?}");
    let seen = &server.seen()[0];
    assert_eq!(seen.header("authorization"), Some("Bearer sk-something"));
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["model"], "big");
    assert!(body["messages"].to_string().contains("What is \\\"this\\\"?"), "{body}");
    let done = folder.run(&arguments).exits(2);
    assert!(done.stderr.contains("MY_KEY is not set") && done.stderr.contains("export MY_KEY="), "{done:?}");
}

#[test]
fn a_tier_of_the_workspace_is_asked() {
    let server = Server::scripted(vec![Response::says("fine")]);
    let workspace = format!(
        "kind: workspace\nmodels:\n  small: {{ provider: openai, model: m-small, base_url: \"{}\" }}\ntiers: {{ main: small, speed: small }}\n",
        server.base_url()
    );
    let folder = Folder::new(&[("loopwright.yaml", &workspace)]);
    for arguments in [
        &["model", "ask", "hi"][..],
        &["model", "ask", "--tier", "speed", "hi"],
        &["model", "ask", "--tier", "small", "hi"],
    ] {
        assert_eq!(folder.run(arguments).exits(0).stdout, "fine\n");
    }
    let bare = Folder::new(&[]);
    let mut command = bare.loopwright(&["model", "ask", "hi"]);
    command.env("LOOPWRIGHT_MODEL", "openai:mine").env("LOOPWRIGHT_BASE_URL", server.base_url());
    assert_eq!(super::Done::of(&command.output().unwrap()).exits(0).stdout, "fine\n");
    let done = folder.run(&["model", "ask", "--tier", "sped", "hi"]).exits(2);
    assert!(done.stderr.contains("did you mean `speed`?"), "{done:?}");
}

#[test]
fn what_cannot_be_asked_is_a_usage_error() {
    let folder = Folder::new(&[]);
    for (arguments, words) in [
        (&["model", "ask", "hi"][..], "export LOOPWRIGHT_MODEL=openai:NAME"),
        (&["model", "ask", "--provider", "opnai", "--model", "m", "hi"], "did you mean `openai`?"),
        (&["model", "ask", "--provider", "openai", "hi"], "--model"),
        (&["model", "ask", "--idle-timeout", "soon", "hi"], "30s"),
        (&["model", "ask", "--provider", "openai", "--model", "m", "hi"], "OPENAI_API_KEY"),
        (&["model", "ask", "--provider", "openai", "--model", "m", "--base-url", "not a url", "hi"], "not a url"),
    ] {
        let done = folder.run(arguments).exits(2);
        assert!(done.stderr.contains(words), "{arguments:?}: {done:?}");
    }
}

#[test]
fn nobody_listening_is_a_failure_of_the_call() {
    let folder = Folder::new(&[]);
    let arguments = [
        "model",
        "ask",
        "--provider",
        "openai",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--no-retry",
        "hi",
    ];
    let done = folder.run(&arguments).exits(1);
    assert!(done.stdout.is_empty() && done.stderr.contains("127.0.0.1:9"), "{done:?}");
}

#[test]
fn a_failure_that_may_pass_is_tried_again_unless_told_not_to() {
    let failing = || Response::status(503).header("retry-after", "0");
    let folder = Folder::new(&[]);
    let ask = |server: &Server, more: &[&str]| {
        let url = server.base_url();
        let arguments = ["model", "ask", "--provider", "openai", "--base-url", &url, "--model", "m", "hi"];
        folder.run(&[&arguments[..], more].concat())
    };
    let server = Server::scripted(vec![failing(), failing(), Response::says("at last")]);
    let done = ask(&server, &[]).exits(0);
    assert_eq!((done.stdout.as_str(), server.seen().len()), ("at last\n", 3));
    assert!(done.stderr.contains("asking again in 0.0 s"), "{done:?}");
    let server = Server::scripted(vec![failing(), Response::says("at last")]);
    ask(&server, &["--no-retry"]).exits(1);
    assert_eq!(server.seen().len(), 1);
}
