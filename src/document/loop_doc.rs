//! The loop document.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use super::action::Action;
use super::mechanisms::Mechanisms;
use super::section::{Tier, Trust};
use super::step::Step;
use super::value::{Duration, TextSource};
use crate::syntax::{Raw, Spanned, Value, decode_within};

/// A loop: what the model is told, what it may do, and when to stop.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopDoc {
    /// The JSON Schema that editors use for this file.
    #[serde(rename = "$schema", default)]
    pub schema: Option<String>,
    /// The kind of document.
    #[serde(default)]
    pub kind: LoopKind,
    /// The loop's name, which `loopwright run NAME` and `from_loop` use.
    #[schemars(length(min = 1), regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub name: Spanned<String>,
    /// What the loop does, in a sentence or two.
    #[serde(default)]
    pub description: Option<Spanned<String>>,
    /// When to use it, for people and for the model that chooses loops.
    #[serde(default)]
    pub usage: Option<String>,
    /// Whether searches and models do not see the loop: it is there for steps and other loops only. Default: false.
    #[serde(default)]
    pub hidden: bool,
    /// A preset whose values hold where this document says nothing.
    #[serde(default)]
    pub extends: Extends,
    /// The models: a name for the main tier, or tier → model.
    #[serde(default)]
    pub model: Option<ModelChoice>,
    /// What ends the loop whatever the model does.
    #[serde(default)]
    pub limits: Limits,
    /// What the loop may use.
    #[serde(default)]
    pub allow: Allow,
    /// Typed variables: name → `{ type, default }`, or just a default.
    #[serde(default)]
    pub state: IndexMap<String, StateVar>,
    /// What the model reads.
    pub prompt: Prompt,
    /// Actions of the loop's own, and built-ins that it replaces: name → action.
    #[serde(default)]
    pub actions: IndexMap<String, Action>,
    /// Built-in actions that the loop offers. Default: all that `allow` permits.
    #[serde(default)]
    pub builtins: Option<Vec<Spanned<String>>>,
    /// Tools that the model may call.
    #[serde(default)]
    pub tools: Vec<Spanned<String>>,
    /// Skills that the model may load; those that are listed it may also call, if they can be called. Default: all of the
    /// workspace, to be loaded only.
    #[serde(default)]
    pub skills: Option<Vec<Spanned<String>>>,
    /// Forges that the model may run, with `require_ai_blueprint`. Default: none; all of the workspace where `builtins` lists
    /// that action.
    #[serde(default)]
    pub forges: Option<Vec<Spanned<String>>>,
    /// Loops that the model may enter for a part of its task, with `enter_focus_mode`. Default: none; all of the workspace
    /// where `builtins` lists that action.
    #[serde(default)]
    pub focus_modes: Option<Vec<Spanned<String>>>,
    /// Steps before, between and after the iterations.
    #[serde(default)]
    pub hooks: Hooks,
    /// Perception, reflection, spin detection, verification: what watches the loop.
    #[serde(default)]
    pub mechanisms: Mechanisms,
    /// The language of the mechanisms' prompts: `en`, `zh`, or one for which the workspace has files
    /// `prompts/mechanisms/LANGUAGE/NAME.md.j2`. Default: the workspace's.
    #[serde(default)]
    pub language: Option<String>,
    /// Names of environment variables that templates may read as `env.NAME`.
    #[serde(default)]
    pub env: Vec<Spanned<String>>,
    /// An input with a script of replies, which shows the loop while no model is configured.
    #[serde(default)]
    pub example: Option<Example>,
}

impl LoopDoc {
    /// The skills that the loop offers, of those that there are.
    #[must_use]
    pub fn offered_skills(&self, all: &[String]) -> Vec<String> {
        match &self.skills {
            _ if !self.allow.skill => Vec::new(),
            Some(listed) => listed.iter().map(|name| name.value.clone()).collect(),
            None => all.to_vec(),
        }
    }

    /// The forges that the model may run, of those that the workspace has of its own.
    #[must_use]
    pub fn offered_forges(&self, own: &[String]) -> Vec<String> {
        self.offered(self.allow.forge, self.forges.as_deref(), "require_ai_blueprint", own)
    }

    /// The loops that the model may enter, of those that the workspace has of its own.
    #[must_use]
    pub fn offered_focus_modes(&self, own: &[String]) -> Vec<String> {
        self.offered(self.allow.focus_mode, self.focus_modes.as_deref(), "enter_focus_mode", own)
    }

