//! A request as a body for `streamGenerateContent`.
//!
//! `contents` is the last member, and every turn is a part of its own; parts of one role that follow each other share a
//! content. So the body of one iteration begins with the body of the one before, up to its open part.

use serde_json::{Map, Value, json};

use super::Gemini;
use crate::model::extra::add_extra;
use crate::model::json::{write_string, write_value};
use crate::model::request::called;
use crate::model::{EncodeCache, Protocol, Request, ToolCall, Turn};

// Google's word for a call that no Gemini model made: newer models refuse a transcript with unsigned calls.
const NOT_SIGNED: &str = "skip_thought_signature_validator";

impl Gemini {
    /// Writes the body, keeping head and transcript in the cache.
    pub(super) fn write_body(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8> {
        let id = self.line.id;
        cache.keep_head(id, request, |head| self.write_head(head, request));
        let known = request.transcript.turns();
        let new = cache.new_turns(id, request.transcript).len();
        let mut contents =
            Contents { out: std::mem::take(&mut cache.turns), open: cache.open, sign: self.wants_signs() };
        contents.turns(known, known.len() - new);
        cache.turns = contents.out;
        cache.open = contents.open;

        let first = cache.turns.is_empty();
        let mut contents = Contents { out: cache.begin_body(), open: cache.open, sign: self.wants_signs() };
        if first && request.last.is_empty() {
            contents.text("Begin.");
        } else {
            contents.text(request.last);
        }
        contents.turns(request.retry, 0);
        contents.close();
        let mut body = contents.out;
        body.extend_from_slice(b"]}");
        cache.last_len = body.len();
        body
    }

    /// Everything up to the first content.
    fn write_head(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        write_value(out, &Value::Object(self.members(request)));
        out.pop();
        // Without members there is nothing to go on from.
        let mut comma = if out.len() > 1 { "," } else { "" };
        if !request.system.is_empty() {
            let parts: Vec<Value> = request.system.iter().map(|block| json!({ "text": &*block.text })).collect();
            out.extend_from_slice(comma.as_bytes());
            out.extend_from_slice(b"\"systemInstruction\":");
            write_value(out, &json!({ "parts": parts }));
            comma = ",";
        }
        out.extend_from_slice(comma.as_bytes());
        out.extend_from_slice(b"\"contents\":[");
    }

    fn members(&self, request: &Request<'_>) -> Map<String, Value> {
        let mut members = Map::new();
        let mut config = Map::new();
        if let Some(most) = request.sampling.max_tokens.or(self.settings.max_tokens) {
            config.insert("maxOutputTokens".into(), most.into());
        }
        if let Some(temperature) = request.sampling.temperature.or(self.settings.temperature) {
            config.insert("temperature".into(), temperature.into());
        }
        if self.line.info.protocol == Protocol::JsonSchema
            && let Some(schema) = request.schema
        {
            config.insert("responseMimeType".into(), "application/json".into());
            config.insert("responseJsonSchema".into(), schema.clone());
        }
        if !config.is_empty() {
            members.insert("generationConfig".into(), config.into());
        }
        if let Some(tools) = request.tools.filter(|tools| !tools.specs.is_empty()) {
            let declared = tools.specs.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.params })
            });
            let declared: Value = declared.collect();
            members.insert("tools".into(), json!([{ "functionDeclarations": declared }]));
            let mut choice = json!({ "mode": "ANY" });
            if let Some(name) = request.force_tool {
                choice["allowedFunctionNames"] = json!([name]);
            }
            members.insert("toolConfig".into(), json!({ "functionCallingConfig": choice }));
        }
        add_extra(&mut members, &self.settings.extra, request.sampling);
        members
    }

    /// Whether a transcript's calls must be signed: since the third generation.
    fn wants_signs(&self) -> bool {
        let name = self.settings.model.trim_start_matches("models/");
        !["gemini-1", "gemini-2"].iter().any(|old| name.starts_with(old))
    }
}

/// Contents being written. A user's content stays open: more parts may follow.
struct Contents {
    out: Vec<u8>,
    open: bool,
    sign: bool,
}

impl Contents {
    fn turns(&mut self, turns: &[Turn], from: usize) {
        for (at, turn) in turns.iter().enumerate().skip(from) {
            match turn {
                Turn::User(text) => self.text(text),
                Turn::Assistant(text) => self.model(text, &[]),
                Turn::Calls { text, calls } => self.model(text, calls),
                Turn::Results(results) => {
                    for result in results {
                        self.part(b"{\"functionResponse\":{\"id\":");
                        write_string(&mut self.out, &result.id);
                        self.out.extend_from_slice(b",\"name\":");
                        write_string(&mut self.out, called(&turns[..at], &result.id));
                        self.out.extend_from_slice(if result.is_error {
                            b",\"response\":{\"error\":"
                        } else {
                            b",\"response\":{\"output\":"
                        });
                        write_string(&mut self.out, &result.content);
                        self.out.extend_from_slice(b"}}}");
                    }
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.part(b"{\"text\":");
            write_string(&mut self.out, text);
            self.out.push(b'}');
        }
    }

    fn model(&mut self, text: &str, calls: &[ToolCall]) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        self.begin(b"{\"role\":\"model\",\"parts\":[");
        let out = &mut self.out;
        if !text.is_empty() {
            out.extend_from_slice(b"{\"text\":");
            write_string(out, text);
            out.push(b'}');
        }
        let unsigned = self.sign && calls.iter().all(|call| call.echo.is_none());
        for (at, call) in calls.iter().enumerate() {
            if at > 0 || !text.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"functionCall\":{\"id\":");
            write_string(out, &call.id);
            out.extend_from_slice(b",\"name\":");
            write_string(out, &call.name);
            out.extend_from_slice(b",\"args\":");
            out.extend_from_slice(call.arguments_object().as_bytes());
            out.push(b'}');
            // Of calls made at once the first is signed.
            let made_up = (unsigned && at == 0).then_some(NOT_SIGNED);
            if let Some(signature) = call.echo.as_deref().or(made_up) {
                out.extend_from_slice(b",\"thoughtSignature\":");
                write_string(out, signature);
            }
            out.push(b'}');
        }
        self.out.extend_from_slice(b"]}");
    }

