//! Programs that embed the engine: skills in Rust, from registration to what the model reads of them.

use std::sync::{Arc, Mutex};

use loopwright::event::{Envelope, Event, Subscriber, ToolStatus};
use loopwright::invoke::{FnSkill, Manifest, Skill, StaticSkill};
use loopwright::{Engine, Library, Outcome, RunRequest};
use serde_json::Value;

use crate::cli::Folder;

#[path = "../examples/embedding.rs"]
#[allow(dead_code, reason = "its `main` is for `cargo run --example`")]
mod example;

#[tokio::test]
async fn the_example_registers_a_skill_and_its_loop_uses_it() {
    let outcome = example::run(Folder::new(&[]).path()).await.unwrap();
    assert_eq!(outcome.answer.as_deref(), Some("The harvest weighs 6.3 kg."));
    assert_eq!((outcome.exit_code, outcome.totals.tool_calls, outcome.totals.iterations), (0, 1, 3));
}

#[derive(Default)]
struct Seen(Mutex<Vec<Event>>);

impl Subscriber for Seen {
    fn on_event(&self, envelope: &Envelope) {
        self.0.lock().unwrap().push(envelope.event.clone());
    }
}

/// Runs the loop `x` with these skills on scripted replies.
async fn run(document: &str, replies: &[&str], skills: Vec<Arc<dyn Skill>>) -> (Outcome, Vec<Event>) {
    let exchanges: Vec<Value> = replies.iter().map(|text| serde_json::json!({ "reply": { "text": text } })).collect();
    let script = serde_json::json!({ "kind": "script", "note": "x", "protocol": "json", "exchanges": exchanges });
    let folder = Folder::new(&[
        (
            "loopwright.yaml",
            "kind: workspace\nmodels: { s: { provider: replay, path: s.yaml, accept: true } }\ntiers: { main: s }\n",
        ),
        ("s.yaml", &script.to_string()),
        ("loops/x.yaml", document),
    ]);
    let (library, found) = Library::open(folder.path());
    assert!(!found.has_errors(), "{found:?}");
    let seen = Arc::new(Seen::default());
    let builder = Engine::builder(Arc::new(library)).subscriber(seen.clone());
    let engine = skills.into_iter().fold(builder, |builder, skill| builder.skill(skill)).build().unwrap();
    let outcome = engine.run(RunRequest { loop_name: "x".into(), input: "go".into(), ..Default::default() }).await;
    let events = std::mem::take(&mut *seen.0.lock().unwrap());
    (outcome.unwrap(), events)
}

fn results(events: &[Event]) -> Vec<(ToolStatus, String)> {
    let ended = events.iter().filter_map(|event| match event {
        Event::ToolFinished { status, result, .. } => Some((*status, result.as_str().unwrap_or_default().to_owned())),
        _ => None,
    });
    ended.collect()
}

const PLAIN: &str = "name: x\nprompt: { instruction: Do. }\n";
const FINISH: &str = r#"{"@action": "finish"}"#;
const CALL: &str = r#"{"@action": "directly_call_tool", "tool_name": "odd", "params": {}}"#;

#[tokio::test]
async fn a_panic_in_a_skill_is_a_result_and_the_loop_goes_on() {
    async fn breaks(_: Value) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        panic!("the scale fell down")
    }
    let odd = FnSkill::new(Manifest::new("odd", "Breaks."), breaks);
    let (outcome, events) = run(PLAIN, &[CALL, FINISH], vec![Arc::new(odd)]).await;
    assert_eq!(outcome.exit_code, 0);
    let results = results(&events);
    assert_eq!(results.len(), 1);
    assert!(results[0].0 == ToolStatus::Error && results[0].1.contains("the scale fell down"), "{results:?}");
}

#[tokio::test]
async fn an_error_of_a_skill_is_told_in_its_own_words() {
    let odd = FnSkill::new(Manifest::new("odd", "Fails."), |_: Value| async { Err::<(), _>("no crate".into()) });
    let (outcome, events) = run(PLAIN, &[CALL, FINISH], vec![Arc::new(odd)]).await;
    assert_eq!((outcome.exit_code, results(&events)), (0, vec![(ToolStatus::Error, "no crate".to_owned())]));
}

#[tokio::test]
async fn a_skill_of_instructions_is_loaded_and_is_no_tool() {
    let style = || Arc::new(StaticSkill::new(Manifest::new("odd", "House style.").instructions("Write short.")));
    let load = r#"{"@action": "loading_skills", "names": ["odd"]}"#;
    let (outcome, events) = run(PLAIN, &[load, FINISH], vec![style()]).await;
    assert_eq!(outcome.exit_code, 0);
    let sections = events.iter().filter_map(|event| match event {
        Event::PromptProfile { sections, .. } => Some(sections.iter().any(|section| section.name == "SKILLS_CONTEXT")),
        _ => None,
    });
    assert_eq!(sections.collect::<Vec<_>>(), [false, true]);
    let (_, events) = run(PLAIN, &[CALL, FINISH], vec![style()]).await;
    assert!(events.iter().any(|event| matches!(event, Event::ActionRejected { .. })), "{events:?}");
}

#[tokio::test]
async fn allow_and_skills_decide_what_a_loop_offers() {
    let odd = || Arc::new(FnSkill::new(Manifest::new("odd", "Counts."), |_: Value| async { Ok(1) })) as Arc<dyn Skill>;
    for switched in ["allow: { skill: false }\n", "skills: []\n", "allow: { tool: false }\n"] {
        let (_, events) = run(&format!("{PLAIN}{switched}"), &[CALL, FINISH], vec![odd()]).await;
        assert!(results(&events).is_empty(), "{switched}");
    }
    let (_, events) = run(&format!("{PLAIN}skills: [odd]\n"), &[CALL, FINISH], vec![odd()]).await;
    assert_eq!(results(&events).len(), 1);
}
