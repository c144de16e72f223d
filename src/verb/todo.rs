//! `todo`: the list of what is to be done.

use std::borrow::Cow;

use minijinja::Value;
use minijinja::value::Serde;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::shape::{Strings, is_list, items, json};
use super::{Group, StepContext, StepFailure, Verb};
use crate::event::Event;
use crate::syntax::{Raw, Value as Node, decode_within};

/// What is done to the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Todo(Changes);

/// Changes to the list of todos, in the order of these keys.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TodoChanges")]
struct Changes {
    /// A new list instead of the old one: texts, or `{ id, text, status }`.
    set: Option<serde_json::Value>,
    /// Todos at the end of the list: texts, or `{ id, text, status }`.
    add: Option<serde_json::Value>,
    /// The id of the todo that is worked on now.
    current: Option<String>,
    /// Ids of todos that are done.
    done: Strings,
    /// Ids of todos that are dropped.
    remove: Strings,
}

/// One todo.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Item {
    id: String,
    text: String,
    status: Status,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    #[default]
    Open,
    Current,
    Done,
}

/// A todo as a document or a model writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    id: Option<String>,
    text: String,
    #[serde(default)]
    status: Status,
}

impl<'de> Deserialize<'de> for Todo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Map(_) => decode_within::<Changes, D::Error>(raw.node()).map(Self),
            Node::Seq(_) | Node::String(_) => {
                Ok(Self(Changes { set: Some(raw.node().to_json()), ..Changes::default() }))
            }
            _ => decode_within::<Vec<String>, D::Error>(raw.node()).map(|_| Self(Changes::default())),
        }
    }
}

impl JsonSchema for Todo {
    fn schema_name() -> Cow<'static, str> {
        "Todo".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let changes = generator.subschema_for::<Changes>();
        json_schema!({
            "description": "The list of todos, which templates read as `todo`: a list sets it, a map changes it.",
            "anyOf": [{ "type": "array" }, { "type": "string" }, changes],
            "examples": [["Read the log", "Write the report"], { "done": "1", "current": "2" }]
        })
    }
}

impl Verb for Todo {
    const NAME: &'static str = "todo";
    const GROUP: Group = Group::State;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let drafts = |source: &Option<serde_json::Value>| source.as_ref().map(|s| drafts(cx, s)).transpose();
        let (set, add) = (drafts(&self.0.set)?, drafts(&self.0.add)?);
        let current = self.0.current.as_ref().map(|id| cx.text(id)).transpose()?;
        let (done, remove) = (self.0.done.render(cx)?, self.0.remove.render(cx)?);
        let list = {
            let mut state = cx.state();
            let mut list: Vec<Item> = match set {
                Some(drafts) => number(Vec::new(), drafts)?,
                None => state.todo.iter().filter_map(item).collect(),
            };
            list = number(list, add.unwrap_or_default())?;
            if let Some(id) = current {
                for item in list.iter_mut().filter(|item| item.status == Status::Current) {
                    item.status = Status::Open;
                }
                find(&mut list, &id)?.status = Status::Current;
            }
            for id in done {
                find(&mut list, &id)?.status = Status::Done;
            }
            for id in remove {
                find(&mut list, &id)?;
                list.retain(|item| item.id != id);
            }
            state.todo = list.iter().map(|item| Value::from(Serde(item))).collect();
            state.todo.clone()
        };
        let list = Value::from(list);
        cx.emit(Event::Todo { todo: json(&list)? });
        Ok(list)
    }
}

/// Todos from texts, maps, or a template that gives either.
fn drafts(cx: &StepContext<'_>, source: &serde_json::Value) -> Result<Vec<Draft>, StepFailure> {
    let value = cx.json(source)?;
    let values = if is_list(&value) { items(&value)? } else { vec![value] };
    values.into_iter().map(draft).collect()
}

fn draft(value: Value) -> Result<Draft, StepFailure> {
    if let Some(text) = value.as_str() {
        return Ok(Draft { id: None, text: text.to_owned(), status: Status::Open });
    }
    Draft::deserialize(value).map_err(|e| {
        StepFailure::new(format!("a todo is a text or {{ id, text, status: open | current | done }}: {e}"))
    })
}

fn item(value: &Value) -> Option<Item> {
    let draft = draft(value.clone()).ok()?;
    Some(Item { id: draft.id?, text: draft.text, status: draft.status })
}

/// Appends todos; one without an id gets the first free number.
fn number(mut list: Vec<Item>, drafts: Vec<Draft>) -> Result<Vec<Item>, StepFailure> {
    let mut next = list.len() + 1;
    for draft in drafts {
        let taken = |id: &str, list: &[Item]| list.iter().any(|item| item.id == id);
        let id = match draft.id {
            Some(id) if taken(&id, &list) => return Err(StepFailure::new(format!("two todos have the id `{id}`"))),
            Some(id) => id,
            None => {
                while taken(&next.to_string(), &list) {
                    next += 1;
                }
                next.to_string()
            }
        };
        list.push(Item { id, text: draft.text, status: draft.status });
    }
    Ok(list)
}

fn find<'a>(list: &'a mut [Item], id: &str) -> Result<&'a mut Item, StepFailure> {
    let known = list.iter().map(|item| item.id.clone()).collect::<Vec<_>>().join(", ");
    list.iter_mut()
        .find(|item| item.id == id)
        .ok_or_else(|| StepFailure::new(format!("there is no todo `{id}` (known: {known})")))
}
