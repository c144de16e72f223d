//! A request as a chat-completions body.
//!
//! `messages` is the last member, see [`super::super::messages`].

use serde_json::{Map, Value, json};

use super::super::messages::{Messages, write_system};
use super::{OpenAi, SchemaForm};
use crate::model::extra::add_extra;
use crate::model::json::{write_string, write_value};
use crate::model::{Protocol, Request, ToolCall, Turn};

impl OpenAi {
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
        members.insert("stream_options".into(), json!({ "include_usage": true }));
        if let Some(most) = request.sampling.max_tokens.or(self.settings.max_tokens) {
            // OpenAI's newer models refuse the old name, and other servers do not know the new one.
            let name = if self.hosted { "max_completion_tokens" } else { "max_tokens" };
            members.insert(name.into(), most.into());
        }
        if let Some(temperature) = request.sampling.temperature.or(self.settings.temperature) {
            members.insert("temperature".into(), temperature.into());
        }
        if self.line.info.protocol == Protocol::JsonSchema
            && let Some(schema) = request.schema
        {
            members.insert("response_format".into(), self.response_format(schema));
        }
        if let Some(tools) = request.tools.filter(|tools| !tools.specs.is_empty()) {
            let tools = tools.specs.iter().map(|tool| {
                json!({
                    "type": "function",
                    "function": { "name": tool.name, "description": tool.description, "parameters": tool.params },
                })
            });
            members.insert("tools".into(), tools.collect());
            let choice = match request.force_tool {
                Some(name) => json!({ "type": "function", "function": { "name": name } }),
                None => "required".into(),
            };
            members.insert("tool_choice".into(), choice);
        }
        add_extra(&mut members, &self.settings.extra, request.sampling);
        members
    }

    fn response_format(&self, schema: &Value) -> Value {
        match self.settings.schema_form {
            SchemaForm::Openai => {
                let mut format = json!({ "name": "action", "schema": schema });
                if self.settings.strict {
                    format["strict"] = true.into();
                }
                json!({ "type": "json_schema", "json_schema": format })
            }
            SchemaForm::LlamaCpp => json!({ "type": "json_object", "schema": schema }),
            SchemaForm::JsonObject => json!({ "type": "json_object" }),
        }
    }
}

/// Writes a turn of the model or of its tools.
pub(super) fn write_turn(messages: &mut Messages, turn: &Turn, _: &[Turn]) {
    match turn {
        Turn::User(_) => {}
        Turn::Assistant(text) => {
            messages.begin(b"{\"role\":\"assistant\",\"content\":");
            write_string(&mut messages.out, text);
            messages.out.push(b'}');
        }
        Turn::Calls { text, calls } => write_calls(messages, text, calls),
        Turn::Results(results) => {
            for result in results {
                messages.begin(b"{\"role\":\"tool\",\"tool_call_id\":");
                write_string(&mut messages.out, &result.id);
                messages.out.extend_from_slice(b",\"content\":");
                write_string(&mut messages.out, &result.content);
                messages.out.push(b'}');
            }
        }
    }
}

