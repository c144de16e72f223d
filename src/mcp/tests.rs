//! Servers over their life: with connections made of words on a clock that stands still, and with a real process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::server::{Server, lock};
use super::session::{CallError, Connect, Patience, Session};
use crate::document::{Duration as Span, McpRestart, McpServerDoc};

/// What one connection does.
#[derive(Default)]
struct Fake {
    tools: Mutex<Vec<Value>>,
    closed: AtomicBool,
    changes: AtomicU64,
    answers: Mutex<VecDeque<Result<Value, CallError>>>,
}

impl Fake {
    fn with_tools(names: &[&str]) -> Arc<Self> {
        let tools = names.iter().map(|name| json!({ "name": name })).collect();
        Arc::new(Self { tools: Mutex::new(tools), ..Self::default() })
    }
}

struct Handle(Arc<Fake>);

impl Session for Handle {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Value>, String>> {
        Box::pin(async { Ok(lock(&self.0.tools).clone()) })
    }
    fn call(&self, _: String, _: Map<String, Value>, _: Patience) -> BoxFuture<'_, Result<Value, CallError>> {
        Box::pin(async {
            let answer = lock(&self.0.answers).pop_front();
            answer.unwrap_or_else(|| Ok(json!({ "content": [{ "type": "text", "text": "yes" }] })))
        })
    }
    fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }
    fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }
    fn last_words(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "ended with exit code 1".to_owned() })
    }
    fn close(&self) -> BoxFuture<'_, ()> {
        self.0.closed.store(true, Ordering::Release);
        Box::pin(async {})
    }
}

