//! Chunks of `streamGenerateContent`. Each is a whole response with the parts that are new.

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
#[serde(default, rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: List<Object<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Object<Feedback<'a>>,
    usage_metadata: Object<Counters>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    index: Count,
    #[serde(borrow)]
    content: Object<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: List<Object<Part<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    thought: Option<Value>,
    #[serde(borrow)]
    function_call: Object<Call<'a>>,
    #[serde(borrow)]
    thought_signature: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Counters {
    prompt_token_count: Count,
    cached_content_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
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
            Some(chunk) => Ok(take(&chunk, gather)),
            None => Ok(Ok(Flow::More)),
        })?
    }
}

fn take(chunk: &Chunk<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
    if let Some(error) = chunk.error {
        let error = serde_json::from_str(error.get()).unwrap_or(Value::Null);
        return Err(Complaint::from_value(&error).into_error());
    }
    if let Some(counters) = &chunk.usage_metadata.0 {
        // Thoughts are paid for as output and counted apart.
        let output = match (counters.candidates_token_count.0, counters.thoughts_token_count.0) {
            (None, None) => None,
            (said, thought) => Some(said.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
        };
        gather.usage(UsagePiece {
            input: counters.prompt_token_count.0,
            output,
            cache_read: counters.cached_content_token_count.0,
            cache_write: None,
        });
    }
    for candidate in chunk.candidates.0.iter().filter_map(|candidate| candidate.0.as_ref()) {
        // Only one is asked for.
        if candidate.index.0.unwrap_or(0) != 0 {
            continue;
        }
        for part in candidate.content.0.iter().flat_map(|content| &content.parts.0) {
            if let Some(part) = &part.0 {
                take_part(part, gather);
            }
        }
        if let Some(reason) = candidate.finish_reason.filled() {
            let finish = finish(reason);
            gather.finish(if finish == Finish::Stop && gather.has_calls() { Finish::ToolCalls } else { finish });
        }
    }
    let blocked = chunk.prompt_feedback.0.as_ref().is_some_and(|feedback| feedback.block_reason.filled().is_some());
    if blocked && chunk.candidates.0.is_empty() {
        gather.finish(Finish::ContentFilter);
    }
    Ok(Flow::More)
}

fn take_part(part: &Part<'_>, gather: &mut Gather<'_>) {
    let text = part.text.filled().unwrap_or_default();
    if part.thought == Some(Value::Bool(true)) {
        gather.reasoning(text);
    } else {
        gather.text(text);
    }
    if let Some(call) = &part.function_call.0 {
        // Calls come whole, so one without arguments must not go on in the next.
        let arguments = arguments_text(call.args);
        gather.call(CallPiece {
            index: None,
            id: call.id.filled(),
            name: call.name.filled(),
            arguments: if arguments.is_empty() { "{}" } else { &arguments },
            echo: part.thought_signature.filled(),
        });
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => Finish::ContentFilter,
        other => Finish::from_reason(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NoSink;
    use crate::model::stream::{End, Reader};

    #[test]
    fn calls_keep_their_signature() {
        let mut sink = NoSink;
        let mut reader = Reader::new(Chunks, Gather::new(&mut sink, 2));
        for parts in [
            r#"{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"x":1}}}"#,
            r#"{"functionCall":{"id":"own","name":"g","args":{}}}"#,
        ] {
            let chunk = format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}}}}]}}\n\n");
            reader.push(chunk.as_bytes()).unwrap();
        }
        reader.push(b"data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n").unwrap();
        let reply = reader.end(&End::Closed).unwrap();
        let calls: Vec<_> = reply.calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("call_2_1", "f", "{}"), ("call_2_2", "f", "{\"x\":1}"), ("own", "g", "{}")]);
        let signatures: Vec<_> = reply.calls.iter().map(|call| call.echo.as_deref()).collect();
        assert_eq!(signatures, [Some("c2ln"), None, None]);
        assert_eq!(reply.finish, Some(Finish::ToolCalls));
    }
}
