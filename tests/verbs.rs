//! Every verb through the binary: a loop whose `init` steps use it, and what that changes in files, in events, on standard
//! output or in the next request to the model.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cli::{Done, Folder};
use crate::raw_http::{Response, Seen, Server};

/// Takes the steps for `init`; `go` ends the loop and `stay` goes on.
const LOOP: &str = r#"
name: t
description: Tries a verb.
state: { n: 1, list: [] }
prompt:
  instruction: Choose an action.
  reactive: "n={{ state.n }} list={{ state.list | tojson }}"
tools: [read_file]
actions:
  go: { description: Ends it., then: exit, do: [ { answer: went } ] }
  stay: { description: Goes on., do: [ { feedback: stayed-here } ] }
  hush: { description: Goes on silently., do: [ { feedback: hushed-here }, { silence: true } ] }
hooks:
  init:
"#;

const FORGE: &str = "kind: forge\nname: sum\ndescription: Sums.\ninput: { type: string }\nprompt: \"Sum {{ input }}\"\noutput: { total: integer! }\n";
const SUB: &str = "name: sub\ndescription: Echoes.\nstate: { word: \"\" }\nprompt: { instruction: x }\nactions: { a: { description: a } }\nhooks: { init: [ { answer: \"sub {{ input }} {{ state.word }}\" }, { then: done } ] }\n";

const TWICE: &str = "kind: tool\nname: twice\ndescription: Doubles.\nparams: { n: integer! }\ndo: [ { result: { twice: \"{{ params.n * 2 }}\" } }, { status: later } ]\n";

/// One run.
struct Ran {
    folder: Folder,
    done: Done,
    events: Vec<Value>,
    seen: Vec<Seen>,
}

