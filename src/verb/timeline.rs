//! `timeline`: what happened, for this and later prompts.

use std::borrow::Cow;

use minijinja::{Value, context};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::shape::{json, plain};
use super::{Group, StepContext, StepFailure, Verb};
use crate::event::Event;
use crate::state::TimelineEntry;
use crate::syntax::{Raw, Value as Node, decode_within};

/// The kind of an entry that names none.
const NOTE: &str = "note";

/// Entries for the timeline, by kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Timeline(serde_json::Map<String, serde_json::Value>);

impl<'de> Deserialize<'de> for Timeline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Map(_) => decode_within::<_, D::Error>(raw.node()).map(Self),
            _ => {
                let text = decode_within::<String, D::Error>(raw.node())?;
                Ok(Self(std::iter::once((NOTE.to_owned(), text.into())).collect()))
            }
        }
    }
}

impl JsonSchema for Timeline {
    fn schema_name() -> Cow<'static, str> {
        "Timeline".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Adds entries to the timeline, which later prompts hold: kind → content, or a text (kind `note`).",
            "anyOf": [{ "type": "string" }, { "type": "object" }],
            "examples": [{ "anomaly_found": "{{ params }}" }, "Read the whole log once."]
        })
    }
}

impl Verb for Timeline {
    const NAME: &'static str = "timeline";
    const GROUP: Group = Group::State;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let mut added = Vec::new();
        for (kind, source) in &self.0 {
            added.push((kind, json(&cx.json(source)?)?));
        }
        let mut entries = Vec::new();
        for (kind, content) in added {
            let entry = TimelineEntry { kind: kind.clone(), content: plain(&content) };
            let value = context! { kind => entry.kind.clone(), content => entry.content.clone() };
            entries.push(value.clone());
            {
                let mut state = cx.state();
                state.timeline.push(entry);
                state.timeline_all.push(value);
            }
            cx.emit(Event::Timeline { entry: serde_json::json!({ "kind": kind, "content": content }) });
        }
        Ok(Value::from(entries))
    }
}
