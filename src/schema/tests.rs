//! Schemas are complete, committed, and agree with decoding.

use std::path::Path;

use super::*;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    let drift = check_drift(&repository().join("schemas"));
    assert!(drift.is_empty(), "{}\nrun `cargo run -- schema --write schemas`", drift.join("\n"));
}

#[test]
fn the_committed_reference_is_the_generated_one() {
    let drift = check_reference_drift(&repository().join("docs/reference"));
    assert!(drift.is_empty(), "{}\nrun `cargo run -- schema --write-reference docs/reference`", drift.join("\n"));
}

#[test]
fn every_schema_is_a_valid_one_of_its_draft() {
    for kind in SchemaKind::ALL {
        let schema = generate(kind);
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", kind.name()));
        jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{}: {error}", kind.name()));
    }
}

#[test]
fn no_document_key_may_be_null() {
    for kind in SchemaKind::ALL {
        if kind != SchemaKind::Event {
            assert!(!generate(kind).to_string().contains("\"null\""), "{}", kind.name());
        }
    }
}

/// Every key of every document has words for the editor's hover and the reference.
#[test]
fn every_key_has_a_description() {
    for kind in SchemaKind::ALL {
        let schema = generate(kind);
        let mut missing = Vec::new();
        undescribed(&schema, &schema, "", &mut missing);
        assert!(missing.is_empty(), "{}: no description at {missing:#?}", kind.name());
    }
}

fn undescribed(root: &Json, value: &Json, path: &str, missing: &mut Vec<String>) {
    match value {
        Json::Object(map) => {
            for (key, inner) in map {
                let path = format!("{path}/{key}");
                if key == "properties" {
                    for (name, property) in inner.as_object().unwrap() {
                        let target = property.get("$ref").and_then(Json::as_str).map(|target| &target[1..]);
                        let target = target.and_then(|pointer| root.pointer(pointer));
                        let has = |schema: &Json| schema.get("description").is_some_and(|text| text != "");
                        if !has(property) && !target.is_some_and(has) && property.get("const").is_none() {
                            missing.push(format!("{path}/{name}"));
                        }
                    }
                }
                if !matches!(key.as_str(), "examples" | "default") {
                    undescribed(root, inner, &path, missing);
                }
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                undescribed(root, item, &format!("{path}/{index}"), missing);
            }
        }
        _ => {}
    }
}

#[test]
fn every_link_of_the_reference_leads_somewhere() {
    let pages = super::reference::pages();
    for (name, text) in &pages {
        for (at, _) in text.match_indices("](") {
            let target: String = text[at + 2..].chars().take_while(|c| *c != ')').collect();
            if target.starts_with("http") {
                continue;
            }
            let heading = |text: &str, anchor: &str| {
                text.lines().any(|line| line.strip_prefix("## ").is_some_and(|title| title.to_lowercase() == anchor))
            };
            let there = match target.strip_prefix('#') {
                Some(anchor) => heading(text, anchor),
                None => pages.iter().any(|(page, _)| *page == target),
            };
            assert!(there, "{name}: {target}");
        }
    }
}
