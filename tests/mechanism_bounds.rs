//! Whatever a model does, progress and todo checkpoints keep to their bounds, cost no model call, and say why.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::mechanisms::run;
use crate::runs::shorten;

/// The iterations of a run at most.
const MOST: u64 = 14;

/// A loop whose actions move a figure, and plan and tick todos.
fn planned(patience: u32, up: bool, stale_after: u32, todo: bool) -> Value {
    json!({
        "name": "case",
        "prompt": { "instruction": "Do the task." },
        "limits": { "max_iterations": MOST, "action_retries": 1 },
        "state": { "figure": { "default": null } },
        "actions": {
            "rate": { "description": "Rate.", "params": { "type": "object", "properties": { "to": {} } }, "do": [{ "set": { "figure": "{{ params.to }}" } }] },
            "plan": { "description": "Plan.", "do": [{ "todo": { "add": "another" } }] },
            "tick": { "description": "Tick.", "do": [
                { "when": "todo", "todo": { "done": "{{ todo[0].id }}" } },
                { "when": "todo", "todo": { "remove": "{{ todo[0].id }}" } }
            ] },
            "break": { "description": "Fail.", "do": [{ "read": "not/there" }] },
            "deliver": { "description": "End.", "do": [{ "status": "delivered" }], "then": "exit" },
            "give_up": { "description": "End.", "then": "fail" }
        },
        "mechanisms": {
            "spin": { "enabled": false },
            "progress": { "metric": "state.figure", "direction": if up { "up" } else { "down" }, "patience": patience },
            "todo": { "enabled": todo, "stale_after": stale_after }
        }
    })
}

fn reply() -> impl Strategy<Value = String> {
    let rate = prop_oneof![
        6 => (-3..4i32).prop_map(|to| json!(to)),
        1 => Just(json!("many")),
        1 => Just(Value::Null),
    ];
    prop_oneof![
        8 => rate.prop_map(|to| json!({ "@action": "rate", "to": to }).to_string()),
        4 => Just(r#"{"@action": "plan"}"#.to_owned()),
        3 => Just(r#"{"@action": "tick"}"#.to_owned()),
        2 => Just(r#"{"@action": "break"}"#.to_owned()),
        2 => Just(r#"{"@action": "finish"}"#.to_owned()),
        2 => Just(r#"{"@action": "deliver"}"#.to_owned()),
        1 => Just(r#"{"@action": "give_up"}"#.to_owned()),
        1 => Just("no object at all".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn progress_and_todos_keep_to_their_bounds_and_say_why(
        main in proptest::collection::vec(reply(), 1..40),
        patience in 1..6u32, up: bool, stale_after in 1..6u32, todo: bool,
    ) {
        let replies = |tier: &str| if tier == "main" { main.iter().map(|text| json!(text)).collect() } else { Vec::new() };
        let ran = run(&planned(patience, up, stale_after, todo), replies, &[], &[]);
        let log = || ran.events.iter().cloned().map(shorten).collect::<Vec<_>>().join("\n");
        let reason = json!(ran.outcome.reason);
        let iterations = ran.of_kind("iteration_started").count() as u64;
        prop_assert!(iterations <= MOST, "{}", log());
        let known = ["exit", "fail", "error", "max_iterations", "no_progress"];
        prop_assert!(known.iter().any(|known| reason == *known), "{}\n{}", reason, log());
        for purpose in ["perception", "reflection", "spin", "verification", "summary"] {
            prop_assert_eq!(ran.calls(purpose), 0, "{}\n{}", purpose, log());
        }

        // Every decision carries its rule, and one that acts is followed by what it does.
        let decided: Vec<&Value> = ran.of_kind("mechanisms").flat_map(|event| event["decisions"].as_array().unwrap()).collect();
        let acted = |mechanism: &str| decided.iter().filter(|d| d["mechanism"] == mechanism && d["act"] == true).count();
        prop_assert!(decided.iter().all(|d| d["rule"].as_str().is_some_and(|rule| !rule.is_empty())), "{}", log());

        // The loop ends for want of progress exactly when the numbers say so.
        let figures: Vec<&Value> = ran.of_kind("progress").collect();
        let stalled = |event: &Value| event["grounds"]["numbers"]["stalled"].as_u64().unwrap();
        for event in &figures {
            let spent = event["error"].is_null() && event["grounds"]["numbers"].get("figure").is_some() && stalled(event) >= u64::from(patience);
            prop_assert_eq!(&event["ends"], &json!(spent), "{}\n{}", event, log());
            prop_assert!(stalled(event) <= u64::from(patience), "{}", event);
        }
        prop_assert_eq!(acted("progress"), usize::from(reason == "no_progress"), "{}", log());
        prop_assert!(ran.of_kind("warning").filter(|w| w["message"].as_str().unwrap().contains("metric")).count() <= 1, "{}", log());

        // One wish to end is held back at most, and a checkpoint for a todo that lasts needs its iterations.
        let checkpoints: Vec<&Value> = ran.of_kind("todo_checkpoint").collect();
        prop_assert_eq!(acted("todo"), checkpoints.len(), "{}", log());
        let of = |rule: &str| checkpoints.iter().filter(|event| event["grounds"]["rule"] == rule).count() as u64;
        prop_assert!(of("finish") <= 1 && of("finish") + of("stale") == checkpoints.len() as u64, "{}", log());
        prop_assert!(of("stale") * u64::from(stale_after) <= iterations, "{}", log());
        for event in &checkpoints {
            prop_assert!(todo && event["state"]["open"].as_u64() > Some(0), "{}", event);
        }
        if reason == "exit" && todo && iterations < MOST {
            // Who ends with open todos was told of them before.
            let open = ran.of_kind("todo").last().map_or(0, |event| {
                event["todo"].as_array().unwrap().iter().filter(|item| item["status"] != "done").count()
            });
            prop_assert!(open == 0 || of("finish") == 1, "{}", log());
        }
    }
}
