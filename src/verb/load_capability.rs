//! `load_capability` and `enter_focus_mode`: what uses something by its name.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{decode_string_or, string_or};
use super::{Group, LoadCall, Reference, StepContext, StepFailure, Verb};
use crate::document::is_template;
use crate::event::CapabilityKind;

/// Something that is used by its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoadCapability(LoadArgs);

/// A name, with what a focus mode or a forge needs to know.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CapabilityLoad")]
struct LoadArgs {
    /// The name of a tool, forge, skill or focus mode. A template.
    identifier: String,
    /// What a focus mode is to do. A template. Default: this loop's input.
    #[serde(default)]
    task: Option<String>,
    /// The input of a forge: any JSON, a template at any depth. Default: a model is asked for it.
    #[serde(default)]
    params: Option<serde_json::Value>,
}

/// A focus mode that does a part of the task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EnterFocusMode(FocusArgs);

/// A focus mode with its task.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FocusModeEntry")]
struct FocusArgs {
    /// The loop's name. A template.
    name: String,
    /// What it is to do. A template. Default: this loop's input.
    #[serde(default)]
    task: Option<String>,
}

impl Verb for LoadCapability {
    const NAME: &'static str = "load_capability";
    const GROUP: Group = Group::Capability;
    const NESTS: bool = true;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let LoadArgs { identifier, task, params } = &self.0;
        let params = params.as_ref().map(|params| cx.json(params)).transpose()?;
        let params =
            params.map(|params| serde_json::to_value(params).map_err(|error| StepFailure::new(error.to_string())));
        let call = LoadCall {
            identifier: cx.text(identifier)?,
            kind: None,
            task: task.as_ref().map(|task| cx.text(task)).transpose()?,
            params: params.transpose()?,
        };
        cx.host.load_capability(call, cx).await
    }
}

impl Verb for EnterFocusMode {
    const NAME: &'static str = "enter_focus_mode";
    const GROUP: Group = Group::Capability;
    const NESTS: bool = true;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let call = LoadCall {
            identifier: cx.text(&self.0.name)?,
            kind: Some(CapabilityKind::FocusMode),
            task: self.0.task.as_ref().map(|task| cx.text(task)).transpose()?,
            params: None,
        };
        cx.host.load_capability(call, cx).await
    }

    fn references(&self) -> Vec<Reference> {
        let name = &self.0.name;
        if is_template(name) { Vec::new() } else { vec![Reference::Loop(name.clone())] }
    }
}

impl<'de> Deserialize<'de> for LoadCapability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |identifier| LoadArgs { identifier, task: None, params: None }).map(Self)
    }
}

impl<'de> Deserialize<'de> for EnterFocusMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |name| FocusArgs { name, task: None }).map(Self)
    }
}

impl JsonSchema for LoadCapability {
    fn schema_name() -> Cow<'static, str> {
        "LoadCapabilityStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!(["release-notes", { "identifier": "{{ params.name }}", "task": "{{ params.task }}" }]);
        let description = "Uses something by its name: a tool is called, a forge is run, a skill is loaded, a focus mode is entered. The name, or { identifier, task, params }. The result has `type`, `outcome` and `result`.";
        string_or::<LoadArgs>(generator, description, examples)
    }
}

impl JsonSchema for EnterFocusMode {
    fn schema_name() -> Cow<'static, str> {
        "EnterFocusModeStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!(["log_analyze", { "name": "log_analyze", "task": "{{ params.log }}" }]);
        let description = "Lets a loop do a part of the task, as a task of its own: its name, or { name, task }. The result has `type`, `outcome` and `result`, and that `reason`, `answer` and `state`.";
        string_or::<FocusArgs>(generator, description, examples)
    }
}