impl Ran {
    fn new(steps: &str, replies: &[&str]) -> Self {
        let server = Server::scripted(replies.iter().map(|reply| Response::says(reply)).collect());
        let workspace = format!(
            "kind: workspace\nmodels: {{ local: {{ provider: openai, model: m, base_url: \"{}\" }} }}\ntiers: {{ main: local }}\nvars: {{ url: \"{}\" }}\n",
            server.base_url(),
            server.url()
        );
        let steps: String = steps.lines().map(|line| format!("    {line}\n")).collect();
        let folder = Folder::new(&[
            ("loopwright.yaml", &workspace),
            ("loops/t.yaml", &format!("{LOOP}{steps}")),
            ("loops/sum.yaml", FORGE),
            ("loops/sub.yaml", SUB),
            ("loops/twice.yaml", TWICE),
            ("data/a.txt", "alpha\nbeta\n"),
            ("skills/style/SKILL.md", "---\nname: style\ndescription: House style.\n---\nWrite short.\n"),
        ]);
        folder.run(&["check"]).exits(0);
        let done = folder.run(&["run", "t", "--input", "the-input", "--events", "run.ndjson"]);
        let events = folder.read("run.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seen = server.seen();
        Self { folder, done, events, seen }
    }

    /// Steps, then one turn that ends the loop.
    fn init(steps: &str) -> Self {
        let ran = Self::new(steps, &[GO]);
        assert_eq!(ran.done.code, Some(0), "{:?}", ran.done);
        ran
    }

    /// The first event of a kind.
    #[track_caller]
    fn event(&self, kind: &str) -> &Value {
        self.events
            .iter()
            .find(|event| event["event"] == kind)
            .unwrap_or_else(|| panic!("no {kind}: {:#?}", self.events))
    }

    /// What the model was sent in a request, from 0.
    fn sent(&self, number: usize) -> String {
        let body: Value = serde_json::from_slice(&self.seen[number].body).unwrap();
        body["messages"].to_string()
    }

    /// The text of the status line that the last step sends.
    #[track_caller]
    fn status(&self) -> String {
        self.event("status")["text"].as_str().unwrap().to_owned()
    }
}

const GO: &str = r#"{"@action": "go"}"#;

/// A verb, steps that use it, and whether they had their effect.
type Case = (&'static str, &'static str, fn(&Ran) -> bool);

const CASES: &[Case] = &[
    ("set", "- set: { n: \"{{ state.n + 1 }}\", list: [\"{{ input }}\"] }", |r| {
        r.event("state_set")["values"] == json!({ "n": 2, "list": ["the-input"] }) && r.sent(0).contains("n=2 list=[")
    }),
    ("feedback", "- feedback: [\"fed {{ state.n }}\"]", |r| r.sent(0).contains("fed 1")),
    ("timeline", "- timeline: { seen: \"at {{ state.n }}\" }", |r| r.sent(0).contains("at 1")),
    ("evidence", "- evidence: { add: { e1: \"fact {{ state.n }}\" } }\n- status: \"{{ evidence.e1 }}\"", |r| {
        r.status() == "fact 1" && r.sent(0).contains("fact 1")
    }),
    ("todo", "- todo: [\"task {{ state.n }}\"]\n- status: \"{{ todo[0].id }} {{ todo[0].text }}\"", |r| {
        r.status() == "1 task 1" && r.sent(0).contains("task 1")
    }),
    ("thought", "- thought: \"hm {{ state.n }}\"", |r| {
        let delta = r.event("delta");
        delta["node"] == "thought" && delta["text"] == "hm 1" && r.done.stderr.contains("hm 1")
    }),
    ("status", "- status: \"{{ state.n }} of 3\"", |r| r.status() == "1 of 3" && r.done.stderr.contains("1 of 3")),
    ("answer", "- answer: \"it is {{ state.n }}\"", |r| r.done.stdout.contains("it is 1")),
    ("artifact", "- artifact: { path: out/r.md, content: \"<{{ input }}>\" }", |r| {
        r.folder.read("out/r.md") == "<the-input>" && r.event("artifact")["bytes"] == 11
    }),
    ("emit", "- emit: { name: mine, data: { n: \"{{ state.n }}\" } }", |r| {
        r.event("emit")["name"] == "mine" && r.event("emit")["data"] == json!({ "n": 1 })
    }),
    ("ask", "- ask: \"Is it {{ state.n }}?\"\n  id: a\n- status: \"{{ steps.a is none }}\"", |r| {
        r.event("ask")["question"] == "Is it 1?" && r.status() == "true"
    }),
    ("tool", "- tool: { use: read_file, params: { path: data/a.txt } }\n  id: t\n- status: \"{{ steps.t }}\"", |r| {
        r.event("tool_started")["tool"] == "read_file" && r.status().starts_with("alpha\nbeta")
    }),
    ("run", "- run: [printf, \"[%s]\", --, \"{{ input }} x\"]\n  id: r\n- status: \"{{ steps.r.stdout }}\"", |r| {
        r.status() == "[--][the-input x]"
    }),
    (
        "http",
        "- http: { url: \"{{ workspace.vars.url }}/page\", check: false }\n  id: h\n- status: \"{{ steps.h.status }}\"",
        |r| r.seen.iter().any(|seen| seen.line.contains("/page ")) && r.status() == "200",
    ),
    ("read", "- read: { path: data/a.txt, offset: 2 }\n  id: f\n- status: \"{{ steps.f.text }}\"", |r| {
        r.status().trim() == "beta"
    }),
    (
        "write",
        "- write: { path: data/b.txt, content: one }\n- write: { path: data/b.txt, replace: { old: n, new: N } }",
        |r| r.folder.read("data/b.txt") == "oNe",
    ),
    ("list", "- list: data\n  id: l\n- status: \"{{ steps.l.paths | join(',') }}\"", |r| r.status() == "data/a.txt"),
    ("grep", "- grep: { pattern: ^b, path: data }\n  id: g\n- status: \"{{ steps.g.matches[0].line }}\"", |r| {
        r.status() == "2"
    }),
    (
        "loop",
        "- loop: { use: sub, input: \"in {{ state.n }}\", set: { word: w } }\n  id: s\n- status: \"{{ steps.s.answer }} {{ steps.s.reason }}\"",
        |r| r.status() == "sub in 1 w done" && r.event("focus_on")["loop"] == "sub",
    ),
    (
        "load_capability",
        "- load_capability: style\n  id: s\n- status: \"{{ steps.s.type }} {{ steps.s.outcome }} {{ steps.s.result[0].name }}\"",
        |r| r.status() == "skill loaded style" && r.event("load")["identifier"] == "style",
    ),
    (
        "enter_focus_mode",
        "- enter_focus_mode: { name: sub, task: \"in {{ state.n }}\" }\n  id: s\n- status: \"{{ steps.s.type }} {{ steps.s.result.reason }} {{ steps.s.result.answer }}\"",
        |r| r.status().starts_with("focus_mode done sub in 1") && r.event("focus_on")["shared_task"] == false,
    ),
    ("load_skill", "- load_skill: style\n  id: s\n- status: \"{{ steps.s[0].name }} {{ steps.s[0].lines }}\"", |r| {
        r.status() == "style 1" && r.sent(0).contains("Write short.") && r.event("skill")["change"] == "loaded"
    }),
    (
        "search_capabilities",
        "- search_capabilities: { query: \"read_file {{ state.n }}\", catalog: false }\n  id: c\n- status: \"{{ steps.c.recommended | first }} {{ capabilities.details | length == steps.c.details | length }}\"",
        |r| r.status() == "read_file true" && r.event("capability")["queries"] == json!(["read_file 1"]),
    ),
    ("check_spin", "- check_spin: {}\n  id: c\n- status: \"{{ steps.c.is_spinning }}\"", |r| r.status() == "false"),
    ("next_actions", "- next_actions: [go]", |r| !r.sent(0).contains("Goes on.") && r.sent(0).contains("Ends it.")),
    ("forbid_actions", "- forbid_actions: [stay]", |r| {
        !r.sent(0).contains("Goes on.") && r.sent(0).contains("Ends it.")
    }),
];

/// Verbs with a test of their own below.
const OTHERS: &[&str] =
    &["perceive", "reflect", "verify_goal", "forge", "forbid_exit_next", "request_async", "silence", "result"];

#[test]
fn every_verb_has_its_effect() {
    for (verb, steps, effect) in CASES {
        let ran = Ran::init(steps);
        assert!(effect(&ran), "{verb}: {:#?}\n{:?}", ran.events, ran.done);
    }
}

#[test]
fn every_verb_of_the_schema_is_tried() {
    let schema = Folder::new(&[]).run(&["schema", "loop"]).exits(0).json();
    let step = &schema["$defs"]["Step"]["properties"];
    let common = ["id", "when", "for_each", "max_parallel", "timeout", "retry", "on_error", "then", "ignore_error"];
    let verbs: BTreeSet<&str> =
        step.as_object().unwrap().keys().map(String::as_str).filter(|key| !common.contains(key)).collect();
    let tried: BTreeSet<&str> = CASES.iter().map(|case| case.0).chain(OTHERS.iter().copied()).collect();
    assert_eq!(verbs, tried);
}

#[test]
fn perceive_gives_what_the_model_sees() {
    let steps =
        "- perceive: \"n is {{ state.n }}\"\n  id: p\n- status: \"{{ steps.p.summary }} {{ perception.epoch }}\"";
    let account = r#"{"summary": "It begins.", "topics": ["a"], "keywords": [], "confidence": 0.5}"#;
    let ran = Ran::new(steps, &[account, GO]);
    assert_eq!(ran.status(), "It begins. 1", "{:#?}", ran.events);
    assert_eq!(
        (&ran.event("perception")["trigger"], &ran.event("perception")["reason"]),
        (&json!("forced"), &json!("n is 1"))
    );
    assert!(ran.sent(0).contains("n is 1") && ran.sent(1).contains("It begins."), "{}", ran.sent(1));
}

#[test]
fn verify_goal_gives_the_verdict() {
    let steps = "- verify_goal: \"n is {{ state.n }}\"\n  id: v\n- status: \"{{ steps.v.missing | join }} {{ verification.count }}\"";
    let verdict = r#"{"reasoning": "It has not begun.", "satisfied": false, "missing": ["all"]}"#;
    let ran = Ran::new(steps, &[verdict, GO]);
    assert_eq!(ran.status(), "all 1", "{:#?}", ran.events);
    let event = ran.event("verification");
    assert_eq!((&event["trigger"], &event["reason"]), (&json!("step"), &json!("n is 1")));
    assert!(ran.sent(0).contains("n is 1") && ran.sent(1).contains("It has not begun."), "{}", ran.sent(1));
}

#[test]
fn reflect_in_a_hook_is_about_the_action_that_follows() {
    let steps = "- reflect: { level: deep, data: { n: \"{{ state.n }}\" } }";
    let seen = r#"{"assessment": "It only waited.", "suggestions": "- go"}"#;
    let ran = Ran::new(steps, &[r#"{"@action": "stay"}"#, seen, GO]);
    let event = ran.event("reflection");
    assert_eq!((&event["grounds"]["rule"], &event["state"]["level"]), (&json!("set_by_step"), &json!("deep")));
    assert_eq!((&event["state"]["action"], &event["state"]["data"]), (&json!("stay"), &json!({ "n": 1 })));
    assert!(ran.sent(2).contains("It only waited.") && ran.sent(2).contains("- go"), "{}", ran.sent(2));
}

#[test]
fn a_forge_gives_its_object() {
    let steps = "- forge: { use: sum, input: \"{{ state.n }} and 2\" }\n  id: f\n- status: \"{{ steps.f.total }}\"";
    let ran = Ran::new(steps, &[r#"{"total": 3}"#, GO]);
    assert_eq!(ran.done.code, Some(0), "{:?}", ran.done);
    assert!(ran.sent(0).contains("Sum 1 and 2"));
    assert_eq!(ran.status(), "3");
}

#[test]
fn a_turn_that_may_not_end_the_loop_offers_no_end() {
    let ran = Ran::new("- forbid_exit_next: true", &[r#"{"@action": "stay"}"#, GO]);
    assert_eq!(ran.done.code, Some(0), "{:?}", ran.done);
    assert!(!ran.sent(0).contains("Ends it."));
    assert!(ran.sent(1).contains("Ends it."), "it binds one turn only");
}

#[test]
fn work_that_is_handed_over_ends_the_loop_with_async() {
    let ran = Ran::new("- request_async: true", &[GO]);
    assert_eq!(ran.done.code, Some(0), "{:?}", ran.done);
    assert_eq!(ran.event("run_finished")["reason"], "async");
}

#[test]
fn a_silent_handler_stays_out_of_the_next_prompt() {
    let ran = Ran::new("- status: x", &[r#"{"@action": "stay"}"#, r#"{"@action": "hush"}"#, GO]);
    assert_eq!(ran.done.code, Some(0), "{:?}", ran.done);
    assert!(ran.sent(1).contains("stayed-here"));
    assert!(!ran.sent(2).contains("hushed-here"), "{}", ran.sent(2));
}

#[test]
fn a_result_is_what_a_tool_gives_back() {
    let ran = Ran::init("- tool: { use: twice, params: { n: 4 } }\n  id: t\n- status: \"{{ steps.t.twice }}\"");
    assert_eq!(ran.events.iter().rfind(|event| event["event"] == "status").unwrap()["text"], "8");
}

#[test]
fn what_the_model_calls_is_held_by_the_policy() {
    let call = |tool: &str, params: Value| {
        json!({ "@action": "directly_call_tool", "tool_name": tool, "params": params }).to_string()
    };
    let replies = [
        call("run_command", json!({ "argv": ["touch", "denied"] })),
        call("run_command", json!({ "argv": ["touch", "allowed"] })),
        call("http_request", json!({ "url": "http://169.254.169.254/latest/meta-data/" })),
        call("http_request", json!({ "url": "http://127.0.0.1:9/" })),
        call("read_file", json!({ "path": "../secret" })),
        call("read_file", json!({ "path": "/etc/hostname" })),
        call("write_file", json!({ "path": "protected/x", "content": "x" })),
        call("write_file", json!({ "path": "open/x", "content": "{{ 7 * 7 }}" })),
        GO.to_owned(),
    ];
    let server = Server::scripted(replies.iter().map(|reply| Response::says(reply)).collect());
    let workspace = format!(
        "kind: workspace\nmodels: {{ local: {{ provider: openai, model: m, base_url: \"{}\" }} }}\ntiers: {{ main: local }}\n\
         policy:\n  - {{ tool: run_command, argv: [touch, allowed], decision: allow }}\n  \
           - {{ tool: http_request, hosts: [\"*\"], decision: allow }}\n  \
           - {{ tool: \"*\", paths: [protected/**], decision: deny }}\n",
        server.base_url()
    );
    let text = "name: t\ndescription: t\nprompt: { instruction: x }\ntools: [run_command, http_request, read_file, write_file]\nactions: { go: { description: Ends it., then: exit } }\n";
    let folder = Folder::new(&[("loopwright.yaml", &workspace), ("loops/t.yaml", text), ("protected/y", "y")]);
    let done = folder.run(&["run", "t", "--input", "x", "--events", "run.ndjson"]).exits(0);
    let events: Vec<Value> =
        folder.read("run.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event["event"] == "tool_finished")
        .map(|event| (event["tool"].as_str().unwrap(), event["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        ends,
        [
            ("run_command", "denied"),
            ("run_command", "done"),
            ("http_request", "error"),
            ("http_request", "error"),
            ("read_file", "denied"),
            ("read_file", "denied"),
            ("write_file", "denied"),
            ("write_file", "done"),
        ],
        "{done:?}"
    );
    assert!(!folder.file("denied").exists() && folder.file("allowed").exists());
    assert!(!folder.file("protected/x").exists());
    assert_eq!(folder.read("open/x"), "{{ 7 * 7 }}", "what the model writes is no template");
    let told: String = server.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).into_owned()).collect();
    for words in [
        "no rule of the workspace's policy allows",
        "link-local",
        "private network",
        "rule 3 of the workspace's policy",
    ] {
        assert!(told.contains(words), "the model is not told: {words}");
    }
}

#[test]
fn templates_see_the_workspace_and_the_listed_part_of_the_environment() {
    let text = "name: t\ndescription: t\nprompt: { instruction: x }\nactions: { go: { description: x } }\nhooks: { init: [ { answer: \"{{ workspace.vars.word }} {{ workspace.root is string }} {{ env.LW_WORD }} {{ env.LW_OTHER is defined }}\" }, { then: done } ] }\n";
    let workspace = "kind: workspace\nmodels: { m: { provider: openai, model: m, base_url: \"http://127.0.0.1:9\" } }\ntiers: { main: m }\nenv: [LW_WORD, LW_UNSET]\nvars: { word: mine }\n";
    let folder = Folder::new(&[("loopwright.yaml", workspace), ("loops/t.yaml", text)]);
    let mut command = folder.loopwright(&["run", "t", "--input", "x"]);
    let output = command.env("LW_WORD", "given").env("LW_OTHER", "hidden").output().unwrap();
    assert_eq!(Done::of(&output).exits(0).stdout.trim(), "mine true given false");
}
