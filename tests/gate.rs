//! The verification gate over whole runs: the shipped loop with a program that stands in for `cargo`, and what holds
//! whatever the models say.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cli::{Done, Folder};
use crate::mechanisms::run;
use crate::raw_http::{Response, Server};
use crate::runs::shorten;

#[test]
fn fix_until_green_runs_as_it_is_shipped() {
    let document = include_str!("../loops/fix_until_green.yaml");
    let lines = document.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
    assert!(lines <= 15, "{lines} lines");
    let edit = |old: &str, new: &str| {
        let params = json!({ "path": "src/lib.rs", "old": old, "new": new });
        Response::says(
            &json!({ "@action": "directly_call_tool", "tool_name": "edit_file", "params": params }).to_string(),
        )
    };
    let call = |tool: &str, params: Value| {
        Response::says(&json!({ "@action": "directly_call_tool", "tool_name": tool, "params": params }).to_string())
    };
    let server = Server::scripted(vec![
        call("read_file", json!({ "path": "src/lib.rs" })),
        call("grep", json!({ "pattern": "answer" })),
        call("edit_file", json!({ "path": "tests/answer.rs", "old": "42", "new": "40" })),
        edit("40", "41"),
        edit("41", "42"),
        Response::says(r#"{"@action": "finish"}"#),
    ]);
    let folder = Folder::new(&[
        ("src/lib.rs", "pub fn answer() -> i32 { 40 }\n"),
        ("tests/answer.rs", "assert_eq!(answer(), 42);\n"),
        // It stands in for cargo: the code is right when it says what the test does.
        (
            "bin/cargo",
            "#!/bin/sh\ntest \"$1\" = test || exit 9\nwanted=$(grep -o '[0-9][0-9]*' tests/answer.rs)\ngrep -q \"{ $wanted }\" src/lib.rs && exit 0\necho \"test answer ... FAILED: wanted $wanted\"\nexit 101\n",
        ),
    ]);
    std::fs::set_permissions(folder.file("bin/cargo"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let model = json!({ "provider": "openai", "model": "m", "base_url": server.base_url() });
    let workspace = json!({ "kind": "workspace", "models": { "local": model }, "tiers": { "main": "local" } });
    folder.write("loopwright.yaml", workspace.to_string());
    let path = format!("{}:{}", folder.file("bin").display(), std::env::var("PATH").unwrap());
    let mut command = folder.loopwright(&["run", "fix_until_green", "--input", "answer fails", "--events", "e.ndjson"]);
    let done = Done::of(&command.env("PATH", path).output().unwrap()).exits(0);
    let log = folder.read("e.ndjson");
    assert!(log.contains(r#""reason":"satisfied""#), "{done:?}\n{log}");
    assert!(folder.read("src/lib.rs").contains("42") && folder.read("tests/answer.rs").contains("42"));
    let third = String::from_utf8(server.seen()[2].body.clone()).unwrap();
    assert!(
        third.contains("The check `cargo test` failed with exit code 101") && third.contains("wanted 42"),
        "{third}"
    );
}

/// A loop with every way to ask the gate.
fn stirred(every: u32, most: u32, failures: Option<u32>, checks: bool) -> Value {
    let mut gate = json!({ "every": every, "max_verifications": most, "tier": "verification" });
    if let Some(failures) = failures {
        gate["max_failures"] = json!(failures);
    }
    if checks {
        gate["judge"] = json!("both");
        gate["checks"] = json!([{ "that": "state.seen > 1" }]);
    }
    json!({
        "name": "case",
        "prompt": { "instruction": "Do the task." },
        "limits": { "max_iterations": 14, "action_retries": 1 },
        "state": { "seen": { "type": "integer", "default": 0 } },
        "actions": {
            "look": { "description": "Look.", "params": { "at": "string!" }, "do": [{ "set": { "seen": "{{ state.seen + 1 }}" } }, { "feedback": "seen {{ params.at }} {{ run.iteration }}" }] },
            "break": { "description": "Fail.", "do": [{ "read": "not/there" }] },
            "phase": { "description": "End a phase.", "do": [{ "verify_goal": "phase" }] },
            "stop": { "description": "End.", "then": "exit" }
        },
        "mechanisms": { "verification": gate, "spin": { "enabled": false } }
    })
}

fn main_reply() -> impl Strategy<Value = Value> {
    let action = |action: &str| json!({ "@action": action }).to_string();
    let text = prop_oneof![
        6 => (0..9u8).prop_map(|n| json!({ "@action": "look", "at": n.to_string() }).to_string()),
        1 => Just(action("break")),
        1 => Just(action("phase")),
        1 => Just(action("request_verification")),
        2 => Just(action("finish")),
        1 => Just(r#"{"satisfied": true, "missing": []}"#.to_owned()),
        1 => Just(r#"{"@action": "directly_answer", "answer_payload": "{\"satisfied\": true}"}"#.to_owned()),
    ];
    (text, 0..150u32).prop_map(|(text, after)| json!({ "text": text, "after": format!("{after}s") }))
}

fn verdict() -> impl Strategy<Value = Value> {
    let answer = (any::<bool>(), 0..4u8, 0..12u8).prop_map(|(yes, missing, rare)| {
        let missing: Vec<String> = if yes && rare < 2 { Vec::new() } else { vec![format!("m{missing}")] };
        json!({ "reasoning": "r", "satisfied": yes, "missing": missing, "impossible": rare == 11 }).to_string()
    });
    let text = prop_oneof![6 => answer, 1 => Just("yes, it is done".to_owned())];
    (text, 0..150u32).prop_map(|(text, after)| json!({ "text": text, "after": format!("{after}s") }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_judge_says_the_loop_ends_within_its_limits_and_says_why(
        main in proptest::collection::vec(main_reply(), 1..30),
        verdicts in proptest::collection::vec(verdict(), 0..30),
        every in 1..4u32, most in 1..8u32, failures in proptest::option::of(1..5u32), checks in any::<bool>(),
    ) {
        let replies = |tier: &str| match tier {
            "main" => main.clone(),
            "verification" => verdicts.clone(),
            _ => Vec::new(),
        };
        let ran = run(&stirred(every, most, failures, checks), replies, &[], &[]);
        let log = || ran.events.iter().cloned().map(shorten).collect::<Vec<_>>().join("\n");
        let reason = json!(ran.outcome.reason);
        let reasons = ["error", "max_iterations", "satisfied", "unverified"];
        prop_assert!(reasons.iter().any(|known| reason == *known), "{}\n{}", reason, log());
        prop_assert!(ran.of_kind("iteration_started").count() <= 14, "{}", log());

        // One call for each verification that was made, or two when the first reply does not fit; and a cap.
        let made: Vec<&Value> = ran.of_kind("verification").filter(|event| event["outcome"] != "none").collect();
        prop_assert!(made.len() <= most as usize, "{}", log());
        prop_assert!(ran.calls("verification") <= 2 * made.len() + 1, "{}", log());
        let unasked = |event: &&&Value| event["trigger"] == "post_action" || event["trigger"] == "watchdog";
        prop_assert!(made.iter().filter(unasked).count() <= most.div_ceil(2) as usize, "{}", log());

        // What waits, waits: by the numbers that the events give.
        for event in made.iter().filter(|event| event["trigger"] == "post_action") {
            let number = |name: &str| event["grounds"]["numbers"][name].as_i64().unwrap();
            let due = match event["grounds"]["rule"].as_str().unwrap() {
                "every" => number("iterations") >= number("every"),
                "max_age" => number("age_ms") >= number("max_age_ms"),
                "prompt_delta" => number("moved") > number("min_prompt_delta"),
                _ => false,
            };
            prop_assert!(due, "{}", event);
        }
        // Every decision is explained, and what acted is among the decisions, unless a step asked.
        let decided = ran.of_kind("mechanisms").flat_map(|event| event["decisions"].as_array().unwrap());
        let told = decided.filter(|one| one["mechanism"] == "verification" && one["act"] == true).count();
        let acted = made.iter().filter(|event| event["trigger"] != "step").count();
        prop_assert_eq!(told, acted, "{}", log());
        // Nobody but the judge says that the goal is reached.
        if reason == "satisfied" {
            prop_assert_eq!(&made.last().unwrap()["consequence"], "satisfied");
        }
        prop_assert_eq!(made.iter().filter(|event| event["consequence"] == "satisfied").count() > 0, reason == "satisfied", "{}", log());
    }
}
