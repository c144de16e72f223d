//! `tune`: the page's figures are what it prints, and a replay decides what the engine decided.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::Folder;
use crate::mechanisms::run;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn shipped() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("examples/histories")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs a command line of a page in this repository; `*.json` is what a shell makes of it.
fn printed(command: &str) -> String {
    let mut words = Vec::new();
    for word in command.split_whitespace().skip(1) {
        match word.strip_suffix("*.json") {
            Some(folder) => {
                words.extend(
                    shipped().iter().map(|path| format!("{folder}{}", path.file_name().unwrap().to_string_lossy())),
                );
            }
            None => words.push(word.to_owned()),
        }
    }
    let done =
        std::process::Command::new(env!("CARGO_BIN_EXE_loopwright")).args(&words).current_dir(root()).output().unwrap();
    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// `UPDATE_EXPECTED=1 cargo test tune::` writes the figures anew.
#[test]
fn the_figures_on_the_page_are_what_tune_prints() {
    let path = root().join("docs/tuning.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (mut written, mut commands, mut rest) = (String::new(), 0, page.as_str());
    while let Some(at) = rest.find("```console\n$ loopwright tune ") {
        let (before, block) = rest.split_at(at);
        let block = &block["```console\n".len()..];
        let (text, after) = block.split_once("\n```").unwrap();
        let command = text.lines().next().unwrap().trim_start_matches("$ ");
        written.push_str(&format!("{before}```console\n$ {command}\n{}\n```", printed(command).trim_end()));
        commands += 1;
        rest = after;
    }
    written.push_str(rest);
    assert!(commands >= 3, "only {commands} commands with figures");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert_eq!(written, page, "docs/tuning.md has other figures: UPDATE_EXPECTED=1 cargo test tune::");
    }
}

#[test]
fn the_shipped_histories_fit_their_schema() {
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(root().join("schemas/history.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    assert!(shipped().len() >= 3);
    for path in shipped() {
        let history: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let errors: Vec<String> = validator.iter_errors(&history).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
    assert!(!validator.is_valid(&json!({ "iterations": [{ "at": 1, "action": "x", "time": 2 }] })));
}

/// What a mechanism did, by the rule and the numbers.
fn grounds(of: &Value) -> (Value, Value) {
    (of["rule"].clone(), of.get("numbers").cloned().unwrap_or_default())
}

/// The helper of the profile `quiet` needs 10 seconds and says the same each time, and so does the one of this run.
#[test]
fn a_replay_decides_as_the_engine_did() {
    let document = json!({
        "name": "case",
        "prompt": { "instruction": "Do it." },
        "limits": { "max_iterations": 16 },
        "actions": {
            "look": { "description": "Look.", "params": { "at": "string!" }, "do": [{ "feedback": "seen {{ params.at }}" }] },
            "deep": { "description": "Think.", "key": true, "do": [{ "feedback": "thought" }] }
        },
        "mechanisms": {
            "perception": { "every": 2 },
            "reflection": { "tier": "reflection", "max_calls": 1 },
            "spin": { "tier": "spin", "max_reviews": 2 },
            "progress": { "metric": "run.iteration // 5", "direction": "up", "patience": 20 }
        }
    });
    let actions: Vec<Value> = (1..=16)
        .map(|n| match n {
            4 | 9 => json!({ "@action": "deep" }),
            _ => json!({ "@action": "look", "at": if n < 12 { n.to_string() } else { "12".to_owned() } }),
        })
        .collect();
    let slow = |text: Value, seconds: u32| json!({ "text": text.to_string(), "after": format!("{seconds}s") });
    let ran = run(
        &document,
        |tier| match tier {
            "main" => actions.iter().map(|action| slow(action.clone(), 20)).collect(),
            "helper" => {
                vec![slow(json!({ "summary": "s", "topics": ["the task"], "keywords": [], "confidence": 0.8 }), 10); 16]
            }
            "reflection" => vec![slow(json!({ "assessment": "a", "suggestions": "" }), 10); 16],
            _ => vec![slow(json!({ "reason": "r", "is_spinning": false, "confidence": 0.9 }), 10); 16],
        },
        &[],
        &[],
    );
    let engine: Vec<(Value, Value)> = ran
        .events
        .iter()
        .filter(|event| ["perception", "reflection", "spin"].iter().any(|kind| event["event"] == *kind))
        .map(|event| grounds(&event["grounds"]))
        .collect();

    let iterations: Vec<Value> = actions
        .iter()
        .zip(1..)
        .map(|(action, n)| {
            let name = action["@action"].as_str().unwrap();
            let args = if name == "look" { json!({ "at": action["at"] }) } else { json!({}) };
            let told = if name == "look" { format!("seen {}", action["at"].as_str().unwrap()) } else { "thought".to_owned() };
            json!({ "at": 20 * n, "action": name, "args": args, "result": told, "key": name == "deep", "figure": n / 5 })
        })
        .collect();
    // Who answers is of no interest in a replay, so here the tiers are those that every workspace has.
    let mut document = document;
    for mechanism in ["reflection", "spin"] {
        document["mechanisms"][mechanism].as_object_mut().unwrap().remove("tier");
    }
    let folder = Folder::new(&[("case.yaml", &document.to_string())]);
    folder.write("h.json", json!({ "name": "h", "iterations": iterations }).to_string());
    let arguments = ["tune", "h.json", "--loop", "case.yaml", "--profile", "quiet", "--format", "json"];
    let replayed = folder.run(&arguments).exits(0).json();
    let replay = &replayed["histories"][0]["replays"][0];
    let marks: Vec<(Value, Value)> =
        replay["marks"].as_array().unwrap().iter().filter(|mark| mark["what"] != "end").map(grounds).collect();
    assert_eq!(marks, engine);
    assert!(engine.len() > 8, "{engine:?}");
    assert_eq!((json!(ran.outcome.reason), &replay["end"]), (json!("max_iterations"), &Value::Null));
    let calls = |purpose: &str| ran.calls(purpose) as u64;
    for purpose in ["perception", "reflection", "spin"] {
        assert_eq!(replay["calls"][purpose]["made"], calls(purpose), "{purpose}");
    }
}

/// The judge of the profile `quiet` names the same as missing each time, and so does the one of this run.
#[test]
fn a_replayed_gate_decides_as_the_engine_did() {
    let document = json!({
        "name": "case",
        "prompt": { "instruction": "Do it." },
        "limits": { "max_iterations": 20 },
        "actions": { "look": { "description": "Look.", "params": { "at": "string!" }, "do": [{ "feedback": "seen {{ params.at }}" }] } },
        "mechanisms": {
            "spin": { "enabled": false },
            "verification": { "tier": "helper", "every": 4, "max_age": "3m", "min_prompt_delta": 1_000_000, "watchdog": "10m" }
        }
    });
    let times: Vec<u32> = (1..=20).map(|n| if n == 6 { 200 } else { 20 }).collect();
    let slow = |text: Value, seconds: u32| json!({ "text": text.to_string(), "after": format!("{seconds}s") });
    let look = |n: usize| json!({ "@action": "look", "at": n.to_string() });
    let ran = run(
        &document,
        |tier| match tier {
            "main" => times.iter().enumerate().map(|(n, seconds)| slow(look(n), *seconds)).collect(),
            _ => vec![slow(json!({ "satisfied": false, "reasoning": "r", "missing": ["the task"] }), 10); 20],
        },
        &[],
        &[],
    );
    // How large the prompts were is not part of this comparison: a history counts them in its own way.
    let told = |of: &Value| {
        let (rule, mut numbers) = grounds(of);
        if let Some(numbers) = numbers.as_object_mut() {
            numbers.remove("moved");
        }
        (rule, numbers)
    };
    let engine: Vec<_> = ran.of_kind("verification").map(|event| told(&event["grounds"])).collect();
    let because = ran.of_kind("verification").last().map(|event| told(&event["because"]));
    let mut at = 0;
    let iterations: Vec<Value> = times
        .iter()
        .enumerate()
        .map(|(n, seconds)| {
            at += seconds;
            json!({ "at": at, "action": "look", "args": { "at": n.to_string() }, "result": format!("seen {n}") })
        })
        .collect();
    let folder = Folder::new(&[("case.yaml", &document.to_string())]);
    folder.write("h.json", json!({ "name": "h", "iterations": iterations }).to_string());
    let arguments = ["tune", "h.json", "--loop", "case.yaml", "--profile", "quiet", "--format", "json"];
    let replayed = folder.run(&arguments).exits(0).json();
    let replay = &replayed["histories"][0]["replays"][0];
    let marks: Vec<&Value> = replay["marks"].as_array().unwrap().iter().collect();
    let calls: Vec<_> = marks.iter().filter(|mark| mark["what"] == "call").map(|mark| told(mark)).collect();
    assert_eq!(calls, engine);
    let rules: Vec<&Value> = engine.iter().map(|(rule, _)| rule).collect();
    assert!(rules.contains(&&json!("every")) && rules.contains(&&json!("max_age")), "{rules:?}");
    assert_eq!((json!(ran.outcome.reason), &replay["end"]["reason"]), (json!("unverified"), &json!("unverified")));
    assert_eq!(marks.last().map(|mark| told(mark)), because);
}

#[test]
fn the_events_of_a_run_become_a_recorded_run() {
    let folder = Folder::new(&[]);
    let run = |name: &str| {
        let log = root().join("examples/auth.log");
        let input = format!("@{}", log.display());
        let events = folder.file(name);
        let arguments =
            ["--workspace", env!("CARGO_MANIFEST_DIR"), "run", "log_analyze", "--input", &input, "--events"];
        folder.run(&[&arguments[..], &[events.to_str().unwrap()]].concat()).exits(0);
    };
    run("run.ndjson");
    let history = folder.run(&["tune", "run.ndjson", "--as-history"]).exits(0).json();
    assert_eq!(history["name"], "log_analyze");
    let iterations = history["iterations"].as_array().unwrap();
    assert!(iterations.len() >= 5, "{history}");
    assert!(iterations.iter().all(|one| one["prompt_tokens"].as_u64() > Some(100)), "{history}");
    assert!(iterations.iter().any(|one| one["moved"] == true), "actions of the loop set variables: {history}");
    assert_eq!(iterations.last().unwrap()["ends"], true);
    folder.write("h.json", history.to_string());
    let of = |file: &str| folder.run(&["tune", file, "--format", "json"]).exits(0).json()["histories"][0].clone();
    assert_eq!(of("h.json"), of("run.ndjson"));
}

#[test]
fn settings_are_swept_and_drawn() {
    let folder = Folder::new(&[]);
    let name = "<b>\u{1b}[2J & co";
    let iterations: Vec<Value> =
        (1..=12).map(|n| json!({ "at": 40 * n, "action": "read", "args": { "at": n }, "result": n.to_string(), "prompt_tokens": 100 * n })).collect();
    folder.write("h.json", json!({ "name": name, "goal_at": 9, "iterations": iterations }).to_string());
    let arguments = [
        "tune",
        "h.json",
        "--set",
        "spin.enabled=false",
        "--sweep",
        "perception.every=1,4",
        "--sweep",
        "mechanisms.verification.max_age=30s,10m",
        "--format",
        "json",
        "--svg",
        "plot.svg",
    ];
    let all = folder.run(&arguments).exits(0).json();
    let replays = all["histories"][0]["replays"].as_array().unwrap();
    assert_eq!(replays.len(), 4);
    assert_eq!(
        replays[3]["set"],
        json!({ "spin.enabled": "false", "perception.every": "4", "verification.max_age": "10m" })
    );
    assert!(replays.iter().all(|one| one["calls"]["spin"]["made"] == 0), "{all}");
    let made = |at: usize| replays[at]["calls"]["perception"]["made"].as_u64().unwrap();
    assert!(made(0) > made(2) && made(2) > 0, "{all}");
    assert_eq!(all, folder.run(&arguments).exits(0).json(), "the same seed gives the same answers");
    let svg = folder.read("plot.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("&lt;b&gt; [2J &amp; co") && !svg.contains('\u{1b}'), "{svg}");
    assert!(
        svg.contains("class=\"goal\"") && svg.contains("class=\"perception") && svg.contains("class=\"verification"),
        "{svg}"
    );
    let text = folder.run(&["tune", "h.json"]).exits(0).stdout;
    assert!(text.contains("the goal is reached in iteration 9") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let folder = Folder::new(&[
        ("h.json", r#"{ "iterations": [{ "at": 1, "action": "a" }] }"#),
        ("x.json", r#"[{ "steps": [] }]"#),
    ]);
    let fault = |words: &[&str]| folder.run(&[&["tune"], words].concat()).exits(2).stderr;
    assert!(
        fault(&["x.json"]).contains("x.json holds no recorded run: unknown field `steps`"),
        "{}",
        fault(&["x.json"])
    );
    assert!(fault(&["h.json", "--preset", "cots"]).contains("did you mean `cost`?"));
    assert!(fault(&["h.json", "--set", "perception.evry=1"]).contains("did you mean `every`?"));
    assert!(fault(&["h.json", "--sweep", "perception.every=0,1"]).contains("mechanisms.perception.every"));
    assert!(fault(&["h.json", "--loop", "nothing"]).contains("no loop named"));
    assert!(fault(&[]).contains("HISTORY"));
}
