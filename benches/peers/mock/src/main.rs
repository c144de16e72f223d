//! Scripted OpenAI-compatible chat-completions server for measuring agent loops.
//!
//! The request's `model` carries the script: `mock-N[-dMS][-bash|-code|-finish]`.
//!   N     tool calls to make before the final answer (N = 0: answer at once)
//!   dMS   wait MS milliseconds before answering (also: header `x-delay-ms`, query `delay_ms`)
//!   bash  text mode answers with a fenced bash block;  code: with a Python `<code>` block
//!   finish  the last answer is an action, not plain text: a call of the tool `finish` where the request offers it,
//!         else `{"@action": "finish"}`
//! The server keeps no conversation: the step is the number of assistant messages received. A client that writes its
//! past into a user message instead has none; then the step is the number of lines that start with `### iteration ` in
//! user messages, so such a client writes exactly one of these lines for each past iteration.
//!
//! POST .../chat/completions   the model     GET /stats   counts and first/last arrival
//! POST /reset                 clear the log GET /log     CSV: arrival_ns,step,body_bytes

use axum::{
    body::Bytes,
    extract::{Query, State},
    http::{header, HeaderMap},
    response::{IntoResponse, Response},
    routing::{get, post},
    Router,
};
use serde::Deserialize;
use serde_json::{json, value::RawValue, Value};
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(default)]
    stream: bool,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    /// A string, or a list of parts; kept as JSON, since only lines in it are counted.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
}

struct Entry {
    at_ns: u128,
    step: usize,
    bytes: usize,
}

type Log = Arc<Mutex<Vec<Entry>>>;

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

/// The step that a request asks for: how many iterations came before it.
fn past_iterations(messages: &[Message]) -> usize {
    let replies = messages.iter().filter(|m| m.role == "assistant").count();
    if replies > 0 {
        return replies;
    }
    let user = messages.iter().filter(|m| m.role == "user");
    user.filter_map(|m| m.content).map(|content| iteration_lines(content.get())).sum()
}

/// How many lines of a JSON text start with the marker. In JSON a line starts after the quote that opens
/// a string, or after an escaped newline.
fn iteration_lines(json: &str) -> usize {
    let starts_line = |at: usize| {
        let before = &json[..at];
        before.ends_with("\\n") || (before.ends_with('"') && !before.ends_with("\\\""))
    };
    json.match_indices("### iteration ").filter(|(at, _)| starts_line(*at)).count()
}

/// What the model says: plain text, or one call of a tool.
enum Turn {
    Text(String),
    Call(String, Value),
}

/// The turn that follows `done` finished tool calls of a script of `total`.
fn turn(req: &Request, done: usize, total: usize) -> Turn {
    let names: Vec<&str> = req.tools.iter().flatten().map(|t| t.function.name.as_str()).collect();
    let (next, last) = (done + 1, done >= total);
    let text = format!("step {next}");
    let submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
    let command = if last { submit.to_string() } else { format!("echo '{text}'") };

    if names.contains(&"bash") {
        return Turn::Call("bash".into(), json!({ "command": command }));
    }
    if last && names.contains(&"final_answer") {
        return Turn::Call("final_answer".into(), json!({ "answer": "done" }));
    }
    if last && names.contains(&"finish") {
        return Turn::Call("finish".into(), json!({}));
    }
    if let (false, Some(_)) = (last, names.first()) {
        return Turn::Call("echo".into(), json!({ "text": text }));
    }
    if last && req.model.ends_with("-finish") {
        return Turn::Text(json!({ "@action": "finish" }).to_string());
    }
    if !names.is_empty() {
        return Turn::Text("done".into());
    }
    Turn::Text(if req.model.ends_with("-bash") {
        format!("THOUGHT: {text}\n\n```mswea_bash_command\n{command}\n```")
    } else if req.model.ends_with("-code") {
        let line = if last { "final_answer('done')".into() } else { format!("echo(text='{text}')") };
        format!("Thought: {text}\n<code>\n{line}\n</code>")
    } else if last {
        "done".into()
    } else {
        json!({ "@action": "echo", "text": text }).to_string()
    })
}

