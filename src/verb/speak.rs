//! What a person reads while the loop runs: `thought`, `status`, `answer`, `emit`, and the question of `ask`.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::shape::{Strings, decode_string_or, json, string_or};
use super::{Group, StepContext, StepFailure, Verb};
use crate::document::DEFAULT_CONTENT_TYPE;
use crate::event::Event;

/// The node that shows thoughts.
const THOUGHT_NODE: &str = "thought";
/// The node that shows the answer.
const ANSWER_NODE: &str = "answer";

/// A line for the `thought` node, where the model's own thoughts are shown.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = "There is no log to analyse.")]
pub(super) struct Thought(String);

impl Verb for Thought {
    const NAME: &'static str = "thought";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let text = cx.text(&self.0)?;
        cx.emit(Event::Delta {
            node: THOUGHT_NODE.to_owned(),
            content_type: DEFAULT_CONTENT_TYPE.to_owned(),
            text: text.clone(),
        });
        Ok(Value::from(text))
    }
}

/// A progress line for people.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = "{{ state.done | length }} of {{ state.files | length }} files")]
pub(super) struct Status(String);

impl Verb for Status {
    const NAME: &'static str = "status";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let text = cx.text(&self.0)?;
        cx.emit(Event::Status { text: text.clone() });
        Ok(Value::from(text))
    }
}

/// An answer to the user.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer(AnswerArgs);

/// An answer with its media type.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerArgs {
    /// The text.
    text: String,
    /// The text's media type. Default: `text/markdown`.
    #[serde(default)]
    content_type: Option<String>,
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |text| AnswerArgs { text, content_type: None }).map(Self)
    }
}

impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = serde_json::json!(["{{ tags.FINAL_ANSWER }}", { "text": "ok", "content_type": "text/plain" }]);
        string_or::<AnswerArgs>(generator, "An answer to the user: a text, or { text, content_type }.", examples)
    }
}

impl Verb for Answer {
    const NAME: &'static str = "answer";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let text = cx.text(&self.0.text)?;
        let content_type = match &self.0.content_type {
            Some(source) => cx.text(source)?,
            None => DEFAULT_CONTENT_TYPE.to_owned(),
        };
        let streamed = {
            let mut state = cx.state();
            state.answer = Some(text.clone());
            state.streamed.get(ANSWER_NODE).is_some_and(|shown| shown.trim() == text.trim())
        };
        cx.emit(Event::Answer { text: text.clone(), content_type, streamed });
        Ok(Value::from(text))
    }
}

/// An event of the loop's own, for programs that read the event stream.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({ "name": "ticket_sorted", "data": "{{ params }}" }))]
pub(super) struct Emit {
    /// The event's name.
    name: String,
    /// Its data: any JSON, a template at any depth.
    #[serde(default)]
    data: serde_json::Value,
}

impl Verb for Emit {
    const NAME: &'static str = "emit";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let name = cx.text(&self.name)?;
        let data = cx.json(&self.data)?;
        cx.emit(Event::Emit { name, data: json(&data)? });
        Ok(data)
    }
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask(AskArgs);

/// A question with answers to choose from.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskArgs {
    /// The question.
    question: String,
    /// Answers to choose from; without them any text will do.
    #[serde(default)]
    options: Strings,
}

impl<'de> Deserialize<'de> for Ask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |question| AskArgs { question, options: Strings::default() }).map(Self)
    }
}

impl JsonSchema for Ask {
    fn schema_name() -> Cow<'static, str> {
        "Ask".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = serde_json::json!([
            "Which host is it about?",
            { "question": "Delete {{ params.path }}?", "options": ["yes", "no"] }
        ]);
        let description = "Asks the user: a question, or { question, options }. The result is the answer; none when nobody can be asked.";
        string_or::<AskArgs>(generator, description, examples)
    }
}

impl Verb for Ask {
    const NAME: &'static str = "ask";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let question = cx.text(&self.0.question)?;
        let options = self.0.options.render(cx)?;
        cx.host.ask(question, options, cx).await.map(Value::from)
    }
}
