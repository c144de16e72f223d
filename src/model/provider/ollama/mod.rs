//! Ollama's own API: unlike its copy of chat completions it takes the context's size and does not cut prompts silently.

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

const LOCAL: &str = "http://127.0.0.1:11434";

/// A model that Ollama serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OllamaSettings {
    /// `ollama`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model's name, such as `qwen3:8b`.
    pub model: String,
    /// Where the server is; `/api/chat` is added. Default: `http://127.0.0.1:11434`.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Where the key comes from, for a server that wants one. Default: no key.
    #[serde(default)]
    pub api_key: Option<KeySource>,
    /// How actions are asked for and given: `json` (default, any model), `json_schema`, or `tools`.
    #[serde(default)]
    pub protocol: Protocol,
    /// The context window in tokens. The server is told (`num_ctx`); without it, it takes its own default.
    #[serde(default)]
    pub context: Option<u32>,
    /// The most tokens that the model may write in one reply (`num_predict`). Default: the server's.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The temperature. Default: the model's.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub temperature: Option<f64>,
    /// The price in US dollars for a million tokens, for cost limits and totals.
    #[serde(default)]
    pub price: Option<Price>,
    /// Further headers.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// How long the server may be silent before the call fails; loading a model counts. Default: 5m.
    #[serde(default = "wire::idle_timeout")]
    pub idle_timeout: Wait,
    /// How long connecting may take. Default: 10s.
    #[serde(default = "wire::connect_timeout")]
    pub connect_timeout: Wait,
    /// Further members of the request body, such as `think` or `options`. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

pub(super) struct Ollama {
    line: Line,
    settings: OllamaSettings,
}

impl Provider for Ollama {
    const NAME: &'static str = "ollama";
    const SUMMARY: &'static str = "Ollama's own API, on this machine or another.";
    type Settings = OllamaSettings;

    fn build(settings: OllamaSettings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        Ok(Arc::new(Self::new(settings, context)?))
    }
}

impl Ollama {
    fn new(settings: OllamaSettings, context: &BuildContext) -> Result<Self, ModelSetupError> {
        let base_url = settings.base_url.as_deref().unwrap_or(LOCAL).trim().trim_end_matches('/');
        let setup = Setup {
            provider: Self::NAME,
            model: &settings.model,
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            input_includes_cache: true,
            base_url,
            path: if base_url.ends_with("/api") { "/chat" } else { "/api/chat" },
            key: settings.api_key.as_ref(),
            key_header: ("authorization", "Bearer "),
            headers: &settings.headers,
            fixed: &[],
            idle_timeout: settings.idle_timeout.0,
            connect_timeout: settings.connect_timeout.0,
            extra: &settings.extra,
        };
        Ok(Self { line: Line::new(&setup, context)?, settings })
    }
}

impl Wire for Ollama {
    type Dialect = decode::Chunks;

    fn line(&self) -> &Line {
        &self.line
    }

    fn encode(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        write_body(request, cache, self.line.id, |head| self.write_head(head, request), encode::write_turn)
    }
}
