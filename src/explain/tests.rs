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
