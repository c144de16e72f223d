//! A request as a body for `/responses`.

use serde_json::{Map, Value, json};

use super::super::messages::{Messages, write_system};
use super::Responses;
use crate::model::extra::add_extra;
use crate::model::json::{write_string, write_value};
use crate::model::{Protocol, Request, Turn};

impl Responses {
    /// Everything up to the first item.
    pub(super) fn write_head(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        write_value(out, &Value::Object(self.members(request)));
        out.pop();
        if !request.system.is_empty() {
            out.extend_from_slice(b",\"instructions\":\"");
            write_system(out, request);
            out.push(b'"');
        }
        out.extend_from_slice(b",\"input\":[");
    }

    fn members(&self, request: &Request<'_>) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("model".into(), self.settings.model.clone().into());
        members.insert("stream".into(), true.into());
        members.insert("store".into(), false.into());
        if let Some(most) = request.sampling.max_tokens.or(self.settings.max_tokens) {
            members.insert("max_output_tokens".into(), most.into());
        }
        if let Some(temperature) = request.sampling.temperature.or(self.settings.temperature) {
            members.insert("temperature".into(), temperature.into());
        }
        // Strict is this API's default, so it is always said.
        let strict = self.settings.strict;
        if self.line.info.protocol == Protocol::JsonSchema
            && let Some(schema) = request.schema
        {
            let format = json!({ "type": "json_schema", "name": "action", "schema": schema, "strict": strict });
            members.insert("text".into(), json!({ "format": format }));
        }
        if let Some(tools) = request.tools.filter(|tools| !tools.specs.is_empty()) {
            let tools = tools.specs.iter().map(|tool| {
                json!({
                    "type": "function", "name": tool.name, "description": tool.description,
                    "parameters": tool.params, "strict": strict,
                })
            });
            members.insert("tools".into(), tools.collect());
            let choice = match request.force_tool {
                Some(name) => json!({ "type": "function", "name": name }),
                None => "required".into(),
            };
            members.insert("tool_choice".into(), choice);
        }
        add_extra(&mut members, &self.settings.extra, request.sampling);
        members
    }
}

/// Writes a turn of the model or of its tools.
pub(super) fn write_turn(messages: &mut Messages, turn: &Turn, _: &[Turn]) {
    match turn {
        Turn::User(_) => {}
        Turn::Assistant(text) => write_text(messages, text),
        Turn::Calls { text, calls } => {
            if !text.is_empty() {
                write_text(messages, text);
            }
            for call in calls {
                messages.begin(b"{\"type\":\"function_call\",\"call_id\":");
                write_string(&mut messages.out, &call.id);
                messages.out.extend_from_slice(b",\"name\":");
                write_string(&mut messages.out, &call.name);
                messages.out.extend_from_slice(b",\"arguments\":");
                write_string(&mut messages.out, &call.arguments_object());
                messages.out.push(b'}');
            }
        }
        Turn::Results(results) => {
            for result in results {
                messages.begin(b"{\"type\":\"function_call_output\",\"call_id\":");
                write_string(&mut messages.out, &result.id);
                messages.out.extend_from_slice(b",\"output\":");
                write_string(&mut messages.out, &result.content);
                messages.out.push(b'}');
            }
        }
    }
}

fn write_text(messages: &mut Messages, text: &str) {
    messages.begin(b"{\"role\":\"assistant\",\"content\":");
    write_string(&mut messages.out, text);
    messages.out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{Given, check_prefixes, json};
    use super::super::super::wire::Wire as _;
    use super::*;
    use crate::model::{BuildContext, EncodeCache};

    fn model(mut settings: Value) -> Responses {
        settings["model"] = "m".into();
        Responses::new(serde_json::from_value(settings).unwrap(), &BuildContext::new("/")).unwrap()
    }

    #[test]
    fn settings_and_turns_take_their_places() {
        let model = model(json!({
            "protocol": "json_schema", "max_tokens": 9, "temperature": 0.5, "extra": { "text": { "verbosity": "low" } },
        }));
        let mut given = Given::with_calls();
        given.schema = Some(json!({ "type": "object" }));
        let format =
            json!({ "type": "json_schema", "name": "action", "schema": { "type": "object" }, "strict": false });
        assert_eq!(
            json(&model.encode(&given.request("now", &[]), &mut EncodeCache::default())),
            json!({
                "model": "m", "stream": true, "store": false, "max_output_tokens": 9, "temperature": 0.5,
                "text": { "format": format, "verbosity": "low" },
                "instructions": "You are \"it\".\n\nSchema: {}",
                "input": [
                    { "role": "user", "content": "first" },
                    { "role": "assistant", "content": "I look." },
                    { "type": "function_call", "call_id": "a", "name": "f", "arguments": "{\"x\":1}" },
                    { "type": "function_call", "call_id": "b", "name": "g", "arguments": "{}" },
                    { "type": "function_call_output", "call_id": "a", "output": "ok" },
                    { "type": "function_call_output", "call_id": "b", "output": "no" },
                    { "role": "user", "content": "now" },
                ],
            })
        );
    }

    #[test]
    fn tools_must_be_called() {
        let mut given = Given::default();
        given.add_tool();
        let strict = model(json!({ "strict": true }));
        let body = json(&strict.encode(&given.request("x", &[]), &mut EncodeCache::default()));
        let tool = json!({
            "type": "function", "name": "f", "description": "Does.", "parameters": { "type": "object" }, "strict": true,
        });
        assert_eq!((&body["tools"], &body["tool_choice"]), (&json!([tool]), &json!("required")));
        given.force_tool = Some("f".into());
        let body = json(&strict.encode(&given.request("x", &[]), &mut EncodeCache::default()));
        assert_eq!(body["tool_choice"], json!({ "type": "function", "name": "f" }));
    }

    #[test]
    fn a_body_begins_with_the_one_before() {
        check_prefixes(&model(json!({})));
    }
}
