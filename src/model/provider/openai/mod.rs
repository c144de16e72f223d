//! Chat completions, as OpenAI and the many servers that speak its protocol have them.

mod decode;
mod encode;

#[cfg(any(test, feature = "fuzzing"))]
pub(super) use decode::Chunks;

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
    #[serde(default = "idle_timeout")]
    pub idle_timeout: Wait,
    /// How long connecting may take. Default: 10s.
    #[serde(default = "connect_timeout")]
    pub connect_timeout: Wait,
    /// Under `json_schema`: whether to ask for OpenAI's strict mode, which allows only some schemas. Default: false.
    #[serde(default)]
    pub strict: bool,
    /// Further members of the request body. They win over those that the engine writes; null leaves one out.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

fn idle_timeout() -> Wait {
    Wait::secs(300)
}

fn connect_timeout() -> Wait {
    Wait::secs(10)
}

pub(super) struct OpenAi {
    id: u64,
    info: ModelInfo,
    settings: OpenAiSettings,
    hosted: bool,
    key: Key,
    endpoint: Endpoint,
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
        check_extra(&settings.extra)?;
        let base_url = settings.base_url.as_deref().unwrap_or(HOSTED);
        let hosted = base_url.starts_with("https://api.openai.com");
        let info = ModelInfo {
            provider: <Self as Provider>::NAME.to_owned(),
            model: settings.model.clone(),
            protocol: settings.protocol,
            context: settings.context,
            price: settings.price,
            source: ReplySource::Model,
            input_includes_cache: true,
        };
        let default_key = KeySource::Env("OPENAI_API_KEY".to_owned());
        let source = settings.api_key.as_ref().or(hosted.then_some(&default_key));
        let key = Key::find(source, &info.label(), context);
        let endpoint = Endpoint::new(&Target {
            base_url,
            path: "/chat/completions",
            headers: &settings.headers,
            fixed: &[],
            auth: Auth { header: "authorization", prefix: "Bearer ", key: &key, label: &info.label() },
            idle_timeout: settings.idle_timeout.0,
            connect_timeout: settings.connect_timeout.0,
            context,
        })?;
        Ok(Self { id: fresh_id(), info, hosted, key, endpoint, settings })
    }
}

impl Model for OpenAi {
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
        let reader = Reader::new(decode::Chunks, gather);
        Box::pin(self.endpoint.exchange(body, reader))
    }
}