fn write_calls(messages: &mut Messages, text: &str, calls: &[ToolCall]) {
    messages.begin(b"{\"role\":\"assistant\",\"content\":");
    let out = &mut messages.out;
    // Empty and not null: llama-cpp-python refuses null, and all take this.
    write_string(out, text);
    if !calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        for (at, call) in calls.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b",{\"id\":" } else { b"{\"id\":" });
            write_string(out, &call.id);
            out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
            write_string(out, &call.name);
            out.extend_from_slice(b",\"arguments\":");
            write_string(out, &call.arguments_object());
            out.extend_from_slice(b"}}");
        }
        out.push(b']');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::wire::Wire as _;
    use super::super::OpenAiSettings;
    use super::*;
    use crate::model::{Block, BuildContext, EncodeCache, Sampling, ToolResult, ToolSpec, ToolSpecs, Transcript};

    fn model(settings: Value) -> OpenAi {
        let settings: OpenAiSettings = serde_json::from_value(settings).unwrap();
        OpenAi::new(settings, &BuildContext::new("/")).unwrap()
    }

    fn block(text: &str) -> Block {
        Block { text: text.into() }
    }

    struct Given {
        system: Vec<Block>,
        transcript: Transcript,
        tools: Option<ToolSpecs>,
        schema: Option<Value>,
        sampling: Sampling,
    }

    impl Default for Given {
        fn default() -> Self {
            Self {
                system: vec![block("You are \"it\".\n"), block("Schema: {}")],
                transcript: Transcript::default(),
                tools: None,
                schema: None,
                sampling: Sampling::default(),
            }
        }
    }

    impl Given {
        fn request<'a>(&'a self, last: &'a str, retry: &'a [Turn]) -> Request<'a> {
            Request {
                purpose: None,
                system: &self.system,
                transcript: &self.transcript,
                last,
                retry,
                tools: self.tools.as_ref(),
                force_tool: None,
                schema: self.schema.as_ref(),
                sampling: &self.sampling,
                volatile: &[],
            }
        }
    }

    fn json(body: &[u8]) -> Value {
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
    }

    fn local() -> Value {
        json!({ "model": "m", "base_url": "http://127.0.0.1:1/v1" })
    }

    #[test]
    fn user_text_is_one_string_and_the_rest_is_the_protocols() {
        let model = model(local());
        let mut given = Given::default();
        given.transcript.push(Turn::User("first \u{1}".into()));
        given.transcript.push(Turn::User("second".into()));
        let retry = [Turn::Assistant("bad".into()), Turn::User("again".into())];
        let body = json(&model.encode(&given.request("now", &retry), &mut EncodeCache::default()));
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": { "include_usage": true },
                "messages": [
                    { "role": "system", "content": "You are \"it\".\n\n\nSchema: {}" },
                    { "role": "user", "content": "first \u{1}\n\nsecond\n\nnow" },
                    { "role": "assistant", "content": "bad" },
                    { "role": "user", "content": "again" },
                ],
            })
        );
    }

    #[test]
    fn calls_and_results_are_native_messages() {
        let model = model(local());
        let mut given = Given { system: vec![], ..Given::default() };
        given.tools = Some(ToolSpecs::new(vec![ToolSpec {
            name: "f".into(),
            description: "Does.".into(),
            params: json!({ "type": "object" }),
        }]));
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: arguments.into(),
            echo: None,
        };
        let calls = vec![call("a", "{\"x\": 1}"), call("b", ""), call("c", "{\"x\": ")];
        given.transcript.push(Turn::Calls { text: "".into(), calls });
        given.transcript.push(Turn::Results(vec![ToolResult {
            id: "a".into(),
            content: "ok".into(),
            is_error: false,
        }]));
        let body = json(&model.encode(&given.request("now", &[]), &mut EncodeCache::default()));
        assert_eq!(body["tool_choice"], "required");
        assert_eq!(body["tools"][0]["function"]["name"], "f");
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3);
        assert_eq!(messages[0]["content"], "", "some servers refuse null");
        let arguments: Vec<&str> = messages[0]["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["function"]["arguments"].as_str().unwrap())
            .collect();
        assert_eq!(arguments, ["{\"x\": 1}", "{}", "{\"invalid_json\":\"{\\\"x\\\":\"}"]);
        assert_eq!(messages[1], json!({ "role": "tool", "tool_call_id": "a", "content": "ok" }));
        assert_eq!(messages[2], json!({ "role": "user", "content": "now" }));
    }

    #[test]
    fn a_body_begins_with_the_one_before() {
        let model = model(local());
        let mut given = Given::default();
        let mut cache = EncodeCache::default();
        let mut before: Option<Vec<u8>> = None;
        for step in 0..6 {
            let last = format!("open {step}");
            let body = model.encode(&given.request(&last, &[]), &mut cache);
            assert_eq!(body, model.encode(&given.request(&last, &[]), &mut EncodeCache::default()), "cached as fresh");
            if let Some(before) = &before {
                let kept = before.len() - format!("\\n\\nopen {}\"}}]}}", step - 1).len();
                assert!(kept > 100 && body.starts_with(&before[..kept]), "step {step}");
            }
            before = Some(body);
            given.transcript.push(Turn::User(format!("<|E{step}|>\nit \"happened\"\n").into()));
        }
    }

    #[test]
    fn only_what_is_new_is_encoded() {
        let model = model(local());
        let mut given = Given::default();
        let mut cache = EncodeCache::default();
        given.transcript.push(Turn::User("kept".into()));
        model.encode(&given.request("a", &[]), &mut cache);
        // Whatever the cache holds is sent: it is not made again.
        cache.turns = b"{\"role\":\"user\",\"content\":\"from the cache".to_vec();
        cache.head = b"{\"messages\":[".to_vec();
        given.transcript.push(Turn::User("new".into()));
        let body = json(&model.encode(&given.request("b", &[]), &mut cache));
        assert_eq!(body["messages"][0]["content"], "from the cache\n\nnew\n\nb");
    }

    #[test]
    fn a_changed_block_setting_transcript_or_model_is_seen() {
        let first = model(local());
        let mut given = Given::default();
        given.transcript.push(Turn::User("old".into()));
        let mut cache = EncodeCache::default();
        first.encode(&given.request("x", &[]), &mut cache);

        given.system = vec![block("Other.")];
        let body = json(&first.encode(&given.request("x", &[]), &mut cache));
        assert_eq!(body["messages"][0]["content"], "Other.");
        given.sampling.max_tokens = Some(9);
        assert_eq!(json(&first.encode(&given.request("x", &[]), &mut cache))["max_tokens"], 9);
        given.transcript = Transcript::default();
        let body = json(&first.encode(&given.request("x", &[]), &mut cache));
        assert_eq!(body["messages"][1]["content"], "x");
        let second = model(json!({ "model": "n", "base_url": "http://127.0.0.1:1/v1" }));
        assert_eq!(json(&second.encode(&given.request("x", &[]), &mut cache))["model"], "n");
    }

    #[test]
    fn settings_reach_the_body() {
        let model_of = |mut more: Value| {
            let mut settings = local();
            settings.as_object_mut().unwrap().append(more.as_object_mut().unwrap());
            model(settings)
        };
        let mut given = Given { schema: Some(json!({ "type": "object" })), ..Given::default() };
        given.sampling.extra = Some(Arc::new(json!({ "seed": 1, "top_k": 5 }).as_object().unwrap().clone()));
        let model = model_of(json!({
            "protocol": "json_schema", "strict": true, "temperature": 0.5, "max_tokens": 10,
            "extra": { "seed": 7, "stream_options": null, "temperature": 0.1 },
        }));
        let body = json(&model.encode(&given.request("x", &[]), &mut EncodeCache::default()));
        let schema = json!({ "name": "action", "schema": { "type": "object" }, "strict": true });
        assert_eq!(body["response_format"], json!({ "type": "json_schema", "json_schema": schema }));
        assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.1), &json!(10)));
        assert_eq!((&body["seed"], &body["top_k"]), (&json!(1), &json!(5)));
        assert!(body.get("stream_options").is_none());

        let format_of = |form: &str| {
            let model = model_of(json!({ "protocol": "json_schema", "schema_form": form }));
            json(&model.encode(&given.request("x", &[]), &mut EncodeCache::default()))["response_format"].clone()
        };
        let schema = json!({ "name": "action", "schema": { "type": "object" } });
        assert_eq!(format_of("openai"), json!({ "type": "json_schema", "json_schema": schema }));
        assert_eq!(format_of("llama_cpp"), json!({ "type": "json_object", "schema": { "type": "object" } }));
        assert_eq!(format_of("json_object"), json!({ "type": "json_object" }));

        let hosted = OpenAi::new(
            serde_json::from_value(json!({ "model": "m", "max_tokens": 3 })).unwrap(),
            &BuildContext::new("/"),
        )
        .unwrap();
        let body = json(&hosted.encode(&given.request("x", &[]), &mut EncodeCache::default()));
        assert_eq!(body["max_completion_tokens"], 3);
    }
}
