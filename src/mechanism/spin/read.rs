//! Histories from text: a JSON list of histories, one history, or the event log of a run.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::events;
use super::record::{Class, History, Kind, Record};

/// Where a text is no history, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The place, such as `[3].steps[2].action`; empty for the whole text.
    pub path: String,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for ReadError {}

/// Reads a JSON list of `{steps, tool_classes}`, one such object, a plain list of steps, or a run's events, one a line.
///
/// # Errors
/// Names the place that is no history.
pub fn histories(text: &str) -> Result<Vec<History>, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => {
            // Two objects in a row are no JSON text, but lines of a log.
            return match events::from_log(text) {
                Some(read) => read.map(|history| vec![history]),
                None => Err(wrong("", format!("this is no JSON: {error}"))),
            };
        }
    };
    match &json {
        Value::Array(rows) if rows.iter().all(is_step) && !rows.is_empty() => {
            Ok(vec![History { records: steps(rows, "")?, classes: BTreeMap::new() }])
        }
        Value::Array(rows) => rows.iter().enumerate().map(|(at, row)| history(row, &format!("[{at}]"))).collect(),
        Value::Object(map) if map.contains_key("event") => events::from_log(text)
            .map_or_else(|| Err(wrong("", "this is no event of a run")), |read| read.map(|history| vec![history])),
        Value::Object(_) => history(&json, "").map(|history| vec![history]),
        other => Err(wrong("", format!("expected a list of histories, found {}", what(other)))),
    }
}

fn is_step(value: &Value) -> bool {
    value.get("action").is_some() && value.get("steps").is_none()
}

fn history(row: &Value, path: &str) -> Result<History, ReadError> {
    let Some(map) = row.as_object() else {
        return Err(wrong(path, format!("expected a history {{\"steps\": [...]}}, found {}", what(row))));
    };
    let records = match map.get("steps") {
        Some(Value::Array(list)) => steps(list, &below(path, "steps"))?,
        Some(other) => {
            return Err(wrong(&below(path, "steps"), format!("expected a list of steps, found {}", what(other))));
        }
        None => return Err(wrong(path, "a history needs `steps`, a list of {\"action\", \"args\", \"observation\"}")),
    };
    Ok(History { records, classes: classes(map.get("tool_classes"), &below(path, "tool_classes"))? })
}

fn classes(value: Option<&Value>, path: &str) -> Result<BTreeMap<String, Class>, ReadError> {
    let map = match value {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(map)) => map,
        Some(other) => {
            return Err(wrong(path, format!("expected the class of each tool by name, found {}", what(other))));
        }
    };
    let class = |(tool, value): (&String, &Value)| match value.as_str().and_then(Class::parse) {
        Some(class) => Ok((tool.clone(), class)),
        None => {
            let known: Vec<&str> = Class::NAMES.iter().map(|(name, _)| *name).collect();
            Err(wrong(&below(path, tool), format!("{value} is no class: write one of {}", known.join(", "))))
        }
    };
    map.iter().map(class).collect()
}

fn steps(list: &[Value], path: &str) -> Result<Vec<Record>, ReadError> {
    list.iter().enumerate().map(|(at, step)| record(step, &format!("{path}[{at}]"))).collect()
}

fn record(step: &Value, path: &str) -> Result<Record, ReadError> {
    let Some(map) = step.as_object() else {
        return Err(wrong(path, format!("expected a step {{\"action\": ...}}, found {}", what(step))));
    };
    let Some(action) = text(map, "action", path)? else {
        return Err(wrong(path, "a step needs `action`, the name of the tool, or say, think, user_message, condense"));
    };
    let kind = match action.as_str() {
        "say" => Kind::Say,
        "think" => Kind::Think,
        "user_message" => Kind::User,
        "condense" => Kind::Event,
        _ => Kind::Call,
    };
    let observation = match map.get("observation") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(json) => Some(json.to_string()),
    };
    Ok(Record {
        kind,
        action,
        arguments: map.get("args").or_else(|| map.get("arguments")).cloned().unwrap_or_default(),
        observation,
        error: flag(map, "error", path)?.unwrap_or(false),
        batch: whole(map, "batch", path)?,
        agent: text(map, "agent", path)?,
        time: number(map, "t", path)?,
        changes: flag(map, "changes", path)?,
        moved: flag(map, "moved", path)?.unwrap_or(false),
        finish: flag(map, "finish", path)?.unwrap_or(false),
    })
}

fn text(map: &Map<String, Value>, key: &str, path: &str) -> Result<Option<String>, ReadError> {
    field(map, key, path, "a text", |value| value.as_str().map(str::to_owned))
}

fn flag(map: &Map<String, Value>, key: &str, path: &str) -> Result<Option<bool>, ReadError> {
    field(map, key, path, "true or false", Value::as_bool)
}

fn number(map: &Map<String, Value>, key: &str, path: &str) -> Result<Option<f64>, ReadError> {
    field(map, key, path, "a number of seconds", Value::as_f64)
}

fn whole(map: &Map<String, Value>, key: &str, path: &str) -> Result<Option<u64>, ReadError> {
    field(map, key, path, "a number that the calls of one reply share", Value::as_u64)
}

fn field<T>(
    map: &Map<String, Value>,
    key: &str,
    path: &str,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, ReadError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(wrong(&below(path, key), format!("expected {expected}, found {}", what(value)))),
        },
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn wrong(path: &str, message: impl Into<String>) -> ReadError {
    ReadError { path: path.to_owned(), message: message.into() }
}

fn what(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(_) => "a text".to_owned(),
        scalar => scalar.to_string(),
    }
}
