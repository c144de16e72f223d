//! The workspace: models, tiers, paths, policy. And presets.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::loop_doc::{Allow, Extends, Limits, ModelChoice};
use super::mcp::McpServerDoc;
use super::mechanisms::{Mechanisms, Switches};
use super::value::Duration;
use crate::diag::codes;
use crate::syntax::{Raw, Spanned, Value, decode_within};

/// `loopwright.yaml`: what all loops of a folder share.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceDoc {
    /// The JSON Schema that editors use for this file.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The kind of document.
    pub kind: WorkspaceKind,
    /// Models by name: a provider, its settings, and a price.
    pub models: IndexMap<String, ModelDoc>,
    /// Tiers by name: `main` is the loop's own, the others are for helpers.
    pub tiers: Tiers,
    /// Where documents and files lie.
    pub paths: Paths,
    /// MCP servers by name, whose tools loops list as `mcp_NAME_TOOL`. A name has letters, digits, `-` and `_`.
    pub mcp: IndexMap<String, McpServerDoc>,
    /// What built-in tools may do when the model calls them; the first rule that matches decides.
    pub policy: Vec<PolicyRule>,
    /// Where runs are kept. Read and kept; not yet in force.
    pub store: Option<Raw>,
    /// The language of the mechanisms' prompts: `en` (default), `zh`, or one for which the workspace has files
    /// `prompts/mechanisms/LANGUAGE/NAME.md.j2`.
    pub language: Option<String>,
    /// Off switches: `perception: false` and its like hold for every loop of the workspace.
    pub mechanisms: Switches,
    /// Tools that every loop of the workspace offers.
    pub tools: Vec<Spanned<String>>,
    /// Names of environment variables that templates may read as `env.NAME`.
    pub env: Vec<Spanned<String>>,
    /// How failed model calls are tried again.
    pub retry: RetryDoc,
    /// What `check` makes of its findings, by their codes: `off`, `info`, `warning` or `error`. What keeps a document from
    /// being used stays an error.
    #[schemars(extend("propertyNames" = code_names(), "examples" = [{ "endless-loop": "error", "unused-anchor": "off" }]))]
    pub checks: IndexMap<String, CheckLevel>,
    /// Data of your own, which templates read as `workspace.vars`.
    pub vars: serde_json::Map<String, serde_json::Value>,
}

/// `workspace`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceKind {
    /// A workspace.
    #[default]
    Workspace,
}

/// What keys `checks` may have, for editors.
fn code_names() -> serde_json::Value {
    let names: Vec<&str> = codes::all().iter().map(|info| info.code.as_str()).collect();
    serde_json::json!({ "enum": names })
}

/// What `check` makes of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckLevel {
    /// It is not reported.
    Off,
    /// It is worth knowing.
    Info,
    /// It is probably a mistake.
    Warning,
    /// It fails the check and keeps the document from running.
    Error,
}

/// A model: `provider` says who decodes the other keys.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDoc {
    /// The provider's name.
    pub provider: Spanned<String>,
    /// The whole map, `provider` included.
    pub settings: Raw,
}

impl<'de> Deserialize<'de> for ModelDoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let settings = Raw::deserialize(deserializer)?;
        let provider = settings
            .node()
            .get("provider")
            .ok_or_else(|| D::Error::custom("a model needs `provider`, such as `provider: openai`"))?;
        let provider = decode_within::<Spanned<String>, D::Error>(provider)?;
        Ok(Self { provider, settings })
    }
}

impl JsonSchema for ModelDoc {
    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }
    /// Open: the schema module fills in one alternative a provider.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "required": ["provider"], "properties": { "provider": { "type": "string" } } })
    }
}

/// Tiers: name → a model's name. `fallback` lists what stands in for a tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tiers {
    /// The tiers by name.
    pub named: IndexMap<String, Spanned<String>>,
    /// Tier → models that are tried in turn when its own fails.
    pub fallback: IndexMap<String, Vec<Spanned<String>>>,
}

impl<'de> Deserialize<'de> for Tiers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let mut tiers = Self::default();
        if !matches!(raw.node().value, Value::Map(_)) {
            return Err(D::Error::custom("tiers are a map from tier to model, such as `main: big`"));
        }
        for entry in raw.node().entries() {
            if &*entry.key == "fallback" {
                tiers.fallback = decode_within::<_, D::Error>(&entry.value)?;
            } else {
                tiers.named.insert(entry.key.to_string(), decode_within::<_, D::Error>(&entry.value)?);
            }
        }
        Ok(tiers)
    }
}

