//! What calls something by name: `forge`, `tool`, `loop`.

use std::borrow::Cow;

use indexmap::IndexMap;
use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{decode_string_or, string_or};
use super::{ForgeCall, Group, LoopCall, Reference, StepContext, StepFailure, ToolCallRequest, Verb};
use crate::document::{StreamTo, is_template};

/// What a call gets that says nothing else: the loop's own input.
const INPUT: &str = "{{ input }}";

/// One structured model call against a forge's output schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forge(ForgeArgs);

/// A forge with its input.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgeArgs {
    /// The forge's name.
    #[serde(rename = "use")]
    name: String,
    /// Its input: any JSON, a template at any depth. Default: the loop's input.
    #[serde(default)]
    input: Option<serde_json::Value>,
    /// The model tier. Default: the forge's own.
    #[serde(default)]
    tier: Option<String>,
    /// Output fields that a person sees while they are being written: field → node.
    #[serde(default)]
    stream: IndexMap<String, StreamTo>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool(ToolArgs);

/// A tool with its parameters.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolArgs {
    /// The tool's name.
    #[serde(rename = "use")]
    name: String,
    /// Its parameters: a map, a template at any depth. Default: none.
    #[serde(default)]
    params: Option<serde_json::Value>,
}

/// A loop that runs as a task of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loop(LoopArgs);

/// A loop with its input.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoopArgs {
    /// The loop's name.
    #[serde(rename = "use")]
    name: String,
    /// Its input: any JSON, a template at any depth. Default: this loop's input.
    #[serde(default)]
    input: Option<serde_json::Value>,
    /// State variables that it starts with: name → value, a template at any depth.
    #[serde(default)]
    set: IndexMap<String, serde_json::Value>,
}

/// A name that must exist, unless it is a template.
fn reference(name: &str, kind: fn(String) -> Reference) -> Vec<Reference> {
    if is_template(name) { Vec::new() } else { vec![kind(name.to_owned())] }
}

fn input(cx: &StepContext<'_>, source: Option<&serde_json::Value>) -> Result<Value, StepFailure> {
    match source {
        Some(source) => cx.json(source),
        None => cx.value(INPUT),
    }
}

impl Verb for Forge {
    const NAME: &'static str = "forge";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let call = ForgeCall {
            forge: cx.text(&self.0.name)?,
            input: input(cx, self.0.input.as_ref())?,
            tier: self.0.tier.as_ref().map(|tier| cx.text(tier)).transpose()?,
            stream: self.0.stream.iter().map(|(field, to)| (field.clone(), to.clone())).collect(),
        };
        cx.host.forge(call, cx).await
    }

    fn references(&self) -> Vec<Reference> {
        reference(&self.0.name, Reference::Forge)
    }
}

impl Verb for Tool {
    const NAME: &'static str = "tool";
    const GROUP: Group = Group::Compute;
    const NESTS: bool = true;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let params = self.0.params.clone().unwrap_or_else(|| json!({}));
        let call = ToolCallRequest { tool: cx.text(&self.0.name)?, params: cx.json(&params)?, identifier: None };
        cx.host.tool(call, cx).await
    }

    fn references(&self) -> Vec<Reference> {
        reference(&self.0.name, Reference::Tool)
    }
}

impl Verb for Loop {
    const NAME: &'static str = "loop";
    const GROUP: Group = Group::Compute;
    const NESTS: bool = true;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let set = self.0.set.iter().map(|(name, source)| Ok((name.clone(), cx.json(source)?)));
        let call = LoopCall {
            name: cx.text(&self.0.name)?,
            input: input(cx, self.0.input.as_ref())?,
            set: set.collect::<Result<_, StepFailure>>()?,
        };
        cx.host.run_loop(call, cx).await
    }

    fn references(&self) -> Vec<Reference> {
        reference(&self.0.name, Reference::Loop)
    }
}

impl<'de> Deserialize<'de> for Forge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |name| ForgeArgs { name, input: None, tier: None, stream: IndexMap::new() })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |name| ToolArgs { name, params: None }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Loop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |name| LoopArgs { name, input: None, set: IndexMap::new() }).map(Self)
    }
}

impl JsonSchema for Forge {
    fn schema_name() -> Cow<'static, str> {
        "ForgeStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!(["summarize", { "use": "summarize", "input": "{{ state.found }}", "tier": "quality" }]);
        let description = "One structured model call: a forge's name (its input is the loop's), or { use, input, tier, stream }. The result is its output object.";
        string_or::<ForgeArgs>(generator, description, examples)
    }
}

impl JsonSchema for Tool {
    fn schema_name() -> Cow<'static, str> {
        "ToolStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!([{ "use": "whois", "params": { "domain": "{{ params.domain }}" } }]);
        string_or::<ToolArgs>(
            generator,
            "Calls a tool: its name, or { use, params }. The result is the tool's.",
            examples,
        )
    }
}

impl JsonSchema for Loop {
    fn schema_name() -> Cow<'static, str> {
        "LoopStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples =
            json!(["smart_qa", { "use": "smart_qa", "input": "{{ params.question }}", "set": { "depth": 2 } }]);
        let description = "Runs a loop as a task of its own: its name (its input is this loop's), or { use, input, set }. The result has `reason`, `answer` and `state`.";
        string_or::<LoopArgs>(generator, description, examples)
    }
}
