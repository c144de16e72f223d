//! A request as a body for `/api/chat`.

use serde_json::{Map, Value, json};

use super::super::messages::{Messages, write_system};
use super::Ollama;
use crate::model::extra::add_extra;
use crate::model::json::{write_string, write_value};
use crate::model::request::called;
use crate::model::{Protocol, Request, Turn};

impl Ollama {
    /// Everything up to the first message that is not the system's.
    pub(super) fn write_head(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        write_value(out, &Value::Object(self.members(request)));
        out.pop();
        out.extend_from_slice(b",\"messages\":[");
        if !request.system.is_empty() {
            out.extend_from_slice(b"{\"role\":\"system\",\"content\":\"");
            write_system(out, request);
            // Another message always follows.
            out.extend_from_slice(b"\"},");
        }
    }

    fn members(&self, request: &Request<'_>) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("model".into(), self.settings.model.clone().into());
        members.insert("stream".into(), true.into());
        // A prompt that does not fit is an error, and not one without its beginning.
        members.insert("truncate".into(), false.into());
        members.insert("shift".into(), false.into());
        let mut options = Map::new();
        if let Some(context) = self.settings.context {
            options.insert("num_ctx".into(), context.into());
        }
        if let Some(most) = request.sampling.max_tokens.or(self.settings.max_tokens) {
            options.insert("num_predict".into(), most.into());
        }
        if let Some(temperature) = request.sampling.temperature.or(self.settings.temperature) {
            options.insert("temperature".into(), temperature.into());
        }
        if !options.is_empty() {
            members.insert("options".into(), options.into());
        }
        if self.line.info.protocol == Protocol::JsonSchema
            && let Some(schema) = request.schema
        {
            members.insert("format".into(), schema.clone());
        }
        if let Some(tools) = request.tools.filter(|tools| !tools.specs.is_empty()) {
            // The server has no choice of tool to set.
            let tools = tools.specs.iter().map(|tool| {
                json!({
                    "type": "function",
                    "function": { "name": tool.name, "description": tool.description, "parameters": tool.params },
                })
            });
            members.insert("tools".into(), tools.collect());
        }
        add_extra(&mut members, &self.settings.extra, request.sampling);
        members
    }
}

/// Writes a turn of the model or of its tools.
pub(super) fn write_turn(messages: &mut Messages, turn: &Turn, before: &[Turn]) {
    match turn {
        Turn::User(_) => {}
        Turn::Assistant(text) => {
            messages.begin(b"{\"role\":\"assistant\",\"content\":");
            write_string(&mut messages.out, text);
            messages.out.push(b'}');
        }
        Turn::Calls { text, calls } => {
            messages.begin(b"{\"role\":\"assistant\",\"content\":");
            let out = &mut messages.out;
            write_string(out, text);
            out.extend_from_slice(b",\"tool_calls\":[");
            for (at, call) in calls.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b",{\"id\":" } else { b"{\"id\":" });
                write_string(out, &call.id);
                out.extend_from_slice(b",\"function\":{\"name\":");
                write_string(out, &call.name);
                out.extend_from_slice(b",\"arguments\":");
                out.extend_from_slice(call.arguments_object().as_bytes());
                out.extend_from_slice(b"}}");
            }
            out.extend_from_slice(b"]}");
        }
        Turn::Results(results) => {
            for result in results {
                messages.begin(b"{\"role\":\"tool\",\"tool_name\":");
                write_string(&mut messages.out, called(before, &result.id));
                messages.out.extend_from_slice(b",\"tool_call_id\":");
                write_string(&mut messages.out, &result.id);
                messages.out.extend_from_slice(b",\"content\":");
                write_string(&mut messages.out, &result.content);
                messages.out.push(b'}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{Given, check_prefixes, json};
    use super::super::super::wire::Wire as _;
    use super::*;
    use crate::model::{BuildContext, EncodeCache};

    fn model(mut settings: Value) -> Ollama {
        settings["model"] = "m".into();
        Ollama::new(serde_json::from_value(settings).unwrap(), &BuildContext::new("/")).unwrap()
    }

    #[test]
    fn settings_and_turns_take_their_places() {
        let model = model(json!({
            "protocol": "json_schema", "context": 8192, "max_tokens": 9, "temperature": 0.5,
            "extra": { "think": false, "options": { "seed": 1 } },
        }));
        let mut given = Given::with_calls();
        given.schema = Some(json!({ "type": "object" }));
        assert_eq!(
            json(&model.encode(&given.request("now", &[]), &mut EncodeCache::default())),
            json!({
                "model": "m", "stream": true, "truncate": false, "shift": false,
                "options": { "num_ctx": 8192, "num_predict": 9, "temperature": 0.5, "seed": 1 },
                "format": { "type": "object" },
                "think": false,
                "messages": [
                    { "role": "system", "content": "You are \"it\".\n\nSchema: {}" },
                    { "role": "user", "content": "first" },
                    { "role": "assistant", "content": "I look.", "tool_calls": [
                        { "id": "a", "function": { "name": "f", "arguments": { "x": 1 } } },
                        { "id": "b", "function": { "name": "g", "arguments": {} } },
                    ] },
                    { "role": "tool", "tool_name": "f", "tool_call_id": "a", "content": "ok" },
                    { "role": "tool", "tool_name": "g", "tool_call_id": "b", "content": "no" },
                    { "role": "user", "content": "now" },
                ],
            })
        );
    }

    #[test]
    fn tools_are_functions_and_a_plain_request_has_no_options() {
        let mut given = Given::default();
        given.add_tool();
        let body = json(&model(json!({})).encode(&given.request("x", &[]), &mut EncodeCache::default()));
        assert_eq!(body["tools"][0]["function"]["parameters"], json!({ "type": "object" }));
        assert!(body.get("options").is_none() && body.get("format").is_none());
    }

    #[test]
    fn a_body_begins_with_the_one_before() {
        check_prefixes(&model(json!({})));
    }
}
