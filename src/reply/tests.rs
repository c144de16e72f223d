//! Every handed case, and tables of kinds, through the public functions.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::*;

/// A row of `tests/cases/reply/extract_cases.json`.
struct Row {
    id: String,
    raw: String,
    finish: Finish,
    grammar: Grammar,
    expected: Value,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/reply/extract_cases.json");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    rows.iter().map(row).collect()
}

fn row(row: &Value) -> Row {
    let tags: IndexMap<String, TagRule> = row["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag.as_str().unwrap().to_owned(), TagRule::default()))
        .collect();
    let actions = row["schema"].as_object().unwrap().iter().map(|(name, params)| {
        (name.clone(), Arc::new(ActionGrammar::new(params_schema(params.as_object().unwrap()), tags.clone())))
    });
    Row {
        id: row["id"].as_str().unwrap().to_owned(),
        raw: row["raw"].as_str().unwrap().to_owned(),
        finish: match row.get("finish").map(|finish| finish.as_str().unwrap_or_default()) {
            None | Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            Some("tool_calls") => Finish::ToolCalls,
            Some(_) => Finish::Unknown,
        },
        grammar: Grammar::new(row["nonce"].as_str().unwrap(), actions),
        expected: row["expected"].clone(),
    }
}

/// Rows say `required: true` inside a parameter's own schema.
fn params_schema(params: &Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in params {
        let mut schema = schema.as_object().unwrap().clone();
        if schema.get("required") == Some(&json!(true)) {
            schema.shift_remove("required");
            required.push(name.clone());
        }
        properties.insert(name.clone(), Value::Object(schema));
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// What a row expects, from what came out.
fn outcome(result: &Result<Extracted, Rejection>) -> Value {
    match result {
        Ok(extracted) => {
            json!({"action": extracted.action, "params": extracted.params, "tags": extracted.tags})
        }
        Err(rejection) => json!({"error": rejection.class.as_str()}),
    }
}

#[test]
fn every_row() {
    let mut wrong = Vec::new();
    for row in rows() {
        let result = extract(&row.raw, row.finish, &row.grammar);
        let got = outcome(&result);
        if got != row.expected {
            wrong.push(format!("{}\n  want {}\n  got  {got}\n  {result:?}", row.id, row.expected));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

mod cost;
mod kinds;
mod live;
mod random;