impl JsonSchema for Tiers {
    fn schema_name() -> Cow<'static, str> {
        "Tiers".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Tier → the name of a model. `main` is the loop's own tier.",
            "properties": {
                "fallback": {
                    "type": "object",
                    "description": "Tier → models that stand in when its own fails.",
                    "additionalProperties": { "type": "array", "items": { "type": "string" } }
                }
            },
            "additionalProperties": { "type": "string" },
            "examples": [{ "main": "big", "quality": "big", "speed": "m-small" }]
        })
    }
}

/// Search paths, each relative to the workspace.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// Folders of loop, tool, forge and preset documents. Default: `[loops]`.
    pub loops: Vec<Spanned<String>>,
    /// Folders of templates. Default: `[prompts]`.
    pub prompts: Vec<Spanned<String>>,
    /// Folders of skills, each a folder with a `SKILL.md`; of two skills with one name, the one of the earlier folder is taken.
    /// `~/` begins a folder of the user's. Default: `[skills, .agents/skills, .claude/skills]`.
    pub skills: Vec<Spanned<String>>,
    /// Folders that file steps and file tools may touch. Default: `[.]`.
    pub roots: Vec<Spanned<String>>,
    /// What `check` and `fmt` pass over when they look through a folder: patterns from the workspace's folder, as in a
    /// `.gitignore`. A file that is named itself is looked at all the same. Default: nothing.
    #[schemars(extend("examples" = [["tests/fixtures/", "**/*.draft.yaml"]]))]
    pub exclude: Vec<Spanned<String>>,
}

impl Default for Paths {
    fn default() -> Self {
        let list = |paths: &[&str]| paths.iter().map(|path| Spanned::from((*path).to_owned())).collect();
        Self {
            loops: list(&["loops"]),
            prompts: list(&["prompts"]),
            skills: list(&["skills", ".agents/skills", ".claude/skills"]),
            roots: list(&["."]),
            exclude: Vec::new(),
        }
    }
}

/// What policy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call goes ahead.
    Allow,
    /// The user is asked; without a terminal it is denied.
    Ask,
    /// The call does not happen and the model is told.
    Deny,
}

/// A rule of the policy.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The tool's name; `*` stands for anything.
    pub tool: Spanned<String>,
    /// For `run_command`: patterns for the arguments, one each; a last `*` stands for any number.
    #[serde(default)]
    pub argv: Option<Vec<String>>,
    /// For `http_request`: patterns for the host, such as `api.example.com` or `*.example.com`.
    #[serde(default)]
    pub hosts: Option<Vec<String>>,
    /// For file tools: patterns for the path, such as `src/**`.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
    /// Tools with this effect only.
    #[serde(default)]
    pub effect: Option<super::callable::Effect>,
    /// What is decided.
    pub decision: Decision,
}

/// How failed model calls are tried again.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryDoc {
    /// Attempts in all. Default: 4.
    #[schemars(range(min = 1, max = 20))]
    pub max_attempts: u32,
    /// The wait before the second attempt, doubled after each further one and then drawn at random below that. Default: 500ms.
    pub base_delay: Duration,
    /// The longest wait that the engine chooses. Default: 30s.
    pub max_delay: Duration,
    /// The longest wait that a provider may ask for; longer ones end the call. Default: 1m.
    pub max_retry_after: Duration,
    /// Calls in a row that fail for good after which a model is left alone for a while. Default: 3.
    #[schemars(range(min = 1))]
    pub breaker_failures: u32,
    /// How long it is left alone: its fallbacks answer, or the call fails at once. Default: 30s.
    pub breaker_cooldown: Duration,
}

impl Default for RetryDoc {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            base_delay: Duration(std::time::Duration::from_millis(500)),
            max_delay: Duration::secs(30),
            max_retry_after: Duration::secs(60),
            breaker_failures: 3,
            breaker_cooldown: Duration::secs(30),
        }
    }
}

/// A preset: thresholds that loops extend.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresetDoc {
    /// The JSON Schema that editors use for this file.
    #[serde(rename = "$schema", default)]
    pub schema: Option<String>,
    /// The kind of document.
    pub kind: PresetKind,
    /// The preset's name; loops write `extends: preset/NAME`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub name: Spanned<String>,
    /// What it is good for.
    #[serde(default)]
    pub description: Option<String>,
    /// A preset that this one builds on.
    #[serde(default)]
    pub extends: Extends,
    /// Tiers.
    #[serde(default)]
    pub model: Option<ModelChoice>,
    /// Limits.
    #[serde(default)]
    pub limits: Limits,
    /// What loops may use.
    #[serde(default)]
    pub allow: Allow,
    /// Mechanisms.
    #[serde(default)]
    pub mechanisms: Mechanisms,
}

/// `preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetKind {
    /// A preset.
    Preset,
}
