//! The effective document as an author meets it.

use std::path::Path;

use super::*;
use crate::diag::render::Color;
use crate::load::Library;

/// The values of a document, defaults left out, as the loader decoded them.
fn merged(library: &Library, name: &str) -> Json {
    crate::load::with_model_map(&library.loops[name].node).to_json()
}

fn object(items: &[Item]) -> Json {
    Json::Object(items.iter().filter_map(|item| Some((item.key.clone()?, item.to_json()?))).collect())
}

#[test]
fn the_text_is_yaml_with_the_same_values() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR"))).0;
    let mut seen = 0;
    for name in library.loops.keys() {
        let explained = explain(&library, Kind::Loop, name, Defaults::None).unwrap();
        let read: Json = serde_yaml::from_str(&text(&explained, Color::Plain)).unwrap();
        let mut expected = merged(&library, name);
        expected.as_object_mut().unwrap().remove("$schema");
        assert_eq!(read, expected, "{name}");
        for defaults in [Defaults::Settings, Defaults::All] {
            let explained = explain(&library, Kind::Loop, name, defaults).unwrap();
            let read: Json = serde_yaml::from_str(&text(&explained, Color::Plain)).unwrap();
            assert_eq!(read, object(&explained.items), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn what_holds_is_what_the_engine_reads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("loops")).unwrap();
    std::fs::write(folder.path().join("loops/a.yaml"), "name: a\nextends: preset/cost\nprompt: { instruction: x }\n")
        .unwrap();
    let library = Library::open(folder.path()).0;
    let rows = explain(&library, Kind::Loop, "a", Defaults::Settings).unwrap().rows();
    let value = |pointer: &str| &rows.iter().find(|row| row.pointer == pointer).unwrap().value;
    let limits = &library.loops["a"].doc.limits;
    assert_eq!(value("/limits/max_iterations"), limits.max_iterations);
    assert_eq!(value("/limits/max_depth"), limits.max_depth);
    assert_eq!(value("/limits/action_retries"), limits.action_retries);
    assert_eq!(value("/allow/tool"), library.loops["a"].doc.allow.tool);
}

/// What is shown of a loop in a workspace, with its mechanisms.
fn mechanisms_of(loop_text: &str, workspace: &str) -> (Json, String, crate::diag::Diagnostics) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("loops")).unwrap();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    write("loopwright.yaml", workspace);
    write("loops/a.yaml", loop_text);
    let library = Library::open(folder.path()).0;
    let explained = explain(&library, Kind::Loop, "a", Defaults::Settings).unwrap();
    let shown = text(&explained, Color::Plain);
    write("loops/a.yaml", &shown);
    let found = Library::open(folder.path()).1;
    (object(&explained.items)["mechanisms"].clone(), shown, found)
}

#[test]
fn mechanisms_are_shown_as_they_hold_and_what_is_shown_can_be_saved() {
    let off = "kind: workspace\nmechanisms: { reflection: false, progress: false, todo: false }\n";
    let body = "kind: loop\nname: a\ndescription: A.\nprompt: { instruction: x }\n";
    let (all, shown, found) = mechanisms_of(&format!("{body}extends: preset/fast\n"), off);
    assert_eq!(all["reflection"]["enabled"], false, "{shown}");
    assert_eq!(all["spin"]["enabled"], true);
    assert_eq!(all["spin"]["families"]["event_storm"], serde_json::json!({ "enabled": true, "n": 8 }));
    assert!(!found.has_errors(), "{found:?}\n{shown}");
    let figure = "mechanisms: { progress: { metric: run.iteration, direction: up, patience: 3 } }\n";
    let (all, shown, found) = mechanisms_of(&format!("{body}{figure}"), off);
    assert!(all.get("progress").is_none() && all["spin"].get("enabled").is_none(), "{shown}");
    assert!(shown.contains("only what costs no model call"), "{shown}");
    assert!(!found.has_errors(), "{found:?}\n{shown}");
    let (all, ..) = mechanisms_of(&format!("{body}mechanisms: {{ spin: {{}} }}\n"), "kind: workspace\n");
    assert_eq!(all["spin"]["enabled"], true, "it is named");
}
