//! The file of a script or a recording.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::super::{Finish, ModelSetupError, Protocol, Reply, ToolCall};
use super::canonical::Volatile;
use super::lines::{RequestText, describe};
use crate::event::Usage;

/// Replies and the requests that they answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepliesFile {
    /// Whether a person wrote the replies or a model gave them.
    pub(super) kind: RepliesKind,
    /// Words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Of a recording: the model, as `provider:model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// How the replies give actions.
    #[serde(default)]
    pub(super) protocol: Protocol,
    /// In the order of the calls. Empty in a file that was only begun.
    #[serde(default)]
    pub(super) exchanges: Option<Vec<Exchange>>,
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RepliesKind {
    /// Written by hand.
    Script,
    /// Recorded from a model.
    Recording,
}

/// One request and its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    /// Of a recording of several models: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// What comes back.
    pub(super) reply: Written,
    /// The request, with the values that differ between runs as `{{ name }}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<RequestText>,
}

/// A reply as it is written down. `{{ nonce }}` in it stands for this turn's nonce.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    /// The model's reasoning.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) reasoning: String,
    /// The text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
    /// Native tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<WrittenCall>,
    /// Why the model stopped. In a script, default: `tool_calls` where there are calls, else `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish: Option<Finish>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
    /// The pieces that it came in, such as `r12 t3 t40 a0:17`: bytes of reasoning, of text, of the first call's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chunks: Option<String>,
}

/// A native call as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCall {
    /// The provider's id. Default: made up from the call's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// The tool.
    pub(super) name: String,
    /// Its arguments, as an object or as the text that the model wrote.
    #[serde(default)]
    pub(super) arguments: Value,
}

impl RepliesFile {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, ModelSetupError> {
        let fail = |reason: String| ModelSetupError::Replies { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        serde_yaml::from_str(&text).map_err(|error| fail(error.to_string()))
    }

    /// The text of every request, each resolved against the one before.
    pub(super) fn requests(&self) -> Result<Vec<Option<String>>, String> {
        let mut before = String::new();
        let mut all = Vec::new();
        for (at, exchange) in self.exchanges.iter().flatten().enumerate() {
            let text = exchange.request.as_ref().map(|request| request.resolve(&before)).transpose();
            let text = text.map_err(|reason| format!("exchange {}: {reason}", at + 1))?;
            if let Some(text) = &text {
                before.clone_from(text);
            }
            all.push(text);
        }
        Ok(all)
    }

    /// Puts in the requests, each as what is new since the one before.
    pub(super) fn set_requests(&mut self, requests: &[Option<String>]) {
        let mut before = "";
        for (exchange, request) in self.exchanges.iter_mut().flatten().zip(requests) {
            exchange.request = request.as_ref().map(|request| describe(before, request));
            before = request.as_deref().unwrap_or(before);
        }
    }

    /// Writes the file as a whole: another reader sees the old one or the new one.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_yaml::to_string(self).map_err(|error| error.to_string())?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, path))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

impl Written {
    /// A reply as it is written down, its volatile values as names.
    pub(super) fn from_reply(reply: &Reply, chunks: String, volatile: &Volatile<'_>) -> Self {
        let call = |call: &ToolCall| WrittenCall {
            id: Some(call.id.clone()),
            name: call.name.clone(),
            arguments: Value::String(volatile.mask(&call.arguments)),
        };
        Self {
            reasoning: volatile.mask(&reply.reasoning),
            text: volatile.mask(&reply.text),
            calls: reply.calls.iter().map(call).collect(),
            finish: reply.finish,
            usage: reply.usage,
            chunks: (!chunks.is_empty()).then_some(chunks),
        }
    }

    /// The reply, with this run's values, and the pieces that it comes in.
    pub(super) fn to_reply(&self, kind: RepliesKind, volatile: &Volatile<'_>, id_base: usize) -> Reply {
        let calls = self.calls.iter().enumerate().map(|(at, call)| ToolCall {
            id: call.id.clone().unwrap_or_else(|| format!("call_{id_base}_{}", at + 1)),
            name: call.name.clone(),
            arguments: match &call.arguments {
                Value::String(text) => volatile.fill(text),
                Value::Null => "{}".to_owned(),
                other => volatile.fill(&other.to_string()),
            },
        });
        let finish = match (self.finish, kind) {
            (None, RepliesKind::Script) if self.calls.is_empty() => Some(Finish::Stop),
            (None, RepliesKind::Script) => Some(Finish::ToolCalls),
            (finish, _) => finish,
        };
        Reply {
            text: volatile.fill(&self.text),
            reasoning: volatile.fill(&self.reasoning),
            calls: calls.collect(),
            finish,
            usage: self.usage,
        }
    }
}
