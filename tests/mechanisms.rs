//! Whole runs on a virtual clock, as data: each file below `tests/cases/mechanism/` is a loop, the replies of its models
//! with the time that each takes, and what must come of them. `tests/cases/mechanism/README.md` explains the keys.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loopwright::event::{Envelope, Subscriber};
use loopwright::{Asker, Engine, Library, Outcome, RunRequest};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::Folder;
use crate::raw_http::{Ending, Response, Server};
use crate::runs::{holds, shorten};

/// The models of a case: one a tier, so that the order of the replies is each tier's own.
const TIERS: [&str; 5] = ["main", "helper", "reflection", "spin", "verification"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(rename = "loop")]
    document: Value,
    #[serde(default)]
    files: indexmap::IndexMap<String, Value>,
    #[serde(default)]
    workspace: serde_json::Map<String, Value>,
    #[serde(default)]
    replies: indexmap::IndexMap<String, Vec<Value>>,
    #[serde(default)]
    answers: Vec<Value>,
    expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    reason: String,
    /// Events that must come in this order; each names only the members that matter.
    #[serde(default)]
    events: Vec<Value>,
    /// Events that must not come.
    #[serde(default)]
    absent: Vec<Value>,
    /// How many model calls there are for a purpose.
    #[serde(default)]
    calls: indexmap::IndexMap<String, usize>,
    /// What the run takes on its clock.
    #[serde(default)]
    seconds: Option<u64>,
    /// Parts of the requests to a tier, in this order.
    #[serde(default)]
    requests: indexmap::IndexMap<String, Vec<String>>,
}

#[derive(Default)]
struct Collect(Mutex<Vec<Value>>);

impl Subscriber for Collect {
    fn on_event(&self, event: &Envelope) {
        self.0.lock().unwrap().push(serde_json::to_value(event).unwrap());
    }
}

/// A run that is over.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) events: Vec<Value>,
    took: Duration,
    /// The scripts with the requests that they took over, by tier.
    scripts: std::collections::HashMap<String, String>,
}

impl Ran {
    pub(crate) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["event"] == kind)
    }

    /// Model calls for a purpose, further attempts left out.
    pub(crate) fn calls(&self, purpose: &str) -> usize {
        self.of_kind("model_call_started").filter(|call| call["purpose"] == purpose && call["attempt"] == 1).count()
    }
}

/// The replies of one model as a script: texts, or `{ text, after }`.
fn script(replies: &[Value]) -> String {
    let reply = |reply: &Value| if reply.is_string() { json!({ "text": reply }) } else { reply.clone() };
    let exchanges: Vec<Value> = replies.iter().map(|one| json!({ "reply": reply(one) })).collect();
    json!({ "kind": "script", "exchanges": exchanges }).to_string()
}

/// A person with answers at hand; nobody when these are used up.
struct Person(Mutex<Vec<Value>>);

impl Asker for Person {
    fn ask<'a>(&'a self, _: String, _: Vec<String>) -> Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>> {
        let answer = self.0.lock().unwrap().pop().map(|answer| answer.as_str().unwrap_or_default().to_owned());
        Box::pin(std::future::ready(answer))
    }
}

