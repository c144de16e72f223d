//! The messages API of Anthropic, and of those who offer the same.

mod decode;
mod encode;

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::wire::{Line, Setup, Wire};
use super::{Provider, wire};
use crate::model::setup::{KeySource, Wait};
use crate::model::{BuildContext, EncodeCache, Model, ModelSetupError, Price, Protocol, Request};

const HOSTED: &str = "https://api.anthropic.com";
// The API has no default; every current model allows this many.
const MAX_TOKENS: u32 = 8192;

/// A model behind the messages API: Anthropic's own, or a compatible one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnthropicSettings {
    /// `anthropic`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model's name, such as `claude-sonnet-5`.
    pub model: String,
    /// Where the API begins; `/v1/messages` is added. Default: Anthropic's own.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Where the key comes from. Default: the variable ANTHROPIC_API_KEY for Anthropic's own URL, no key for any other.
    #[serde(default)]
    pub api_key: Option<KeySource>,
    /// How actions are asked for and given: `json` (default, any model), `json_schema`, or `tools`.
    #[serde(default)]
    pub protocol: Protocol,
    /// The context window in tokens, where it should be watched.
    #[serde(default)]
    pub context: Option<u32>,
    /// The most tokens that the model may write in one reply. Default: 8192.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The temperature, 0 to 1. Default: the server's.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub temperature: Option<f64>,
    /// The price in US dollars for a million tokens, for cost limits and totals.
    #[serde(default)]
    pub price: Option<Price>,
    /// Further headers, such as `anthropic-beta`.
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
    /// Whether the stable part of the prompt and the transcript are marked for the prompt cache. Default: true.
    #[serde(default = "yes")]
    pub cache: bool,
    /// Further members of the request body, such as `thinking`. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

fn yes() -> bool {
    true
}

pub(super) struct Anthropic {
    line: Line,
    settings: AnthropicSettings,
}

impl Provider for Anthropic {
    const NAME: &'static str = "anthropic";
    const SUMMARY: &'static str = "The messages API: Claude models, and servers that offer the same.";
    type Settings = AnthropicSettings;

    fn build(settings: AnthropicSettings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        Ok(Arc::new(Self::new(settings, context)?))
    }
}

impl Anthropic {
    fn new(settings: AnthropicSettings, context: &BuildContext) -> Result<Self, ModelSetupError> {
        let base_url = settings.base_url.as_deref().unwrap_or(HOSTED).trim().trim_end_matches('/');
        let default_key = KeySource::Env("ANTHROPIC_API_KEY".to_owned());
        let setup = Setup {
            provider: Self::NAME,
            model: &settings.model,
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            input_includes_cache: false,
            base_url,
            path: if base_url.ends_with("/v1") { "/messages" } else { "/v1/messages" },
            key: settings.api_key.as_ref().or(base_url.starts_with(HOSTED).then_some(&default_key)),
            key_header: ("x-api-key", ""),
            headers: &settings.headers,
            fixed: &[("anthropic-version", "2023-06-01")],
            idle_timeout: settings.idle_timeout.0,
            connect_timeout: settings.connect_timeout.0,
            extra: &settings.extra,
        };
        Ok(Self { line: Line::new(&setup, context)?, settings })
    }
}

impl Wire for Anthropic {
    type Dialect = decode::Events;

    fn line(&self) -> &Line {
        &self.line
    }

    fn encode(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        self.write_body(request, cache)
    }
}