    /// What is listed; all where only the action is.
    fn offered(&self, allowed: bool, listed: Option<&[Spanned<String>]>, action: &str, own: &[String]) -> Vec<String> {
        match listed {
            _ if !allowed => Vec::new(),
            Some(listed) => listed.iter().map(|name| name.value.clone()).collect(),
            None if self.builtins.iter().flatten().any(|name| name.as_str() == action) => own.to_vec(),
            None => Vec::new(),
        }
    }
}

/// An input with a script that answers it. A script never passes for a model, and refuses any other input.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The input's file, below the workspace.
    pub input: Spanned<String>,
    /// The script's file, below the workspace.
    pub script: Spanned<String>,
}

/// `loop`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// A loop.
    #[default]
    Loop,
}

/// One preset or several; later ones win.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extends(pub Vec<Spanned<String>>);

impl<'de> Deserialize<'de> for Extends {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let list = match &raw.node().value {
            Value::Seq(_) => decode_within::<Vec<Spanned<String>>, D::Error>(raw.node()),
            _ => decode_within::<Spanned<String>, D::Error>(raw.node()).map(|one| vec![one]),
        };
        list.map(Self)
    }
}

impl JsonSchema for Extends {
    fn schema_name() -> Cow<'static, str> {
        "Extends".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A preset's name or path, or a list of them (later ones win).",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
            "examples": ["preset/strict"]
        })
    }
}

/// Which models a loop uses: tier → a model's name, a tier's name, or a model's settings written in place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelChoice {
    /// By tier.
    pub tiers: IndexMap<String, Raw>,
}

impl<'de> Deserialize<'de> for ModelChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let node = raw.node();
        match &node.value {
            Value::Map(_) if node.get("provider").is_none() => {
                decode_within::<IndexMap<String, Raw>, D::Error>(raw.node()).map(|tiers| Self { tiers })
            }
            Value::String(_) | Value::Map(_) => Ok(Self { tiers: IndexMap::from([("main".to_owned(), raw)]) }),
            _ => Err(D::Error::custom("expected a model's name, or a map from tier to model")),
        }
    }
}

impl JsonSchema for ModelChoice {
    fn schema_name() -> Cow<'static, str> {
        "ModelChoice".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A model or tier for the main tier, or a map from tier (main, helper, quality, speed, …) to a model, a tier, or a model's settings.",
            "anyOf": [
                { "type": "string" },
                { "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, { "type": "object" }] } }
            ],
            "examples": ["big", { "main": "quality", "helper": "speed" }]
        })
    }
}

/// What ends a loop.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Iterations. Default: 100. Ends with `max_iterations`.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_iterations: u32,
    /// Tokens of all model calls, input and output together. Ends with `limit:tokens`.
    #[schemars(range(min = 1))]
    pub max_total_tokens: Option<u64>,
    /// US dollars of all model calls, where the workspace knows prices. Ends with `limit:cost`.
    #[schemars(range(min = 0.0))]
    pub max_cost_usd: Option<f64>,
    /// Time from start. Ends with `limit:timeout`.
    pub timeout: Option<Duration>,
    /// How often the model may try again when its reply gives no valid action. Default: 3.
    #[schemars(range(max = 20))]
    pub action_retries: u32,
    /// Tool calls. Ends with `limit:tool_calls`.
    pub max_tool_calls: Option<u32>,
    /// Loops inside loops. Default: 4. Ends with `limit:depth`.
    #[schemars(range(min = 1, max = 32))]
    pub max_depth: u32,
    /// Tool calls of one action that run at the same time. Default: 4.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel: u32,
    /// Tokens of one reply.
    #[schemars(range(min = 1))]
    pub max_reply_tokens: Option<u32>,
    /// Tokens that the loaded skills may have in a prompt, together. Of longer ones a part is shown. Default: 8000.
    #[schemars(range(min = 250))]
    pub max_skill_tokens: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_iterations: 100,
            max_total_tokens: None,
            max_cost_usd: None,
            timeout: None,
            action_retries: 3,
            max_tool_calls: None,
            max_depth: 4,
            max_parallel: 4,
            max_reply_tokens: None,
            max_skill_tokens: 8000,
        }
    }
}

/// What a loop may use.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that an author sets by name")]
pub struct Allow {
    /// Tool calls by the model. Default: true.
    pub tool: bool,
    /// Forges as actions. Default: true.
    pub forge: bool,
    /// Skills. Default: true.
    pub skill: bool,
    /// Focus modes. Default: true.
    pub focus_mode: bool,
    /// Questions to the user. Default: true.
    pub user_interaction: bool,
}

impl Default for Allow {
    fn default() -> Self {
        Self { tool: true, forge: true, skill: true, focus_mode: true, user_interaction: true }
    }
}

