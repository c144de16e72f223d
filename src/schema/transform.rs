//! What the derived schemas need before an author sees them.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

/// Keys of a schema whose values are data and hold no schemas.
const DATA: [&str; 5] = ["default", "examples", "enum", "const", "required"];

/// Takes out the `null` that an optional Rust field brings: in a document, an absent key is the only way to say nothing.
pub(super) fn without_null(schema: &mut Json) {
    each(schema, &mut |map| {
        if map.get("default").is_some_and(Json::is_null) {
            map.shift_remove("default");
        }
        if let Some(Json::Array(types)) = map.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                map.insert("type".to_owned(), only);
            }
        }
        if let Some(Json::Array(choices)) = map.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        let is_null = |choice: &Json| choice.get("type").is_some_and(|name| name == "null");
        let Some(Json::Array(choices)) = map.get_mut("anyOf") else { return };
        if !choices.iter().any(is_null) {
            return;
        }
        choices.retain(|choice| !is_null(choice));
        if let [Json::Object(only)] = choices.as_slice() {
            let only = only.clone();
            map.shift_remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    });
}

/// Gives integers the bounds of their Rust types, and takes out the names of those types.
pub(super) fn exact_integers(schema: &mut Json) {
    each(schema, &mut |map| {
        let Some(format) = map.get("format").and_then(Json::as_str).map(str::to_owned) else { return };
        let maximum = match format.as_str() {
            "uint32" => json!(u32::MAX),
            "uint64" | "uint" => json!(u64::MAX),
            "int32" => json!(i32::MAX),
            "int64" => json!(i64::MAX),
            "double" | "float" => Json::Null,
            _ => return,
        };
        map.shift_remove("format");
        if matches!(format.as_str(), "uint32" | "int32") {
            map.entry("maximum").or_insert(maximum);
        }
    });
}

/// Joins the lines of a description that only the width of the Rust source broke, and gives the one key of an enum's
/// variant the description that the variant has.
pub(super) fn readable(schema: &mut Json) {
    each(schema, &mut |map| {
        if let Some(Json::String(text)) = map.get_mut("description") {
            let paragraphs = text.split("\n\n").map(|part| part.replace('\n', " "));
            // Links of rustdoc lead nowhere in an editor.
            *text = paragraphs.collect::<Vec<_>>().join("\n\n").replace("[`", "`").replace("`]", "`");
        }
        let description = map.get("description").cloned();
        let Some(Json::Object(properties)) = map.get_mut("properties") else { return };
        if let (Some(description), 1) = (description, properties.len())
            && let Some(Json::Object(only)) = properties.values_mut().next()
            && !only.contains_key("$ref")
        {
            only.entry("description").or_insert(description);
        }
    });
}

/// Drops definitions that nothing refers to.
pub(super) fn keep_used_definitions(schema: &mut Json) {
    let Some(Json::Object(mut definitions)) = schema.as_object_mut().and_then(|map| map.remove("$defs")) else {
        return;
    };
    let mut used = BTreeSet::new();
    let mut open = references(schema);
    while let Some(name) = open.pop() {
        if used.insert(name.clone())
            && let Some(definition) = definitions.get(&name)
        {
            open.extend(references(definition));
        }
    }
    definitions.retain(|name, _| used.contains(name));
    if let Some(map) = schema.as_object_mut()
        && !definitions.is_empty()
    {
        map.insert("$defs".to_owned(), Json::Object(definitions));
    }
}

/// The names of the definitions that a schema refers to.
fn references(schema: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Json::Object(map) => {
                let name = map.get("$ref").and_then(Json::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
                found.extend(name.map(str::to_owned));
                open.extend(map.values());
            }
            Json::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// Runs `change` on every schema inside a schema, itself first.
fn each(schema: &mut Json, change: &mut impl FnMut(&mut Map<String, Json>)) {
    match schema {
        Json::Object(map) => {
            change(map);
            for (key, value) in map.iter_mut() {
                if key == "properties" || key == "$defs" {
                    // The keys are names here, so a property that is called `default` is a schema like any other.
                    for inner in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                        each(inner, change);
                    }
                } else if !DATA.contains(&key.as_str()) {
                    each(value, change);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        _ => {}
    }
}
