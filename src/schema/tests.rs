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

/// Runs `visit` on every key of every map in a schema, with the path to it.
fn each_key<'s>(value: &'s Json, path: &str, visit: &mut impl FnMut(&str, &'s Json)) {
    match value {
        Json::Object(map) => {
            for (key, inner) in map {
                if matches!(key.as_str(), "examples" | "default" | "enum") {
                    continue;
                }
                if let ("properties", Json::Object(properties)) = (key.as_str(), inner) {
                    properties.iter().for_each(|(name, property)| visit(&format!("{path}/{name}"), property));
                }
                each_key(inner, &format!("{path}/{key}"), visit);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| each_key(item, path, visit)),
        _ => {}
    }
}

/// Whether both are spans of time, and the same one: `5m` and `300s`.
fn same_time(a: &Json, b: &Json) -> bool {
    let time = |value: &Json| crate::document::Duration::parse(value.as_str()?).ok();
    time(a).is_some_and(|a| time(b) == Some(a))
}

/// A default that is written in words is the one that decoding fills in, and both are values that the key takes.
#[test]
fn defaults_and_examples_are_what_they_say() {
    for kind in SchemaKind::ALL {
        let schema = generate(kind);
        let mut wrong = Vec::new();
        each_key(&schema, "", &mut |path, property| {
            let stated = property["description"].as_str().and_then(transform::stated_default);
            if let (Some(stated), Some(default)) = (stated, property.get("default"))
                && stated != *default
                && !same_time(&stated, default)
            {
                wrong.push(format!("{path}: the words say {stated}, decoding says {default}"));
            }
            let mut alone = property.clone();
            alone["$defs"] = schema["$defs"].clone();
            let Ok(validator) = jsonschema::draft202012::new(&alone) else { return wrong.push(path.to_owned()) };
            let examples = property["examples"].as_array().into_iter().flatten();
            for value in examples.chain(property.get("default")) {
                // A map that is a default is only filled in: it need not have what an author must write.
                if !value.is_object() && !validator.is_valid(value) {
                    wrong.push(format!("{path}: {value} is no value of it"));
                }
            }
        });
        assert!(wrong.is_empty(), "{}: {wrong:#?}", kind.name());
    }
}

#[test]
fn a_default_in_words_is_a_value_only_when_it_says_one() {
    for (text, expected) in [
        ("Default: 3.", json!(3)),
        ("Retries. Default: 0.85. More.", json!(0.85)),
        ("Default: 30s.", json!("30s")),
        ("Default: true", json!(true)),
        ("Default: `text/markdown`.", json!("text/markdown")),
    ] {
        assert_eq!(transform::stated_default(text), Some(expected), "{text}");
    }
    for text in [
        "Default: 1, one after the other.",
        "Default: `finish`, `submit` and others.",
        "Default: all.",
        "Default: `[a, b]`.",
        "Default: `GET`, or `POST`.",
        "None.",
    ] {
        assert_eq!(transform::stated_default(text), None, "{text}");
    }
}

/// Every word of a list of words has a meaning for the editor's list of completions.
#[test]
fn every_word_has_a_meaning() {
    let schema = generate(SchemaKind::Document(Kind::Loop));
    let tier = &schema["$defs"]["Tier"];
    let (words, meanings) = (tier["enum"].as_array().unwrap(), tier["enumDescriptions"].as_array().unwrap());
    assert!(words.len() == meanings.len() && meanings.iter().all(|text| text.as_str().is_some_and(|t| t.len() > 5)));
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
