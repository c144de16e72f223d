//! A request as a messages body.
//!
//! Every system block and every turn is a block of its own, so that the prompt cache, which matches whole blocks, holds
//! what was sent before. `messages` is the last member and the transcript's bytes are kept, as with chat completions.

use serde_json::{Map, Value, json};

use super::{Anthropic, MAX_TOKENS};
use crate::model::extra::add_extra;
use crate::model::json::{write_string, write_value};
use crate::model::{EncodeCache, Protocol, Request, ToolCall, Turn};

// The API takes four marks: these, and one where the transcript ends.
const SYSTEM_MARKS: usize = 3;
const MARK: &[u8] = b",\"cache_control\":{\"type\":\"ephemeral\"}";

impl Anthropic {
    /// Writes the body, keeping head and transcript in the cache.
    pub(super) fn write_body(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        cache.keep_head(self.line.id, request, |head| self.write_head(head, request));
        let new = cache.new_turns(self.line.id, request.transcript);
        let mut messages = Messages::after(std::mem::take(&mut cache.turns), cache.open);
        for turn in new {
            messages.turn(turn);
        }
        cache.turns = messages.out;
        cache.open = messages.open;

        let mut messages =
            Messages { first: cache.turns.is_empty(), ..Messages::after(cache.begin_body(), cache.open) };
        if self.settings.cache && messages.open {
            messages.out.extend_from_slice(MARK);
        }
        messages.text(request.last);
        for turn in request.retry {
            messages.turn(turn);
        }
        if messages.first {
            messages.start_word();
        }
        messages.close();
        let mut body = messages.out;
        body.extend_from_slice(b"]}");
        cache.last_len = body.len();
        body
    }

    /// Everything up to the first message.
    fn write_head(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        write_value(out, &Value::Object(self.members(request)));
        out.pop();
        let blocks: Vec<&str> =
            request.system.iter().map(|block| &*block.text).filter(|text| !text.trim().is_empty()).collect();
        if !blocks.is_empty() {
            out.extend_from_slice(b",\"system\":[");
            for (at, text) in blocks.iter().enumerate() {
                out.extend_from_slice(if at > 0 {
                    b",{\"type\":\"text\",\"text\":"
                } else {
                    b"{\"type\":\"text\",\"text\":"
                });
                write_string(out, text);
                if self.settings.cache && at + SYSTEM_MARKS >= blocks.len() {
                    out.extend_from_slice(MARK);
                }
                out.push(b'}');
            }
            out.push(b']');
        }
        out.extend_from_slice(b",\"messages\":[");
    }

    fn members(&self, request: &Request<'_>) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("model".into(), self.settings.model.clone().into());
        let most = request.sampling.max_tokens.or(self.settings.max_tokens).unwrap_or(MAX_TOKENS);
        members.insert("max_tokens".into(), most.into());
        members.insert("stream".into(), true.into());
        if let Some(temperature) = request.sampling.temperature.or(self.settings.temperature) {
            members.insert("temperature".into(), temperature.into());
        }
        if self.line.info.protocol == Protocol::JsonSchema
            && let Some(schema) = request.schema
        {
            members.insert("output_config".into(), json!({ "format": { "type": "json_schema", "schema": schema } }));
        }
        if let Some(tools) = request.tools.filter(|tools| !tools.specs.is_empty()) {
            let tools = tools
                .specs
                .iter()
                .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.params }));
            members.insert("tools".into(), tools.collect());
            let choice = match request.force_tool {
                // A model that thinks may not be forced.
                _ if self.settings.extra.get("thinking").is_some_and(Value::is_object) => json!({ "type": "auto" }),
                Some(name) => json!({ "type": "tool", "name": name }),
                None => json!({ "type": "any" }),
            };
            members.insert("tool_choice".into(), choice);
        }
        add_extra(&mut members, &self.settings.extra, request.sampling);
        members
    }
}

/// Messages being written. A user message stays open, and so does the object of its last block: more blocks or a cache
/// mark may follow.
struct Messages {
    out: Vec<u8>,
    open: bool,
    first: bool,
}

impl Messages {
    fn after(out: Vec<u8>, open: bool) -> Self {
        Self { first: out.is_empty(), out, open }
    }

