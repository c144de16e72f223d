//! The step: common keys and one undecoded verb. The verb's owner decodes its arguments.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::value::{Duration, Templated};
use crate::syntax::{Entry, Raw, Spanned, Value, decode_within};

/// What follows a handler or a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Go on.
    Continue,
    /// End the loop: success.
    Exit,
    /// End the loop: failure.
    Fail,
    /// End the loop before it starts, since there is nothing to do (`init` only).
    Done,
}

/// How often a failing step is tried again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRetry {
    /// Further attempts after the first.
    pub times: u32,
    /// The wait before the second attempt; doubled after each further one.
    pub backoff: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StepRetryMap {
    /// Further attempts after the first.
    #[schemars(range(max = 100))]
    times: u32,
    /// The wait before the second attempt; doubled after each further one. Default: 500ms.
    backoff: Option<Duration>,
}

impl<'de> Deserialize<'de> for StepRetry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let default = Duration(std::time::Duration::from_millis(500));
        if let Value::Map(_) = &raw.node().value {
            let map = decode_within::<StepRetryMap, D::Error>(raw.node())?;
            return Ok(Self { times: map.times, backoff: map.backoff.unwrap_or(default) });
        }
        decode_within::<u32, D::Error>(raw.node()).map(|times| Self { times, backoff: default })
    }
}

impl JsonSchema for StepRetry {
    fn schema_name() -> Cow<'static, str> {
        "StepRetry".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<StepRetryMap>();
        json_schema!({
            "description": "How often to try again, or `{ times, backoff }` with the first wait, which doubles.",
            "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 100 }, map],
            "examples": [2, { "times": 3, "backoff": "1s" }],
        })
    }
}

/// What happens when a step fails.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum OnError {
    /// The handler stops; the failure's text is feedback for the model. In hooks the run ends with `error`.
    #[default]
    Fail,
    /// The failure's text is feedback for the model and the handler goes on.
    Feedback,
    /// The handler goes on as if nothing had happened.
    Continue,
    /// These steps run instead, with `error` set to the failure's text; then the handler goes on.
    Steps(Vec<Step>),
}

impl<'de> Deserialize<'de> for OnError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Word {
            Fail,
            Feedback,
            Continue,
        }
        let raw = Raw::deserialize(deserializer)?;
        if let Value::Seq(_) = &raw.node().value {
            return decode_within::<Vec<Step>, D::Error>(raw.node()).map(Self::Steps);
        }
        decode_within::<Word, D::Error>(raw.node()).map(|word| match word {
            Word::Fail => Self::Fail,
            Word::Feedback => Self::Feedback,
            Word::Continue => Self::Continue,
        })
    }
}

impl JsonSchema for OnError {
    fn schema_name() -> Cow<'static, str> {
        "OnError".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<Step>();
        json_schema!({ "anyOf": [{ "enum": ["fail", "feedback", "continue"] }, { "type": "array", "items": step }], "default": "fail" })
    }
}

/// The keys that every step may have beside its verb.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StepKeys {
    /// A name for the step's result: later steps read it as `steps.<id>`.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub id: Option<Spanned<String>>,
    /// Run the step only when this expression is true (no braces).
    pub when: Option<Spanned<String>>,
    /// Run the step once for each item of this expression's list; the item is `item`, its place `index`. The step's
    /// result is the list of results.
    pub for_each: Option<Spanned<String>>,
    /// With `for_each`: how many run at the same time. Default: 1, one after the other.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel: Option<u32>,
    /// Give up after this time; counts as a failure.
    pub timeout: Option<Templated<Duration>>,
    /// Try again when it fails: a number, or `{ times, backoff }`.
    pub retry: Option<StepRetry>,
    /// What happens when it fails: `fail` (default), `feedback`, `continue`, or steps.
    pub on_error: OnError,
    /// What follows the step when it has run.
    pub then: Option<Spanned<Then>>,
    /// In a `finish` hook: a failed run counts as a success.
    pub ignore_error: Option<bool>,
}

/// One step of a handler or a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The common keys.
    pub keys: StepKeys,
    /// The verb and its arguments; none when the step only says what follows.
    pub verb: Option<StepVerb>,
    /// The whole step as it was written.
    pub raw: Raw,
}

/// A verb with undecoded arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct StepVerb {
    /// The verb's name.
    pub name: Spanned<String>,
    /// Its arguments.
    pub args: Raw,
}

/// Names of the common keys.
pub const STEP_KEYS: [&str; 9] =
    ["id", "when", "for_each", "max_parallel", "timeout", "retry", "on_error", "then", "ignore_error"];

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let node = raw.node();
        let Value::Map(entries) = &node.value else {
            return Err(D::Error::custom("a step is a map with one verb, such as `- feedback: text`"));
        };
        let (keys, verbs): (Vec<Entry>, Vec<Entry>) =
            entries.iter().cloned().partition(|entry| STEP_KEYS.contains(&&*entry.key));
        let keys = node.with_entries(keys);
        let keys = decode_within::<StepKeys, D::Error>(&keys)?;
        let verb = match verbs.as_slice() {
            [] if keys.then.is_some() || keys.ignore_error.is_some() => None,
            [] => return Err(D::Error::custom("a step has one verb, and this one has none")),
            [entry] => Some(StepVerb {
                name: Spanned::new(entry.key.to_string(), entry.key_span),
                args: Raw::from(entry.value.clone()),
            }),
            many => {
                let names: Vec<_> = many.iter().map(|entry| format!("`{}`", entry.key)).collect();
                return Err(D::Error::custom(format!("a step has one verb; found {}", names.join(" and "))));
            }
        };
        Ok(Self { keys, verb, raw })
    }
}

impl JsonSchema for Step {
    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }
    /// Only the common keys: the schema module adds one property a verb and forbids the rest.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StepKeys::json_schema(generator)
    }
}
