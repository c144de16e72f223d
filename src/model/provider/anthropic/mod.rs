//! The messages API of Anthropic, and of those who offer the same.

mod decode;
mod encode;

#[cfg(any(test, feature = "fuzzing"))]
pub(super) use decode::Events;

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Provider;
use crate::event::ReplySource;
use crate::model::extra::check_extra;
use crate::model::gather::Gather;
use crate::model::http::{Auth, Endpoint, Target};
use crate::model::request::fresh_id;
use crate::model::setup::{Key, KeySource, Wait};
use crate::model::stream::Reader;
use crate::model::{
    BoxFuture, BuildContext, EncodeCache, Model, ModelError, ModelInfo, ModelSetupError, Price, Protocol, Reply,
    Request, Sink,
};

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
    #[serde(default = "idle_timeout")]
    pub idle_timeout: Wait,
    /// How long connecting may take. Default: 10s.
    #[serde(default = "connect_timeout")]
    pub connect_timeout: Wait,
    /// Whether the stable part of the prompt and the transcript are marked for the prompt cache. Default: true.
    #[serde(default = "yes")]
    pub cache: bool,
    /// Further members of the request body, such as `thinking`. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

fn idle_timeout() -> Wait {
    Wait::secs(300)
}

fn connect_timeout() -> Wait {
    Wait::secs(10)
}

fn yes() -> bool {
    true
}

pub(super) struct Anthropic {
    id: u64,
    info: ModelInfo,
    settings: AnthropicSettings,
    key: Key,
    endpoint: Endpoint,
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
        check_extra(&settings.extra)?;
        let base_url = settings.base_url.as_deref().unwrap_or(HOSTED).trim().trim_end_matches('/');
        let hosted = base_url.starts_with(HOSTED);
        let info = ModelInfo {
            provider: <Self as Provider>::NAME.to_owned(),
            model: settings.model.clone(),
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            source: ReplySource::Model,
            input_includes_cache: false,
        };
        let default_key = KeySource::Env("ANTHROPIC_API_KEY".to_owned());
        let source = settings.api_key.as_ref().or(hosted.then_some(&default_key));
        let key = Key::find(source, &info.label(), context);
        let endpoint = Endpoint::new(&Target {
            base_url,
            path: if base_url.ends_with("/v1") { "/messages" } else { "/v1/messages" },
            headers: &settings.headers,
            fixed: &[("anthropic-version", "2023-06-01")],
            auth: Auth { header: "x-api-key", prefix: "", key: &key, label: &info.label() },
            idle_timeout: settings.idle_timeout.0,
            connect_timeout: settings.connect_timeout.0,
            context,
        })?;
        Ok(Self { id: fresh_id(), info, key, endpoint, settings })
    }
}

impl Model for Anthropic {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ready(&self) -> Result<(), ModelSetupError> {
        self.endpoint.ready()
    }

    fn secrets(&self) -> Vec<String> {
        self.key.secrets()
    }

    fn call<'a>(
        &'a self,
        request: Request<'a>,
        cache: &'a mut EncodeCache,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let body = self.encode(&request, cache);
        let gather = Gather::new(sink, request.transcript.turns().len() + request.retry.len());
        let reader = Reader::new(decode::Events, gather);
        Box::pin(self.endpoint.exchange(body, reader))
    }
}
