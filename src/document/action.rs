//! Actions: what the model may choose, and what happens when it does.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::params::Params;
use super::step::{Step, Then};
use crate::syntax::{Raw, Spanned, Value, decode_within};

/// One action of a loop.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Action {
    /// What the action does, for the model: one or two sentences.
    pub description: String,
    /// Replaces the built-in action of the same name.
    #[serde(rename = "override")]
    pub replaces: bool,
    /// Marks an action whose outcome deserves a deep reflection.
    pub key: bool,
    /// Offer the action only while this expression is true (no braces).
    pub when: Option<Spanned<String>>,
    /// A tool as an action: its parameters and its work are the tool's.
    pub from_tool: Option<Spanned<String>>,
    /// Another loop as an action: it shares the task, and this loop ends when it returns.
    pub from_loop: Option<Spanned<String>>,
    /// JSON Schema of the parameters; for a flat object `name: type` is enough (`type!` when required).
    pub params: Option<Params>,
    /// Parameters that a person sees while they are being written: parameter → node.
    pub stream: IndexMap<String, StreamTo>,
    /// Long text that the model writes outside the JSON object, between nonce-delimited tags: tag → rules.
    pub tags: IndexMap<String, Tag>,
    /// What must hold before the action runs. A failure goes back to the model; nothing has happened yet.
    pub verify: Vec<Verify>,
    /// The steps, in order.
    #[serde(rename = "do")]
    pub steps: Vec<Step>,
    /// What follows: `continue` (default), `exit` or `fail`.
    pub then: Option<Spanned<Then>>,
}

/// Where streamed text is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamTo {
    /// The node, such as `answer` or `thought`.
    pub node: String,
    /// The text's media type.
    pub content_type: String,
}

/// The media type of text that says nothing else.
pub const DEFAULT_CONTENT_TYPE: &str = "text/markdown";

/// Where streamed text is shown, with its media type.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StreamToMap {
    /// The node, such as `answer` or `thought`.
    node: String,
    /// The text's media type. Default: `text/markdown`.
    content_type: Option<String>,
}

impl<'de> Deserialize<'de> for StreamTo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let (node, content_type) = match &raw.node().value {
            Value::Map(_) => {
                let map = decode_within::<StreamToMap, D::Error>(raw.node())?;
                (map.node, map.content_type)
            }
            _ => (decode_within::<String, D::Error>(raw.node())?, None),
        };
        Ok(Self { node, content_type: content_type.unwrap_or_else(|| DEFAULT_CONTENT_TYPE.to_owned()) })
    }
}

impl JsonSchema for StreamTo {
    fn schema_name() -> Cow<'static, str> {
        "StreamTo".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<StreamToMap>();
        json_schema!({
            "description": "A node's name, or { node, content_type }.",
            "anyOf": [{ "type": "string" }, map],
            "examples": ["answer", { "node": "answer", "content_type": "text/markdown" }]
        })
    }
}

/// A nonce-delimited tag that an action takes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tag {
    /// The node that shows the text while it arrives.
    pub node: Option<String>,
    /// The text's media type. Default: `text/markdown`.
    pub content_type: Option<String>,
    /// Whether the action is refused without it.
    pub required: bool,
    /// What belongs in it, for the model.
    pub description: Option<String>,
}

/// A condition that must hold before an action runs.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// An expression (no braces) over `params`, `tags`, `state`, `input`.
    pub that: Spanned<String>,
    /// What the model is told when it does not hold. A template.
    pub message: Option<Spanned<String>>,
}
