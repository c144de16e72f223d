//! What a provider is given and what it gives back.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{CallPurpose, Usage};

/// A stable block of the system message; blocks are separate so that a provider can set cache breakpoints between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The text.
    pub text: Arc<str>,
}

/// One native tool as a provider is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its parameters.
    pub params: Value,
}

/// The native tools of a turn. Built once for a set of allowed actions; `id` tells caches when it is another set.
#[derive(Debug, PartialEq)]
pub struct ToolSpecs {
    /// Differs between sets.
    pub id: u64,
    /// In the order that the model sees.
    pub specs: Vec<ToolSpec>,
}

impl ToolSpecs {
    /// A set with a fresh id.
    #[must_use]
    pub fn new(specs: Vec<ToolSpec>) -> Self {
        Self { id: fresh_id(), specs }
    }
}

/// A native tool call in a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for it (made up where the provider sent none).
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, perhaps broken.
    pub arguments: String,
    /// What the provider wants back with the call, whatever it means: Gemini signs its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<String>,
}

impl ToolCall {
    /// The arguments as the text of a JSON object. Servers refuse a whole transcript for one broken call in it.
    pub(super) fn arguments_object(&self) -> Cow<'_, str> {
        let text = self.arguments.trim();
        if text.is_empty() {
            Cow::Borrowed("{}")
        } else if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(serde_json::json!({ "invalid_json": text }).to_string())
        }
    }
}

/// The result of a native tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// What came back.
    pub content: String,
    /// Whether it is an error.
    pub is_error: bool,
}

/// One part of the transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Text from the engine. Neighbouring user turns join into one message, with a blank line between.
    User(Arc<str>),
    /// Text from the model.
    Assistant(Arc<str>),
    /// Native calls of the model, with the text that came with them.
    Calls {
        /// The text, often empty.
        text: Arc<str>,
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// The results of the calls just before.
    Results(Vec<ToolResult>),
}

/// The name of the call that a result with this id answers, found in the turns before it.
pub(super) fn called<'t>(before: &'t [Turn], id: &str) -> &'t str {
    let name = before.iter().rev().find_map(|turn| match turn {
        Turn::Calls { calls, .. } => calls.iter().find(|call| call.id == id).map(|call| call.name.as_str()),
        _ => None,
    });
    name.unwrap_or_default()
}

/// What happened in past iterations, append-only: never edited, so its encoded bytes can be kept.
#[derive(Debug)]
pub struct Transcript {
    id: u64,
    turns: Vec<Turn>,
}

impl Default for Transcript {
    fn default() -> Self {
        Self { id: fresh_id(), turns: Vec::new() }
    }
}

impl Transcript {
    /// Appends a turn.
    pub fn push(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    /// All turns, oldest first.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Differs between transcripts: a cache that knows another id is stale.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
}

/// Settings of one call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// The most tokens that the model may write.
    pub max_tokens: Option<u32>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// Further members of the request body, as the workspace declares them.
    pub extra: Option<Arc<serde_json::Map<String, Value>>>,
}

/// One request. Its text is system blocks, then the transcript, then `last`, then `retry`.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the reply is for; recordings note it, and no provider is told.
    pub purpose: Option<CallPurpose>,
    /// The stable head, one block a cache tier.
    pub system: &'a [Block],
    /// Past iterations.
    pub transcript: &'a Transcript,
    /// This turn's user part.
    pub last: &'a str,
    /// Failed attempts at this turn with the words that answer them.
    pub retry: &'a [Turn],
    /// Native tools, under [`super::Protocol::Tools`].
    pub tools: Option<&'a ToolSpecs>,
    /// The tool that must be called, when there is only one choice.
    pub force_tool: Option<&'a str>,
    /// The schema that the reply must follow, under [`super::Protocol::JsonSchema`].
    pub schema: Option<&'a Value>,
    /// Settings.
    pub sampling: &'a Sampling,
    /// Values that differ between runs of the same input (nonces, run id, clock): scripts and recordings match the
    /// request with each of these replaced by its name. Those named [`SECRET`] are masked and never put back.
    pub volatile: &'a [(&'a str, String)],
}

/// The name of secrets among [`Request::volatile`].
pub const SECRET: &str = "secret";

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    Stop,
    /// It ran out of tokens.
    Length,
    /// It called tools.
    ToolCalls,
    /// The provider withheld the reply.
    ContentFilter,
    /// The provider paused a long turn.
    Pause,
    /// A reason of the provider's own.
    Other,
}

impl Finish {
    /// From a provider's word, which is the same thing under many names. Words that nobody knows are another reason.
    pub(super) fn from_reason(reason: &str) -> Self {
        match reason.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "eos" | "stop_sequence" => Self::Stop,
            "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
                Self::Length
            }
            "tool_calls" | "tool_use" | "function_call" => Self::ToolCalls,
            "content_filter" | "refusal" => Self::ContentFilter,
            "pause_turn" => Self::Pause,
            _ => Self::Other,
        }
    }

    /// The name in events and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Pause => "pause",
            Self::Other => "other",
        }
    }
}

/// A complete reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, without reasoning.
    pub text: String,
    /// The reasoning, where the provider gives it apart.
    pub reasoning: String,
    /// Native tool calls.
    pub calls: Vec<ToolCall>,
    /// Why it stopped; none when the provider did not say.
    pub finish: Option<Finish>,
    /// Tokens; none when the provider did not say.
    pub usage: Option<Usage>,
}

/// A number that no other caller in this process gets.
pub(super) fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