/// Runs a loop on the virtual clock; `more` are keys of `loopwright.yaml` and further files, `answers` those of a person.
pub(crate) fn run(
    document: &Value,
    replies: impl Fn(&str) -> Vec<Value>,
    more: &[(String, Value)],
    answers: &[Value],
) -> Ran {
    let folder = Folder::new(&[]);
    let model = |tier: &str| json!({ "provider": "replay", "path": format!("{tier}.script.yaml"), "accept": true });
    let models: serde_json::Map<String, Value> = TIERS.iter().map(|tier| (format!("m_{tier}"), model(tier))).collect();
    let tiers: serde_json::Map<String, Value> =
        TIERS.iter().map(|tier| ((*tier).to_owned(), json!(format!("m_{tier}")))).collect();
    let mut workspace = json!({ "kind": "workspace", "models": models, "tiers": tiers });
    for (key, value) in more.iter().filter(|(key, _)| !key.contains('/')) {
        workspace[key.as_str()] = value.clone();
    }
    folder.write("loopwright.yaml", workspace.to_string());
    folder.write("loops/case.yaml", document.to_string());
    for (path, content) in more.iter().filter(|(key, _)| key.contains('/')) {
        folder.write(path, content.as_str().map_or_else(|| content.to_string(), str::to_owned));
    }
    for tier in TIERS {
        folder.write(&format!("{tier}.script.yaml"), script(&replies(tier)));
    }
    let (library, findings) = Library::open(folder.path());
    assert!(!findings.has_errors(), "{findings:?}");
    let seen = Arc::new(Collect::default());
    let person = Arc::new(Person(Mutex::new(answers.iter().rev().cloned().collect())));
    let engine = Engine::builder(Arc::new(library)).subscriber(seen.clone()).asker(person).build().unwrap();
    let loop_name = document["name"].as_str().unwrap_or("case").to_owned();
    let request = RunRequest { loop_name, input: "the task".into(), ..RunRequest::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (outcome, took) = runtime.block_on(async {
        let began = tokio::time::Instant::now();
        (engine.run(request).await.unwrap(), began.elapsed())
    });
    let events = seen.0.lock().unwrap().clone();
    let scripts = TIERS.map(|tier| (tier.to_owned(), folder.read(&format!("{tier}.script.yaml"))));
    Ran { outcome, events, took, scripts: scripts.into() }
}

fn faults(case: &Case) -> Vec<String> {
    let mut more: Vec<(String, Value)> = case.files.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    more.extend(case.workspace.iter().map(|(k, v)| (k.clone(), v.clone())));
    let ran = run(&case.document, |tier| case.replies.get(tier).cloned().unwrap_or_default(), &more, &case.answers);
    let expect = &case.expect;
    let mut faults = Vec::new();
    if json!(ran.outcome.reason) != json!(expect.reason) {
        faults.push(format!("ended with {:?}, expected {}", ran.outcome, expect.reason));
    }
    let mut from = 0;
    for wanted in &expect.events {
        match ran.events[from..].iter().position(|event| holds(event, wanted)) {
            Some(at) => from += at + 1,
            None => faults.push(format!("no event {wanted} after event {from}")),
        }
    }
    for unwanted in &expect.absent {
        if let Some(event) = ran.events.iter().find(|event| holds(event, unwanted)) {
            faults.push(format!("unexpected event {event}"));
        }
    }
    for (purpose, wanted) in &expect.calls {
        if ran.calls(purpose) != *wanted {
            faults.push(format!("{} model calls for {purpose}, expected {wanted}", ran.calls(purpose)));
        }
    }
    for (tier, parts) in &expect.requests {
        let mut rest = ran.scripts[tier].as_str();
        for part in parts {
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => faults.push(format!("no {part:?} in what is left of the requests to {tier}:\n{rest}")),
            }
        }
    }
    if expect.seconds.is_some_and(|seconds| ran.took.as_secs() != seconds) {
        faults.push(format!("took {:?}", ran.took));
    }
    if !faults.is_empty() {
        faults.extend(ran.events.into_iter().map(shorten));
    }
    faults
}

#[test]
fn every_case_on_the_virtual_clock_ends_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mechanism");
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

