//! What the detector is shown: one record for each thing that an agent did or was told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of thing a record is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// A tool or an action was called.
    #[default]
    Call,
    /// The agent said something to the user.
    Say,
    /// The agent thought aloud.
    Think,
    /// A person said something. A nudge that the harness sends on its own is no such record.
    User,
    /// The harness did something to itself: it compacted the history, restarted a stream.
    Event,
}

/// What a tool is for, where repeating it means something else than for most tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing special.
    #[default]
    Normal,
    /// Asks for a state until it changes: equal answers are expected for a while.
    Poll,
    /// Lets time pass.
    Wait,
    /// Tries one candidate after the other: misses are expected.
    Enumerate,
    /// Does something in the world that must not be done twice.
    SideEffect,
}

impl Class {
    /// All classes, as they are written.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("normal", Self::Normal),
        ("poll", Self::Poll),
        ("wait", Self::Wait),
        ("enumerate", Self::Enumerate),
        ("side_effect", Self::SideEffect),
    ];

    /// The class of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class)
    }
}

/// One thing that happened. `Record::default()` is a call without a name, arguments or result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// What kind of thing.
    pub kind: Kind,
    /// The name of the tool or action; empty for what is not a call.
    pub action: String,
    /// The arguments; for a text, `{"text": …}`.
    pub arguments: Value,
    /// What came back, before anything shortens or decorates it. `None` while it is not known, which equals nothing.
    pub observation: Option<String>,
    /// Whether what came back is an error.
    pub error: bool,
    /// Calls of one reply of the model have one number.
    pub batch: Option<u64>,
    /// Who did it, where several agents write one history.
    pub agent: Option<String>,
    /// When, in seconds from any fixed moment.
    pub time: Option<f64>,
    /// Whether the call changes anything, where the tool's declaration says so; otherwise it is judged by its shape.
    pub changes: Option<bool>,
    /// Whether variables of the loop changed with it. Counters do so too, so it is no progress by itself, but a reason to be
    /// as patient as with polling.
    pub moved: bool,
    /// Whether it is a wish to end the loop, beside those whose names the settings know.
    pub finish: bool,
}

impl Record {
    /// A call and what it brought.
    #[must_use]
    pub fn call(action: impl Into<String>, arguments: Value, observation: impl Into<String>) -> Self {
        Self { action: action.into(), arguments, observation: Some(observation.into()), ..Self::default() }
    }

    /// A text of the agent: [`Kind::Say`] or [`Kind::Think`].
    #[must_use]
    pub fn text(kind: Kind, text: &str) -> Self {
        Self { kind, arguments: serde_json::json!({ "text": text }), ..Self::default() }
    }

    /// The text of a record that is one.
    pub(super) fn words(&self) -> &str {
        match &self.arguments {
            Value::String(text) => text,
            Value::Object(map) => {
                let named = map.get("text").or_else(|| map.values().find(|value| value.is_string()));
                named.and_then(Value::as_str).unwrap_or_default()
            }
            _ => "",
        }
    }
}

/// A history, oldest first, and the classes of the tools in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// What happened.
    pub records: Vec<Record>,
    /// The class of a tool by its name; these go before the classes of the settings.
    pub classes: BTreeMap<String, Class>,
}
