//! What a server says of its tools, made fit for a model: it is text that strangers wrote.

use serde_json::{Map, Value, json};

use super::name::{fits, tool_names};
use crate::document::{Effect, McpServerDoc};

/// Tools of one server that are taken: a model can choose among some dozens, and a list without an end must end.
pub(super) const MOST_TOOLS: usize = 512;
/// Bytes of a description that are kept.
const LONGEST_DESCRIPTION: usize = 4096;
/// Bytes of a schema that a model gets as it is.
const LARGEST_SCHEMA: usize = 64 << 10;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    /// The name that models and loops use.
    pub name: String,
    /// The name that the server uses.
    pub remote: String,
    /// What it does, as the server says.
    pub description: String,
    /// JSON Schema of its parameters: an object.
    pub params: Value,
    /// What a call does to the world.
    pub effect: Effect,
}

/// The tools of a `tools/list`, and what was wrong with it, in words.
pub(super) fn read(server: &str, doc: &McpServerDoc, listed: &[Value]) -> (Vec<RemoteTool>, Vec<String>) {
    let mut problems = Vec::new();
    let mut taken: Vec<(&str, &Value)> = Vec::new();
    for tool in listed {
        let Some(name) = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
            problems.push("it lists a tool without a name, which is left out".to_owned());
            continue;
        };
        let wanted = doc.tools.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| fits(pattern, name)));
        if !wanted || doc.exclude.iter().any(|pattern| fits(pattern, name)) {
            continue;
        }
        if taken.iter().any(|(known, _)| *known == name) {
            problems.push(format!("it lists `{}` twice; the first counts", shown(name)));
        } else if taken.len() == MOST_TOOLS {
            problems.push(format!("it lists more than {MOST_TOOLS} tools; the rest is left out"));
            break;
        } else {
            taken.push((name, tool));
        }
    }
    let names = tool_names(server, &taken.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    let tools = taken
        .into_iter()
        .zip(names)
        .map(|((remote, tool), name)| RemoteTool {
            name,
            remote: remote.to_owned(),
            description: description(tool),
            params: schema(tool.get("inputSchema"), remote, &mut problems),
            effect: if doc.trust_hints { hinted(tool) } else { Effect::AtMostOnce },
        })
        .collect();
    (tools, problems)
}

/// The description without what a person who reads it would not see, and not longer than a model needs.
fn description(tool: &Value) -> String {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let title = tool.get("annotations").and_then(|hints| hints.get("title")).and_then(Value::as_str);
    let text = text("description").or_else(|| text("title")).or(title).unwrap_or_default();
    let visible: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    let visible = visible.trim();
    if visible.len() <= LONGEST_DESCRIPTION {
        return visible.to_owned();
    }
    let end = visible.floor_char_boundary(LONGEST_DESCRIPTION);
    format!("{} […]", visible[..end].trim_end())
}

/// Characters that text hides instructions with: controls, zero-width ones, those that turn the direction of writing,
/// and the tag characters, which spell invisible ASCII.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
        || matches!(u32::from(c), 0xe0000..=0xe0fff)
}

/// The schema as an object with `type` and `properties`, which several providers insist on; otherwise as it came.
fn schema(given: Option<&Value>, tool: &str, problems: &mut Vec<String>) -> Value {
    let mut schema = match given {
        Some(Value::Object(map)) => map.clone(),
        None | Some(Value::Null | Value::Bool(true)) => Map::new(),
        Some(_) => {
            problems.push(format!("the schema of `{}` is no object; any parameters are taken", shown(tool)));
            Map::new()
        }
    };
    // Where a schema came from is nothing to a model, and some providers refuse requests that say it.
    schema.shift_remove("$schema");
    schema.shift_remove("$id");
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        schema.insert("type".to_owned(), json!("object"));
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
    let schema = Value::Object(schema);
    let bytes = schema.to_string().len();
    if bytes <= LARGEST_SCHEMA {
        return schema;
    }
    problems.push(format!("the schema of `{}` has {bytes} bytes; its upper level is kept", shown(tool)));
    upper_level(&schema)
}