    /// Begins a part of a user's content.
    fn part(&mut self, start: &[u8]) {
        if self.open {
            self.out.push(b',');
        } else {
            self.begin(b"{\"role\":\"user\",\"parts\":[");
            self.open = true;
        }
        self.out.extend_from_slice(start);
    }

    fn begin(&mut self, start: &[u8]) {
        self.close();
        // What ends like this is a content; the head ends with a bracket.
        if self.out.last() == Some(&b'}') {
            self.out.push(b',');
        }
        self.out.extend_from_slice(start);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.out.extend_from_slice(b"]}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{Given, check_prefixes, json};
    use super::*;
    use crate::model::BuildContext;

    fn model(mut settings: Value) -> Gemini {
        if settings.get("model").is_none() {
            settings["model"] = "gemini-2.5-flash".into();
        }
        Gemini::new(serde_json::from_value(settings).unwrap(), &BuildContext::new("/")).unwrap()
    }

    fn body(model: &Gemini, given: &Given, last: &str) -> Value {
        json(&model.write_body(&given.request(last, &[]), &mut EncodeCache::default()))
    }

    #[test]
    fn settings_and_turns_take_their_places() {
        let model = model(json!({
            "protocol": "json_schema", "max_tokens": 9, "temperature": 0.5,
            "extra": { "generationConfig": { "thinkingConfig": { "includeThoughts": true } } },
        }));
        let mut given = Given::with_calls();
        given.schema = Some(json!({ "type": "object" }));
        let thinking = json!({ "includeThoughts": true });
        assert_eq!(
            body(&model, &given, "now"),
            json!({
                "generationConfig": {
                    "maxOutputTokens": 9, "temperature": 0.5, "responseMimeType": "application/json",
                    "responseJsonSchema": { "type": "object" }, "thinkingConfig": thinking,
                },
                "systemInstruction": { "parts": [{ "text": "You are \"it\"." }, { "text": "Schema: {}" }] },
                "contents": [
                    { "role": "user", "parts": [{ "text": "first" }] },
                    { "role": "model", "parts": [
                        { "text": "I look." },
                        { "functionCall": { "id": "a", "name": "f", "args": { "x": 1 } }, "thoughtSignature": "c2ln" },
                        { "functionCall": { "id": "b", "name": "g", "args": {} } },
                    ] },
                    { "role": "user", "parts": [
                        { "functionResponse": { "id": "a", "name": "f", "response": { "output": "ok" } } },
                        { "functionResponse": { "id": "b", "name": "g", "response": { "error": "no" } } },
                        { "text": "now" },
                    ] },
                ],
            })
        );
    }

    #[test]
    fn tools_must_be_called() {
        let mut given = Given::default();
        given.add_tool();
        let plain = body(&model(json!({})), &given, "x");
        let declared = json!({ "name": "f", "description": "Does.", "parametersJsonSchema": { "type": "object" } });
        assert_eq!(plain["tools"], json!([{ "functionDeclarations": [declared] }]));
        assert_eq!(plain["toolConfig"], json!({ "functionCallingConfig": { "mode": "ANY" } }));
        given.force_tool = Some("f".into());
        let forced = body(&model(json!({})), &given, "x");
        assert_eq!(forced["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"], json!(["f"]));
    }

    #[test]
    fn calls_of_another_model_are_marked_for_those_that_want_signatures() {
        let mut given = Given::default();
        let calls = vec![ToolCall { id: "a".into(), name: "f".into(), arguments: String::new(), echo: None }];
        given.transcript.push(Turn::User("first".into()));
        given.transcript.push(Turn::Calls { text: "".into(), calls });
        for (name, expected) in [("gemini-2.5-pro", Value::Null), ("models/gemini-3-pro", NOT_SIGNED.into())] {
            let body = body(&model(json!({ "model": name })), &given, "x");
            assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], expected, "{name}");
        }
    }

    #[test]
    fn a_request_without_anything_begins() {
        let given = Given { system: Vec::new(), ..Given::default() };
        let contents = json!([{ "role": "user", "parts": [{ "text": "Begin." }] }]);
        assert_eq!(body(&model(json!({})), &given, ""), json!({ "contents": contents }));
    }

    #[test]
    fn a_body_begins_with_the_one_before() {
        check_prefixes(&model(json!({})));
    }
}
