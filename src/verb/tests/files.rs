//! Verbs that read and write files.

use serde_json::{Value, json};

use super::support::World;
use crate::event::Event;

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("a.txt", "one\ntwo\nthree\n"),
        ("src/main.rs", "fn main() {}\n// TODO later\n"),
        ("src/lib.rs", "// todo now\n"),
        ("build/out.txt", "TODO generated\n"),
        (".gitignore", "build/\n"),
        (".secret", "TODO hidden\n"),
    ] {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(dir.path().join("blob"), b"TODO\0\xff").unwrap();
    dir
}

async fn run(dir: &tempfile::TempDir, verb: &str, args: Value) -> Result<Value, String> {
    World::in_folder(dir.path()).with("none", json!(null)).with("p", json!("a.txt")).run(verb, args).await
}

#[tokio::test]
async fn read_gives_the_text_or_a_part_of_it() {
    let dir = folder();
    let whole =
        json!({ "path": "a.txt", "text": "one\ntwo\nthree\n", "first_line": 1, "lines": 3, "truncated": false });
    assert_eq!(run(&dir, "read", json!("{{ p }}")).await.unwrap(), whole);
    let args = json!({ "path": "a.txt", "offset": "{{ none }}", "limit": "{{ none }}" });
    assert_eq!(run(&dir, "read", args).await.unwrap(), whole);
    let part = run(&dir, "read", json!({ "path": "a.txt", "offset": 2, "limit": "{{ 1 }}" })).await.unwrap();
    assert_eq!(part, json!({ "path": "a.txt", "text": "two\n", "first_line": 2, "lines": 1, "truncated": true }));
    let cut = run(&dir, "read", json!({ "path": "a.txt", "max_bytes": 5 })).await.unwrap();
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("one\nt"), &json!(true)));
    for (path, words) in [("nope", "No such file"), ("blob", "binary"), ("src", "a folder"), ("../x", "..")] {
        let error = run(&dir, "read", json!(path)).await.unwrap_err();
        assert!(error.contains(words), "{path}: {error}");
    }
}

#[tokio::test]
async fn write_makes_appends_and_replaces() {
    let dir = folder();
    let text = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    let done = run(&dir, "write", json!({ "path": "new/x.txt", "content": "{{ p }}!\n" })).await.unwrap();
    assert_eq!((done, text("new/x.txt")), (json!({ "path": "new/x.txt", "bytes": 7 }), "a.txt!\n".into()));
    run(&dir, "write", json!({ "path": "new/x.txt", "content": "more\n", "append": true })).await.unwrap();
    assert_eq!(text("new/x.txt"), "a.txt!\nmore\n");
    run(&dir, "write", json!({ "path": "a.txt", "replace": { "old": "two", "new": "2 {{ p }}" } })).await.unwrap();
    assert_eq!(text("a.txt"), "one\n2 a.txt\nthree\n");
    run(&dir, "write", json!({ "path": "a.txt", "replace": { "old": "e\n", "new": "E\n", "count": 2 } }))
        .await
        .unwrap();
    assert_eq!(text("a.txt"), "onE\n2 a.txt\nthreE\n");
}

#[tokio::test]
async fn a_part_that_is_not_there_exactly_once_changes_nothing() {
    let dir = folder();
    for (old, words) in
        [("four", "not in `a.txt`"), ("two\n  three", "line 2"), ("e\n", "2 times (line 1, 3)"), ("", "empty")]
    {
        let args = json!({ "path": "a.txt", "replace": { "old": old, "new": "x" } });
        let error = run(&dir, "write", args).await.unwrap_err();
        assert!(error.contains(words), "{old:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn other_line_ends_are_kept() {
    let dir = folder();
    std::fs::write(dir.path().join("dos.txt"), "one\r\ntwo\r\n").unwrap();
    let args = json!({ "path": "dos.txt", "replace": { "old": "one\ntwo", "new": "1\n2" } });
    run(&dir, "write", args).await.unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("dos.txt")).unwrap(), "1\r\n2\r\n");
}