    fn turn(&mut self, turn: &Turn) {
        match turn {
            Turn::User(text) => self.text(text),
            Turn::Assistant(text) => self.assistant(text, &[]),
            Turn::Calls { text, calls } => self.assistant(text, calls),
            Turn::Results(results) => {
                for result in results {
                    self.block(b"{\"type\":\"tool_result\",\"tool_use_id\":");
                    write_string(&mut self.out, &result.id);
                    if result.is_error {
                        self.out.extend_from_slice(b",\"is_error\":true");
                    }
                    self.out.extend_from_slice(b",\"content\":");
                    write_string(&mut self.out, &result.content);
                }
            }
        }
    }

    /// User text; the API refuses blocks of blanks.
    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.block(b"{\"type\":\"text\",\"text\":");
            write_string(&mut self.out, text);
        }
    }

    fn assistant(&mut self, text: &str, calls: &[ToolCall]) {
        let text = text.trim_end();
        if text.is_empty() && calls.is_empty() {
            return;
        }
        if self.first {
            // The API wants the user to begin.
            self.start_word();
        }
        self.close();
        self.out.extend_from_slice(b",{\"role\":\"assistant\",\"content\":[");
        if !text.is_empty() {
            self.out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
            write_string(&mut self.out, text);
            self.out.push(b'}');
        }
        for (at, call) in calls.iter().enumerate() {
            if at > 0 || !text.is_empty() {
                self.out.push(b',');
            }
            self.out.extend_from_slice(b"{\"type\":\"tool_use\",\"id\":");
            write_string(&mut self.out, &call.id);
            self.out.extend_from_slice(b",\"name\":");
            write_string(&mut self.out, &call.name);
            self.out.extend_from_slice(b",\"input\":");
            self.out.extend_from_slice(call.arguments_object().as_bytes());
            self.out.push(b'}');
        }
        self.out.extend_from_slice(b"]}");
    }

    fn start_word(&mut self) {
        self.text("Begin.");
    }

    /// Begins a block of a user message.
    fn block(&mut self, start: &[u8]) {
        if self.open {
            self.out.extend_from_slice(b"},");
        } else {
            if !self.first {
                self.out.push(b',');
            }
            self.out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
            self.open = true;
            self.first = false;
        }
        self.out.extend_from_slice(start);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.out.extend_from_slice(b"}]}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::wire::Wire as _;
    use super::*;
    use crate::model::{Block, BuildContext, Sampling, ToolResult, ToolSpec, ToolSpecs, Transcript};

    fn model(mut settings: Value) -> Anthropic {
        settings["model"] = "m".into();
        Anthropic::new(serde_json::from_value(settings).unwrap(), &BuildContext::new("/")).unwrap()
    }

    fn encode(
        model: &Anthropic,
        transcript: &Transcript,
        last: &str,
        retry: &[Turn],
        cache: &mut EncodeCache,
    ) -> Vec<u8> {
        let blocks: Vec<Block> = ["a", "b", " ", "c", "d"].iter().map(|text| Block { text: (*text).into() }).collect();
        let request = Request {
            purpose: None,
            system: &blocks,
            transcript,
            last,
            retry,
            tools: None,
            force_tool: None,
            schema: None,
            sampling: &Sampling::default(),
            volatile: &[],
        };
        model.encode(&request, cache)
    }

    fn json(body: &[u8]) -> Value {
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
    }

    fn marks(value: &Value) -> usize {
        value.to_string().matches("cache_control").count()
    }

    #[test]
    fn blocks_stay_apart_and_at_most_four_are_marked() {
        let mut transcript = Transcript::default();
        transcript.push(Turn::User("one".into()));
        transcript.push(Turn::User("two".into()));
        let body = json(&encode(&model(json!({})), &transcript, "now", &[], &mut EncodeCache::default()));
        let marked = |text: &str| json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } });
        let plain = |text: &str| json!({ "type": "text", "text": text });
        assert_eq!(body["system"], json!([plain("a"), marked("b"), marked("c"), marked("d")]));
        assert_eq!(
            body["messages"],
            json!([{ "role": "user", "content": [plain("one"), marked("two"), plain("now")] }])
        );
        assert_eq!((&body["max_tokens"], marks(&body)), (&json!(8192), 4));

        let model = model(json!({ "cache": false, "max_tokens": 5, "temperature": 0.5 }));
        let body = json(&encode(&model, &transcript, "now", &[], &mut EncodeCache::default()));
        assert_eq!((marks(&body), &body["max_tokens"], &body["temperature"]), (0, &json!(5), &json!(0.5)));
    }

    #[test]
    fn calls_results_and_retries_are_native() {
        let mut transcript = Transcript::default();
        let calls = vec![ToolCall { id: "t1".into(), name: "f".into(), arguments: "{\"x\":1}".into(), echo: None }];
        transcript.push(Turn::Calls { text: "".into(), calls });
        transcript.push(Turn::Results(vec![ToolResult { id: "t1".into(), content: "no".into(), is_error: true }]));
        let retry = [Turn::Assistant("bad \n".into()), Turn::User("again".into())];
        let body = json(&encode(&model(json!({})), &transcript, "now", &retry, &mut EncodeCache::default()));
        let messages = body["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
        assert_eq!(messages[0]["content"][0]["text"], "Begin.");
        assert_eq!(
            messages[1]["content"],
            json!([{ "type": "tool_use", "id": "t1", "name": "f", "input": { "x": 1 } }])
        );
        assert_eq!(messages[2]["content"][0]["type"], "tool_result");
        assert_eq!(messages[2]["content"][0]["is_error"], true);
        assert_eq!(messages[2]["content"][1]["text"], "now");
        assert_eq!(messages[3]["content"][0]["text"], "bad");
    }

    #[test]
    fn a_body_begins_with_the_transcript_of_the_one_before() {
        let model = model(json!({}));
        let mut transcript = Transcript::default();
        let mut cache = EncodeCache::default();
        let mut before = Vec::new();
        for step in 0..6 {
            let last = format!("open {step}");
            let body = encode(&model, &transcript, &last, &[], &mut cache);
            assert_eq!(body, encode(&model, &transcript, &last, &[], &mut EncodeCache::default()), "cached as fresh");
            json(&body);
            // Up to the mark, which moves on.
            let kept = before.len();
            assert!(body.starts_with(&before), "step {step}");
            before = [cache.head.clone(), cache.turns.clone()].concat();
            assert!(before.len() >= kept && body.starts_with(&before));
            transcript.push(Turn::User(format!("it \"happened\" {step}").into()));
            if step % 2 == 0 {
                transcript.push(Turn::Assistant("hm".into()));
            }
        }
    }

    #[test]
    fn tools_schema_and_choice_reach_the_body() {
        let tools = ToolSpecs::new(vec![ToolSpec {
            name: "f".into(),
            description: "Does.".into(),
            params: json!({ "type": "object" }),
        }]);
        let schema = json!({ "type": "object" });
        let transcript = Transcript::default();
        let sampling = Sampling::default();
        let mut request = Request {
            purpose: None,
            system: &[],
            transcript: &transcript,
            last: "",
            retry: &[],
            tools: Some(&tools),
            force_tool: Some("f"),
            schema: Some(&schema),
            sampling: &sampling,
            volatile: &[],
        };
        let plain = model(json!({ "protocol": "json_schema", "extra": { "output_config": { "effort": "low" } } }));
        let body = json(&plain.encode(&request, &mut EncodeCache::default()));
        assert_eq!(body["tools"][0], json!({ "name": "f", "description": "Does.", "input_schema": schema }));
        assert_eq!(body["tool_choice"], json!({ "type": "tool", "name": "f" }));
        assert_eq!(
            body["output_config"],
            json!({ "format": { "type": "json_schema", "schema": schema }, "effort": "low" })
        );
        assert_eq!(body["messages"][0]["content"][0]["text"], "Begin.");
        assert!(body.get("system").is_none());
        request.force_tool = None;
        let thinks = model(json!({ "extra": { "thinking": { "type": "enabled", "budget_tokens": 2000 } } }));
        let body = json(&thinks.encode(&request, &mut EncodeCache::default()));
        assert_eq!(body["tool_choice"], json!({ "type": "auto" }));
    }
}