async fn chat(
    State(log): State<Log>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let at_ns = now_ns();
    let req: Request = match serde_json::from_slice(&body) {
        Ok(req) => req,
        Err(e) => return (axum::http::StatusCode::BAD_REQUEST, e.to_string()).into_response(),
    };
    let step = past_iterations(&req.messages);
    let count = {
        let mut log = log.lock().unwrap();
        log.push(Entry { at_ns, step, bytes: body.len() });
        log.len()
    };

    let mut parts = req.model.split('-').skip(1);
    let total = parts.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let delay = parts
        .find_map(|p| p.strip_prefix('d')?.parse::<u64>().ok())
        .or_else(|| query.get("delay_ms")?.parse().ok())
        .or_else(|| headers.get("x-delay-ms")?.to_str().ok()?.parse().ok());
    if let Some(ms) = delay.filter(|ms| *ms > 0) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    let (content, calls, finish) = match turn(&req, step, total) {
        Turn::Text(text) => (Value::String(text), Value::Null, "stop"),
        Turn::Call(name, args) => {
            let function = json!({ "name": name, "arguments": args.to_string() });
            let call = json!({ "index": 0, "id": format!("call_{count}"), "type": "function", "function": function });
            (Value::Null, json!([call]), "tool_calls")
        }
    };
    let prompt = body.len() / 4;
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": 12, "total_tokens": prompt + 12 });
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_null() {
        message["tool_calls"] = calls;
    }
    let envelope = |object: &str, choices: Value, usage: Value| {
        json!({ "id": format!("chatcmpl-{count}"), "object": object, "created": at_ns as u64 / 1_000_000_000,
                "model": req.model, "choices": choices, "usage": usage })
    };

    if !req.stream {
        let choice = json!([{ "index": 0, "message": message, "finish_reason": finish, "logprobs": null }]);
        let text = envelope("chat.completion", choice, usage).to_string();
        return ([(header::CONTENT_TYPE, "application/json")], text).into_response();
    }
    let chunks = [
        (json!([{ "index": 0, "delta": message, "finish_reason": null }]), Value::Null),
        (json!([{ "index": 0, "delta": {}, "finish_reason": finish }]), Value::Null),
        (json!([]), usage),
    ];
    let mut sse = String::new();
    for (choices, usage) in chunks {
        write!(sse, "data: {}\n\n", envelope("chat.completion.chunk", choices, usage)).unwrap();
    }
    sse.push_str("data: [DONE]\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], sse).into_response()
}

async fn stats(State(log): State<Log>) -> String {
    let log = log.lock().unwrap();
    json!({
        "requests": log.len(),
        "first_ns": log.first().map(|e| e.at_ns as u64),
        "last_ns": log.last().map(|e| e.at_ns as u64),
        "bytes": log.iter().map(|e| e.bytes).sum::<usize>(),
        "max_bytes": log.iter().map(|e| e.bytes).max(),
        "max_step": log.iter().map(|e| e.step).max(),
    })
    .to_string()
}

async fn dump(State(log): State<Log>) -> String {
    let mut csv = String::from("arrival_ns,step,body_bytes\n");
    for e in log.lock().unwrap().iter() {
        writeln!(csv, "{},{},{}", e.at_ns, e.step, e.bytes).unwrap();
    }
    csv
}

async fn reset(State(log): State<Log>) {
    log.lock().unwrap().clear();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port = std::env::args().nth(1).unwrap_or_else(|| "8765".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
    let app = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/stats", get(stats))
        .route("/log", get(dump))
        .route("/reset", post(reset))
        .layer(axum::extract::DefaultBodyLimit::max(64 << 20))
        .with_state(Log::default());
    eprintln!("mock on 127.0.0.1:{port}");
    // TCP_NODELAY: without it Nagle's algorithm would add up to 40 ms to an answer.
    axum::serve(axum::serve::ListenerExt::tap_io(listener, |s| drop(s.set_nodelay(true))), app).await.unwrap();
}