#[test]
fn a_reply_that_chants_is_cut_while_it_streams() {
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": "Maybe the gauge file must be opened first, or perhaps the other one. " } }] });
    let server = Server::answering(move |number, _| {
        if number > 0 {
            return Response::says(r#"{"@action": "finish"}"#);
        }
        // The stream never ends by itself: only a cut lets the run go on.
        let mut chant = Response::events((0..120).map(|_| format!("data: {piece}\n\n")));
        chant.ending = Ending::Stall;
        chant
    });
    let model = json!({ "provider": "openai", "model": "m", "base_url": server.base_url() });
    let workspace = json!({ "kind": "workspace", "models": { "local": model }, "tiers": { "main": "local" } });
    let folder = Folder::new(&[("loops/t.yaml", "name: t\nprompt: { instruction: x }\n")]);
    folder.write("loopwright.yaml", workspace.to_string());
    folder.run(&["run", "t", "--input", "x", "--events", "e.ndjson"]).exits(0);
    let log = folder.read("e.ndjson");
    assert!(log.contains(r#""class":"repetition""#), "{log}");
    let second = String::from_utf8(server.seen()[1].body.clone()).unwrap();
    assert!(second.contains("cut, because it repeated itself"), "{second}");
}

/// A run of `case` in a folder, on a clock of its own.
fn once(folder: &Folder, record: Option<&str>) -> Ran {
    let (library, findings) = Library::open(folder.path());
    assert!(!findings.has_errors(), "{findings:?}");
    let seen = Arc::new(Collect::default());
    let mut builder = Engine::builder(Arc::new(library)).subscriber(seen.clone());
    if let Some(path) = record {
        builder = builder.record(folder.path().join(path));
    }
    let engine = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (outcome, took) = runtime.block_on(async {
        let began = tokio::time::Instant::now();
        let request = RunRequest { loop_name: "case".into(), input: "the task".into(), ..RunRequest::default() };
        (engine.run(request).await.unwrap(), began.elapsed())
    });
    let events = seen.0.lock().unwrap().clone();
    Ran { outcome, events, took, scripts: Default::default() }
}

#[test]
fn a_recording_decides_by_the_time_that_was_recorded() {
    let look =
        |n: u32| json!({ "reply": { "text": format!(r#"{{"@action": "look", "at": "{n}"}}"#), "after": "13s" } });
    let account = |n: u32| {
        let text =
            json!({ "summary": format!("Looks {n}."), "topics": [n.to_string()], "keywords": [], "confidence": 1 });
        json!({ "reply": { "text": text.to_string(), "after": "1s" } })
    };
    let script = |exchanges: Vec<Value>| json!({ "kind": "script", "exchanges": exchanges }).to_string();
    let workspace = |main: Value, helper: Value| {
        let models = json!({ "big": main, "small": helper });
        json!({ "kind": "workspace", "models": models, "tiers": { "main": "big", "helper": "small" } }).to_string()
    };
    let of = |path: &str, accept: bool| json!({ "provider": "replay", "path": path, "accept": accept });
    let document = json!({
        "name": "case", "prompt": { "instruction": "Do it." }, "limits": { "max_iterations": 7 },
        "actions": { "look": { "description": "Look.", "params": { "at": "string!" }, "do": [{ "feedback": "seen {{ params.at }} there" }] } },
        "mechanisms": { "perception": { "min_interval": "30s" } }
    });
    let folder = Folder::new(&[]);
    folder.write("loops/case.yaml", document.to_string());
    folder.write("main.yaml", script((0..7).map(look).collect()));
    folder.write("helper.yaml", script((0..7).map(account).collect()));
    folder.write("loopwright.yaml", workspace(of("main.yaml", true), of("helper.yaml", true)));
    let recorded = once(&folder, Some("recording.yaml"));
    assert!(recorded.calls("perception") > 1 && recorded.took.as_secs() > 90, "{:?}", recorded.took);
    assert!(folder.read("recording.yaml").contains("purpose: \"perception\""));

    folder.write("loopwright.yaml", workspace(of("recording.yaml", false), of("recording.yaml", false)));
    let replayed = once(&folder, None);
    assert_eq!(json!(replayed.outcome.reason), "max_iterations", "{:?}", replayed.outcome);
    assert_eq!(replayed.took, Duration::ZERO);
    let decided = |ran: &Ran| ran.of_kind("mechanisms").map(|event| event["decisions"].clone()).collect::<Vec<_>>();
    assert_eq!(decided(&replayed), decided(&recorded));

    // Another request names itself and what would have been the nearest.
    folder.write("loops/case.yaml", document.to_string().replace("seen", "found"));
    let words = once(&folder, None).outcome.error.unwrap();
    assert!(words.contains("has no reply for request 2 (action)") && words.contains("3 of 10 (action)"), "{words}");
}

/// A loop with every mechanism and every way to steer it, over actions that succeed, fail, matter, and end.
fn stirred(every: u32, max_calls: u32, max_reviews: u32) -> Value {
    json!({
        "name": "case",
        "prompt": { "instruction": "Do the task." },
        "limits": { "max_iterations": 12, "action_retries": 1 },
        "actions": {
            "look": { "description": "Look.", "params": { "at": "string!" }, "do": [{ "feedback": "seen {{ params.at }}" }] },
            "write": { "description": "Write.", "key": true, "do": [{ "timeline": { "wrote": "{{ run.iteration }}" } }] },
            "break": { "description": "Fail.", "do": [{ "read": "not/there" }] },
            "deep": { "description": "Think.", "do": [{ "reflect": "deep" }, { "perceive": "now" }, { "check_spin": { "review": true } }] },
            "stop": { "description": "End.", "then": "exit" }
        },
        "mechanisms": {
            "perception": { "every": every, "min_interval": "30s" },
            "reflection": { "tier": "reflection", "max_calls": max_calls },
            "spin": { "tier": "spin", "max_reviews": max_reviews }
        }
    })
}

fn main_reply() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        6 => (0..3u8).prop_map(|n| format!(r#"{{"@action": "look", "at": "{n}"}}"#)),
        2 => Just(r#"{"@action": "write"}"#.to_owned()),
        2 => Just(r#"{"@action": "break"}"#.to_owned()),
        2 => Just(r#"{"@action": "deep"}"#.to_owned()),
        1 => Just("no object at all".to_owned()),
    ];
    (text, 0..40u32).prop_map(|(text, after)| json!({ "text": text, "after": format!("{after}s") }))
}

fn helper_reply(good: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = Value> {
    let text = prop_oneof![5 => good, 1 => Just("nonsense".to_owned())];
    (text, 0..130u32).prop_map(|(text, after)| json!({ "text": text, "after": format!("{after}s") }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_models_say_the_loop_ends_within_its_limits_and_says_why(
        main in proptest::collection::vec(main_reply(), 1..40),
        accounts in proptest::collection::vec(helper_reply((0..3u8).prop_map(|n| {
            json!({ "summary": "s", "topics": [format!("t{n}")], "keywords": [], "confidence": 0.5 }).to_string()
        })), 0..40),
        thoughts in proptest::collection::vec(helper_reply(Just(
            json!({ "assessment": "a", "suggestions": "- s", "cause": "c" }).to_string()
        )), 0..40),
        opinions in proptest::collection::vec(helper_reply((any::<bool>(), 0..=10u32).prop_map(|(yes, sure)| {
            json!({ "reason": "r", "is_spinning": yes, "confidence": f64::from(sure) / 10.0 }).to_string()
        })), 0..40),
        every in 1..4u32, max_calls in 0..6u32, max_reviews in 0..4u32,
    ) {
        let replies = |tier: &str| match tier {
            "main" => main.clone(),
            "helper" => accounts.clone(),
            "reflection" => thoughts.clone(),
            _ => opinions.clone(),
        };
        let ran = run(&stirred(every, max_calls, max_reviews), replies, &[], &[]);
        let log = || ran.events.iter().cloned().map(shorten).collect::<Vec<_>>().join("\n");
        let iterations = ran.of_kind("iteration_started").count();
        prop_assert!(iterations <= 12, "{}", log());
        let reason = json!(ran.outcome.reason);
        prop_assert!(["error", "spin", "max_iterations"].iter().any(|known| reason == *known), "{}\n{}", reason, log());

        // What waits, waits: by the numbers that the events give, and by the clock.
        let waited: Vec<&Value> = ran.of_kind("perception").filter(|event| event["trigger"] == "post_action").collect();
        for event in &waited {
            let number = |name: &str| event["grounds"]["numbers"][name].as_i64();
            prop_assert!(number("iterations") >= number("every"), "{}", event);
            prop_assert!(number("since_ms") >= number("interval_ms"), "{}", event);
        }
        prop_assert!(waited.len() as u64 <= 1 + ran.took.as_secs() / 30, "{}", log());
        prop_assert!(waited.len() <= 1 + iterations / every as usize, "{}", log());

        // A call for every event, and no more: a reply that does not fit is asked for once more.
        let forced = ran.of_kind("perception").count() - waited.len();
        prop_assert!(ran.calls("perception") <= 2 * (waited.len() + forced), "{}", log());
        prop_assert!(ran.calls("reflection") <= 2 * max_calls as usize, "{}", log());
        prop_assert!(ran.calls("spin") <= 2 * max_reviews as usize, "{}", log());

        // Every decision is explained, and what acted is among the decisions of its iteration, unless a step asked.
        let decided: Vec<&Value> = ran.of_kind("mechanisms").flat_map(|event| event["decisions"].as_array().unwrap()).collect();
        for event in ran.events.iter().filter(|event| event.get("grounds").is_some()) {
            let rule = &event["grounds"]["rule"];
            prop_assert!(rule.as_str().is_some_and(|rule| !rule.is_empty()), "{}", event);
        }
        for (kind, stepped) in [("perception", "forced"), ("reflection", "")] {
            let acted = ran.of_kind(kind).filter(|event| event["grounds"]["rule"] != stepped).count();
            let told = decided.iter().filter(|d| d["mechanism"] == kind && d["act"] == true && d["rule"] != stepped).count();
            prop_assert_eq!(acted, told, "{}\n{}", kind, log());
        }
        // The loop ends by a spin only after its warnings.
        let ended = ran.of_kind("spin").filter(|event| event["consequence"] == "end");
        for event in ended {
            prop_assert_eq!(&event["state"]["warnings"], &json!(2));
            prop_assert_eq!(&reason, "spin");
        }
    }
}
