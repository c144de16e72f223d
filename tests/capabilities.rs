//! What is promised of capabilities, a test a promise: the kinds with their usage hints, the record of a search, the three
//! ways of discovery, and what is not found.
//!
//! What a name turns out to be is told by the cases `load_capability_*` in `tests/cases/run/`, what the model sees of a search by
//! `extra_capabilities_*`.

use serde_json::{Value, json};

use crate::cli::Folder;

/// A workspace with one capability of each kind.
fn workspace() -> Folder {
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        (
            "loops/tools/fuzz_http.yaml",
            "kind: tool\nname: fuzz_http\ndescription: Sends odd HTTP requests.\ndo: [{ result: x }]\n",
        ),
        (
            "loops/forges/fuzz_report.yaml",
            "kind: forge\nname: fuzz_report\ndescription: Sums up what odd HTTP requests showed.\nprompt: x\noutput: { a: string! }\n",
        ),
        (
            "skills/fuzzing/SKILL.md",
            "---\nname: fuzzing\ndescription: How to fuzz HTTP servers with odd requests.\n---\nBegin small.\n",
        ),
        (
            "loops/fuzz_session.yaml",
            "name: fuzz_session\ndescription: Fuzzes an HTTP server with odd requests until it breaks.\nprompt: { instruction: x }\n",
        ),
        ("loops/unseen.yaml", "name: unseen\ndescription: Fuzzes HTTP.\nhidden: true\nprompt: { instruction: x }\n"),
    ])
}

fn search(more: &[&str]) -> Value {
    let arguments = [&["caps", "search", "odd HTTP requests", "--format", "json"], more].concat();
    workspace().run(&arguments).exits(0).json()
}

fn usage(name: &str) -> String {
    let hits = search(&[]);
    let hit = hits["details"].as_array().unwrap().iter().find(|hit| hit["name"] == name).cloned();
    hit.unwrap_or_else(|| panic!("{name} is not found"))["usage"].as_str().unwrap().to_owned()
}

#[test]
fn a_tool_is_called_with_require_tool() {
    assert_eq!(usage("fuzz_http"), "call it with `directly_call_tool` or `require_tool`");
}

#[test]
fn a_forge_is_run_with_require_ai_blueprint() {
    assert_eq!(usage("fuzz_report"), "run it with `require_ai_blueprint`");
}

#[test]
fn a_skill_is_loaded_into_the_context() {
    assert_eq!(usage("fuzzing"), "load it with `loading_skills`");
}

#[test]
fn a_focus_mode_is_entered_with_enter_focus_mode() {
    assert_eq!(usage("fuzz_session"), "enter it with `enter_focus_mode`");
}

#[test]
fn usage_hints_speak_the_language_of_the_workspace() {
    let folder = workspace();
    folder.write("loopwright.yaml", "kind: workspace\nlanguage: zh\n");
    let found = folder.run(&["caps", "search", "odd HTTP requests", "--format", "json"]).exits(0).json();
    let hints: Vec<&str> =
        found["details"].as_array().unwrap().iter().map(|hit| hit["usage"].as_str().unwrap()).collect();
    for words in ["调用", "执行", "加载", "进入"] {
        assert!(hints.iter().any(|hint| hint.contains(words)), "{words}: {hints:?}");
    }
}

#[test]
fn capability_detail_has_name_type_and_description() {
    let found = search(&[]);
    let hit = found["details"].as_array().unwrap().iter().find(|hit| hit["name"] == "fuzz_http").unwrap();
    assert_eq!(hit["type"], "tool");
    assert_eq!(hit["description"], "Sends odd HTTP requests.");
}

#[test]
fn search_results_markdown_reports_the_hits_by_type() {
    let found = search(&[]);
    let report = found["search_results_markdown"].as_str().unwrap();
    let places: Vec<usize> = ["## Tools", "## Forges", "## Skills", "## Focus modes"]
        .iter()
        .map(|title| report.find(title).unwrap())
        .collect();
    assert!(places.is_sorted(), "{report}");
}

#[test]
fn context_enrichment_has_a_line_a_hit() {
    let found = search(&[]);
    let lines = found["context_enrichment"].as_str().unwrap().lines().count();
    assert_eq!(lines, found["details"].as_array().unwrap().len());
}

#[test]
fn matched_names_stand_apart_by_type() {
    let found = search(&[]);
    assert_eq!(found["matched_tool_names"][0], "fuzz_http");
    assert_eq!(found["matched_forge_names"], json!(["fuzz_report"]));
    assert_eq!(found["matched_skill_names"], json!(["fuzzing"]));
    assert_eq!(found["matched_focus_mode_names"][0], "fuzz_session");
}

#[test]
fn recommended_capabilities_are_the_best_hits() {
    let found = search(&[]);
    let best = found["recommended"].as_array().unwrap();
    assert!((1..=3).contains(&best.len()));
    assert_eq!(best[0], found["details"][0]["name"]);
}

#[test]
fn catalog_matched_names_are_empty_where_no_model_was_asked() {
    assert_eq!(search(&[])["catalog_matched"], json!([]));
}

#[test]
fn several_queries_are_sides_of_one_need() {
    let found = search(&["--query", "how to begin fuzzing"]);
    assert!(found["matched_skill_names"].as_array().unwrap().contains(&json!("fuzzing")));
    assert!(found["matched_tool_names"].as_array().unwrap().contains(&json!("fuzz_http")));
}

#[test]
fn a_search_has_a_limit() {
    assert_eq!(search(&["--limit", "2"])["details"].as_array().unwrap().len(), 2);
}

#[test]
fn letters_anywhere_are_the_last_resort() {
    let found = workspace().run(&["caps", "search", "uzz_se", "--format", "json"]).exits(0).json();
    assert_eq!(found["details"][0]["name"], "fuzz_session");
}

#[test]
fn what_is_hidden_is_not_found() {
    let listed = workspace().run(&["caps", "list", "--format", "json"]).exits(0).stdout;
    assert!(
        listed.contains("fuzz_session") && !listed.contains("unseen") && !listed.contains("\"intent\""),
        "{listed}"
    );
}
