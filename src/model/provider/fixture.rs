//! Requests that the encoders of several providers are tried with.

use std::sync::Arc;

use serde_json::{Value, json};

use super::wire::Wire;
use crate::model::{
    Block, EncodeCache, Request, Sampling, ToolCall, ToolResult, ToolSpec, ToolSpecs, Transcript, Turn,
};

/// What a request borrows from.
pub(super) struct Given {
    pub(super) system: Vec<Block>,
    pub(super) transcript: Transcript,
    pub(super) tools: Option<ToolSpecs>,
    pub(super) force_tool: Option<String>,
    pub(super) schema: Option<Value>,
    pub(super) sampling: Sampling,
}

impl Default for Given {
    fn default() -> Self {
        let block = |text: &str| Block { text: text.into() };
        Self {
            system: vec![block("You are \"it\"."), block("Schema: {}")],
            transcript: Transcript::default(),
            tools: None,
            force_tool: None,
            schema: None,
            sampling: Sampling::default(),
        }
    }
}

impl Given {
    /// A user's turn, two calls (the first one signed), and their results (the second one an error).
    pub(super) fn with_calls() -> Self {
        let mut given = Self::default();
        let call = |id: &str, name: &str, arguments: &str, echo: Option<&str>| ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            echo: echo.map(str::to_owned),
        };
        let result =
            |id: &str, content: &str, is_error: bool| ToolResult { id: id.into(), content: content.into(), is_error };
        given.transcript.push(Turn::User("first".into()));
        let calls = vec![call("a", "f", "{\"x\":1}", Some("c2ln")), call("b", "g", "", None)];
        given.transcript.push(Turn::Calls { text: "I look.".into(), calls });
        given.transcript.push(Turn::Results(vec![result("a", "ok", false), result("b", "no", true)]));
        given
    }

    pub(super) fn add_tool(&mut self) {
        self.tools = Some(ToolSpecs::new(vec![ToolSpec {
            name: "f".into(),
            description: "Does.".into(),
            params: json!({ "type": "object" }),
        }]));
    }

    pub(super) fn request<'a>(&'a self, last: &'a str, retry: &'a [Turn]) -> Request<'a> {
        Request {
            purpose: None,
            system: &self.system,
            transcript: &self.transcript,
            last,
            retry,
            tools: self.tools.as_ref(),
            force_tool: self.force_tool.as_deref(),
            schema: self.schema.as_ref(),
            sampling: &self.sampling,
            volatile: &[],
        }
    }
}

pub(super) fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
}

/// Bodies of a growing transcript: each begins with what the one before had up to its open part, and a cache changes
/// no byte.
pub(super) fn check_prefixes(model: &impl Wire) {
    let mut given = Given::default();
    let mut cache = EncodeCache::default();
    let mut kept = Vec::new();
    let retry = [Turn::Assistant("bad".into()), Turn::User("again".into())];
    for step in 0..8 {
        let last = format!("open {step}");
        let retry = if step == 3 { &retry[..] } else { &[] };
        let body = model.encode(&given.request(&last, retry), &mut cache);
        assert_eq!(body, model.encode(&given.request(&last, retry), &mut EncodeCache::default()), "cached as fresh");
        json(&body);
        assert!(body.starts_with(&kept), "step {step}");
        let longer = [cache.head.clone(), cache.turns.clone()].concat();
        assert!(longer.len() >= kept.len() && body.starts_with(&longer), "step {step}");
        kept = longer;
        if step % 3 == 2 {
            let call = ToolCall { id: format!("c{step}"), name: "f".into(), arguments: "{}".into(), echo: None };
            given.transcript.push(Turn::Calls { text: "".into(), calls: vec![call] });
            let result = ToolResult { id: format!("c{step}"), content: "done".into(), is_error: false };
            given.transcript.push(Turn::Results(vec![result]));
        } else {
            given.transcript.push(Turn::User(Arc::from(format!("<|E{step}|>\nit \"happened\"\n"))));
            if step % 2 == 0 {
                given.transcript.push(Turn::Assistant("hm".into()));
            }
        }
    }
    assert!(kept.len() > 300);
}