/// A typed variable.
#[derive(Debug, Clone, PartialEq)]
pub struct StateVar {
    /// JSON Schema of the values that it may take.
    pub schema: Json,
    /// Its value when a run starts.
    pub default: Json,
}

impl<'de> Deserialize<'de> for StateVar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let node = raw.node();
        let declared = match &node.value {
            Value::Map(entries) => entries.iter().any(|entry| matches!(&*entry.key, "type" | "default" | "enum")),
            _ => false,
        };
        let Json::Object(mut schema) = node.to_json() else {
            return Ok(Self::inferred(node.to_json()));
        };
        if !declared {
            return Ok(Self::inferred(Json::Object(schema)));
        }
        let default = schema.remove("default");
        let kind = schema.get("type").and_then(Json::as_str).unwrap_or("");
        let default = default.unwrap_or_else(|| zero(kind));
        Ok(Self { schema: Json::Object(schema), default })
    }
}

impl StateVar {
    /// A variable whose type is its default's.
    fn inferred(default: Json) -> Self {
        let kind = match &default {
            Json::Null => return Self { schema: Json::Object(serde_json::Map::new()), default },
            Json::Bool(_) => "boolean",
            Json::Number(number) if number.is_f64() => "number",
            Json::Number(_) => "integer",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        };
        Self { schema: serde_json::json!({ "type": kind }), default }
    }
}

/// The value of a variable that has a type and no default.
fn zero(kind: &str) -> Json {
    match kind {
        "array" => Json::Array(Vec::new()),
        "object" => Json::Object(serde_json::Map::new()),
        "string" => Json::String(String::new()),
        "integer" => Json::from(0),
        "number" => Json::from(0.0),
        "boolean" => Json::Bool(false),
        _ => Json::Null,
    }
}

impl JsonSchema for StateVar {
    fn schema_name() -> Cow<'static, str> {
        "StateVar".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A JSON Schema with a `default`, or just a default whose type is then the variable's.",
            "examples": [{ "type": "array", "default": [] }, 0, "draft"]
        })
    }
}

/// What the model reads.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The task and its rules: the PERSISTENT section, part of the cached head.
    pub instruction: TextSource,
    /// A good reply, shown to the model: the OUTPUT_EXAMPLE section.
    #[serde(default)]
    pub output_example: Option<TextSource>,
    /// What changes with every iteration: the REACTIVE_DATA section, last in the prompt.
    #[serde(default)]
    pub reactive: Option<TextSource>,
    /// Further sections, or built-in ones replaced by name.
    #[serde(default)]
    pub sections: Vec<SectionDoc>,
    /// What is done when the prompt becomes longer than the model's context.
    #[serde(default)]
    pub overflow: Overflow,
}

/// What is done when the prompt becomes longer than the model's context.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overflow {
    /// The last iterations that stay word for word. Default: 4.
    #[schemars(range(min = 0, max = 1000))]
    pub keep: u32,
    /// What is tried, in this order, until the prompt fits; then the run ends with `error`. Default: `[summarise, drop]`.
    pub steps: Vec<OverflowStep>,
}

impl Default for Overflow {
    fn default() -> Self {
        Self { keep: 4, steps: vec![OverflowStep::Summarise, OverflowStep::Drop] }
    }
}

/// One way to make a prompt shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverflowStep {
    /// The helper tier writes a summary of the older iterations, which takes their place.
    Summarise,
    /// The older iterations go, and a line says how many.
    Drop,
}

/// A section of the prompt.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SectionDoc {
    /// Its name in capitals, such as `GLOSSARY`; the name of a built-in section replaces that one.
    #[schemars(regex(pattern = r"^[A-Z][A-Z0-9_]*$"))]
    pub name: Spanned<String>,
    /// How long its bytes stay the same; says where it stands.
    pub tier: Tier,
    /// Who wrote its text. Default: `trusted`.
    #[serde(default)]
    pub trust: Trust,
    /// Its text, a template.
    #[serde(default)]
    pub text: Option<Spanned<String>>,
    /// A file with its text, a template.
    #[serde(default)]
    pub file: Option<Spanned<String>>,
    /// Leave the section out while this expression is false (no braces).
    #[serde(default)]
    pub when: Option<Spanned<String>>,
}

/// Steps around the iterations.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hooks {
    /// Before the first iteration.
    pub init: Vec<Step>,
    /// After each iteration.
    pub after_iteration: Vec<Step>,
    /// When the loop has ended, whatever the reason: `reason` and `error` say why.
    pub finish: Vec<Step>,
}
