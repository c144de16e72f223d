//! Tool and forge documents: what a loop can call besides a model.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::StreamTo;
use super::middleware::Middleware;
use super::params::Params;
use super::step::Step;
use super::value::{Duration, TextSource};
use crate::syntax::Spanned;

/// A tool: parameters and the steps that do its work.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolDoc {
    /// The JSON Schema that editors use for this file.
    #[serde(rename = "$schema", default)]
    pub schema: Option<String>,
    /// The kind of document.
    pub kind: ToolKind,
    /// The tool's name, which loops list under `tools`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub name: Spanned<String>,
    /// What it does, for the model.
    pub description: String,
    /// When to use it.
    #[serde(default)]
    pub usage: Option<String>,
    /// JSON Schema of the parameters, or the short form `name: type!`.
    #[serde(default)]
    pub params: Option<Params>,
    /// What a call does to the world; decides whether it may be repeated.
    #[serde(default)]
    pub effect: Effect,
    /// A hint for spin detection.
    #[serde(default)]
    pub class: Option<ToolClass>,
    /// The steps, in order. The tool's result is what a `result` step sets, else the last step's result.
    #[serde(rename = "do")]
    pub steps: Vec<Step>,
    /// What is wrapped around a call, the first innermost.
    #[serde(default)]
    pub middleware: Vec<Middleware>,
}

/// `tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A tool.
    Tool,
}

/// What a call does to the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Pure,
    /// Twice is the same as once.
    Idempotent,
    /// It must not happen twice.
    #[default]
    AtMostOnce,
}

/// A hint for spin detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Asks for something that changes by itself.
    Poll,
    /// Lets time pass.
    Wait,
    /// Goes through a list piece by piece.
    Enumerate,
    /// Is called for what it does.
    SideEffect,
}

/// A forge: one structured model call against an output schema.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgeDoc {
    /// The JSON Schema that editors use for this file.
    #[serde(rename = "$schema", default)]
    pub schema: Option<String>,
    /// The kind of document.
    pub kind: ForgeKind,
    /// The forge's name.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub name: Spanned<String>,
    /// What it makes.
    pub description: String,
    /// When to use it.
    #[serde(default)]
    pub usage: Option<String>,
    /// The model tier. Default: `main`.
    #[serde(default)]
    pub tier: Option<Spanned<String>>,
    /// JSON Schema of the input, which the prompt reads as `input`.
    #[serde(default)]
    pub input: Option<Params>,
    /// What the model is told. A template over `input`.
    pub prompt: TextSource,
    /// JSON Schema of the output object, or the short form `name: type!`.
    pub output: Params,
    /// Output fields that a person sees while they are being written: field → node.
    #[serde(default)]
    pub stream: IndexMap<String, StreamTo>,
    /// How often the model may try again when its reply does not fit. Default: 2.
    #[serde(default)]
    #[schemars(range(max = 20))]
    pub retries: Option<u32>,
    /// Tokens of the reply.
    #[serde(default)]
    pub max_reply_tokens: Option<u32>,
    /// What a loop does whose model runs the forge: it hands the work over and ends with `async` (true), or it waits and goes on
    /// with the output (false). A `forge` step always waits. Default: true.
    #[serde(rename = "async", default = "yes")]
    pub hands_over: bool,
    /// A forge that was handed over ends with an error when its model has sent nothing for so long. Default: 2m.
    #[serde(default = "two_minutes")]
    pub watchdog: Duration,
    /// What is wrapped around a call, the first innermost.
    #[serde(default)]
    pub middleware: Vec<Middleware>,
}

fn yes() -> bool {
    true
}

fn two_minutes() -> Duration {
    Duration(std::time::Duration::from_secs(120))
}

/// `forge`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForgeKind {
    /// A forge.
    Forge,
}