/// One attempt to connect.
enum Attempt {
    Up(Arc<Fake>),
    Fails(&'static str),
    /// Never gets ready.
    Hangs,
}

/// Attempts in their order, and when each was made.
#[derive(Clone, Default)]
struct Attempts(Arc<Mutex<(VecDeque<Attempt>, Vec<Duration>)>>, Option<Instant>);

impl Attempts {
    fn new(attempts: impl IntoIterator<Item = Attempt>) -> Self {
        let attempts = Mutex::new((attempts.into_iter().collect(), Vec::new()));
        Self(Arc::new(attempts), Some(Instant::now()))
    }
    /// Seconds from the beginning to each attempt.
    fn times(&self) -> Vec<f64> {
        lock(&self.0).1.iter().map(Duration::as_secs_f64).map(|secs| (secs * 10.0).round() / 10.0).collect()
    }
}

impl Connect for Attempts {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Session>, String>> {
        Box::pin(async {
            let attempt = {
                let mut attempts = lock(&self.0);
                attempts.1.push(self.1.unwrap().elapsed());
                attempts.0.pop_front()
            };
            match attempt {
                Some(Attempt::Up(fake)) => Ok(Box::new(Handle(fake)) as Box<dyn Session>),
                Some(Attempt::Fails(words)) => Err(words.to_owned()),
                Some(Attempt::Hangs) | None => std::future::pending().await,
            }
        })
    }
}

fn server(doc: McpServerDoc, attempts: &Attempts) -> Server {
    Server::new("s", doc, Box::new(attempts.clone()), Arc::new(AtomicU64::new(1)))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_is_started_again_after_longer_and_longer_waits() {
    let dead = |_| {
        let fake = Fake::with_tools(&["t"]);
        fake.closed.store(true, Ordering::Release);
        Attempt::Up(fake)
    };
    let attempts = Attempts::new((0..9).map(dead));
    let restart = McpRestart { max: 5, base_delay: Span::secs(1), max_delay: Span::secs(5) };
    let server = server(McpServerDoc { restart, ..McpServerDoc::default() }, &attempts);
    let words = server.up().await.err().unwrap();
    // At once, then 1, 2, 4 and at most 5 seconds after the last end.
    assert_eq!(attempts.times(), [0.0, 0.0, 1.0, 3.0, 7.0, 12.0]);
    assert_eq!(words, "MCP server `s` is not started again after 5 restarts in a row: it ended with exit code 1");
    assert_eq!(server.up().await.err().unwrap(), words);
    assert_eq!(attempts.times().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lasted_begins_a_new_row() {
    let fakes: Vec<Arc<Fake>> = (0..8).map(|_| Fake::with_tools(&["t"])).collect();
    let attempts = Attempts::new(fakes.iter().cloned().map(Attempt::Up));
    let server = server(McpServerDoc::default(), &attempts);
    for fake in &fakes[..7] {
        server.up().await.unwrap();
        tokio::time::advance(Duration::from_secs(61)).await;
        fake.closed.store(true, Ordering::Release);
    }
    assert!(server.up().await.is_ok(), "seven ends, none soon after another");
    assert_eq!(attempts.times()[1], 61.0);
}

#[tokio::test(start_paused = true)]
async fn a_first_start_has_one_attempt_and_a_limit() {
    let attempts =
        Attempts::new([Attempt::Fails("no such program"), Attempt::Hangs, Attempt::Up(Fake::with_tools(&["t"]))]);
    let server = server(McpServerDoc { start_timeout: Span::secs(7), ..McpServerDoc::default() }, &attempts);
    assert_eq!(server.up().await.err().unwrap(), "MCP server `s` did not start: no such program");
    assert_eq!(server.up().await.err().unwrap(), "MCP server `s` did not start: it was not ready within 7s");
    assert!(server.up().await.is_ok());
    assert_eq!(attempts.times(), [0.0, 0.0, 7.0]);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_dropped_leaves_nothing_behind() {
    let attempts = Attempts::new([Attempt::Hangs, Attempt::Up(Fake::with_tools(&["t"]))]);
    let server = server(McpServerDoc::default(), &attempts);
    assert!(tokio::time::timeout(Duration::from_secs(1), server.up()).await.is_err());
    assert!(server.up().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn changed_tools_are_listed_again_and_make_a_generation() {
    let fake = Fake::with_tools(&["a"]);
    let attempts = Attempts::new([Attempt::Up(Arc::clone(&fake))]);
    let generation = Arc::new(AtomicU64::new(1));
    let server = Server::new("s", McpServerDoc::default(), Box::new(attempts), Arc::clone(&generation));
    let names = || server.offered().unwrap().iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    server.up().await.unwrap();
    assert_eq!((names(), generation.load(Ordering::Acquire)), (vec!["mcp_s_a".to_owned()], 2));
    // A notice without a change is none.
    fake.changes.fetch_add(1, Ordering::AcqRel);
    server.up().await.unwrap();
    assert_eq!(generation.load(Ordering::Acquire), 2);
    lock(&fake.tools).push(json!({ "name": "b" }));
    server.up().await.unwrap();
    assert_eq!(names().len(), 1, "nobody said so");
    fake.changes.fetch_add(1, Ordering::AcqRel);
    server.up().await.unwrap();
    assert_eq!((names().len(), generation.load(Ordering::Acquire)), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_said_and_mended() {
    let (first, second) = (Fake::with_tools(&["t"]), Fake::with_tools(&["t"]));
    lock(&first.answers).push_back(Err(CallError::Lost("connection reset".into())));
    lock(&second.answers).push_back(Err(CallError::TimedOut));
    lock(&second.answers).push_back(Err(CallError::Refused("no such tool".into())));
    let attempts = Attempts::new([Attempt::Up(first), Attempt::Up(second)]);
    let server = server(McpServerDoc::default(), &attempts);
    let call = async || server.call("t", Map::new()).await;
    let lost = "MCP server `s` was lost: connection reset; whether the call was carried out is not known";
    assert_eq!(call().await, Err(lost.to_owned()));
    assert_eq!(call().await, Err("no answer from MCP server `s` within 1m; the call was cancelled".to_owned()));
    assert_eq!(call().await, Err("no such tool".to_owned()));
    assert_eq!(call().await, Ok(json!("yes")));
    assert_eq!(attempts.times().len(), 2, "only what is lost is started again");
}

#[cfg(feature = "mcp")]
mod process {
    use std::path::Path;

    use indexmap::IndexMap;

    use super::*;
    use crate::document::{McpSecret, McpValue};
    use crate::event::{EventStream, RunId, Secrets};
    use crate::mcp::{Lease, McpTool, Servers};
    use crate::policy::Access;
    use crate::tool::NativeTool;

    fn double(odd: &[&str]) -> McpServerDoc {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/double.sh");
        let command: Vec<String> = ["sh", script].iter().chain(odd).map(|word| (*word).to_owned()).collect();
        McpServerDoc { command: Some(command.into()), ..McpServerDoc::default() }
    }

    struct Bench {
        folder: tempfile::TempDir,
        servers: Arc<Servers>,
        lease: Lease,
    }

    impl Bench {
        fn new(doc: McpServerDoc) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let access = Access::new(folder.path(), &[".".into()], Vec::new());
            let servers = Arc::new(Servers::new(&IndexMap::from([("d".to_owned(), doc)]), &access));
            let lease = servers.lease(&EventStream::new(RunId("r".into()), Vec::new(), Secrets::default()));
            Self { folder, servers, lease }
        }
        async fn start(&self) -> Result<Vec<McpTool>, String> {
            self.lease.start(&["d".to_owned()]).await?;
            Ok(self.servers.tools())
        }
        /// Any tool of the server, also one that it does not list.
        async fn call(&self, tool: &str, params: Value) -> Result<Value, String> {
            let params = params.as_object().cloned().unwrap();
            self.servers.server("d").unwrap().call(tool, params).await
        }
        fn has(&self, file: &str) -> bool {
            self.folder.path().join(file).exists()
        }
    }

    fn names(tools: &[McpTool]) -> Vec<&str> {
        tools.iter().map(|tool| tool.name()).collect()
    }

    #[tokio::test]
    async fn a_process_is_spoken_to_through_its_noise() {
        let bench = Bench::new(double(&["garbage"]));
        let tools = bench.start().await.unwrap();
        assert_eq!(names(&tools), ["mcp_d_echo", "mcp_d_grow", "mcp_d_fail", "mcp_d_crash"]);
        assert_eq!(tools[0].call(json!({ "text": "hi" })).await, Ok(json!("you said hi")));
        assert_eq!(tools[2].call(json!({})).await, Err("the disk is full".to_owned()));
        assert_eq!(bench.call("refuse", json!({})).await, Err("no such tool ({\"hint\":\"echo\"})".to_owned()));
        assert_eq!(bench.call("chatty", json!({})).await, Ok(json!("done")));
    }

    #[tokio::test]
    async fn every_page_is_read_and_circles_end() {
        assert_eq!(names(&Bench::new(double(&["pages"])).start().await.unwrap()), ["mcp_d_first", "mcp_d_second"]);
        assert_eq!(names(&Bench::new(double(&["circle"])).start().await.unwrap()), ["mcp_d_round"]);
    }

    #[tokio::test]
    async fn odd_schemas_are_no_reason_to_lose_a_server() {
        let tools = Bench::new(double(&["odd"])).start().await.unwrap();
        assert_eq!(names(&tools), ["mcp_d_bare", "mcp_d_null", "mcp_d_ref", "mcp_d_slow"]);
        assert_eq!(tools[0].params(), json!({ "type": "object", "properties": {} }));
        assert_eq!(tools[2].params()["properties"]["a"]["$ref"], "https://example.com/a.json");
    }

    #[tokio::test]
    async fn a_crash_is_told_with_last_words_and_the_next_call_starts_again() {
        let bench = Bench::new(double(&[]));
        bench.start().await.unwrap();
        let words = bench.call("crash", json!({})).await.unwrap_err();
        assert_eq!(
            words,
            "MCP server `d` ended with exit code 3, and wrote: segmentation fault; whether the call was carried out is not known"
        );
        assert_eq!(bench.call("echo", json!({ "text": "again" })).await, Ok(json!("you said again")));
    }

    #[tokio::test]
    async fn a_server_that_does_not_start_says_why() {
        let words = Bench::new(double(&["die"])).start().await.err().unwrap();
        assert!(
            words.starts_with("MCP server `d` did not start: ")
                && words.contains("exit code 7")
                && words.contains("no licence"),
            "{words}"
        );
        let missing =
            McpServerDoc { command: Some(vec!["no-such-program".to_owned()].into()), ..McpServerDoc::default() };
        let words = Bench::new(missing).start().await.err().unwrap();
        assert_eq!(words, "MCP server `d` did not start: There is no program `no-such-program` on PATH");
    }

    #[tokio::test]
    async fn the_environment_is_scrubbed_and_secrets_reach_only_their_variable() {
        let mut doc = double(&[]);
        let key = McpValue::Secret { from: McpSecret::File("key".into()), prefix: "k-".into() };
        doc.env.insert("KEY".into(), key);
        let bench = Bench::new(doc);
        std::fs::write(bench.folder.path().join("key"), " s3cret-value\n").unwrap();
        // Cargo sets this one for tests; no server gets it.
        assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
        assert_eq!(bench.call("secret", json!({})).await, Ok(json!("key k-s3cret-value, home ")));
        assert_eq!(bench.servers.secrets(bench.folder.path()), ["s3cret-value"]);
        let environ = std::fs::read(format!("/proc/{}/environ", pid(&bench).await));
        if let Ok(environ) = environ {
            assert!(!String::from_utf8_lossy(&environ).contains("CARGO_MANIFEST_DIR"));
        }
    }

    #[tokio::test]
    async fn a_missing_secret_is_named_and_nothing_is_started() {
        let mut doc = double(&[]);
        let key = McpValue::Secret { from: McpSecret::Env("LOOPWRIGHT_NO_SUCH".into()), prefix: String::new() };
        doc.env.insert("KEY".into(), key);
        let bench = Bench::new(doc);
        let words = bench.start().await.err().unwrap();
        assert_eq!(words, "MCP server `d` did not start: the environment variable LOOPWRIGHT_NO_SUCH is not set");
        assert!(!bench.has("starts"));
    }

    async fn pid(bench: &Bench) -> String {
        bench.call("pid", json!({})).await.unwrap().as_str().unwrap().to_owned()
    }

    /// Waits until something is so: the end of a process has no other sign.
    async fn until(what: impl Fn() -> bool) {
        while !what() {
            tokio::task::yield_now().await;
        }
    }

    fn runs(pid: &str) -> bool {
        let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")) else { return false };
        // What has ended and was not waited for is a zombie.
        !stat[stat.rfind(')').unwrap()..].starts_with(") Z")
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn the_last_lease_takes_the_process_with_it() {
        let bench = Bench::new(double(&[]));
        let pid = pid(&bench).await;
        let other = bench.servers.lease(&EventStream::new(RunId("r2".into()), Vec::new(), Secrets::default()));
        drop(bench.lease);
        assert!(runs(&pid), "another run uses it");
        drop(other);
        until(|| !runs(&pid)).await;
    }

    #[tokio::test]
    async fn a_server_that_is_closed_can_end_in_order() {
        let bench = Bench::new(double(&[]));
        bench.start().await.unwrap();
        bench.lease.close().await;
        let starts = std::fs::read_to_string(bench.folder.path().join("starts")).unwrap();
        assert_eq!(starts, "double begins\ndouble ends\n");
    }

    #[tokio::test]
    async fn a_call_that_nobody_waits_for_is_cancelled() {
        let bench = Bench::new(double(&[]));
        bench.start().await.unwrap();
        {
            let call = bench.call("sleep", json!({}));
            tokio::pin!(call);
            tokio::select! {
                _ = &mut call => panic!("it sleeps"),
                () = until(|| bench.has("asleep")) => {}
            }
        }
        until(|| bench.has("cancelled")).await;
        assert_eq!(bench.call("echo", json!({ "text": "still here" })).await, Ok(json!("you said still here")));
    }

    #[tokio::test]
    async fn addresses_that_no_rule_names_are_not_reached() {
        let doc = McpServerDoc { url: Some("http://169.254.169.254/mcp".to_owned().into()), ..McpServerDoc::default() };
        let words = Bench::new(doc).start().await.err().unwrap();
        assert!(words.contains("link-local"), "{words}");
    }
}
