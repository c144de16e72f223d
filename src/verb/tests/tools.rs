//! The built-in tools as documents: each one's steps, run against a real folder.

use std::path::Path;

use serde_json::{Value, json};

use super::support::World;
use crate::diag::{Diagnostics, SourceMap};
use crate::document::ToolDoc;
use crate::policy::Access;

/// Runs a built-in tool's steps as the engine does, without the policy's decision, and gives its result.
async fn call(world: World, tool: &str, params: Value) -> Result<Value, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("loops/tools/{tool}.yaml"));
    let text = &*std::fs::read_to_string(file).unwrap();
    let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let id = sources.add(format!("{tool}.yaml"), text);
    let node = crate::syntax::parse(id, text, crate::syntax::Format::Yaml, &mut diagnostics).unwrap();
    let doc: ToolDoc = crate::syntax::decode(&node, &mut diagnostics).unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert!(diagnostics.is_empty(), "{tool}: {diagnostics:?}");
    assert_eq!(*doc.name, tool);
    let schema = jsonschema::validator_for(&doc.params.as_ref().unwrap().schema).unwrap();
    assert!(schema.is_valid(&params), "{tool}: {params}");
    let mut world = world.with("params", params);
    let mut result = Value::Null;
    for step in &doc.steps {
        let verb = step.verb.as_ref().unwrap();
        result = world.run(&verb.name, verb.args.node().to_json()).await?;
        world = world.with_step(step.keys.id.as_ref().map(|id| id.as_str()), &result);
    }
    Ok(result)
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(dir.path().join("src/a.rs"), "fn a() {}\nfn b() {}\nfn c() {}\n").unwrap();
    std::fs::write(dir.path().join("notes.md"), "hello\n").unwrap();
    dir
}

#[tokio::test]
async fn read_file_gives_text_and_says_where_it_goes_on() {
    let dir = folder();
    let read = async |params| call(World::in_folder(dir.path()), "read_file", params).await;
    assert_eq!(read(json!({ "path": "notes.md" })).await.unwrap(), json!("hello\n"));
    let part = read(json!({ "path": "src/a.rs", "offset": 2, "limit": 1 })).await.unwrap();
    assert_eq!(part, json!("fn b() {}\n\n[the file goes on; the next line is 3]"));
    assert!(read(json!({ "path": "../x" })).await.is_err());
}

#[tokio::test]
async fn write_file_and_edit_file_change_files() {
    let dir = folder();
    let content = "{{ not a template }}\n";
    let done = call(World::in_folder(dir.path()), "write_file", json!({ "path": "x/y.txt", "content": content })).await;
    assert_eq!(done.unwrap(), json!("Wrote 21 bytes to x/y.txt."));
    assert_eq!(std::fs::read_to_string(dir.path().join("x/y.txt")).unwrap(), content);
    let params = json!({ "path": "src/a.rs", "old": "fn b", "new": "fn {{ d }}" });
    assert_eq!(call(World::in_folder(dir.path()), "edit_file", params).await.unwrap(), json!("Changed src/a.rs."));
    let params = json!({ "path": "src/a.rs", "old": "() {}", "new": "();", "count": 3 });
    call(World::in_folder(dir.path()), "edit_file", params).await.unwrap();
    let text = std::fs::read_to_string(dir.path().join("src/a.rs")).unwrap();
    assert_eq!(text, "fn a();\nfn {{ d }}();\nfn c();\n");
    let params = json!({ "path": "src/a.rs", "old": "fn", "new": "x" });
    assert!(call(World::in_folder(dir.path()), "edit_file", params).await.unwrap_err().contains("3 times"));
}

#[tokio::test]
async fn list_files_and_grep_give_lines() {
    let dir = folder();
    let run = async |tool: &str, params| call(World::in_folder(dir.path()), tool, params).await.unwrap();
    assert_eq!(run("list_files", json!({})).await, json!("notes.md\nsrc/a.rs"));
    assert_eq!(run("list_files", json!({ "glob": "*.py" })).await, json!("no files"));
    let one = run("list_files", json!({ "max": 1 })).await;
    assert_eq!(one, json!("notes.md\n[there are more; narrow it down with path or glob]"));
    let found = run("grep", json!({ "pattern": "fn [ac]", "path": "src" })).await;
    assert_eq!(found, json!("src/a.rs:1: fn a() {}\nsrc/a.rs:3: fn c() {}"));
    assert_eq!(run("grep", json!({ "pattern": "nothing", "glob": "*.rs" })).await, json!("no matches"));
    assert_eq!(run("grep", json!({ "pattern": "HELLO", "ignore_case": true })).await, json!("notes.md:1: hello"));
}

#[tokio::test]
async fn run_command_gives_what_the_program_did() {
    let dir = folder();
    let run = async |params| call(World::in_folder(dir.path()), "run_command", params).await.unwrap();
    let result = run(json!({ "argv": ["sh", "-c", "ls; exit 2"], "cwd": "src" })).await;
    assert_eq!(result, json!({ "exit_code": 2, "timed_out": false, "stdout": "a.rs\n", "stderr": "" }));
    let result = run(json!({ "argv": ["sleep", "20"], "timeout_seconds": 1 })).await;
    assert_eq!(result, json!({ "exit_code": null, "timed_out": true, "stdout": "", "stderr": "" }));
}

#[tokio::test]
async fn http_request_reaches_only_what_a_rule_names() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).await.unwrap_or(0);
            let asked = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let line = asked.lines().next().unwrap_or_default().to_owned();
            let answer =
                format!("HTTP/1.1 404 No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{line}", line.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let dir = folder();
    let url = format!("http://127.0.0.1:{port}/x");
    let words = call(World::in_folder(dir.path()), "http_request", json!({ "url": url })).await.unwrap_err();
    assert!(words.contains("policy"), "{words}");
    let rules = json!([{ "tool": "http_request", "hosts": [format!("127.0.0.1:{port}")], "decision": "allow" }]);
    let access = Access::new(dir.path(), &[".".into()], serde_json::from_value(rules).unwrap());
    let get = call(World::with_access(access.clone()), "http_request", json!({ "url": url })).await.unwrap();
    assert_eq!((&get["status"], &get["body"]), (&json!(404), &json!("GET /x HTTP/1.1")));
    let params = json!({ "url": url, "body": "b", "headers": { "x-a": "{{ b }}" } });
    let post = call(World::with_access(access.clone()), "http_request", params).await.unwrap();
    assert_eq!(post["body"], json!("POST /x HTTP/1.1"));
    let params = json!({ "url": url, "headers": { "Host": "internal" } });
    assert!(call(World::with_access(access), "http_request", params).await.unwrap_err().contains("`Host`"));
}