#[tokio::test]
async fn an_artifact_is_written_and_told() {
    let dir = folder();
    let world = World::in_folder(dir.path()).with("tags", json!({ "FINAL": "the report\n" }));
    world.run("artifact", json!({ "path": "out/report.md", "content": "{{ tags.FINAL }}" })).await.unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("out/report.md")).unwrap(), "the report\n");
    assert_eq!(world.events(), [Event::Artifact { path: "out/report.md".into(), bytes: 11 }]);
    assert!(world.run("artifact", json!({ "path": "/tmp/elsewhere.md", "content": "x" })).await.is_err());
}

#[tokio::test]
async fn list_leaves_out_what_git_ignores_and_what_is_hidden() {
    let dir = folder();
    let all = run(&dir, "list", json!(".")).await.unwrap();
    assert_eq!(all, json!({ "paths": ["a.txt", "blob", "src/lib.rs", "src/main.rs"], "truncated": false }));
    let some = run(&dir, "list", json!({ "glob": ["*.rs", "!lib.rs"] })).await.unwrap();
    assert_eq!(some["paths"], json!(["src/main.rs"]));
    let below = run(&dir, "list", json!({ "path": "src", "max": 1 })).await.unwrap();
    assert_eq!(below, json!({ "paths": ["src/lib.rs"], "truncated": true }));
    for (path, words) in [("nope", "No such file"), ("/etc", "outside")] {
        let error = run(&dir, "list", json!(path)).await.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    assert!(run(&dir, "list", json!({ "glob": "a{" })).await.unwrap_err().contains("no pattern"));
}

#[tokio::test]
async fn grep_finds_lines_in_text_files() {
    let dir = folder();
    let found = run(&dir, "grep", json!("TODO")).await.unwrap();
    let line = json!({ "path": "src/main.rs", "line": 2, "text": "// TODO later" });
    assert_eq!(found, json!({ "matches": [line], "truncated": false }));
    let args = json!({ "pattern": "todo", "ignore_case": true, "glob": "src/*.rs", "max": "{{ none }}" });
    let found = run(&dir, "grep", args).await.unwrap();
    assert_eq!(found["matches"].as_array().unwrap().len(), 2);
    let found = run(&dir, "grep", json!({ "pattern": "t", "path": "a.txt", "max": 1 })).await.unwrap();
    assert_eq!(found, json!({ "matches": [{ "path": "a.txt", "line": 2, "text": "two" }], "truncated": true }));
    assert!(run(&dir, "grep", json!("(")).await.unwrap_err().contains("no regular expression"));
}

#[tokio::test]
async fn links_are_not_followed_by_a_search() {
    let dir = folder();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("s.txt"), "TODO outside").unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("src/out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("s.txt"), dir.path().join("src/s.txt")).unwrap();
    let found = run(&dir, "grep", json!({ "pattern": "TODO" })).await.unwrap();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    let listed = run(&dir, "list", json!("src")).await.unwrap();
    assert_eq!(listed["paths"], json!(["src/lib.rs", "src/main.rs"]));
}

#[tokio::test]
async fn a_search_leaves_out_what_the_policy_denies_when_it_is_to_obey() {
    let dir = folder();
    let rules = json!([{ "tool": "read_file", "paths": ["src/lib.rs"], "decision": "deny" }]);
    let rules = serde_json::from_value(rules).unwrap();
    let world = World::with_access(crate::policy::Access::new(dir.path(), &[".".into()], rules));
    let count = async |args: Value| world.run("grep", args).await.unwrap()["matches"].as_array().unwrap().len();
    assert_eq!(count(json!({ "pattern": "(?i)todo" })).await, 2);
    assert_eq!(count(json!({ "pattern": "(?i)todo", "obey_policy": true })).await, 1);
    let listed = world.run("list", json!({ "obey_policy": true, "glob": "*.rs" })).await.unwrap();
    assert_eq!(listed["paths"], json!(["src/main.rs"]));
}
