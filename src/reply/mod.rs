//! A model's reply to exactly one action: what it says, what was repaired, or the words for the retry.
//!
//! [`extract`] reads a whole reply and decides; [`Live`] reads the same reply as it arrives and only shows it.
//! What is executed always comes from [`extract`].

mod chars;
mod closing;
mod coerce;
mod extract;
mod grammar;
mod lenient;
mod live;
mod markers;
mod message;
mod object;
mod params;
mod regions;
mod repair;
mod scalar;

pub use extract::{coerce, extract, extract_object, extract_tool_call};
pub use grammar::{ActionGrammar, Grammar, TagRule};
pub use live::{Live, Piece};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// Why the model stopped, as far as extraction cares: only [`Finish::Stop`] lets missing brackets be closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Finish {
    /// The model ended its reply.
    Stop,
    /// The token limit cut the reply.
    Length,
    /// The model called tools.
    ToolCalls,
    /// Anything else, or nothing known.
    #[default]
    Unknown,
}

/// The one action of a reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extracted {
    /// The action's name, as the grammar spells it.
    pub action: String,
    /// The reply's own name for this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// `human_readable_thought`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The declared parameters, coerced and valid.
    pub params: Map<String, Value>,
    /// Bodies of the action's tags that the reply has.
    pub tags: IndexMap<String, String>,
    /// What had to be repaired, in the order found.
    pub repairs: Vec<Repair>,
    /// What is odd but harmless.
    pub warnings: Vec<String>,
}

/// One thing that was wrong with the reply and was put right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// A short name, such as `trailing_comma`; `docs/extraction.md` lists them.
    pub kind: &'static str,
    /// Where, or what.
    pub detail: String,
}

/// Why no action could be taken from a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct Rejection {
    /// The kind of fault.
    pub class: RejectClass,
    /// Words for the model: what is wrong and what to write instead.
    pub message: String,
    /// The action that was meant, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// The kinds of fault that a reply can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectClass {
    /// No object with `@action`.
    NoAction,
    /// `@action` names nothing that is offered.
    UnknownAction,
    /// The object with `@action` is broken beyond repair.
    Malformed,
    /// The reply was cut off.
    Truncated,
    /// A required parameter or tag is absent.
    MissingParam,
    /// A parameter has the wrong type or an impossible value.
    TypeMismatch,
}

impl RejectClass {
    /// The class as written in reports: `no_action` and so on.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoAction => "no_action",
            Self::UnknownAction => "unknown_action",
            Self::Malformed => "malformed",
            Self::Truncated => "truncated",
            Self::MissingParam => "missing_param",
            Self::TypeMismatch => "type_mismatch",
        }
    }
}

#[cfg(test)]
mod tests;
