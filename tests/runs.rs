//! Whole runs, as data: each file below `tests/cases/run/` is a loop, a model's replies, and what must come of them.
//!
//! A file has `about`, `loop` (a document), `replies` (what a chat-completions server says, in order), and `expect`.
//! `tests/cases/run/README.md` explains every key. To add a case, add a file.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::{Done, Folder};
use crate::raw_http::{Ending, Response, Seen, Server};

/// The folder of the tests, for programs that cases run.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(rename = "loop")]
    document: Value,
    /// The loop that is run, when it is not that one.
    #[serde(default)]
    run: Option<String>,
    #[serde(default)]
    files: indexmap::IndexMap<String, Value>,
    #[serde(default)]
    workspace: serde_json::Map<String, Value>,
    #[serde(default)]
    protocol: Option<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    replies: Vec<Value>,
    expect: Expect,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    exit: i32,
    reason: Option<String>,
    /// Events that must come in this order; each names only the members that matter.
    events: Vec<Value>,
    /// Events that must not come.
    absent: Vec<Value>,
    /// How many events there are of a kind.
    count: indexmap::IndexMap<String, usize>,
    /// What each request must hold, in order.
    requests: Vec<Vec<String>>,
    /// What no request may hold.
    requests_without: Vec<String>,
    /// What files must hold; null for a file that must not be there.
    files: indexmap::IndexMap<String, Option<String>>,
    /// What standard error must hold (a run that cannot start has no events).
    stderr: Vec<String>,
}

/// What the server says to one request.
fn response(reply: &Value, seen: &Seen) -> Response {
    let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
    let nonce = body["messages"].as_array().and_then(|messages| {
        let text =
            messages.iter().rev().find_map(|message| message["content"].as_str()?.split("Its nonce is ").nth(1))?;
        text.get(..26).map(str::to_owned)
    });
    let fill = |text: &str| text.replace("{{ nonce }}", nonce.as_deref().unwrap_or("none"));
    if let Some(status) = reply["status"].as_u64() {
        let body = reply["body"].as_str().unwrap_or("{}").to_owned();
        return Response::status(status.try_into().unwrap()).body([body]);
    }
    if reply["stall"] == true {
        return Response::events(["data: \n\n"]).ending(Ending::Stall);
    }
    let text = reply.as_str().or_else(|| reply["text"].as_str()).map(fill).unwrap_or_default();
    let mut delta = json!({ "content": text });
    let mut finish = reply["finish"].as_str().unwrap_or("stop");
    if let Some(calls) = reply["calls"].as_array() {
        finish = "tool_calls";
        let calls: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let arguments = match &call["arguments"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let function = json!({ "name": call["name"], "arguments": arguments });
                json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
            })
            .collect();
        delta["tool_calls"] = Value::Array(calls);
    }
    let usage = reply.get("usage").cloned().unwrap_or_else(|| json!({ "prompt_tokens": 100, "completion_tokens": 10 }));
    let chunks = [
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }], "usage": usage }),
    ];
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).chain(["data: [DONE]\n\n".to_owned()]);
    Response::events(events.collect::<Vec<_>>())
}

fn workspace(case: &Case, server: &Server) -> Folder {
    let folder = Folder::new(&[]);
    let mut model = json!({
        "provider": "openai", "model": "m", "base_url": server.base_url(), "price": { "input": 1000, "output": 1000 },
    });
    if let Some(protocol) = &case.protocol {
        model["protocol"] = json!(protocol);
    }
    let mut document = json!({
        "kind": "workspace",
        "models": { "m-small": model },
        "tiers": { "main": "m-small" },
        "retry": { "base_delay": "5ms", "max_delay": "10ms" },
    });
    for (key, value) in &case.workspace {
        document[key] = value.clone();
    }
    folder.write(
        "loopwright.yaml",
        document.to_string().replace("{{ base_url }}", &server.base_url()).replace("{{ tests }}", TESTS),
    );
    folder.write("loops/case.yaml", case.document.to_string());
    for (path, content) in &case.files {
        let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        folder.write(path, text);
    }
    folder
}