/// The names, types and descriptions of the properties, nothing inside them.
fn upper_level(schema: &Value) -> Value {
    let plain = |property: &Value| {
        let mut kept = Map::new();
        for key in ["type", "description"] {
            if let Some(value) = property.get(key).filter(|value| value.to_string().len() <= 512) {
                kept.insert(key.to_owned(), value.clone());
            }
        }
        Value::Object(kept)
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties: Map<_, _> = properties.map(|(name, property)| (name.clone(), plain(property))).collect();
    let mut small = json!({ "type": "object", "properties": properties });
    if let Some(required) = schema.get("required") {
        small["required"] = required.clone();
    }
    if small.to_string().len() <= LARGEST_SCHEMA { small } else { json!({ "type": "object", "properties": {} }) }
}

fn hinted(tool: &Value) -> Effect {
    let hint = |key: &str| tool.get("annotations").and_then(|hints| hints.get(key)).and_then(Value::as_bool);
    if hint("readOnlyHint") == Some(true) {
        Effect::Pure
    } else if hint("idempotentHint") == Some(true) {
        Effect::Idempotent
    } else {
        Effect::AtMostOnce
    }
}

/// A name of a server's in a message.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !is_hidden(*c)).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(tool: Value) -> (RemoteTool, Vec<String>) {
        let (mut tools, problems) = read("s", &McpServerDoc::default(), &[tool]);
        (tools.remove(0), problems)
    }

    #[test]
    fn a_schema_is_kept_and_made_an_object() {
        let kept = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "integer" } }, "required": ["a"] });
        assert_eq!(one(json!({ "name": "t", "inputSchema": kept.clone() })).0.params, kept);
        let empty = json!({ "type": "object", "properties": {} });
        for odd in [
            json!({}),
            json!(null),
            json!(true),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }),
            json!({ "type": ["object", "null"], "properties": {} }),
        ] {
            assert_eq!(
                one(json!({ "name": "t", "inputSchema": odd })),
                (
                    RemoteTool {
                        name: "mcp_s_t".into(),
                        remote: "t".into(),
                        description: String::new(),
                        params: empty.clone(),
                        effect: Effect::AtMostOnce
                    },
                    vec![]
                )
            );
        }
        assert_eq!(one(json!({ "name": "t" })).0.params, empty);
        let (tool, problems) = one(json!({ "name": "t", "inputSchema": ["a"] }));
        assert_eq!((tool.params, problems.len()), (empty, 1));
    }

    #[test]
    fn a_huge_schema_keeps_its_upper_level() {
        let values: Vec<String> = (0..9000).map(|n| format!("value {n}")).collect();
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "enum": values, "description": "One." } }, "required": ["a"] });
        let (tool, problems) = one(json!({ "name": "t", "inputSchema": schema }));
        assert_eq!(
            tool.params,
            json!({ "type": "object", "properties": { "a": { "type": "string", "description": "One." } }, "required": ["a"] })
        );
        assert!(problems[0].contains("`t`"), "{problems:?}");
    }

    #[test]
    fn descriptions_hide_nothing_and_end() {
        let hidden = "Adds.\u{200b}\u{202e}\u{e0049}\u{1b}[2J\nTwo\tlines";
        assert_eq!(one(json!({ "name": "t", "description": hidden })).0.description, "Adds.[2J\nTwo\tlines");
        let long = one(json!({ "name": "t", "description": "ä".repeat(9000) })).0.description;
        assert!(long.ends_with("ä […]") && long.len() < LONGEST_DESCRIPTION + 10);
        assert_eq!(one(json!({ "name": "t", "title": "Title" })).0.description, "Title");
    }

    #[test]
    fn what_is_taken_and_what_is_not() {
        let doc = McpServerDoc {
            tools: Some(vec!["read_*".to_owned().into(), "list".to_owned().into()]),
            exclude: vec!["*_secret".to_owned().into()],
            ..McpServerDoc::default()
        };
        let listed: Vec<Value> = ["read_a", "read_secret", "write", "list", "read_a", ""]
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
        let (tools, problems) = read("s", &doc, &listed);
        assert_eq!(tools.iter().map(|tool| tool.remote.as_str()).collect::<Vec<_>>(), ["read_a", "list"]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        let many: Vec<Value> = (0..600).map(|n| json!({ "name": format!("t{n}") })).collect();
        let (tools, problems) = read("s", &McpServerDoc::default(), &many);
        assert_eq!((tools.len(), problems.len()), (MOST_TOOLS, 1));
    }

    #[test]
    fn hints_count_only_when_they_are_trusted() {
        let tool = json!({ "name": "t", "annotations": { "readOnlyHint": true } });
        assert_eq!(one(tool.clone()).0.effect, Effect::AtMostOnce);
        let doc = McpServerDoc { trust_hints: true, ..McpServerDoc::default() };
        assert_eq!(read("s", &doc, &[tool]).0[0].effect, Effect::Pure);
    }
}
