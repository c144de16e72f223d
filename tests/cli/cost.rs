//! `check --cost`: the worst case of a loop, by hand and by the command.

use serde_json::json;

use super::Folder;

const WORKSPACE: &str = "\
kind: workspace
models:
  big: { provider: openai, model: b, base_url: \"http://127.0.0.1:1/v1\", context: 1000, price: { input: 3, output: 15 } }
  small: { provider: openai, model: s, base_url: \"http://127.0.0.1:1/v1\", context: 500, price: { input: 1, output: 2 } }
tiers: { main: big, helper: small }
";
const FORGE: &str = "\
kind: forge
name: total
description: Adds numbers up.
tier: helper
retries: 0
max_reply_tokens: 50
prompt: \"Add {{ input }}\"
output: { total: number! }
";
const LOOP: &str = "\
name: adder
limits: { max_iterations: 10, action_retries: 1, max_reply_tokens: 100, max_total_tokens: 10000 }
prompt: { instruction: Add., overflow: { steps: [drop] } }
actions:
  add: { description: Add up., do: [{ forge: total, retry: 1 }] }
  skip: { description: Do nothing. }
hooks: { finish: [{ forge: total }] }
";

#[test]
fn the_worst_case_is_what_a_person_computes() {
    let folder =
        Folder::new(&[("loopwright.yaml", WORKSPACE), ("loops/total.yaml", FORGE), ("loops/adder.yaml", LOOP)]);
    let preview = folder.run(&["check", "--cost", "adder", "--format", "json"]).exits(0).json()[0].clone();
    // Two attempts with `big`, then the step's two calls of one attempt with `small`.
    assert_eq!(preview["per_iteration"]["calls"], json!(4));
    assert_eq!(preview["per_iteration"]["tokens"], json!(2 * 1000 + 2 * 500));
    let action = (900.0 * 3.0 + 100.0 * 15.0 + 800.0 * 3.0 + 200.0 * 15.0) / 1e6;
    let forge = (450.0 * 1.0 + 50.0 * 2.0) / 1e6;
    let near = |value: &serde_json::Value, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(near(&preview["per_iteration"]["cost_usd"], action + 2.0 * forge), "{preview}");
    assert_eq!(preview["per_run"]["calls"], json!(41));
    assert_eq!(preview["per_run"]["tokens"], json!(30500));
    assert!(near(&preview["per_run"]["cost_usd"], 10.0 * (action + 2.0 * forge) + forge), "{preview}");
    assert_eq!(preview["per_run"]["unknown"], json!([]));
    assert_eq!(preview["ceilings"][0]["reached_in_iteration"], json!(4));
    let text = folder.run(&["check", "--cost", "loops/adder.yaml"]).exits(0).stdout;
    for words in ["one iteration", "3,000", "a run of 10 iterations", "30,500", "0.1076", "at worst in iteration 4"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
}

#[test]
fn what_is_not_known_has_a_reason() {
    let folder = Folder::new(&[
        ("loopwright.yaml", &WORKSPACE.replace(", context: 500, price: { input: 1, output: 2 }", ", context: 500")),
        ("loops/total.yaml", FORGE),
        ("loops/adder.yaml", &LOOP.replace("retry: 1", "for_each: feedback")),
    ]);
    let preview = folder.run(&["check", "--cost", "--format", "json"]).exits(0).json()[0].clone();
    assert_eq!(preview["per_iteration"]["calls"], json!(null));
    let why = preview["per_run"]["unknown"].to_string();
    assert!(why.contains("for_each: feedback") && why.contains("`small` declares no `price`"), "{why}");
}

#[test]
fn inner_loops_count_down_to_the_depth_limit() {
    let inner = "name: inner\nlimits: { max_iterations: 3, action_retries: 0 }\nprompt: { instruction: Go., overflow: { steps: [drop] } }\n";
    let outer = "\
name: outer
limits: { max_iterations: 2, action_retries: 0, max_depth: 2 }
prompt: { instruction: Go., overflow: { steps: [drop] } }
actions:
  deeper: { description: Go deeper., do: [{ loop: outer }] }
  over: { from_loop: inner }
";
    let folder =
        Folder::new(&[("loopwright.yaml", WORKSPACE), ("loops/inner.yaml", inner), ("loops/outer.yaml", outer)]);
    let preview = folder.run(&["check", "--cost", "outer", "--format", "json"]).exits(0).json()[0].clone();
    // At depth 2: 2 turns, and 3 of `inner`, which is refused at depth 3 only where its own limit says so (4).
    let at_two = 2 + 3;
    let at_one = 2 * (1 + at_two) + 3;
    let at_zero = 2 * (1 + at_one) + 3;
    assert_eq!(preview["per_run"]["calls"], json!(at_zero));
    folder.run(&["check", "--cost", "nowhere"]).exits(2);
}
