//! Shapes of arguments that several verbs share, and plain copies of values.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::Value;
use minijinja::value::{Serde, ValueKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::{StepContext, StepFailure};
use crate::policy::AccessError;
use crate::syntax::{Raw, Value as Node, decode_within};

impl From<AccessError> for StepFailure {
    fn from(error: AccessError) -> Self {
        Self::new(error.to_string())
    }
}

/// A list of strings, each a template; or one string, which may be a template that gives the whole list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Strings {
    One(String),
    Many(Vec<String>),
}

impl Strings {
    /// The strings, rendered. A template that gives a list stands for its items.
    pub(super) fn render(&self, cx: &StepContext<'_>) -> Result<Vec<String>, StepFailure> {
        match self {
            Self::Many(sources) => sources.iter().map(|source| cx.text(source)).collect(),
            Self::One(source) => {
                let value = cx.value(source)?;
                if is_list(&value) { Ok(items(&value)?.iter().map(text).collect()) } else { Ok(vec![text(&value)]) }
            }
        }
    }

    /// The strings that are written out.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many.as_slice(),
        };
        all.iter().map(String::as_str).filter(|text| !crate::document::is_template(text))
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Seq(_) => decode_within::<Vec<String>, D::Error>(raw.node()).map(Self::Many),
            _ => decode_within::<String, D::Error>(raw.node()).map(Self::One),
        }
    }
}

impl JsonSchema for Strings {
    fn schema_name() -> Cow<'static, str> {
        "Strings".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A list of strings, or one string; a template may give the whole list.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        })
    }
}

/// The schema of arguments that are either one string or a map.
pub(super) fn string_or<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    description: &str,
    examples: serde_json::Value,
) -> Schema {
    let map = generator.subschema_for::<T>();
    json_schema!({ "description": description, "anyOf": [{ "type": "string" }, map], "examples": examples })
}

/// Decodes arguments that are either one string, from which `short` makes them, or a map.
pub(super) fn decode_string_or<'de, T, D>(deserializer: D, short: impl FnOnce(String) -> T) -> Result<T, D::Error>
where
    T: for<'a> Deserialize<'a>,
    D: Deserializer<'de>,
{
    let raw = Raw::deserialize(deserializer)?;
    match &raw.node().value {
        Node::Map(_) => decode_within::<T, D::Error>(raw.node()),
        _ => decode_within::<String, D::Error>(raw.node()).map(short),
    }
}

/// Whether a value is a list.
pub(super) fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

/// The items of a list.
pub(super) fn items(value: &Value) -> Result<Vec<Value>, StepFailure> {
    value.try_iter().map(Iterator::collect).map_err(|e| StepFailure::new(e.to_string()))
}

/// A value as text: a string as it is, anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
    }
}

/// A copy that holds no live view of the run, as JSON. What goes into the state must be one: a view of the state
/// inside the state would lock it twice.
pub(super) fn json(value: &Value) -> Result<serde_json::Value, StepFailure> {
    serde_json::to_value(value).map_err(|e| StepFailure::new(format!("the value is no JSON: {e}")))
}

/// See [`json`]; back as a value.
pub(super) fn plain(json: &serde_json::Value) -> Value {
    Value::from(Serde(json))
}

/// Tells work on another thread that nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Works with files on a thread where it may block. The work watches the flag, which is set when the step is dropped.
pub(super) async fn blocking<F>(work: F) -> Result<Value, StepFailure>
where
    F: FnOnce(&AtomicBool) -> Result<serde_json::Value, StepFailure> + Send + 'static,
{
    let guard = StopOnDrop(Arc::default());
    let stop = Arc::clone(&guard.0);
    let result = tokio::task::spawn_blocking(move || work(&stop)).await;
    drop(guard);
    match result {
        Ok(found) => Ok(plain(&found?)),
        Err(error) => Err(StepFailure::new(format!("the work broke off: {error}"))),
    }
}
