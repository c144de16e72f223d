//! Lines of `/api/chat`: pieces of a message, and at last why it ended and what it took.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::failure::Complaint;
use crate::model::gather::{CallPiece, Gather, UsagePiece};
use crate::model::lenient::{Count, List, Object, Text, arguments_text};
use crate::model::sse::Frame;
use crate::model::stream::{Dialect, Flow, parse_frame, reported_error};
use crate::model::{Finish, ModelError};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    message: Object<Message<'a>>,
    done: Option<Value>,
    #[serde(borrow)]
    done_reason: Text<'a>,
    prompt_eval_count: Count,
    eval_count: Count,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    tool_calls: List<Object<Call<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
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
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Reads the lines of one reply.
#[derive(Default)]
pub(in crate::model) struct Chunks;

impl Dialect for Chunks {
    fn frame(&mut self, frame: Frame<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
        if frame.is_error {
            return Err(reported_error(frame.data));
        }
        parse_frame(frame.data, |data| match serde_json::from_slice::<Object<Chunk<'_>>>(data)?.0 {
            Some(chunk) => Ok(take(&chunk, gather)),
            None => Ok(Ok(Flow::More)),
        })?
    }

    fn in_lines(&self) -> bool {
        true
    }
}

fn take(chunk: &Chunk<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
    if let Some(error) = chunk.error {
        let error = serde_json::from_str(error.get()).unwrap_or(Value::Null);
        return Err(Complaint::from_value(&error).into_error());
    }
    if let Some(message) = &chunk.message.0 {
        gather.reasoning(message.thinking.filled().unwrap_or_default());
        gather.text(message.content.filled().unwrap_or_default());
        for call in message.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            take_call(call, gather);
        }
    }
    gather.usage(UsagePiece { input: chunk.prompt_eval_count.0, output: chunk.eval_count.0, ..UsagePiece::default() });
    if chunk.done != Some(Value::Bool(true)) {
        return Ok(Flow::More);
    }
    match chunk.done_reason.filled().map(Finish::from_reason) {
        Some(Finish::Stop) if gather.has_calls() => gather.finish(Finish::ToolCalls),
        Some(finish) => gather.finish(finish),
        None => gather.end(),
    }
    Ok(Flow::Done)
}

fn take_call(call: &Call<'_>, gather: &mut Gather<'_>) {
    let Some(function) = &call.function.0 else { return };
    // Calls come whole, so one without arguments must not go on in the next.
    let arguments = arguments_text(function.arguments);
    let arguments = if arguments.is_empty() { "{}" } else { &*arguments };
    gather.call(CallPiece { id: call.id.filled(), name: function.name.filled(), arguments, ..CallPiece::default() });
}
