//! `reflect`: how deep to look at an action, and what to tell whoever looks.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::json;
use super::{Group, ReflectCall, StepContext, StepFailure, Verb};
use crate::document::{Level, Templated};
use crate::syntax::{Raw, Value as Node, decode_within};

/// How deep to look at an action.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reflect(ReflectArgs);

/// A level, with what to tell.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReflectArgs {
    /// `none`, `minimal`, `standard`, `deep` or `critical`.
    level: Templated<Level>,
    /// What whoever looks should know, and the next prompt will hold: any JSON, a template at any depth.
    #[serde(default)]
    data: Option<serde_json::Value>,
}

impl<'de> Deserialize<'de> for Reflect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Map(_) => decode_within::<ReflectArgs, D::Error>(raw.node()),
            _ => decode_within::<Templated<Level>, D::Error>(raw.node()).map(|level| ReflectArgs { level, data: None }),
        }
        .map(Self)
    }
}

impl JsonSchema for Reflect {
    fn schema_name() -> Cow<'static, str> {
        "ReflectStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!(["deep", { "level": "critical", "data": { "tried": "{{ params.path }}" } }]);
        let description = "How deep to look at an action: a level, or { level, data }. In an action it holds for that action, whatever its outcome; in a hook the last action is looked at now. The result is `reflection`.";
        let short = generator.subschema_for::<Level>();
        let map = generator.subschema_for::<ReflectArgs>();
        let template = json_schema!({ "type": "string", "pattern": "\\{\\{|\\{%" });
        json_schema!({ "description": description, "anyOf": [short, template, map], "examples": examples })
    }
}

impl Verb for Reflect {
    const NAME: &'static str = "reflect";
    const GROUP: Group = Group::Mechanism;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let data = match &self.0.data {
            Some(source) => json(&cx.json(source)?)?,
            None => serde_json::Value::Null,
        };
        cx.host.reflect(ReflectCall { level: cx.get(&self.0.level)?, data }, cx).await
    }
}
