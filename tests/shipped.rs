//! The other shipped loops through the binary, with a model behind a local server.

use serde_json::Value;

use crate::cli::Folder;
use crate::raw_http::{Response, Server};

fn with_model(server: &Server, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(files);
    let model = format!("{{ provider: openai, model: m, base_url: \"{}\" }}", server.base_url());
    folder
        .write("loopwright.yaml", format!("kind: workspace\nmodels: {{ local: {model} }}\ntiers: {{ main: local }}\n"));
    folder
}

/// The text of the last message that the model was sent.
fn last_message(server: &Server, request: usize) -> String {
    let body: Value = serde_json::from_slice(&server.seen()[request].body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].to_string()
}

#[test]
fn the_default_loop_reads_files_and_answers() {
    let server = Server::scripted(vec![
        Response::says(
            r#"{"@action": "directly_call_tool", "calls": [{"tool_name": "grep", "params": {"pattern": "port"}, "identifier": "where"}, {"tool_name": "list_files", "params": {}}]}"#,
        ),
        Response::says(
            r#"{"@action": "directly_call_tool", "tool_name": "read_file", "params": {"path": "conf/app.toml"}}"#,
        ),
        Response::says(
            r#"{"@action": "directly_answer", "answer_payload": "It listens on 8137 (conf/app.toml, line 2)."}"#,
        ),
    ]);
    let folder = with_model(&server, &[("conf/app.toml", "[server]\nport = 8137\n"), ("notes.txt", "nothing\n")]);
    let done = folder.run(&["run", "--input", "Where does it listen?"]).exits(0);
    assert_eq!(done.stdout.trim(), "It listens on 8137 (conf/app.toml, line 2).");
    let second = last_message(&server, 1);
    assert!(second.contains("conf/app.toml") && second.contains("notes.txt"), "both calls' results: {second}");
    assert!(last_message(&server, 2).contains("[server]"), "the file's text: {}", last_message(&server, 2));
}

#[test]
fn the_default_loop_cannot_write_or_leave_the_workspace() {
    let server = Server::scripted(vec![
        Response::says(
            r#"{"@action": "directly_call_tool", "tool_name": "write_file", "params": {"path": "x", "content": "y"}}"#,
        ),
        Response::says(
            r#"{"@action": "directly_call_tool", "tool_name": "read_file", "params": {"path": "../outside.txt"}}"#,
        ),
        Response::says(r#"{"@action": "finish"}"#),
    ]);
    let folder = with_model(&server, &[]);
    folder.run(&["run", "--input", "Write x."]).exits(0);
    assert!(!folder.file("x").exists());
    assert!(
        last_message(&server, 1).contains("must be one of: grep, list_files, read_file"),
        "{}",
        last_message(&server, 1)
    );
    assert!(last_message(&server, 2).contains("outside"), "{}", last_message(&server, 2));
}
