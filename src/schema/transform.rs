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

/// Makes a choice of words that each have a description one list: editors offer its words with their meanings.
pub(super) fn enumerated(schema: &mut Json) {
    each(schema, &mut |map| {
        let Some(Json::Array(choices)) = map.get("oneOf") else { return };
        if choices.is_empty() || !choices.iter().all(|choice| choice["const"].is_string()) {
            return;
        }
        let words: Vec<Json> = choices.iter().map(|choice| choice["const"].clone()).collect();
        let meanings: Vec<Json> =
            choices.iter().map(|choice| choice.get("description").cloned().unwrap_or_else(|| json!(""))).collect();
        map.shift_remove("oneOf");
        map.insert("type".to_owned(), json!("string"));
        map.insert("enum".to_owned(), Json::Array(words));
        // Not words of JSON Schema: the language servers for JSON, YAML and TOML know them.
        map.insert("enumDescriptions".to_owned(), Json::Array(meanings.clone()));
        map.insert("markdownEnumDescriptions".to_owned(), Json::Array(meanings));
    });
}

/// Gives a key the default that its description states, so that an editor can offer it.
pub(super) fn stated_defaults(schema: &mut Json) {
    each(schema, &mut |map| {
        if map.contains_key("default") {
            return;
        }
        let stated = map.get("description").and_then(Json::as_str).and_then(stated_default);
        if let Some(value) = stated.filter(|value| may_be(map, value)) {
            map.insert("default".to_owned(), value);
        }
    });
}

/// Whether a schema's own words let a value pass. Of a definition elsewhere only texts are believed: words and spans of time.
fn may_be(schema: &Map<String, Json>, value: &Json) -> bool {
    let alternatives = schema.get("anyOf").and_then(Json::as_array).into_iter().flatten();
    let by_type = match schema.get("type").and_then(Json::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some(_) => false,
        None => schema.contains_key("$ref") && value.is_string(),
    };
    by_type || alternatives.filter_map(Json::as_object).any(|inner| may_be(inner, value))
}

/// The value that a description states after `Default:`, when that is all that it says there; none for a rule in words.
pub(super) fn stated_default(description: &str) -> Option<Json> {
    let (_, stated) = description.split_once("Default: ")?;
    let word = stated.split([' ', '\n']).next()?;
    // `1, one after the other` and `finish, submit and others` say more than one value.
    let word = word.strip_suffix('.').or((word.len() == stated.len()).then_some(word))?;
    if let Some(quoted) = word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
        return (!quoted.contains(['[', '{'])).then(|| json!(quoted));
    }
    if matches!(word, "true" | "false") {
        return Some(json!(word == "true"));
    }
    if let Ok(whole) = word.parse::<u64>() {
        return Some(json!(whole));
    }
    match word.parse::<f64>() {
        Ok(number) if word.starts_with(|c: char| c.is_ascii_digit()) => Some(json!(number)),
        // A span of time.
        _ => crate::document::Duration::parse(word).is_ok().then(|| json!(word)),
    }
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
