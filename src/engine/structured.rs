//! Structured model calls: one object against a schema. Forges, and the parameters that `require_tool` asks for.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::Value as Json;

use super::batch::Call;
use super::call::{CallFailure, CallInfo, Watcher};
use super::core::LoopCore;
use super::models::ModelSlot;
use crate::document::{ForgeDoc, StreamTo, TextSource};
use crate::event::{CallPurpose, Event};
use crate::model::{Block, EncodeCache, Finish, Protocol, Request, Sampling, Sink, Transcript, Turn};
use crate::prompt::{Assembler, Section, Tier, Trust};
use crate::reply::{self, ActionGrammar, Grammar, Live, Piece};
use crate::state::{Frame, Scope};
use crate::verb::{ForgeCall, Phase, StepFailure};

/// How often a forge may try again when its document does not say.
const DEFAULT_RETRIES: u32 = 2;

/// One structured call.
pub(super) struct Structured<'a> {
    pub(super) purpose: CallPurpose,
    pub(super) tier: &'a str,
    /// The system text.
    pub(super) system: String,
    /// What is asked: name of the section, text, trust.
    pub(super) sections: Vec<(&'a str, String, Trust)>,
    pub(super) schema: &'a Json,
    pub(super) stream: IndexMap<String, StreamTo>,
    pub(super) retries: u32,
    pub(super) max_tokens: Option<u32>,
}

impl LoopCore {
    /// Runs a forge.
    pub(super) async fn run_forge(&self, call: ForgeCall, phase: Phase) -> Result<Value, StepFailure> {
        let edition = &self.edition;
        let loaded = edition
            .library
            .forges
            .get(&call.forge)
            .ok_or_else(|| StepFailure::new(format!("there is no forge named `{}`", call.forge)))?;
        let doc = &loaded.doc;
        if let Some(input) = &doc.input {
            let json = serde_json::to_value(&call.input).map_err(|e| StepFailure::new(e.to_string()))?;
            valid(&input.schema, &json).map_err(|problem| {
                StepFailure::new(format!("the input of forge `{}` does not fit: {problem}", call.forge))
            })?;
        }
        let frame = Frame::default().with("input", call.input).with("schema", Value::from(Serde(&doc.output.schema)));
        let context = Scope::new(self.base.clone(), frame).context();
        let render = |result: Result<crate::template::Rendered, crate::template::TemplateError>| {
            result.map(|rendered| rendered.text).map_err(|error| StepFailure::new(error.to_string()))
        };
        let task = match &doc.prompt {
            TextSource::Inline(text) => render(edition.templates.render_prompt(text, &context))?,
            TextSource::File(path) => {
                let name = edition.document_file(path, &loaded.folder).map_err(StepFailure::Failed)?;
                render(edition.templates.render_prompt_file(&name, &context))?
            }
        };
        let system = render(edition.templates.render_prompt_file("prompts/engine/forge.md.j2", &context))?;
        let mut stream = doc.stream.clone();
        stream.extend(call.stream);
        let tier =
            call.tier.or_else(|| doc.tier.as_ref().map(|tier| tier.to_string())).unwrap_or_else(|| "main".into());
        let structured = Structured {
            purpose: CallPurpose::Forge,
            tier: &tier,
            system,
            sections: vec![("TASK", task, Trust::Trusted)],
            schema: &doc.output.schema,
            stream,
            retries: doc.retries.unwrap_or(DEFAULT_RETRIES),
            max_tokens: doc.max_reply_tokens,
        };
        let object = self.structured(structured, phase).await?;
        Ok(Value::from(Serde(&object)))
    }

    /// One of the engine's own prompts, over names of its own.
    pub(super) fn render_own(&self, name: &str, context: &Value) -> Result<String, StepFailure> {
        let rendered = self.edition.templates.render_prompt_file(name, context);
        rendered.map(|rendered| rendered.text).map_err(|error| StepFailure::new(error.to_string()))
    }

    /// Asks the model for the parameters of a tool that it required.
    pub(super) async fn ask_for_parameters(&self, call: &Call, context: String) -> Result<Json, StepFailure> {
        let edition = &self.edition;
        let tool = edition
            .toolbox
            .get(&call.tool)
            .filter(|_| self.may_call(&call.tool))
            .ok_or_else(|| StepFailure::new(format!("there is no tool named `{}`", call.tool)))?;
        let spec = serde_json::json!({
            "name": tool.name, "description": tool.description, "params": tool.params,
        });
        self.ask_for_object(&spec, &tool.params, call.reason.as_deref(), context, Phase::WORK).await
    }

