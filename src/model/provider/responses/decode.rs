//! Events of the responses API. What an event is stands in its JSON, as with the messages API.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::failure::Complaint;
use crate::model::gather::{CallPiece, Gather, UsagePiece};
use crate::model::lenient::{Count, List, Object, Text};
use crate::model::sse::Frame;
use crate::model::stream::{Dialect, Flow, parse_frame, reported_error};
use crate::model::{ErrorClass, Finish, ModelError};

/// Any event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    output_index: Count,
    summary_index: Count,
    #[serde(borrow)]
    delta: Text<'a>,
    #[serde(borrow)]
    item: Object<Item<'a>>,
    #[serde(borrow)]
    response: Object<Response<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// Of a whole response that did not stream.
    #[serde(borrow)]
    object: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    output: List<Object<Item<'a>>>,
    usage: Object<Counters>,
    #[serde(borrow)]
    incomplete_details: Object<Details<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
    #[serde(borrow)]
    content: List<Object<Part<'a>>>,
    #[serde(borrow)]
    summary: List<Object<Part<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counters {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Object<InputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
}

/// Reads the events of one reply.
#[derive(Default)]
pub(in crate::model) struct Events {
    /// The calls whose arguments came in pieces, by place in the output.
    in_pieces: Vec<Option<u64>>,
}

impl Dialect for Events {
    fn frame(&mut self, frame: Frame<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
        if frame.data.trim_ascii() == b"[DONE]" {
            gather.end();
            return Ok(Flow::Done);
        }
        if frame.is_error {
            return Err(reported_error(frame.data));
        }
        parse_frame(frame.data, |data| match serde_json::from_slice::<Object<Event<'_>>>(data)?.0 {
            Some(event) if event.object.filled() == Some("response") && event.kind.0.is_none() => {
                let response = serde_json::from_slice::<Object<Response<'_>>>(data)?.0.unwrap_or_default();
                Ok(finish(&response, gather))
            }
            Some(event) => Ok(self.take(&event, data, gather)),
            None => Ok(Ok(Flow::More)),
        })?
    }
}

impl Events {
    fn take(&mut self, event: &Event<'_>, data: &[u8], gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
        let delta = event.delta.filled().unwrap_or_default();
        let index = event.output_index.0;
        match event.kind.filled() {
            Some("response.output_text.delta" | "response.refusal.delta") => gather.text(delta),
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => gather.reasoning(delta),
            Some("response.reasoning_summary_part.added") if event.summary_index.0 > Some(0) => {
                gather.reasoning("\n\n");
            }
            Some("response.output_item.added") => {
                if let Some(item) = event.item.0.as_ref().filter(|item| item.is_call()) {
                    gather.call(item.call(index, ""));
                }
            }
            Some("response.function_call_arguments.delta") => {
                if !self.in_pieces.contains(&index) {
                    self.in_pieces.push(index);
                }
                gather.call(CallPiece { index, arguments: delta, ..CallPiece::default() });
            }
            Some("response.output_item.done") => {
                let whole = event.item.0.as_ref().filter(|item| item.is_call() && !self.in_pieces.contains(&index));
                if let Some(item) = whole {
                    gather.call(item.call(index, item.arguments.filled().unwrap_or_default()));
                }
            }
            Some("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                return match &event.response.0 {
                    Some(response) => finish(response, gather),
                    None => Err(reported_error(data)),
                };
            }
            Some("error") => return Err(reported_error(data)),
            _ => match event.error.and_then(|error| serde_json::from_str::<Value>(error.get()).ok()) {
                None | Some(Value::Null) => {}
                Some(error) => return Err(Complaint::from_value(&error).into_error()),
            },
        }
        Ok(Flow::More)
    }
}

impl Item<'_> {
    fn is_call(&self) -> bool {
        self.kind.filled() == Some("function_call")
    }

    fn call<'a>(&'a self, index: Option<u64>, arguments: &'a str) -> CallPiece<'a> {
        CallPiece { index, id: self.call_id.filled(), name: self.name.filled(), arguments, echo: None }
    }
}

/// The response as it stands at the end: counters, why it ended, and its output if none of it was streamed.
fn finish(response: &Response<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
    if gather.is_empty() {
        for (at, item) in response.output.0.iter().enumerate() {
            if let Some(item) = &item.0 {
                take_item(at as u64, item, gather);
            }
        }
    }
    if let Some(counters) = &response.usage.0 {
        gather.usage(UsagePiece {
            input: counters.input_tokens.0,
            output: counters.output_tokens.0,
            cache_read: counters.input_tokens_details.0.as_ref().and_then(|details| details.cached_tokens.0),
            cache_write: None,
        });
    }
    match response.error.and_then(|error| serde_json::from_str::<Value>(error.get()).ok()) {
        None | Some(Value::Null) => {}
        Some(error) => return Err(Complaint::from_value(&error).into_error()),
    }
    let reason = response.incomplete_details.0.as_ref().and_then(|details| details.reason.filled());
    match (response.status.filled(), reason) {
        (Some("failed" | "cancelled"), _) => {
            let message = "The provider gave the response up without saying why";
            return Err(ModelError::new(ErrorClass::ServerError, message));
        }
        (_, Some(reason)) => gather.finish(Finish::from_reason(reason)),
        (Some("incomplete"), None) => gather.finish(Finish::Other),
        _ if gather.has_calls() => gather.finish(Finish::ToolCalls),
        _ => gather.finish(Finish::Stop),
    }
    Ok(Flow::Done)
}

fn take_item(index: u64, item: &Item<'_>, gather: &mut Gather<'_>) {
    match item.kind.filled() {
        Some("message") => {
            for part in item.content.0.iter().filter_map(|part| part.0.as_ref()) {
                gather.text(part.text.filled().unwrap_or_default());
                gather.text(part.refusal.filled().unwrap_or_default());
            }
        }
        Some("reasoning") => {
            for part in item.summary.0.iter().chain(&item.content.0).filter_map(|part| part.0.as_ref()) {
                gather.reasoning(part.text.filled().unwrap_or_default());
            }
        }
        Some("function_call") => gather.call(item.call(Some(index), item.arguments.filled().unwrap_or_default())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NoSink;
    use crate::model::stream::{End, Reader};

    #[test]
    fn calls_come_in_pieces_or_whole() {
        let mut sink = NoSink;
        let mut reader = Reader::new(Events::default(), Gather::new(&mut sink, 0));
        for event in [
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{\"x\""}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":":1}"}"#,
            r#"{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_1","arguments":"{\"x\":1}"}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1}"}}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c2","name":"g","arguments":""}}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c2","name":"g","arguments":"{\"y\":2}"}}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"c3","name":"g","arguments":""}}"#,
        ] {
            assert_eq!(reader.push(format!("data: {event}\n\n").as_bytes()), Ok(Flow::More));
        }
        let end = br#"data: {"type":"response.completed","response":{"status":"completed","output":[]}}"#;
        reader.push(end).unwrap();
        assert_eq!(reader.push(b"\n\n"), Ok(Flow::Done));
        let reply = reader.end(&End::Closed).unwrap();
        let calls: Vec<_> = reply.calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("c1", "f", "{\"x\":1}"), ("c2", "g", "{\"y\":2}"), ("c3", "g", "{}")]);
        assert_eq!(reply.finish, Some(Finish::ToolCalls));
    }
}
