//! Events of the messages API. What an event is stands in its JSON: proxies drop the names that come with the frames.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::failure::Complaint;
use crate::model::gather::{CallPiece, Gather, UsagePiece};
use crate::model::lenient::{Count, List, Object, Text};
use crate::model::sse::Frame;
use crate::model::stream::{Dialect, Flow, parse_frame, reported_error};
use crate::model::{Finish, ModelError};

/// Any event, and a whole message that did not stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Count,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    content_block: Object<Block<'a>>,
    #[serde(borrow)]
    delta: Object<Delta<'a>>,
    usage: Object<Counters>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    // Of a whole message.
    #[serde(borrow)]
    content: List<Object<Block<'a>>>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: List<Object<Block<'a>>>,
    usage: Object<Counters>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    partial_json: Text<'a>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counters {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
}

/// Reads the events of one reply.
#[derive(Default)]
pub(in crate::model) struct Events;

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
            Some(event) => Ok(take(&event, data, gather)),
            None => Ok(Ok(Flow::More)),
        })?
    }
}

fn take(event: &Event<'_>, data: &[u8], gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
    if let Some(error) = event.error {
        let error = serde_json::from_str(error.get()).unwrap_or(Value::Null);
        return Err(Complaint::from_value(&error).into_error());
    }
    match event.kind.filled() {
        Some("error") => return Err(reported_error(data)),
        Some("message_start") => {
            if let Some(message) = &event.message.0 {
                take_usage(&message.usage, gather);
                take_blocks(&message.content, gather);
            }
        }
        Some("content_block_start") => {
            if let Some(block) = &event.content_block.0 {
                take_block(event.index.0, block, gather);
            }
        }
        Some("content_block_delta") => {
            if let Some(delta) = &event.delta.0 {
                take_delta(event.index.0, delta, gather);
            }
        }
        Some("message_delta") => {
            take_usage(&event.usage, gather);
            if let Some(reason) = event.delta.0.as_ref().and_then(|delta| delta.stop_reason.filled()) {
                gather.finish(Finish::from_reason(reason));
            }
        }
        Some("message_stop") => {
            take_usage(&event.usage, gather);
            gather.end();
            return Ok(Flow::Done);
        }
        Some("message") => {
            take_usage(&event.usage, gather);
            take_blocks(&event.content, gather);
            if let Some(reason) = event.stop_reason.filled() {
                gather.finish(Finish::from_reason(reason));
            }
        }
        // Pings, ends of blocks, and what is new since this was written.
        _ => {}
    }
    Ok(Flow::More)
}

fn take_blocks(blocks: &List<Object<Block<'_>>>, gather: &mut Gather<'_>) {
    for (at, block) in blocks.0.iter().enumerate() {
        if let Some(block) = &block.0 {
            take_block(Some(at as u64), block, gather);
        }
    }
}

fn take_block(index: Option<u64>, block: &Block<'_>, gather: &mut Gather<'_>) {
    match block.kind.filled() {
        Some("text") => gather.text(block.text.filled().unwrap_or_default()),
        Some("thinking") => gather.reasoning(block.thinking.filled().unwrap_or_default()),
        Some("tool_use") => {
            // In a stream the input begins as an empty object and comes in pieces.
            let input = block.input.map(RawValue::get).filter(|input| input.len() > 2 && input.starts_with('{'));
            gather.call(CallPiece {
                index,
                id: block.id.filled(),
                name: block.name.filled(),
                arguments: input.unwrap_or_default(),
                echo: None,
            });
        }
        _ => {}
    }
}

fn take_delta(index: Option<u64>, delta: &Delta<'_>, gather: &mut Gather<'_>) {
    match delta.kind.filled() {
        Some("text_delta") => gather.text(delta.text.filled().unwrap_or_default()),
        Some("thinking_delta") => gather.reasoning(delta.thinking.filled().unwrap_or_default()),
        Some("input_json_delta") => {
            let arguments = delta.partial_json.filled().unwrap_or_default();
            gather.call(CallPiece { index, arguments, ..CallPiece::default() });
        }
        _ => {}
    }
}

fn take_usage(counters: &Object<Counters>, gather: &mut Gather<'_>) {
    if let Some(counters) = &counters.0 {
        gather.usage(UsagePiece {
            input: counters.input_tokens.0,
            output: counters.output_tokens.0,
            cache_read: counters.cache_read_input_tokens.0,
            cache_write: counters.cache_creation_input_tokens.0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::stream::{End, Reader};
    use crate::model::{NoSink, Reply};

    fn read(events: &[&str]) -> Result<Reply, ModelError> {
        let mut sink = NoSink;
        let mut reader = Reader::new(Events, Gather::new(&mut sink, 0));
        for event in events {
            if let Err(error) = reader.push(format!("data: {event}\n\n").as_bytes()) {
                return Err(reader.fail(error));
            }
        }
        reader.end(&End::Closed)
    }

    #[test]
    fn tool_calls_are_put_together() {
        let reply = read(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I look."}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t2","name":"g","input":{}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        ])
        .unwrap();
        assert_eq!(reply.text, "I look.");
        let calls: Vec<_> = reply.calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("t1", "f", "{\"x\":1}"), ("t2", "g", "{}")]);
        assert_eq!(reply.finish, Some(Finish::ToolCalls));
    }

    #[test]
    fn a_message_that_did_not_stream_is_read_too() {
        let body = r#"{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"},
            {"type":"tool_use","id":"t","name":"f","input":{"x":1}}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}"#;
        let mut sink = NoSink;
        let mut reader = Reader::new(Events, Gather::new(&mut sink, 0));
        reader.push(body.as_bytes()).unwrap();
        let reply = reader.end(&End::Closed).unwrap();
        assert_eq!((&*reply.text, &*reply.reasoning, &*reply.calls[0].arguments), ("Hi", "hm", "{\"x\":1}"));
        assert_eq!(reply.usage.unwrap().output, 4);
    }
}
