//! The skill and the loop that are shipped as examples.

use std::path::Path;

use crate::cli::Folder;

fn shipped(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

const FILES: [&str; 5] = [
    "skills/release-notes/SKILL.md",
    "skills/release-notes/references/style.md",
    "skills/release-notes/scripts/long_lines.sh",
    "examples/release_notes.yaml",
    "examples/commits.txt",
];

const REPLIES: &str = r#"
kind: script
note: what a model might say
protocol: json
exchanges:
- reply: { text: '{"@action": "loading_skills", "names": ["release-notes"]}' }
- reply: { text: '{"@action": "load_skill_resources", "skill": "release-notes", "paths": ["references/style.md"]}' }
- reply: { text: '{"@action": "directly_call_tool", "tool_name": "release-notes", "params": {"notes": "- Short."}}' }
- reply: { text: '{"@action": "directly_answer", "answer_payload": "- Reads skills from `.agents/skills`."}' }
"#;

fn workspace() -> Folder {
    let model = "models: { s: { provider: replay, path: replies.yaml, accept: true } }\ntiers: { main: s }\n";
    let folder = Folder::new(&[("loopwright.yaml", &format!("kind: workspace\n{model}")), ("replies.yaml", REPLIES)]);
    for file in FILES {
        folder.write(file, shipped(file));
    }
    folder
}

#[test]
fn the_shipped_skill_keeps_every_rule_of_the_format() {
    let folder = workspace();
    folder.run(&["skills", "validate", "skills"]).exits(0);
    let found = folder.run(&["check", ".", "--format", "json"]).exits(0).json();
    assert_eq!(found, serde_json::json!([]));
}

#[test]
fn the_example_loads_its_skill_reads_its_file_and_calls_it() {
    let folder = workspace();
    let arguments =
        ["run", "examples/release_notes.yaml", "--input", "@examples/commits.txt", "--events", "events.ndjson"];
    let done = folder.run(&arguments).exits(0);
    assert!(done.stdout.contains("Reads skills from `.agents/skills`"), "{}", done.stdout);
    let log = folder.read("events.ndjson");
    for part in [
        r#""event":"skill","skill":"release-notes","change":"loaded""#,
        r#""change":"resource","detail":"references/style.md""#,
        r#""tool":"release-notes","status":"done","result":"no line is too long""#,
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
}
