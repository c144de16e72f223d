//! `tune spin`: histories in, verdicts out, the way other programs call it.

use serde_json::{Value, json};

use super::Folder;

fn step(action: &str, path: &str, seen: &str) -> Value {
    json!({ "action": action, "args": { "path": path }, "observation": seen, "error": false })
}

fn histories() -> String {
    let same: Vec<Value> = (0..5).map(|_| step("look", "a.md", "alpha one")).collect();
    let other: Vec<Value> = (0..5).map(|n| step("look", &format!("{n}.md"), &format!("text {n}"))).collect();
    json!([{ "id": "x", "steps": same, "extra": 1 }, { "steps": other }]).to_string()
}

#[test]
fn each_history_gets_its_verdict_in_order() {
    let folder = Folder::new(&[("h.json", &histories())]);
    let list = folder.run(&["tune", "spin", "h.json", "--format", "json"]).exits(0).json();
    assert_eq!(list[0]["spin"], true);
    assert_eq!(list[0]["step"], 4);
    assert_eq!(list[0]["pattern"], "exact");
    assert_eq!(list[0]["evidence"]["steps"], json!([1, 2, 3, 4]));
    assert_eq!(list[0]["evidence"]["threshold"], 4);
    assert_eq!(list[0]["suspicions"][0]["severity"], "suspicion");
    assert_eq!((&list[1]["spin"], &list[1]["step"], &list[1]["pattern"]), (&json!(false), &Value::Null, &Value::Null));
    let text = folder.run_with(&["tune", "spin", "-"], histories()).exits(0).stdout;
    assert!(text.contains("1  yes        4  exact") && text.ends_with("1 of 2 histories spin\n"), "{text}");
}

#[test]
fn a_loop_brings_other_thresholds() {
    let of = |spin: &str| format!("name: x\nprompt: {{ instruction: x }}\nmechanisms:\n  spin: {spin}\n");
    let folder = Folder::new(&[
        ("h.json", &histories()),
        (
            "patient.yaml",
            &of("{ families: { exact: { n: 9 }, scattered: { enabled: false } } }").replace("x\np", "patient\np"),
        ),
        ("wrong.yaml", &of("{ families: { exact: { m: 9 } } }").replace("x\np", "wrong\np")),
    ]);
    let spin = |file: &str| folder.run(&["tune", "spin", "h.json", "--settings", file, "--format", "json"]);
    assert_eq!(spin("patient.yaml").exits(0).json()[0]["spin"], false);
    let refused = spin("wrong.yaml").exits(2).stderr;
    assert!(refused.contains("`m`") && refused.contains("wrong.yaml:4"), "{refused}");
}

#[test]
fn what_is_no_history_is_a_usage_error_with_its_place() {
    let folder = Folder::new(&[("h.json", r#"[{"steps": []}, {"steps": [{"args": {}}]}]"#)]);
    let error = folder.run(&["tune", "spin", "h.json"]).exits(2).stderr;
    assert!(error.contains("h.json holds no histories at [1].steps[0]: a step needs `action`"), "{error}");
    assert!(folder.run(&["tune", "spin", "none.json"]).exits(2).stderr.contains("none.json"));
}

#[test]
fn the_events_of_a_run_are_a_history() {
    let folder = Folder::new(&[]);
    let root = env!("CARGO_MANIFEST_DIR");
    let log = format!("{root}/examples/auth.log");
    let events = folder.file("run.ndjson");
    let events = events.to_str().unwrap();
    let run = ["--workspace", root, "run", "log_analyze", "--input", &format!("@{log}"), "--events", events];
    folder.run(&run).exits(0);
    let list = folder.run(&["tune", "spin", "run.ndjson", "--format", "json"]).exits(0).json();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["spin"]), (1, &json!(false)));
}
