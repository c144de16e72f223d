//! `caps`: what a workspace offers, how it is found, and how good the search is.

use std::path::Path;

use serde_json::{Value, json};

use super::Folder;

const LOOP: &str = "name: packing\ndescription: Packs a bag for a journey.\nprompt: { instruction: x }\n";
const FORGE: &str =
    "kind: forge\nname: outline\ndescription: An outline of a text.\nprompt: x\noutput: { headings: 'string!' }\n";
const TOOL: &str = "kind: tool\nname: get_weather\ndescription: The weather of a city.\nusage: Before a journey.\n\
                    params: { city: 'string!' }\ndo:\n  - run: { argv: [echo, x] }\n";

fn folder() -> Folder {
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("loops/packing.yaml", LOOP),
        ("loops/forges/outline.yaml", FORGE),
        ("loops/tools/get_weather.yaml", TOOL),
        (
            "skills/tidy-desk/SKILL.md",
            "---\nname: tidy-desk\ndescription: Tidies a desk. Use it on Fridays.\n---\nStart left.\n",
        ),
    ])
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn the_list_has_every_kind_and_what_is_shipped() {
    let folder = folder();
    let all = folder.run(&["caps", "list", "--format", "json"]).exits(0).json();
    for name in ["packing", "outline", "get_weather", "tidy-desk", "read_file", "log_analyze"] {
        assert!(names(&all).contains(&name), "{name}: {all}");
    }
    let tools = folder.run(&["caps", "list", "--type", "tool", "--format", "json"]).exits(0).json();
    assert!(tools.as_array().unwrap().iter().all(|one| one["type"] == "tool"));
    assert!(folder.run(&["caps", "list"]).exits(0).stdout.contains("focus_mode  packing"));
    let wrong = folder.run(&["caps", "list", "--type", "loop"]).exits(2).stderr;
    assert!(wrong.contains("write one of tool, forge, skill, focus_mode"), "{wrong}");
}

#[test]
fn one_name_is_shown_with_how_to_use_it() {
    let folder = folder();
    let shown = folder.run(&["caps", "show", "get_weather", "--format", "json"]).exits(0).json();
    let usage = "Before a journey; call it with `directly_call_tool` or `require_tool`";
    assert_eq!(
        shown,
        json!([{ "name": "get_weather", "type": "tool", "description": "The weather of a city.", "usage": usage }])
    );
    folder.write("loopwright.yaml", "kind: workspace\nlanguage: zh\n");
    let shown = folder.run(&["caps", "show", "packing"]).exits(0).stdout;
    assert!(shown.contains("[用 `enter_focus_mode` 进入]"), "{shown}");
    let error = folder.run(&["caps", "show", "get_wether"]).exits(2).stderr;
    assert!(error.contains("did you mean `get_weather`?"), "{error}");
}

#[test]
fn a_search_gives_the_result_record() {
    let folder = folder();
    let arguments = ["caps", "search", "pack for a journey", "--query", "weather", "--limit", "3", "--format", "json"];
    let found = folder.run(&arguments).exits(0).json();
    assert_eq!(found["matched_tool_names"], json!(["get_weather"]));
    assert_eq!(found["matched_focus_mode_names"], json!(["packing"]), "{found}");
    assert_eq!(found["catalog_matched"], json!([]));
    assert!(names(&found["details"]).len() <= 3 && found["details"][0]["score"].as_f64().unwrap() > 0.0, "{found}");
    assert!(found["search_results_markdown"].as_str().unwrap().contains("## Focus modes\n\n- `packing`"), "{found}");
    let text = folder.run(&["caps", "search", "city"]).exits(0).stdout;
    assert!(text.starts_with("tool        get_weather                   The weather of a city.\n"), "{text}");
    // By the name of a parameter, and by nothing.
    assert!(folder.run(&["caps", "search", "headings"]).exits(0).stdout.starts_with("forge       outline"));
    let none = folder.run(&["caps", "search", "xylophone"]).exits(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "nothing fits\n"));
}

/// The floors are a little below what the search reached when they were written.
#[test]
fn the_search_is_as_good_as_it_was() {
    let quality = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/caps/quality");
    let floors: Value = serde_json::from_str(&std::fs::read_to_string(quality.join("floors.json")).unwrap()).unwrap();
    let folder = Folder::new(&[]);
    let mut faults = Vec::new();
    for (set, measures) in floors.as_object().unwrap() {
        let file = |name: &str| quality.join(set).join(name).to_string_lossy().into_owned();
        let (catalog, queries) = (file("catalog.jsonl"), file("queries.jsonl"));
        let arguments = ["caps", "eval", "--catalog", &catalog, "--queries", &queries, "--format", "json"];
        let scores = folder.run(&arguments).exits(0).json();
        for (measure, floor) in measures.as_object().unwrap() {
            if scores[measure].as_f64().unwrap() < floor.as_f64().unwrap() {
                faults.push(format!("{set}: {measure} is {}, below {floor}", scores[measure]));
            }
        }
    }
    assert!(faults.is_empty() && !floors.as_object().unwrap().is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn an_evaluation_prints_all_its_measures() {
    let folder = Folder::new(&[
        (
            "c.jsonl",
            "{\"name\": \"read_file\", \"type\": \"tool\", \"description\": \"Reads.\"}\n\n{\"name\": \"send_mail\"}\n",
        ),
        ("q.jsonl", "{\"query\": \"send a mail\", \"relevant\": [\"send_mail\", \"other\"], \"split\": \"dev\"}\n"),
        ("bad.jsonl", "{\"name\": \"a\"}\n{\"nam\": \"b\"}\n"),
    ]);
    let eval = |catalog, more: &[&str]| {
        folder.run(&[&["caps", "eval", "--catalog", catalog, "--queries", "q.jsonl"], more].concat())
    };
    let scores = eval("c.jsonl", &["--format", "json"]).exits(0).json();
    let keys: Vec<&String> = scores.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["queries", "recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10", "p50_us", "p99_us"]);
    assert_eq!((&scores["queries"], &scores["recall@1"], &scores["mrr@10"]), (&json!(1), &json!(0.5), &json!(1.0)));
    assert!(eval("c.jsonl", &[]).exits(0).stdout.contains("1 queries over 2 entries"));
    assert!(eval("bad.jsonl", &[]).exits(2).stderr.contains("bad.jsonl:2:12: missing field `name`"));
    assert!(eval("none.jsonl", &[]).exits(2).stderr.contains("Cannot read none.jsonl"));
    let wrong = eval("c.jsonl", &["--without", "magic"]).exits(2).stderr;
    assert!(wrong.contains("write one of name_parts, stemming"), "{wrong}");
}
