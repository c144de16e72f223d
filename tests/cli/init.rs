//! `init` and `new`: what they write passes `check` and runs.

use super::Folder;

#[test]
fn a_new_workspace_passes_check_and_runs_from_its_script() {
    let folder = Folder::new(&[]);
    let done = folder.run(&["init", "mine"]).exits(0);
    assert!(done.stderr.contains("wrote a workspace into mine"), "{done:?}");
    let run = |arguments: &[&str]| folder.run(&[&["--workspace", "mine"], arguments].concat());
    run(&["check", "--deny-warnings"]).exits(0);
    let input = format!("@{}", folder.file("mine/examples/question.txt").display());
    let done = run(&["run", "hello", "--input", &input]).exits(0);
    assert!(!done.stdout.trim().is_empty());
    assert_eq!(done.stderr.matches("answered by a SCRIPT, not by a model").count(), 2, "{done:?}");
    let done = run(&["run", "hello", "--input", "Another question"]);
    assert_ne!(done.code, Some(0), "a script answers nothing else: {done:?}");
    assert!(done.stdout.is_empty() && done.stderr.contains("LOOPWRIGHT_MODEL"), "{done:?}");
}

#[test]
fn documents_name_schemas_that_are_there() {
    let folder = Folder::new(&[]);
    folder.run(&["init"]).exits(0);
    for (document, schema) in [
        ("loopwright.yaml", "schemas/workspace.schema.json"),
        ("loops/hello.yaml", "loops/../schemas/loop.schema.json"),
    ] {
        let first = folder.read(document).lines().next().unwrap().to_owned();
        assert!(schema.ends_with(first.rsplit("../").next().unwrap().rsplit("$schema=").next().unwrap()), "{first}");
        let schema: serde_json::Value = serde_json::from_str(&folder.read(schema)).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let folder = Folder::new(&[("loops/hello.yaml", "mine")]);
    let done = folder.run(&["init"]).exits(2);
    assert!(done.stderr.contains("loops/hello.yaml exists already"), "{done:?}");
    assert_eq!(folder.read("loops/hello.yaml"), "mine");
    assert!(!folder.file("loopwright.yaml").exists(), "nothing was written");
}

#[test]
fn a_new_loop_passes_check_as_it_is() {
    let folder = Folder::new(&[]);
    folder.run(&["init"]).exits(0);
    let done = folder.run(&["new", "loop", "triage"]).exits(0);
    assert!(done.stderr.contains("loops/triage.yaml"), "{done:?}");
    folder.run(&["check", "--deny-warnings", "loops/triage.yaml"]).exits(0);
    let done = folder.run(&["new", "loop", "triage"]).exits(2);
    assert!(done.stderr.contains("exists already"), "{done:?}");
}
