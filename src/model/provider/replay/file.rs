//! The file of a script or a recording.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::canonical::Volatile;
use super::lines::{RequestText, describe};
use super::write;
use crate::diag::render::concise;
use crate::diag::{Diagnostics, SourceMap};
use crate::document::Duration;
use crate::event::{CallPurpose, Usage};
use crate::model::{Finish, ModelSetupError, Protocol, Reply, ToolCall};
use crate::syntax::{Format, MAX_BYTES, decode, parse};

/// Replies and the requests that they answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepliesFile {
    /// Whether a person wrote the replies or a model gave them.
    pub(super) kind: RepliesKind,
    /// Words for people.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// Of a recording: the model, as `provider:model`.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// How the replies give actions.
    #[serde(default)]
    pub(super) protocol: Protocol,
    /// In the order of the calls. None in a file that was only begun.
    #[serde(default)]
    pub(super) exchanges: Vec<Exchange>,
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RepliesKind {
    /// Written by hand.
    Script,
    /// Recorded from a model.
    Recording,
}

/// One request and its reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    /// Of a recording of several models: which one.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// Of a recording: what the reply is for.
    #[serde(default)]
    pub(super) purpose: Option<CallPurpose>,
    /// What comes back.
    pub(super) reply: Written,
    /// The request, with the values that differ between runs as `{{ name }}`.
    #[serde(default)]
    pub(super) request: Option<RequestText>,
}

/// A reply as it is written down. `{{ nonce }}` in it stands for this turn's nonce.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    /// The model's reasoning.
    pub(super) reasoning: String,
    /// The text.
    pub(super) text: String,
    /// Native tool calls.
    pub(super) calls: Vec<WrittenCall>,
    /// Why the model stopped. In a script, default: `tool_calls` where there are calls, else `stop`.
    pub(super) finish: Option<Finish>,
    /// Tokens.
    pub(super) usage: Option<Usage>,
    /// How long the model takes. Default: no time at all.
    pub(super) after: Option<Duration>,
    /// Of a recording: when the reply was complete, since the recording began. A replay takes no time, and whatever waits
    /// for time in the run goes by this.
    pub(super) at: Option<Duration>,
    /// The pieces that it came in, such as `r12 t3 t40 a0:17`: bytes of reasoning, of text, of the first call's arguments.
    pub(super) chunks: Option<String>,
}

/// A native call as it is written down.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCall {
    /// The provider's id. Default: made up from the call's place.
    #[serde(default)]
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
        Self::parse(path, &text).map_err(fail)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        // Only a recording grows past what a document may have, and that text is our own.
        if text.len() > MAX_BYTES {
            return serde_yaml::from_str(text).map_err(|error| error.to_string());
        }
        let mut sources = SourceMap::new();
        let source = sources.add(path, text);
        let mut diagnostics = Diagnostics::default();
        let node = parse(source, text, Format::of_path(path).unwrap_or(Format::Yaml), &mut diagnostics);
        let file = node.and_then(|node| decode::<Self>(&node, &mut diagnostics));
        match file {
            Some(file) if !diagnostics.has_errors() => Ok(file),
            _ => Err(concise(diagnostics.as_slice(), &sources).trim_end().to_owned()),
        }
    }

    /// The text of every request, each resolved against the one before.
    pub(super) fn requests(&self) -> Result<Vec<Option<String>>, String> {
        let mut before = String::new();
        let mut all = Vec::new();
        for (at, exchange) in self.exchanges.iter().enumerate() {
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
        for (exchange, request) in self.exchanges.iter_mut().zip(requests) {
            exchange.request = request.as_ref().map(|request| describe(before, request));
            before = request.as_deref().unwrap_or(before);
        }
    }

    /// The text of the file.
    fn text(&self) -> String {
        let mut text = write::head(self);
        if !self.exchanges.is_empty() {
            text.push_str("exchanges:\n");
        }
        text.extend(self.exchanges.iter().map(write::exchange));
        text
    }

    /// Writes the file as a whole: another reader sees the old one or the new one.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        std::fs::write(&beside, self.text())
            .and_then(|()| std::fs::rename(&beside, path))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

impl Written {
    /// A reply as it is written down, its volatile values as names.
    pub(super) fn from_reply(reply: &Reply, chunks: String, at: Duration, volatile: &Volatile<'_>) -> Self {
        let call = |call: &ToolCall| WrittenCall {
            id: Some(call.id.clone()),
            name: call.name.clone(),
            arguments: Value::String(volatile.write(&call.arguments)),
        };
        Self {
            reasoning: volatile.write(&reply.reasoning),
            text: volatile.write(&reply.text),
            calls: reply.calls.iter().map(call).collect(),
            finish: reply.finish,
            usage: reply.usage,
            after: None,
            at: Some(at),
            chunks: (!chunks.is_empty()).then_some(chunks),
        }
    }

    /// The reply, with this run's values, and the pieces that it comes in.
    pub(super) fn to_reply(&self, kind: RepliesKind, volatile: &Volatile<'_>, id_base: usize) -> Reply {
        let calls = self.calls.iter().enumerate().map(|(at, call)| ToolCall {
            echo: None,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(exchanges: Vec<Exchange>) -> RepliesFile {
        RepliesFile { kind: RepliesKind::Script, note: None, model: None, protocol: Protocol::Json, exchanges }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_again(
            texts in proptest::collection::vec("(\\PC|[\n\r\t \u{0}\u{7f}\u{85}\u{2028}\u{feff}#:'\"-]){0,30}", 3..4),
            known in any::<bool>(),
        ) {
            let exchange = Exchange {
                model: Some("openai:m".to_owned()),
                purpose: Some(CallPurpose::Perception),
                reply: Written {
                    text: texts[0].clone(),
                    calls: vec![WrittenCall { id: None, name: "f".into(), arguments: Value::String(texts[1].clone()) }],
                    ..Written::default()
                },
                request: known.then(|| RequestText::Whole(texts[2].clone())),
            };
            let long = texts.concat().repeat(3);
            let second = Exchange {
                model: None,
                purpose: None,
                reply: Written {
                    calls: vec![WrittenCall { id: Some("a".into()), name: "g".into(), arguments: serde_json::json!({ &*texts[0]: [1, &texts[1]] }) }],
                    finish: Some(Finish::ToolCalls),
                    usage: Some(Usage { input: 1, ..Usage::default() }),
                    after: Some(Duration::secs(90)),
                    at: Some(Duration(std::time::Duration::from_millis(90_001))),
                    chunks: Some("t1".into()),
                    ..Written::default()
                },
                request: Some(describe(&long, &format!("{}\n{long}", texts[1]))),
            };
            let empty = Exchange { model: None, purpose: None, reply: Written::default(), request: None };
            let mut file = file(vec![exchange, second, empty]);
            file.note = Some(texts.join(" words between "));
            let text = file.text();
            let parsed = serde_yaml::from_str::<RepliesFile>(&text).map_err(|error| error.to_string());
            prop_assert_eq!(&parsed, &Ok(file.clone()), "{}", text);
            prop_assert_eq!(&RepliesFile::parse(Path::new("x.yaml"), &text), &Ok(file), "{}", text);
        }
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let text = "kind: script\nexchanges:\n- reply: { txt: a }\n";
        let words = RepliesFile::parse(Path::new("x.yaml"), text).unwrap_err();
        assert!(words.contains("x.yaml:3") && words.contains("txt"), "{words}");
    }
}
