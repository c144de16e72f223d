//! Rust drivers: `--variant rig` (default, the rig agent), `--variant floor` (reqwest, serde_json and a list of
//! messages, no framework) or `--variant floor-stream` (the same, with streamed replies). Same arguments and result line
//! as the Python drivers.

use rig::agent::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::tool::{Tool, ToolContext};
use serde::Deserialize;
use serde_json::{json, Value};
use std::{convert::Infallible, sync::Mutex, time::Instant};

const TASK: &str = "Call echo until you are told to stop.";

/// Process CPU time (ns, all threads) at each tool call.
static TICKS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The no-op tool.
fn echo_body(text: String) -> String {
    TICKS.lock().unwrap().push(cpu_ns());
    text
}

fn parameters() -> Value {
    json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] })
}

#[derive(Deserialize)]
struct EchoArgs {
    text: String,
}

#[derive(Clone)]
struct Echo;

impl Tool for Echo {
    const NAME: &'static str = "echo";
    type Args = EchoArgs;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        "Echo the text.".to_owned()
    }

    fn parameters(&self) -> Value {
        parameters()
    }

    async fn call(&self, _: &mut ToolContext, args: EchoArgs) -> Result<String, Infallible> {
        Ok(echo_body(args.text))
    }
}

/// How a floor loop asks for its replies.
#[derive(Clone, Copy)]
enum Reply {
    Whole,
    Streamed,
}

async fn floor(client: reqwest::Client, url: String, model: String, reply: Reply) {
    let function = json!({ "name": "echo", "description": "Echo the text.", "parameters": parameters() });
    let tools = json!([{ "type": "function", "function": function }]);
    let mut messages = vec![json!({ "role": "user", "content": TASK })];
    loop {
        let mut body = json!({ "model": model, "messages": messages, "tools": tools });
        if let Reply::Streamed = reply {
            body["stream"] = true.into();
            body["stream_options"] = json!({ "include_usage": true });
        }
        let response = client.post(&url).json(&body).send().await.expect("request");
        let message = match reply {
            Reply::Whole => response.json::<Value>().await.expect("reply")["choices"][0]["message"].take(),
            Reply::Streamed => streamed_message(response).await,
        };
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        messages.push(message);
        if calls.is_empty() {
            return;
        }
        for call in calls {
            let args: EchoArgs = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": echo_body(args.text) }));
        }
    }
}

/// Read server-sent events by hand and put the message together from its deltas.
async fn streamed_message(mut response: reqwest::Response) -> Value {
    let mut pending: Vec<u8> = Vec::new();
    let (mut content, mut calls) = (String::new(), Vec::<Value>::new());
    while let Some(bytes) = response.chunk().await.expect("chunk") {
        pending.extend_from_slice(&bytes);
        let mut read = 0;
        while let Some(end) = pending[read..].windows(2).position(|pair| pair == b"\n\n") {
            let event = &pending[read..read + end];
            read += end + 2;
            let data = event.strip_prefix(b"data: ").expect("an event is one data line");
            if data != b"[DONE]" {
                let mut chunk: Value = serde_json::from_slice(data).expect("chunk of JSON");
                // The last chunk has no choices, only the usage.
                if let Some(delta) = chunk.pointer_mut("/choices/0/delta") {
                    add_delta(delta.take(), &mut content, &mut calls);
                }
            }
        }
        pending.drain(..read);
    }
    let content = if content.is_empty() { Value::Null } else { content.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// The first delta of a call brings its id and name, later ones more of its arguments.
fn add_delta(mut delta: Value, content: &mut String, calls: &mut Vec<Value>) {
    content.push_str(delta["content"].as_str().unwrap_or_default());
    for call in delta["tool_calls"].as_array_mut().map(std::mem::take).unwrap_or_default() {
        let index = call["index"].as_u64().expect("index") as usize;
        match calls.get_mut(index) {
            None => calls.push(call),
            Some(begun) => {
                let more = call["function"]["arguments"].as_str().unwrap_or_default();
                let so_far = begun["function"]["arguments"].as_str().unwrap_or_default();
                begun["function"]["arguments"] = format!("{so_far}{more}").into();
            }
        }
    }
}

fn arg(name: &str, default: &str) -> String {
    let mut args = std::env::args().skip_while(|a| a != name);
    args.next().and_then(|_| args.next()).unwrap_or_else(|| default.to_owned())
}

#[tokio::main]
async fn main() {
    let steps: usize = arg("--steps", "50").parse().unwrap();
    let loops: usize = arg("--loops", "1").parse().unwrap();
    let delay: u64 = arg("--delay", "0").parse().unwrap();
    let base_url = arg("--base-url", "http://127.0.0.1:8765/v1");
    let model = if delay > 0 { format!("mock-{steps}-d{delay}") } else { format!("mock-{steps}") };

    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    let variant = arg("--variant", "");
    if variant.starts_with("floor") {
        let client = reqwest::Client::new();
        let reply = if variant == "floor-stream" { Reply::Streamed } else { Reply::Whole };
        for _ in 0..loops {
            tasks.spawn(floor(client.clone(), format!("{base_url}/chat/completions"), model.clone(), reply));
        }
    } else {
        let mut config = OpenAIConfig::new("none");
        config.base_url = base_url;
        let agent = AgentBuilder::new(config.client().chat(model)).tool(Echo).build();
        for _ in 0..loops {
            let agent = agent.clone();
            tasks.spawn(async move {
                agent.prompt(TASK).max_turns(steps + 2).await.expect("run");
            });
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("loop");
    }

    let ticks = TICKS.lock().unwrap();
    assert_eq!(ticks.len(), steps * loops, "tool calls");
    let mut result = json!({
        "wall_s": started.elapsed().as_secs_f64(),
        "loop_cpu_s": (ticks[ticks.len() - 1] - ticks[0]) as f64 / 1e9,
    });
    if loops == 1 {
        let gaps = ticks.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e3);
        result["step_cpu_us"] = gaps.collect::<Vec<_>>().into();
    }
    println!("{result}");
}
