//! MCP servers of the workspace: how each is reached, and what is taken from it.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::value::Duration;
use crate::syntax::{Raw, Spanned, Value, decode_within};

/// An MCP server: a program that the engine starts (`command`), or an address (`url`).
///
/// Its tools are named `mcp_SERVER_TOOL`, and loops list them under `tools`, also with `*`: `mcp_files_*`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("examples" = [
    { "command": ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."] },
    { "url": "https://mcp.example.com/mcp", "headers": { "Authorization": { "env": "MCP_TOKEN", "prefix": "Bearer " } } }
]))]
pub struct McpServerDoc {
    /// The program and its arguments in one list. It is spoken to over its standard input and output.
    #[serde(deserialize_with = "argv")]
    #[schemars(length(min = 1))]
    pub command: Option<Spanned<Vec<String>>>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<Spanned<String>>,
    /// Environment variables of the program. It gets these and a few harmless ones such as `PATH` and `HOME`, no others.
    pub env: IndexMap<String, McpValue>,
    /// The program's folder, inside `paths.roots`. Default: the workspace's.
    pub cwd: Option<Spanned<String>>,
    /// HTTP headers of every request to `url`.
    pub headers: IndexMap<String, McpValue>,
    /// When the server is started. Default: `lazy`.
    pub start: McpStart,
    /// How long starting may take, the list of tools included. Default: 60s, since `npx` may have to fetch a package first.
    pub start_timeout: Duration,
    /// How long a call may be silent; what the server reports as progress starts the time again, ten times at most. Default: 60s.
    pub timeout: Duration,
    /// Patterns for the server's own tool names, such as `read_*`: only these are taken. Default: all.
    pub tools: Option<Vec<Spanned<String>>>,
    /// Patterns for the server's own tool names that are not taken, whatever `tools` says.
    pub exclude: Vec<Spanned<String>>,
    /// What happens when the server ends by itself.
    pub restart: McpRestart,
    /// Bytes of a result that are kept: its beginning and its end. Default: 65536.
    #[schemars(range(min = 1))]
    pub max_output: usize,
    /// Whether what the server says of its tools' effects (`readOnlyHint`, `idempotentHint`) is believed, by policy and
    /// by whatever else asks for effects. Default: false, so that each tool counts as `at_most_once`.
    pub trust_hints: bool,
}

impl Default for McpServerDoc {
    fn default() -> Self {
        Self {
            command: None,
            url: None,
            env: IndexMap::new(),
            cwd: None,
            headers: IndexMap::new(),
            start: McpStart::default(),
            start_timeout: Duration::secs(60),
            timeout: Duration::secs(60),
            tools: None,
            exclude: Vec::new(),
            restart: McpRestart::default(),
            max_output: 64 << 10,
            trust_hints: false,
        }
    }
}

/// A command as one list. Other programs take the name and the arguments apart, so that mistake has words of its own.
fn argv<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Spanned<Vec<String>>>, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    match raw.node().as_str() {
        Some(text) => {
            let words = text.split_whitespace().collect::<Vec<_>>().join(", ");
            Err(D::Error::custom(format!("the program and its arguments are one list: [{words}, ARGUMENT]")))
        }
        None => decode_within::<Spanned<Vec<String>>, D::Error>(raw.node()).map(Some),
    }
}

/// When an MCP server is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpStart {
    /// When a loop that lists one of its tools begins, or a step calls one.
    #[default]
    Lazy,
    /// When a run begins, whichever loop it is.
    Eager,
}

/// What happens when an MCP server ends by itself: it is started again when it is next needed.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpRestart {
    /// How often in a row; a server that lasted a minute begins to count afresh. Default: 5; 0 means never.
    #[schemars(range(max = 100))]
    pub max: u32,
    /// The wait before the second start of that row, doubled before each further one; the first is at once. Default: 500ms.
    pub base_delay: Duration,
    /// The longest wait. Default: 30s.
    pub max_delay: Duration,
}

impl Default for McpRestart {
    fn default() -> Self {
        Self { max: 5, base_delay: Duration(std::time::Duration::from_millis(500)), max_delay: Duration::secs(30) }
    }
}

/// The value of a variable or a header: text, or where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpValue {
    /// As it stands.
    Text(String),
    /// A secret, which no output shows.
    Secret {
        /// Where it is.
        from: McpSecret,
        /// What stands before it, such as `Bearer `.
        prefix: String,
    },
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpSecret {
    /// In an environment variable of the engine.
    Env(String),
    /// In a file; its text without blanks around it. Relative to the workspace.
    File(String),
}

/// A secret by its place: `env` or `file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SecretDoc {
    /// The name of an environment variable of the engine.
    #[serde(default)]
    env: Option<String>,
    /// A file whose text is the secret. Relative to the workspace.
    #[serde(default)]
    file: Option<String>,
    /// What stands before it, such as `Bearer `.
    #[serde(default)]
    prefix: String,
}

impl<'de> Deserialize<'de> for McpValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Value::Map(_) => {
                let doc = decode_within::<SecretDoc, D::Error>(raw.node())?;
                let from = match (doc.env, doc.file) {
                    (Some(name), None) => McpSecret::Env(name),
                    (None, Some(path)) => McpSecret::File(path),
                    _ => return Err(D::Error::custom("a secret has one place: `{ env: NAME }` or `{ file: PATH }`")),
                };
                Ok(Self::Secret { from, prefix: doc.prefix })
            }
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => {
                Ok(Self::Text(raw.node().to_json().to_string()))
            }
            _ => decode_within::<String, D::Error>(raw.node()).map(Self::Text),
        }
    }
}

impl JsonSchema for McpValue {
    fn schema_name() -> Cow<'static, str> {
        "McpValue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let secret = generator.subschema_for::<SecretDoc>();
        json_schema!({
            "description": "Text, or where a secret is: { env: NAME } or { file: PATH }, with an optional `prefix`.",
            "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "boolean" }, secret],
            "examples": ["info", { "env": "API_TOKEN" }, { "env": "API_TOKEN", "prefix": "Bearer " }]
        })
    }
}
