//! What a real model server said, replayed: `.ci/real-server.sh --save` ran the loop on llama.cpp and kept the recordings.
//!
//! The documents and prompts of that day lie beside the recordings, so that later changes to them spoil nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::Folder;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/real")
}

fn copy_into(folder: &Folder, from: &Path, below: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            copy_into(folder, &path, below);
        } else {
            let name = path.strip_prefix(below).unwrap().to_str().unwrap();
            folder.write(name, std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn the_recorded_runs_end_as_they_did() {
    for protocol in ["json", "json_schema", "tools"] {
        let folder = Folder::new(&[]);
        copy_into(&folder, &cases().join("workspace"), &cases().join("workspace"));
        let name = format!("{protocol}.yaml");
        folder.write(&name, std::fs::read(cases().join(&name)).unwrap());
        let model = format!("main=replay:{name}");
        let arguments = ["run", "small_talk", "--model", &model, "--input", "the sea", "--events", "events.ndjson"];
        let done = folder.run(&arguments).exits(0);
        let answer = std::fs::read_to_string(cases().join(format!("{protocol}.answer"))).unwrap();
        assert_eq!(done.stdout, answer, "{protocol}");
        assert!(done.stderr.contains("RECORDING"), "{}", done.stderr);

        let log = folder.read("events.ndjson");
        let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of_kind = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
        let taken: Vec<&str> = of_kind("action").map(|event| event["action"].as_str().unwrap()).collect();
        assert_eq!(taken, ["say", "say", "say", "goodbye"], "{protocol}");
        assert_eq!(of_kind("run_finished").next().unwrap()["reason"], "exit", "{protocol}");
        assert!(of_kind("delta").count() > 3, "the pieces are replayed as they came: {protocol}");
    }
}

#[test]
fn a_recording_answers_no_other_subject() {
    let folder = Folder::new(&[]);
    copy_into(&folder, &cases().join("workspace"), &cases().join("workspace"));
    folder.write("r.yaml", std::fs::read(cases().join("json.yaml")).unwrap());
    let done = folder.run(&["run", "small_talk", "--model", "main=replay:r.yaml", "--input", "the moon"]).exits(1);
    assert!(done.stderr.contains("mismatch") && done.stderr.contains("the sea"), "{}", done.stderr);
}
