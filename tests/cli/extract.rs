//! `debug extract` over the cases of reply extraction, the way other programs call it.

use serde_json::{Map, Value, json};

use super::Folder;

const BUILTINS: [&str; 5] =
    ["finish", "directly_answer", "ask_for_clarification", "directly_call_tool", "require_tool"];

/// The loop document that offers a row's actions.
fn document(row: &Value) -> Value {
    let tags: Map<String, Value> =
        row["tags"].as_array().unwrap().iter().map(|tag| (tag.as_str().unwrap().to_owned(), json!({}))).collect();
    let actions: Map<String, Value> = row["schema"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(action, params)| {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            for (name, schema) in params.as_object().unwrap() {
                let mut schema = schema.as_object().unwrap().clone();
                if schema.remove("required") == Some(Value::Bool(true)) {
                    required.push(name.clone());
                }
                properties.insert(name.clone(), Value::Object(schema));
            }
            let params = json!({ "type": "object", "required": required, "properties": properties });
            let mut declared = json!({ "description": "A case.", "params": params, "tags": tags });
            if BUILTINS.contains(&action.as_str()) {
                declared["override"] = json!(true);
            }
            (action.clone(), declared)
        })
        .collect();
    json!({ "name": "case", "prompt": { "instruction": "A case." }, "actions": actions })
}

#[test]
fn every_reply_gives_its_action_or_its_error_class() {
    let cases: Value = serde_json::from_str(include_str!("../cases/reply/extract_cases.json")).unwrap();
    let folder = Folder::new(&[]);
    let mut faults = Vec::new();
    for row in cases.as_array().unwrap() {
        folder.write("case.yaml", document(row).to_string());
        let text = |key: &str| row[key].as_str().unwrap_or("stop").to_owned();
        let (nonce, finish) = (text("nonce"), text("finish"));
        let arguments =
            ["debug", "extract", "--loop", "case.yaml", "--nonce", &nonce, "--finish", &finish, "--format", "json"];
        let got = folder.run_with(&arguments, text("raw")).exits(0).json();
        let expected = &row["expected"];
        let matches = match expected.get("error") {
            Some(class) => &got["error"] == class && got["message"].is_string(),
            None => {
                ["action", "params", "tags"].iter().all(|key| got[key] == expected[key]) && got["repairs"].is_array()
            }
        };
        if !matches {
            faults.push(format!("{}: expected {expected}, got {got}", row["id"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_person_reads_the_same_as_text() {
    let folder = Folder::new(&[(
        "case.yaml",
        "name: case\nprompt: { instruction: x }\nactions: { search: { description: d, params: { query: string! } } }\n",
    )]);
    let extract =
        |reply: &str| folder.run_with(&["debug", "extract", "--loop", "case.yaml", "--nonce", "n"], reply).exits(0);
    assert_eq!(extract(r#"{"@action": "search", "query": "maps"}"#).stdout, "action: search\n  query: \"maps\"\n");
    assert!(extract("no idea").stdout.starts_with("no action (no_action): "));
}

#[test]
fn a_loop_that_is_not_there_is_a_usage_error() {
    let folder = Folder::new(&[("loops/triage.yaml", "name: triage\nprompt: { instruction: x }\n")]);
    let extract = |name: &str| folder.run_with(&["debug", "extract", "--loop", name, "--nonce", "n"], "x").exits(2);
    assert!(extract("triaje").stderr.contains("did you mean `triage`?"));
    assert!(extract("loops/none.yaml").stderr.contains("there is no such file"));
    assert!(extract("loops/").stderr.contains("it is a folder"));
}

#[test]
fn every_reason_to_stop_that_a_stream_can_have_is_understood() {
    let folder = Folder::new(&[]);
    let cut = "{\"@action\": \"finish\"";
    for finish in ["stop", "length", "tool_calls", "content_filter", "pause", "other", "null", "unknown"] {
        let arguments = ["debug", "extract", "--nonce", "ab12", "--finish", finish, "--format", "json"];
        let got = folder.run_with(&arguments, cut.to_owned()).exits(0).json();
        // Only a reply that the model ended itself is closed for it.
        let expected = if finish == "stop" { (&got["action"], "finish") } else { (&got["error"], "truncated") };
        assert_eq!(expected.0, expected.1, "{finish}: {got}");
    }
}