fn run(case: &Case) -> (Done, Vec<Value>, Vec<Seen>, Folder) {
    let replies = case.replies.clone();
    let server = Server::answering(move |number, seen| match replies.get(number) {
        Some(reply) => response(reply, seen),
        None => Response::status(500).body([r#"{"error":{"message":"the case has no further reply"}}"#]),
    });
    let folder = workspace(case, &server);
    let own = case.document["name"].as_str().unwrap_or("case");
    let name = case.run.as_deref().unwrap_or(own).to_owned();
    let mut arguments = vec!["run", name.as_str(), "--events", "events.ndjson"];
    let input = case.input.as_deref().unwrap_or("the task");
    arguments.extend(["--input", input]);
    arguments.extend(case.args.iter().map(String::as_str));
    let done = folder.run(&arguments);
    let log = std::fs::read_to_string(folder.file("events.ndjson")).unwrap_or_default();
    let events = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (done, events, server.seen(), folder)
}

/// Whether `value` has everything that `wanted` names. A string that begins with `~` is looked for inside.
pub(crate) fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| holds(value.get(key).unwrap_or(&Value::Null), wanted))
        }
        (Value::Array(value), Value::Array(wanted)) => {
            value.len() == wanted.len() && value.iter().zip(wanted).all(|(value, wanted)| holds(value, wanted))
        }
        (Value::String(value), Value::String(wanted)) => match wanted.strip_prefix('~') {
            Some(part) => value.contains(part),
            None => value == wanted,
        },
        (value, wanted) => value == wanted,
    }
}

/// What is wrong with the outcome; empty when all is as expected.
fn faults(case: &Case) -> Vec<String> {
    let (done, events, requests, folder) = run(case);
    let expect = &case.expect;
    let mut faults = Vec::new();
    if done.code != Some(expect.exit) {
        faults.push(format!("exit code {:?}, expected {}\n{}", done.code, expect.exit, done.stderr));
    }
    if done.stderr.contains("panicked") {
        faults.push(done.stderr.clone());
    }
    if let Some(reason) = &expect.reason {
        let last = events.last().cloned().unwrap_or_default();
        if last["reason"] != json!(reason) {
            faults.push(format!("ended with {last}, expected {reason}"));
        }
    }
    let mut from = 0;
    for wanted in &expect.events {
        match events[from..].iter().position(|event| holds(event, wanted)) {
            Some(at) => from += at + 1,
            None => faults.push(format!("no event {wanted} after event {from}")),
        }
    }
    for unwanted in &expect.absent {
        if let Some(event) = events.iter().find(|event| holds(event, unwanted)) {
            faults.push(format!("unexpected event {event}"));
        }
    }
    for (kind, count) in &expect.count {
        let found = events.iter().filter(|event| event["event"] == json!(kind)).count();
        if found != *count {
            faults.push(format!("{found} events of kind {kind}, expected {count}"));
        }
    }
    for (number, parts) in expect.requests.iter().enumerate() {
        let text = requests.get(number).map(text_of).unwrap_or_default();
        for part in parts.iter().filter(|part| !text.contains(part.as_str())) {
            faults.push(format!("request {number} does not hold {part:?}:\n{text}"));
        }
    }
    for part in &expect.requests_without {
        if let Some(number) = requests.iter().position(|request| text_of(request).contains(part.as_str())) {
            faults.push(format!("request {number} holds {part:?}"));
        }
    }
    for (path, wanted) in &expect.files {
        match (std::fs::read_to_string(folder.file(path)), wanted) {
            (Ok(text), Some(wanted)) if text.contains(wanted.as_str()) => {}
            (Err(_), None) => {}
            (found, wanted) => faults.push(format!("file {path}: {found:?}, expected {wanted:?}")),
        }
    }
    for part in expect.stderr.iter().filter(|part| !done.stderr.contains(part.as_str())) {
        faults.push(format!("standard error does not hold {part:?}:\n{}", done.stderr));
    }
    if !faults.is_empty() {
        let log: Vec<String> = events.iter().map(|event| shorten(event.clone())).collect();
        faults.push(format!("the log:\n{}", log.join("\n")));
    }
    faults
}

/// An event without what every event has, and not too long.
pub(crate) fn shorten(mut event: Value) -> String {
    for key in ["v", "at_ms", "run", "task", "sections"] {
        event.as_object_mut().unwrap().shift_remove(key);
    }
    event.to_string().chars().take(300).collect()
}

/// All text of a request, as the model sees it.
fn text_of(request: &Seen) -> String {
    fn collect(value: &Value, into: &mut String) {
        match value {
            Value::String(text) => {
                into.push_str(text);
                into.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            Value::Object(map) => map.values().for_each(|item| collect(item, into)),
            _ => {}
        }
    }
    let mut text = String::new();
    collect(&serde_json::from_slice(&request.body).unwrap_or_default(), &mut text);
    text
}

#[test]
fn every_case_ends_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/run");
    let only = std::env::var("CASE").ok();
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.retain(|path| only.as_deref().is_none_or(|only| path.to_string_lossy().contains(only)));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", folder.display());
    let mut failed = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let case: Case = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let faults = faults(&case);
        if !faults.is_empty() {
            failed.push(format!("{}: {}\n{}", path.display(), case.about, faults.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
