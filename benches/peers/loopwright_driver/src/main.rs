//! This engine as one more peer: the same arguments and result line as the other drivers.
//!
//! The loop is `workspace/loops/echo.yaml`, with all that an ordinary run has: a checked document, sections, parameter
//! schemas, and a subscriber that turns every event into a line of JSON.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use loopwright::event::{Envelope, Subscriber};
use loopwright::{Effect, Engine, Library, ModelSpec, NativeTool, Protocol, RunRequest};
use serde_json::{Value, json};

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
struct Echo;

impl NativeTool for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "Echo the text."
    }

    fn params(&self) -> Value {
        json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] })
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn call<'a>(&'a self, params: Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>> {
        TICKS.lock().unwrap().push(cpu_ns());
        Box::pin(std::future::ready(Ok(params["text"].clone())))
    }
}

/// An event log that goes nowhere, but is written like one.
#[derive(Default)]
struct Log(Mutex<Vec<u8>>);

impl Subscriber for Log {
    fn on_event(&self, event: &Envelope) {
        let mut line = self.0.lock().unwrap();
        line.clear();
        serde_json::to_writer(&mut *line, event).expect("an event is JSON");
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
    let model = if delay > 0 { format!("mock-{steps}-d{delay}-finish") } else { format!("mock-{steps}-finish") };
    let protocol = if arg("--variant", "tools") == "json" { Protocol::Json } else { Protocol::Tools };
    let base_url = arg("--base-url", "http://127.0.0.1:8765/v1");

    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/workspace");
    let (library, findings) = Library::open(workspace.as_ref());
    assert!(!findings.has_errors(), "{findings:?}");
    let spec = ModelSpec { provider: "openai".into(), model, base_url: Some(base_url), key: None, protocol: Some(protocol) };
    let engine = Engine::builder(Arc::new(library))
        .tool(Arc::new(Echo))
        .subscriber(Arc::new(Log::default()))
        .model("main", spec)
        .build()
        .expect("engine");

    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..loops {
        let engine = engine.clone();
        tasks.spawn(async move {
            let request = RunRequest { loop_name: "echo".into(), input: TASK.into(), ..RunRequest::default() };
            let outcome = engine.run(request).await.expect("a run that starts");
            assert_eq!(outcome.exit_code, 0, "{outcome:?}");
        });
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
