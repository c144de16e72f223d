//! Chat completions, as OpenAI and the many servers that speak its protocol have them.

mod decode;
mod encode;

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::messages::write_body;
use super::wire::{Line, Setup, Wire};
use super::{Provider, wire};
use crate::model::setup::{KeySource, Wait};
use crate::model::{BuildContext, EncodeCache, Model, ModelSetupError, Price, Protocol, Request};

const HOSTED: &str = "https://api.openai.com/v1";

/// A model behind a chat-completions server: OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAiSettings {
    /// `openai`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model's name, as the server knows it.
    pub model: String,
    /// Where the API begins, up to `/v1`; `/chat/completions` is added. Default: OpenAI's own.
    ///
    /// For a local server such as `http://127.0.0.1:8080/v1`. Proxies from the environment are not used for loopback.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Where the key comes from. Default: the variable OPENAI_API_KEY for OpenAI's own URL, no key for any other.
    #[serde(default)]
    pub api_key: Option<KeySource>,
    /// How actions are asked for and given: `json` (default, any model), `json_schema`, or `tools`.
    #[serde(default)]
    pub protocol: Protocol,
    /// The context window in tokens, where it should be watched.
    #[serde(default)]
    pub context: Option<u32>,
    /// The most tokens that the model may write in one reply. Default: the server's.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The temperature. Default: the server's.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub temperature: Option<f64>,
    /// The price in US dollars for a million tokens, for cost limits and totals.
    #[serde(default)]
    pub price: Option<Price>,
    /// Further headers.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// How long the server may be silent before the call fails. Default: 5m.
    ///
    /// Comments and pings do not count as being heard from.
    #[serde(default = "wire::idle_timeout")]
    pub idle_timeout: Wait,
    /// How long connecting may take. Default: 10s.
    #[serde(default = "wire::connect_timeout")]
    pub connect_timeout: Wait,
    /// Under `json_schema`: how the server wants the schema. Default: `openai`.
    #[serde(default)]
    pub schema_form: SchemaForm,
    /// Under `json_schema`: whether to ask for OpenAI's strict mode, which allows only some schemas. Default: false.
    #[serde(default)]
    pub strict: bool,
    /// Further members of the request body. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// How a schema goes into `response_format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaForm {
    /// `type: json_schema` with the schema under `json_schema`: OpenAI, vLLM, LM Studio, Ollama, current llama.cpp.
    #[default]
    Openai,
    /// `type: json_object` with the schema beside it: llama-cpp-python, older llama.cpp, Together.
    LlamaCpp,
    /// `type: json_object` without the schema, for servers that promise JSON and no more, such as DeepSeek.
    JsonObject,
}

pub(super) struct OpenAi {
    line: Line,
    settings: OpenAiSettings,
    hosted: bool,
}

impl Provider for OpenAi {
    const NAME: &'static str = "openai";
    const SUMMARY: &'static str = "Chat completions: OpenAI and compatible servers, hosted or local.";
    type Settings = OpenAiSettings;

    fn build(settings: OpenAiSettings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        Ok(Arc::new(Self::new(settings, context)?))
    }
}

impl OpenAi {
    fn new(settings: OpenAiSettings, context: &BuildContext) -> Result<Self, ModelSetupError> {
        let base_url = settings.base_url.as_deref().unwrap_or(HOSTED);
        let hosted = base_url.starts_with("https://api.openai.com");
        let default_key = KeySource::Env("OPENAI_API_KEY".to_owned());
        let setup = Setup {
            provider: Self::NAME,
            model: &settings.model,
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            input_includes_cache: true,
            base_url,
            path: "/chat/completions",
            key: settings.api_key.as_ref().or(hosted.then_some(&default_key)),
            key_header: ("authorization", "Bearer "),
            headers: &settings.headers,
            fixed: &[],
            idle_timeout: settings.idle_timeout.0,
            connect_timeout: settings.connect_timeout.0,
            extra: &settings.extra,
        };
        Ok(Self { line: Line::new(&setup, context)?, hosted, settings })
    }
}

impl Wire for OpenAi {
    type Dialect = decode::Chunks;

    fn line(&self) -> &Line {
        &self.line
    }

    fn encode(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        write_body(request, cache, self.line.id, |head| self.write_head(head, request), encode::write_turn)
    }
}
