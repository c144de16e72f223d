//! Chat-completion chunks, as loosely as servers write them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::failure::Complaint;
use crate::model::gather::{CallPiece, Gather, UsagePiece};
use crate::model::lenient::{Count, List, Object, Rich, Text, arguments_text};
use crate::model::sse::Frame;
use crate::model::stream::{Dialect, Flow, parse_frame, reported_error};
use crate::model::{ErrorClass, Finish, ModelError};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: List<Object<Choice<'a>>>,
    usage: Object<Counters>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    index: Count,
    #[serde(borrow)]
    delta: Object<Delta<'a>>,
    /// In place of `delta` in a body that did not stream.
    #[serde(borrow)]
    message: Object<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
    /// Some put the counters here.
    usage: Object<Counters>,
    /// Routers put the error of the provider behind them here.
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Rich<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
    #[serde(borrow)]
    reasoning_content: Rich<'a>,
    #[serde(borrow)]
    reasoning: Rich<'a>,
    #[serde(borrow)]
    thinking: Rich<'a>,
    #[serde(borrow)]
    tool_calls: List<Object<Call<'a>>>,
    /// The form before `tool_calls`.
    #[serde(borrow)]
    function_call: Object<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    index: Count,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Object<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    /// JSON text in a string; some send the object itself.
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counters {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Object<Details>,
    /// DeepSeek's name for cached tokens.
    prompt_cache_hit_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
}

/// Reads the chunks of one reply.
#[derive(Default)]
pub(in crate::model) struct Chunks;

impl Dialect for Chunks {
    fn frame(&mut self, frame: Frame<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
        if frame.data.trim_ascii() == b"[DONE]" {
            gather.end();
            return Ok(Flow::Done);
        }
        if frame.is_error {
            return Err(reported_error(frame.data));
        }
        parse_frame(frame.data, |data| match serde_json::from_slice::<Object<Chunk<'_>>>(data)?.0 {
            Some(chunk) => Ok(take(&chunk, data, gather)),
            None => Ok(Ok(Flow::More)),
        })?
    }
}

fn take(chunk: &Chunk<'_>, data: &[u8], gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
    let mut failed = false;
    let mut error = chunk.error;
    for choice in chunk.choices.0.iter().filter_map(|choice| choice.0.as_ref()) {
        // Only one reply is asked for; a server that gives more is read for the first.
        if choice.index.0.unwrap_or(0) != 0 {
            continue;
        }
        if let Some(delta) = &choice.delta.0 {
            take_delta(delta, gather);
        } else if let Some(message) = choice.message.0.as_ref().filter(|_| gather.is_empty()) {
            take_delta(message, gather);
        }
        take_usage(&choice.usage, gather);
        error = error.or(choice.error);
        match choice.finish_reason.filled() {
            Some("error") => failed = true,
            Some(reason) if error.is_none() => gather.finish(Finish::from_reason(reason)),
            _ => {}
        }
    }
    take_usage(&chunk.usage, gather);

    let error = error.and_then(|error| serde_json::from_str::<Value>(error.get()).ok()).filter(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(words) => !words.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    });
    if let Some(error) = error {
        return Err(Complaint::from_value(&error).into_error());
    }
    if chunk.object.filled() == Some("error") {
        return Err(reported_error(data));
    }
    if failed {
        let message = "The provider ended the reply with finish_reason error";
        return Err(ModelError::new(ErrorClass::ServerError, message));
    }
    Ok(Flow::More)
}

fn take_delta(delta: &Delta<'_>, gather: &mut Gather<'_>) {
    // Some send the same reasoning under two names.
    let named = [&delta.reasoning_content, &delta.reasoning, &delta.thinking];
    if let Some(reasoning) = named.into_iter().find(|rich| !rich.is_empty()) {
        reasoning.pieces(&mut |piece, _| gather.reasoning(piece));
    }
    delta.content.pieces(&mut |piece, is_reasoning| {
        if is_reasoning { gather.reasoning(piece) } else { gather.text(piece) }
    });
    if let Some(refusal) = delta.refusal.filled() {
        gather.text(refusal);
    }
    for call in delta.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
        take_call(call.index.0, call.id.filled(), call.function.0.as_ref(), gather);
    }
    // llama-cpp-python sends each piece in both forms.
    if let Some(function) = delta.function_call.0.as_ref().filter(|_| delta.tool_calls.0.is_empty()) {
        take_call(Some(0), None, Some(function), gather);
    }
}

fn take_call(index: Option<u64>, id: Option<&str>, function: Option<&Function<'_>>, gather: &mut Gather<'_>) {
    let name = function.and_then(|function| function.name.filled());
    let arguments = arguments_text(function.and_then(|function| function.arguments));
    gather.call(CallPiece { index, id, name, arguments: &arguments, echo: None });
}

fn take_usage(counters: &Object<Counters>, gather: &mut Gather<'_>) {
    if let Some(counters) = &counters.0 {
        let cached = counters.prompt_tokens_details.0.as_ref().and_then(|details| details.cached_tokens.0);
        gather.usage(UsagePiece {
            input: counters.prompt_tokens.0,
            output: counters.completion_tokens.0,
            cache_read: cached.or(counters.prompt_cache_hit_tokens.0),
            cache_write: None,
        });
    }
}
