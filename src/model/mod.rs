//! Requests to streamed replies: the provider trait, what goes in, what comes out, what can go wrong.
//!
//! A request is a stable head (system blocks, tools), an append-only transcript, and one last user part. Providers
//! keep the encoded bytes of head and transcript in an [`EncodeCache`], so an iteration encodes only what is new.

mod cache;
#[cfg(test)]
mod cases;
mod error;
mod extra;
mod failure;
#[cfg(feature = "fuzzing")]
mod fuzz;
mod gather;
mod http;
mod json;
mod lenient;
mod lines;
mod provider;
#[cfg(test)]
#[path = "../../tests/support/raw_http.rs"]
mod raw_http;
mod refusal;
mod request;
pub mod retry;
mod setup;
mod sse;
mod stream;
pub mod tokens;
#[cfg(test)]
mod wire_tests;

pub use cache::EncodeCache;
pub use error::{ErrorClass, ModelError};
#[cfg(feature = "fuzzing")]
pub use fuzz::fuzz_stream;
pub use provider::{Mode as ReplayMode, PROVIDERS, RecordFile, Recorder, Replay, provider};
pub use request::{
    Block, Finish, Reply, Request, SECRET, Sampling, ToolCall, ToolResult, ToolSpec, ToolSpecs, Transcript, Turn,
};
pub use setup::{BuildContext, ModelSetupError, Wait, key_of};

use std::future::Future;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{ReplySource, Usage};

/// How an action is asked for and given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The schema is in the prompt and the reply is text with one JSON object. Works with any model.
    #[default]
    Json,
    /// As `json`, with decoding constrained by the provider to the schema.
    JsonSchema,
    /// Native tool calls: every action is a tool.
    Tools,
}

impl Protocol {
    /// The name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonSchema => "json_schema",
            Self::Tools => "tools",
        }
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For a million input tokens.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// For a million output tokens.
    #[schemars(range(min = 0.0))]
    pub output: f64,
    /// For a million tokens read from the prompt cache. Default: the input price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cache_read: Option<f64>,
    /// For a million tokens written to the prompt cache. Default: the input price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cache_write: Option<f64>,
}

/// What is known of a model before it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The provider's name, such as `openai`.
    pub provider: String,
    /// The model's name, as the provider knows it.
    pub model: String,
    /// How actions are asked for.
    pub protocol: Protocol,
    /// The context window in tokens, where declared.
    pub context: Option<u32>,
    /// Its price, where declared.
    pub price: Option<Price>,
    /// Whether a model answers, or something that was written down.
    pub source: ReplySource,
    /// Whether `usage.input` already includes cached tokens (OpenAI) or not (Anthropic).
    pub input_includes_cache: bool,
}

impl ModelInfo {
    /// `provider:model`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}:{}", self.provider, self.model)
    }

    /// The cost of a call in US dollars, where a price is known.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        let price = self.price?;
        let cached = usage.cache_read.saturating_add(usage.cache_write);
        let plain = if self.input_includes_cache { usage.input.saturating_sub(cached) } else { usage.input };
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let part = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        Some(
            part(plain, price.input)
                + part(usage.output, price.output)
                + part(usage.cache_read, price.cache_read.unwrap_or(price.input))
                + part(usage.cache_write, price.cache_write.unwrap_or(price.input)),
        )
    }
}

/// Takes a reply's pieces while it arrives.
pub trait Sink: Send {
    /// A piece of the reply's text.
    fn text(&mut self, piece: &str);
    /// A piece of the model's reasoning, which never counts as reply.
    fn reasoning(&mut self, piece: &str);
    /// A piece of a native tool call's arguments: `index` is the call's place in the reply, `name` is set as soon as known.
    fn arguments(&mut self, index: usize, name: &str, piece: &str) {
        let _ = (index, name, piece);
    }
    /// Of a reply that was recorded: when it was complete, since the recording began.
    fn recorded_at(&mut self, at: std::time::Duration) {
        let _ = at;
    }
}

/// A sink that nobody watches.
pub struct NoSink;

impl Sink for NoSink {
    fn text(&mut self, _: &str) {}
    fn reasoning(&mut self, _: &str) {}
}

/// A boxed future, so that providers of any kind fit in one table.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model behind a provider: takes one request, gives one reply. It makes one attempt and never retries.
///
/// Dropping the future closes the connection.
pub trait Model: Send + Sync {
    /// What is known of the model.
    fn info(&self) -> &ModelInfo;

    /// Whether a call could be made at all: whether its key was found. Asked for before a run needs the model.
    ///
    /// # Errors
    /// What is missing and how to give it.
    fn ready(&self) -> Result<(), ModelSetupError> {
        Ok(())
    }

    /// What must be masked wherever text of a run is kept or shown.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sends the request and streams the reply into the sink.
    ///
    /// # Errors
    /// Whatever the provider or the connection came up with, with its class.
    fn call<'a>(
        &'a self,
        request: Request<'a>,
        cache: &'a mut EncodeCache,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// One call with one user part: how a person finds out whether a provider works.
///
/// # Errors
/// Whatever the call came up with.
pub async fn ask(model: &dyn Model, text: &str) -> Result<Reply, ModelError> {
    let transcript = Transcript::default();
    let sampling = Sampling::default();
    let request = Request {
        purpose: None,
        system: &[],
        transcript: &transcript,
        last: text,
        retry: &[],
        tools: None,
        force_tool: None,
        schema: None,
        sampling: &sampling,
        volatile: &[],
    };
    model.call(request, &mut EncodeCache::default(), &mut NoSink).await
}
