//! The responses API of OpenAI, without its memory: every request carries everything.

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

const HOSTED: &str = "https://api.openai.com";

/// A model behind the responses API: OpenAI's own, or a compatible one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponsesSettings {
    /// `responses`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model's name, such as `gpt-5-mini`.
    pub model: String,
    /// Where the API begins, up to `/v1`; `/responses` is added. Default: OpenAI's own.
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
    /// The most tokens that the model may write in one reply, its reasoning included. Default: the server's.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The temperature. Default: the server's.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// The price in US dollars for a million tokens, for cost limits and totals.
    #[serde(default)]
    pub price: Option<Price>,
    /// Further headers.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// How long the server may be silent before the call fails. Default: 5m.
    #[serde(default = "wire::idle_timeout")]
    pub idle_timeout: Wait,
    /// How long connecting may take. Default: 10s.
    #[serde(default = "wire::connect_timeout")]
    pub connect_timeout: Wait,
    /// Whether to ask for strict schemas, which allows only some. Default: false.
    #[serde(default)]
    pub strict: bool,
    /// Further members of the request body, such as `reasoning`. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

pub(super) struct Responses {
    line: Line,
    settings: ResponsesSettings,
}

impl Provider for Responses {
    const NAME: &'static str = "responses";
    const SUMMARY: &'static str = "The responses API: OpenAI's newer one, and servers that offer the same.";
    type Settings = ResponsesSettings;

    fn build(settings: ResponsesSettings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        Ok(Arc::new(Self::new(settings, context)?))
    }
}

impl Responses {
    fn new(settings: ResponsesSettings, context: &BuildContext) -> Result<Self, ModelSetupError> {
        let default_url = format!("{HOSTED}/v1");
        let base_url = settings.base_url.as_deref().unwrap_or(&default_url);
        let default_key = KeySource::Env("OPENAI_API_KEY".to_owned());
        let setup = Setup {
            provider: Self::NAME,
            model: &settings.model,
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            input_includes_cache: true,
            base_url,
            path: "/responses",
            key: settings.api_key.as_ref().or(base_url.starts_with(HOSTED).then_some(&default_key)),
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

impl Wire for Responses {
    type Dialect = decode::Events;

    fn line(&self) -> &Line {
        &self.line
    }

    fn encode(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        write_body(request, cache, self.line.id, |head| self.write_head(head, request), encode::write_turn)
    }
}
