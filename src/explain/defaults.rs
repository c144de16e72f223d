//! What holds where a document says nothing: read from the schema, which the document types make.

use serde_json::{Map, Value as Json};

use crate::syntax::{Node, Value};

/// A schema with its definitions.
#[derive(Clone, Copy)]
pub(super) struct Schemas<'s> {
    root: &'s Json,
}

/// What holds for a key that is absent.
#[derive(Debug, PartialEq)]
pub(super) enum Absent {
    /// This value.
    Value(Json),
    /// A rule.
    Words(String),
}

impl<'s> Schemas<'s> {
    pub(super) fn of(root: &'s Json) -> Self {
        Self { root }
    }

    pub(super) fn root(self) -> &'s Json {
        self.root
    }

    /// The schema that says which keys a value has: references followed, and of alternatives the one that fits it.
    pub(super) fn resolved(self, schema: &'s Json, node: Option<&Node>) -> &'s Json {
        let schema = self.followed(schema);
        let Some(node) = node.filter(|node| matches!(node.value, Value::Map(_))) else { return schema };
        let branches = ["anyOf", "oneOf"].iter().flat_map(|key| schema[*key].as_array().into_iter().flatten());
        let candidates = std::iter::once(schema).chain(branches.map(|branch| self.followed(branch)));
        let best = candidates
            .filter_map(|one| Some((fit(one, node)?, one)))
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(schema, |(_, schema)| schema)
    }

    fn followed(self, mut schema: &'s Json) -> &'s Json {
        // Definitions that only refer to each other would go round for ever.
        for _ in 0..8 {
            let Some(name) = schema["$ref"].as_str().and_then(|target| target.strip_prefix("#/$defs/")) else { break };
            schema = &self.root["$defs"][name];
        }
        schema
    }

    /// The schema of a key's value.
    pub(super) fn property(schema: &'s Json, key: &str) -> &'s Json {
        match schema["properties"].get(key) {
            Some(property) => property,
            None => &schema["additionalProperties"],
        }
    }

    /// The keys that are fixed by a schema.
    pub(super) fn properties(schema: &'s Json) -> impl Iterator<Item = (&'s str, &'s Json)> {
        schema["properties"].as_object().into_iter().flatten().map(|(key, schema)| (key.as_str(), schema))
    }

    /// What holds while a key is absent; none when that is nothing.
    pub(super) fn absent(self, schema: &'s Json) -> Option<Absent> {
        if let Some(value) = schema.get("default") {
            return Some(Absent::Value(value.clone())).filter(|_| !is_empty(value));
        }
        let target = self.followed(schema);
        if let Some(value) = target.get("default").filter(|_| !std::ptr::eq(target, schema)) {
            return Some(Absent::Value(value.clone())).filter(|_| !is_empty(value));
        }
        let words = stated(schema["description"].as_str()?)?;
        Some(value_of(words).map_or_else(|| Absent::Words(words.replace('`', "")), Absent::Value))
    }

    /// The number that a stated default begins with, such as `5 times`.
    pub(super) fn number(schema: &Json) -> Option<u64> {
        stated(schema["description"].as_str()?)?.split_whitespace().next()?.parse().ok()
    }

    /// Whether a key that is absent has keys below it that hold all the same.
    pub(super) fn has_inner(self, schema: &'s Json) -> bool {
        let target = self.followed(schema);
        target["properties"].is_object() && target["required"].as_array().is_none_or(Vec::is_empty)
    }
}

/// How many keys of a map a schema knows; none when it cannot be the map's.
fn fit(schema: &Json, node: &Node) -> Option<usize> {
    let properties: &Map<String, Json> = schema["properties"].as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    if required.into_iter().any(|key| node.get(key).is_none()) {
        return None;
    }
    let agrees = |key: &str, value: &Node| match (&properties[key]["const"], value.as_str()) {
        (Json::String(only), Some(word)) => only == word,
        _ => match (properties[key]["enum"].as_array(), value.as_str()) {
            (Some(words), Some(word)) => words.iter().any(|known| known == word),
            _ => true,
        },
    };
    let mut known = 0;
    for entry in node.entries().iter().filter(|entry| properties.contains_key(&*entry.key)) {
        if !agrees(&entry.key, &entry.value) {
            return None;
        }
        known += 1;
    }
    Some(known)
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        Json::String(text) => text.is_empty(),
        _ => false,
    }
}

/// What a description says after `Default:`, up to the end of the sentence.
pub(super) fn stated(description: &str) -> Option<&str> {
    let (_, rest) = description.split_once("Default: ")?;
    let end = rest.find(". ").or_else(|| rest.find(".\n")).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').trim()).filter(|words| !words.is_empty())
}

/// The value that a stated default writes; none for a rule.
fn value_of(words: &str) -> Option<Json> {
    let inner = words.trim_matches('`');
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    if let Ok(value) = serde_json::from_str::<Json>(inner) {
        return Some(value);
    }
    if let Some(items) = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items: Vec<&str> = items.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
        return items.iter().all(|item| is_word(item)).then(|| items.into_iter().map(Json::from).collect());
    }
    // In backticks a word is what one writes; without them it is one only when it looks like no English.
    let quoted = words.starts_with('`') && words.ends_with('`') && words.len() > 2;
    let duration = crate::document::Duration::parse(inner).is_ok();
    ((quoted && is_word(inner)) || duration).then(|| Json::from(inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::schema::{SchemaKind, generate};
    use serde_json::json;

    #[test]
    fn a_stated_default_is_read_as_a_value_where_it_is_one() {
        for (description, expected) in [
            ("Iterations. Default: 100. Ends with `max_iterations`.", Some(json!(100))),
            ("The shortest time. Default: 30s.", Some(json!("30s"))),
            ("The model tier. Default: `helper`.", Some(json!("helper"))),
            ("Off switch. Default: true.", Some(json!(true))),
            ("Tried in turn. Default: `[summarise, drop]`.", Some(json!(["summarise", "drop"]))),
            ("Folders. Default: `[.]`.", Some(json!(["."]))),
            ("Confidence. Default: 0.75. More.", Some(json!(0.75))),
            ("Built-ins. Default: all that `allow` permits.", None),
            ("Its input. Default: none.", None),
        ] {
            assert_eq!(value_of(stated(description).unwrap()), expected, "{description}");
        }
        assert_eq!(stated("No word of it."), None);
    }

    /// Every `default` of a schema and the sentence beside it say the same, so neither can go stale alone.
    #[test]
    fn descriptions_and_default_values_agree() {
        fn each(schema: &Json, path: &str, seen: &mut usize) {
            if let (Some(value), Some(words)) = (schema.get("default"), schema["description"].as_str().and_then(stated))
                && let Some(said) = value_of(words)
            {
                let time = |value: &Json| value.as_str().and_then(|text| crate::document::Duration::parse(text).ok());
                assert!(
                    &said == value || time(&said).is_some_and(|t| Some(t) == time(value)),
                    "{path}: {said} {value}"
                );
                *seen += 1;
            }
            match schema {
                Json::Object(map) => map.iter().for_each(|(key, inner)| each(inner, &format!("{path}/{key}"), seen)),
                Json::Array(items) => items.iter().for_each(|inner| each(inner, path, seen)),
                _ => {}
            }
        }
        let mut seen = 0;
        for kind in Kind::ALL {
            each(&generate(SchemaKind::Document(kind)), kind.name(), &mut seen);
        }
        assert!(seen > 10, "only {seen} were compared");
    }
}