    /// Asks the model for the input of a forge that it wants to run. Where the input is no object, it comes as the field `input` of
    /// one.
    pub(super) async fn ask_for_input(
        &self,
        forge: &ForgeDoc,
        schema: &Json,
        context: String,
        phase: Phase,
    ) -> Result<Json, StepFailure> {
        let wrapped = serde_json::json!({ "type": "object", "required": ["input"], "properties": { "input": schema } });
        let schema = if wants_object(schema) { schema } else { &wrapped };
        let spec = serde_json::json!({
            "name": forge.name.as_str(), "description": forge.description, "params": schema,
        });
        self.ask_for_object(&spec, schema, None, context, phase).await
    }

    async fn ask_for_object(
        &self,
        spec: &Json,
        schema: &Json,
        reason: Option<&str>,
        context: String,
        phase: Phase,
    ) -> Result<Json, StepFailure> {
        let frame = Frame::default()
            .with("tool", Value::from(Serde(spec)))
            .with("reason", reason.map_or(Value::from(""), Value::from))
            .with("schema", Value::from(Serde(schema)));
        let scope = Scope::new(self.base.clone(), frame).context();
        let file = |name: &str| self.render_own(name, &scope);
        let structured = Structured {
            purpose: CallPurpose::Parameters,
            tier: "main",
            system: file("prompts/engine/forge.md.j2")?,
            sections: vec![
                ("HISTORY", context, Trust::Untrusted),
                ("USER_QUERY", super::sub::input_text(&self.base.input), Trust::Untrusted),
                ("TASK", file("prompts/engine/parameters.md.j2")?, Trust::Trusted),
            ],
            schema,
            stream: IndexMap::new(),
            retries: DEFAULT_RETRIES,
            max_tokens: None,
        };
        self.structured(structured, phase).await
    }

    /// One object that fits a schema, from the tier's model or from one that stands in for it.
    pub(super) async fn structured(&self, call: Structured<'_>, phase: Phase) -> Result<Json, StepFailure> {
        let chain = self.chain(call.tier).map_err(|error| StepFailure::new(error.to_string()))?;
        let mut at = self.first_ready(&chain, call.tier);
        loop {
            let error = match self.structured_by(&chain[at], &call, phase).await {
                Ok(value) => return Ok(value),
                Err(CallFailure::Stop(stop)) => return Err(stop),
                Err(CallFailure::Cut(words)) => return Err(StepFailure::new(words)),
                Err(CallFailure::Model(error)) => error,
            };
            match self.next_model(&chain, at, call.tier, &error) {
                Some(next) => at = next,
                None => return Err(StepFailure::new(self.explain(&error))),
            }
        }
    }

    /// One object that fits a schema from one model, after as many attempts as allowed.
    async fn structured_by(&self, slot: &ModelSlot, call: &Structured<'_>, phase: Phase) -> Result<Json, CallFailure> {
        let validator = jsonschema::validator_for(call.schema)
            .map_err(|error| StepFailure::new(format!("the output schema is broken: {error}")))?;
        let mut assembler = Assembler::new(&self.shared.prompt_secret());
        assembler.begin_turn();
        let sections: Vec<Section<'_>> = call
            .sections
            .iter()
            .map(|(name, text, trust)| Section { name, tier: Tier::Dynamic, trust: *trust, body: text.trim().into() })
            .collect();
        let assembled = assembler.assemble(&sections, &|_| 0).map_err(|error| StepFailure::new(error.to_string()))?;
        let system = [Block { text: call.system.trim().into() }];
        let (transcript, sampling) =
            (Transcript::default(), Sampling { max_tokens: call.max_tokens, ..Sampling::default() });
        let mut volatile = if slot.matches_requests { assembled.volatile.clone() } else { Vec::new() };
        if slot.matches_requests {
            volatile.extend(self.named_secrets());
        }
        let volatile: Vec<(&str, String)> =
            volatile.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let mut retry: Vec<Turn> = Vec::new();
        let mut view = FieldView::new(&self.events, &call.stream);
        for attempt in 1..=call.retries + 1 {
            let request = Request {
                purpose: None,
                system: &system,
                transcript: &transcript,
                last: &assembled.last,
                retry: &retry,
                tools: None,
                force_tool: None,
                schema: (slot.model.info().protocol == Protocol::JsonSchema).then_some(call.schema),
                sampling: &sampling,
                volatile: &volatile,
            };
            let info = CallInfo { purpose: call.purpose, tier: call.tier, phase };
            let reply = self.call_model(slot, info, request, &mut EncodeCache::default(), &mut view).await?;
            view.finish();
            let finish = if reply.finish == Some(Finish::Length) { reply::Finish::Length } else { reply::Finish::Stop };
            let message = match reply::extract_object(&reply.text, finish) {
                Ok((value, _)) => {
                    let (value, _) = reply::coerce(value, call.schema);
                    match problems(&validator, &value) {
                        None => {
                            self.state().streamed.extend(view.take_shown());
                            return Ok(value);
                        }
                        Some(problem) => ("type_mismatch", format!("The object does not fit the schema: {problem}")),
                    }
                }
                Err(rejection) => (rejection.class.as_str(), rejection.message),
            };
            view.retract();
            let will_retry = attempt <= call.retries;
            self.events.emit(Event::ActionRejected {
                attempt,
                class: message.0.to_owned(),
                message: message.1.clone(),
                will_retry,
            });
            if !will_retry {
                return Err(StepFailure::new(format!("no valid object after {attempt} attempts: {}", message.1)).into());
            }
            retry.push(Turn::Assistant(reply.text.as_str().into()));
            retry.push(Turn::User(message.1.into()));
        }
        Err(StepFailure::new("no attempt was made").into())
    }
}

