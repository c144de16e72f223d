//! The shipped example through the binary: what the script shows really happens, a script answers nothing else, and a
//! model that answers differently is followed.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{Done, Folder};
use crate::raw_http::{Response, Seen, Server};

fn shipped(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// A workspace with the log and the script, as in a fresh clone; loops and prompts are part of the program.
fn clone_of_the_example() -> Folder {
    let (log, script) = (shipped("examples/auth.log"), shipped("examples/log_analyze.script.yaml"));
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("examples/auth.log", &log),
        ("examples/log_analyze.script.yaml", &script),
    ])
}

/// A workspace with the log and a model behind this server.
fn with_model(server: &Server) -> Folder {
    let workspace = format!(
        "kind: workspace\nmodels: {{ local: {{ provider: openai, model: m, base_url: \"{}\" }} }}\ntiers: {{ main: local }}\n",
        server.base_url()
    );
    Folder::new(&[("loopwright.yaml", &workspace), ("auth.log", &shipped("examples/auth.log"))])
}

fn events(folder: &Folder) -> Vec<Value> {
    folder.read("run.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

fn run(folder: &Folder, log: &str, more: &[&str]) -> Done {
    let input = format!("@{log}");
    let arguments = [&["run", "log_analyze", "--input", &input, "--events", "run.ndjson"], more].concat();
    folder.run(&arguments)
}

/// What the model was sent, as one text: the engine escapes nothing but JSON strings.
fn sent(seen: &Seen) -> String {
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|message| text_of(&message["content"])).collect::<Vec<_>>().join("\n")
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn nonce(prompt: &str) -> &str {
    prompt.split("Its nonce is ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("the nonce of the turn")
}

#[test]
fn the_script_shows_the_whole_loop_and_its_report_is_written() {
    let folder = clone_of_the_example();
    let done = run(&folder, "examples/auth.log", &[]).exits(0);
    let report = folder.read("log_report.md");
    assert!(report.contains("Accepted password for backup from 127.0.0.23 port 35189 ssh2"), "{report}");
    assert!(report.contains("## Next steps"), "{report}");
    assert!(done.stdout.contains(report.trim()), "the answer is the report: {}", done.stdout);
    assert!(done.stderr.contains("SCRIPT"), "a script never passes for a model: {}", done.stderr);

    let events = events(&folder);
    let rejected = of_kind(&events, "action_rejected");
    assert_eq!(rejected.len(), 1, "one reply is wrong on purpose");
    assert_eq!(rejected[0]["class"], "verify");
    let taken: Vec<&str> = of_kind(&events, "action").iter().map(|event| event["action"].as_str().unwrap()).collect();
    let expected = [
        "search_log",
        "search_log",
        "extract_anomaly",
        "search_log",
        "search_log",
        "extract_anomaly",
        "extract_anomaly",
        "directly_answer",
    ];
    assert_eq!(taken, expected);
    let recorded = of_kind(&events, "state_set")
        .into_iter()
        .filter_map(|event| event["values"]["anomalies"].as_array())
        .next_back();
    let lines: Vec<&Value> = recorded.unwrap().iter().map(|anomaly| &anomaly["line"]).collect();
    assert_eq!(lines, [&json!(112), &json!(23), &json!(76)], "the engine looks each line up itself");
    assert_eq!(of_kind(&events, "run_started")[0]["source"]["kind"], "script");
}

#[test]
fn the_script_answers_no_other_log_and_no_other_prompt() {
    let folder = clone_of_the_example();
    folder.write("examples/auth.log", shipped("examples/auth.log").replacen("alice", "alise", 1));
    let done = run(&folder, "examples/auth.log", &[]).exits(1);
    assert!(
        done.stderr.contains("alice") && done.stderr.contains("alise"),
        "shows the first difference: {}",
        done.stderr
    );
    assert!(!folder.file("log_report.md").exists());

    let folder = clone_of_the_example();
    let instruction = shipped("prompts/log_analyze/instruction.md.j2").replace("Severity:", "How bad:");
    folder.write("prompts/log_analyze/instruction.md.j2", instruction);
    let done = run(&folder, "examples/auth.log", &[]).exits(1);
    assert!(done.stderr.contains("How bad:") && done.stderr.contains("PERSISTENT"), "{}", done.stderr);
}

#[test]
fn a_model_that_answers_differently_is_followed() {
    let server = Server::answering(|number, seen| {
        let prompt = sent(seen);
        match number {
            0 => Response::says(r#"{"@action": "search_log", "words": ["alice", "Failed"]}"#),
            _ => Response::says(&format!(
                "{{\"@action\": \"directly_answer\"}}\n<|FINAL_ANSWER_{0}|>\nNothing is wrong with this log. I looked at the logins of alice, who mistyped once, and at nothing else.\n<|FINAL_ANSWER_END_{0}|>",
                nonce(&prompt)
            )),
        }
    });
    let folder = with_model(&server);
    let done = run(&folder, "auth.log", &[]).exits(0);
    assert!(folder.read("log_report.md").starts_with("Nothing is wrong with this log."));
    assert!(!done.stderr.contains("SCRIPT"), "{}", done.stderr);
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    let second = sent(&seen[1]);
    assert!(
        second.contains("Lines with alice and Failed: 1 of 117"),
        "the search's outcome is in the next prompt: {second}"
    );
    assert!(second.contains("\n13: Nov 30 10:29:38"), "with the number of the line: {second}");
}

#[test]
fn evidence_that_the_report_does_not_quote_is_asked_for() {
    let server = Server::answering(|number, seen| {
        let nonce = nonce(&sent(seen)).to_owned();
        let report = |evidence: &str| {
            format!(
                "{{\"@action\": \"directly_answer\"}}\n<|FINAL_ANSWER_{nonce}|>\nSomebody got in as backup. Lock the account and look at what it did. {evidence} That is all.\n<|FINAL_ANSWER_END_{nonce}|>"
            )
        };
        match number {
            0 => Response::says(
                r#"{"@action": "extract_anomaly", "kind": "break-in", "severity": "high", "evidence": "Accepted password for backup", "explanation": "It is."}"#,
            ),
            1 => Response::says(&report("The line is in the log.")),
            _ => Response::says(&report("The line: Accepted password for backup.")),
        }
    });
    let folder = with_model(&server);
    run(&folder, "auth.log", &[]).exits(0);
    let events = events(&folder);
    let rejected = of_kind(&events, "action_rejected");
    assert_eq!(rejected.len(), 1);
    assert!(
        rejected[0]["message"].as_str().unwrap().ends_with("missing: Accepted password for backup"),
        "{}",
        rejected[0]
    );
    assert!(folder.read("log_report.md").contains("The line: Accepted"));
}

#[test]
fn when_the_iterations_run_out_a_forge_writes_the_report() {
    let server = Server::answering(|number, _| match number {
        0 => Response::says(
            r#"{"@action": "extract_anomaly", "kind": "break-in", "severity": "high", "evidence": "Accepted password for backup", "explanation": "It is."}"#,
        ),
        _ => Response::says(r#"{"summary": "Somebody got in as backup."}"#),
    });
    let folder = with_model(&server);
    let done = run(&folder, "auth.log", &["--max-iterations", "1"]).exits(0);
    assert_eq!(folder.read("log_report.md").trim(), "Somebody got in as backup.");
    assert!(done.stdout.contains("Somebody got in as backup."), "{}", done.stdout);
    let events = events(&folder);
    let finished = of_kind(&events, "run_finished")[0];
    assert_eq!((&finished["reason"], &finished["ignored"]), (&json!("max_iterations"), &json!(true)));
    assert!(sent(&server.seen()[1]).contains("Accepted password for backup"), "the forge gets the findings");
}

#[test]
fn what_was_found_is_kept_when_the_model_fails() {
    let server = Server::answering(|number, _| match number {
        0 => Response::says(
            r#"{"@action": "extract_anomaly", "kind": "break-in", "severity": "high", "evidence": "Accepted password for backup", "explanation": "It is."}"#,
        ),
        _ => Response::status(401).body(["{\"error\": {\"message\": \"no\"}}"]),
    });
    let folder = with_model(&server);
    run(&folder, "auth.log", &[]).exits(1);
    let report = folder.read("log_report.md");
    assert!(
        report.starts_with("# Unfinished log analysis") && report.contains("Line 112: `Accepted password for backup`"),
        "{report}"
    );
}

#[test]
fn without_a_log_there_is_nothing_to_do() {
    let folder = clone_of_the_example();
    folder.write("empty.log", "  \n");
    let done = run(&folder, "empty.log", &[]).exits(0);
    assert!(done.stderr.contains("There is no log to analyse."), "{}", done.stderr);
    assert_eq!(of_kind(&events(&folder), "run_finished")[0]["reason"], "done");
}

#[test]
fn under_native_tools_the_description_names_the_tag() {
    let server = Server::scripted(vec![Response::status(500)]);
    let folder = with_model(&server);
    folder.write("loopwright.yaml", folder.read("loopwright.yaml").replace("model: m,", "model: m, protocol: tools,"));
    let prompt = folder.run(&["render", "log_analyze", "--input", "@auth.log", "--format", "json"]).exits(0).json();
    let answer = prompt["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "directly_answer").unwrap();
    let description = answer["description"].as_str().unwrap();
    assert!(description.ends_with("\nTag FINAL_ANSWER (required): The whole report in Markdown."), "{description}");
    let system = prompt["system"].as_str().unwrap();
    assert!(system.contains("call exactly one of the functions") && !system.contains("<|SCHEMA_"), "{system}");
}