/// Whether a schema asks for an object.
pub(super) fn wants_object(schema: &Json) -> bool {
    schema.get("type").and_then(Json::as_str) == Some("object") || schema.get("properties").is_some()
}

/// What does not fit, in words; none when all fits.
fn problems(validator: &jsonschema::Validator, value: &Json) -> Option<String> {
    let found: Vec<String> =
        validator.iter_errors(value).take(8).map(|error| format!("{}: {error}", error.instance_path())).collect();
    (!found.is_empty()).then(|| found.join("; "))
}

/// Whether a value fits a schema; what does not, in words.
pub(super) fn valid(schema: &Json, value: &Json) -> Result<(), String> {
    let validator = jsonschema::validator_for(schema).map_err(|error| error.to_string())?;
    problems(&validator, value).map_or(Ok(()), Err)
}

/// Shows streamed fields of an object. To the reader, which knows actions only, the object is the parameters of one.
struct FieldView<'a> {
    events: &'a crate::event::EventStream,
    stream: &'a IndexMap<String, StreamTo>,
    grammar: Grammar,
    live: Option<Live>,
    shown: IndexMap<String, String>,
}

/// The reader's name for the object.
const OBJECT: &str = "object";

impl<'a> FieldView<'a> {
    fn new(events: &'a crate::event::EventStream, stream: &'a IndexMap<String, StreamTo>) -> Self {
        let any = ActionGrammar::new(serde_json::json!({ "type": "object" }), IndexMap::new());
        let grammar = Grammar::new("", [(OBJECT.to_owned(), Arc::new(any))]);
        Self { events, stream, grammar, live: None, shown: IndexMap::new() }
    }

    fn take_shown(&mut self) -> IndexMap<String, String> {
        std::mem::take(&mut self.shown)
    }

    fn feed(&mut self, text: &str) {
        if self.stream.is_empty() {
            return;
        }
        let mut text = text;
        if self.live.is_none() {
            let Some(start) = text.find('{') else { return };
            text = &text[start..];
            self.live = Some(Live::new(&self.grammar));
            self.show(Some(&format!("{{\"@action\":\"{OBJECT}\",\"params\":")));
        }
        self.show(Some(text));
    }

    fn finish(&mut self) {
        if self.live.is_some() {
            self.show(Some("}"));
            self.show(None);
            self.live = None;
        }
    }

    fn show(&mut self, text: Option<&str>) {
        let Self { events, stream, live, shown, .. } = self;
        let Some(live) = live else { return };
        let mut show = |piece: Piece<'_>| {
            let Piece::Field { key, text, .. } = piece else { return };
            let Some(to) = stream.get(key) else { return };
            shown.entry(to.node.clone()).or_default().push_str(text);
            events.emit(Event::Delta {
                node: to.node.clone(),
                content_type: to.content_type.clone(),
                text: text.to_owned(),
            });
        };
        match text {
            Some(text) => live.feed(text, &mut show),
            None => live.finish(&mut show),
        }
    }
}

impl Sink for FieldView<'_> {
    fn text(&mut self, piece: &str) {
        self.feed(piece);
    }

    fn reasoning(&mut self, _: &str) {}
}

impl Watcher for FieldView<'_> {
    fn retract(&mut self) {
        for (node, _) in self.shown.drain(..) {
            self.events.emit(Event::Correction { node, text: String::new() });
        }
        self.live = None;
    }
}
