//! One transaction with the model: ask, stream, extract one action, verify; ask again with the errors when it fails.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json};

use super::attempt::{more_room, push_retry};
use super::call::{CallFailure, CallInfo};
use super::core::LoopCore;
use super::finish::End;
use super::iteration::LoopRun;
use super::live::{LiveView, Shown};
use super::models::ModelSlot;
use super::program::{ActionKind, ActionProgram, ActionSet};
use crate::event::{CallPurpose, Event, ExitReason, RepairNote};
use crate::model::{ErrorClass, Finish, ModelError, Protocol, Reply, Request, Sampling, ToolCall, Turn};
use crate::prompt::guard;
use crate::reply::{self, Extracted, Grammar, Rejection};
use crate::state::{Frame, TurnBinding};
use crate::verb::Phase;

/// The action that a turn chose, valid and verified.
pub(super) struct Chosen {
    pub(super) action: Arc<ActionProgram>,
    pub(super) identifier: Option<String>,
    pub(super) thought: Option<String>,
    pub(super) params: Map<String, Json>,
    pub(super) tags: IndexMap<String, String>,
    /// The native calls of the reply, for the transcript.
    pub(super) calls: Vec<ToolCall>,
    /// The text that came with native calls.
    pub(super) text: String,
    /// What people were shown while the reply arrived.
    pub(super) shown: Shown,
}

/// Why a reply gave no action.
pub(super) struct Refused {
    pub(super) class: String,
    pub(super) message: String,
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        Self { class: rejection.class.as_str().to_owned(), message: rejection.message }
    }
}

/// Why a transaction gave no action.
enum TurnFailure {
    /// The loop ends.
    End(End),
    /// The model failed; another one, or a shorter prompt, may help.
    Model(ModelError),
}

impl LoopRun {
    /// Gets one valid action from the tier's model, or from one that stands in for it.
    ///
    /// # Errors
    /// The end of the loop: no action after all retries, a failed call, a limit, a cancellation.
    pub(super) async fn take_turn(&mut self, binding: &TurnBinding) -> Result<Chosen, End> {
        let set = self.core.allowed(binding)?;
        let chain = Arc::clone(&self.chain);
        let mut steps = self.core.program.overflow.steps.clone().into_iter();
        let mut at = self.core.first_ready(&chain, "main");
        loop {
            let failure = match self.transaction(&chain[at], &set).await {
                Ok(chosen) => {
                    self.slot = Arc::clone(&chain[at]);
                    return Ok(chosen);
                }
                Err(TurnFailure::End(end)) => return Err(end),
                Err(TurnFailure::Model(error)) => error,
            };
            if failure.class == ErrorClass::ContextLength {
                if !self.shrink(&mut steps).await? {
                    return Err(self.core.call_end(CallFailure::Model(failure)));
                }
                continue;
            }
            match self.core.next_model(&chain, at, "main", &failure) {
                Some(next) => at = next,
                None => return Err(self.core.call_end(CallFailure::Model(failure))),
            }
        }
    }

    /// One transaction with one model: asks until there is an action, or the retries are used up.
    async fn transaction(&mut self, slot: &Arc<ModelSlot>, set: &ActionSet) -> Result<Chosen, TurnFailure> {
        let protocol = slot.model.info().protocol;
        let iteration = self.core.state().iteration;
        let last = iteration >= self.max_iterations;
        self.memory.count_for(slot.model.info());
        let prompt = self.memory.assemble(&self.core, set, protocol, last).map_err(|failure| {
            TurnFailure::End(End::failed(ExitReason::Error, format!("the prompt could not be rendered: {failure}")))
        })?;
        self.core.show_prompt(iteration, &prompt, self.memory.transcript.turns());
        if let Some(size) = prompt.size {
            self.core.note_prompt(size);
        }
        let tools = (protocol == Protocol::Tools).then_some(&set.specs);
        let only_tool = tools.and_then(|tools| match tools.specs.as_slice() {
            [one] => Some(one.name.as_str()),
            _ => None,
        });
        let tokens = self.memory.profile(&self.core, iteration, &prompt.assembled, tools);
        let mut room = self.core.program.limits.max_reply_tokens;
        if slot.model.info().context.is_some_and(|context| tokens + room.unwrap_or(0) as usize > context as usize) {
            let about = if self.memory.estimated() { "about " } else { "" };
            let words = format!("the prompt has {about}{tokens} tokens, more than the model's declared context");
            return Err(TurnFailure::Model(ModelError::new(ErrorClass::ContextLength, words)));
        }
        let actions = set.actions.iter().map(|action| (action.name.clone(), Arc::clone(&action.grammar)));
        let grammar = Grammar::new(prompt.nonce.as_str(), actions);
        let volatile =
            if slot.matches_requests { self.memory.volatile(&self.core, &prompt.assembled) } else { Vec::new() };
        let volatile: Vec<(&str, String)> =
            volatile.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let mut retry: Vec<Turn> = Vec::new();
        let attempts = self.core.program.limits.action_retries + 1;
        let mut attempt = 1;
        loop {
            let sampling = Sampling { max_tokens: room, ..Sampling::default() };
            let request = Request {
                purpose: None,
                system: &prompt.assembled.system,
                transcript: &self.memory.transcript,
                last: &prompt.assembled.last,
                retry: &retry,
                tools,
                // Some servers know no other way to ask for a call, and where there is no choice it says the same.
                force_tool: only_tool,
                schema: (protocol == Protocol::JsonSchema).then_some(&set.schema),
                sampling: &sampling,
                volatile: &volatile,
            };
            let mut view = LiveView::new(&self.core.events, &grammar, set, self.core.chant_watch());
            let info = CallInfo { purpose: CallPurpose::Action, tier: "main", phase: Phase::WORK };
            let call = self.core.call_model(slot, info, request, &mut self.memory.cache, &mut view);
            let reply = match call.await {
                Ok(reply) => reply,
                Err(CallFailure::Model(mut error)) => {
                    if let Some(context) = slot.model.info().context.filter(|_| self.memory.estimated()) {
                        super::overflow::suspect(&mut error, tokens + room.unwrap_or(0) as usize, context);
                    }
                    return Err(TurnFailure::Model(error));
                }
                Err(CallFailure::Cut(message)) => {
                    let refused = Refused { class: "repetition".to_owned(), message };
                    self.core.refuse(&refused, attempt, attempts).map_err(TurnFailure::End)?;
                    push_retry(&mut retry, &Reply::default(), refused.message);
                    attempt += 1;
                    continue;
                }
                Err(stop) => return Err(TurnFailure::End(self.core.call_end(stop))),
            };
            view.finish();
            let read = self.core.read_reply(&reply, &grammar, set, protocol);
            let refused = match read.and_then(|read| self.core.accept(&reply, read, set, &prompt.nonce)) {
                Ok(mut chosen) => {
                    chosen.shown = std::mem::take(&mut view.shown);
                    return Ok(chosen);
                }
                Err(refused) => refused,
            };
            view.retract_all();
            self.core.refuse(&refused, attempt, attempts).map_err(TurnFailure::End)?;
            if reply.finish == Some(Finish::Length) {
                room = more_room(room, slot.model.info().context, tokens);
            }
            push_retry(&mut retry, &reply, refused.message);
            attempt += 1;
        }
    }
}

impl LoopCore {
    /// Notes a reply that gave no action.
    ///
    /// # Errors
    /// The end of the loop, when it was the last attempt.
    fn refuse(&self, refused: &Refused, attempt: u32, attempts: u32) -> Result<(), End> {
        let will_retry = attempt < attempts;
        self.events.emit(Event::ActionRejected {
            attempt,
            class: refused.class.clone(),
            message: refused.message.clone(),
            will_retry,
        });
        if will_retry {
            return Ok(());
        }
        let words = format!("no valid action after {attempts} attempts; the last one: {}", refused.message);
        Err(End::failed(ExitReason::Error, words))
    }

    /// The actions that the turn may take.
    pub(super) fn allowed(&self, binding: &TurnBinding) -> Result<Arc<ActionSet>, End> {
        let mut names = Vec::new();
        for (name, action) in &self.program.actions {
            if binding.only.as_ref().is_some_and(|only| !only.contains(name))
                || binding.forbidden.contains(name)
                || (binding.no_exit && action.ends_loop())
            {
                continue;
            }
            if let Some(when) = &action.when {
                let holds = self
                    .eval(when, &Frame::default())
                    .map_err(|e| End::failed(ExitReason::Error, format!("actions.{name}.when: {e}")))?;
                if !holds.is_true() {
                    continue;
                }
            }
            names.push(name.clone());
        }
        if names.is_empty() {
            return Err(End::failed(
                ExitReason::Error,
                "no action is allowed in this turn: next_actions, forbid_actions, forbid_exit_next and `when` leave none",
            ));
        }
        Ok(self.program.action_set(names, &self.edition.toolbox))
    }

    /// Takes one action out of a reply.
    fn read_reply(
        &self,
        reply: &Reply,
        grammar: &Grammar,
        set: &ActionSet,
        protocol: Protocol,
    ) -> Result<Extracted, Refused> {
        let finish = reply_finish(reply.finish);
        if reply.calls.is_empty() {
            let direct = grammar.actions.contains_key("directly_answer");
            return match reply::extract(&reply.text, finish, grammar) {
                // With native tools, text without a call is how a model answers.
                Err(rejection)
                    if protocol == Protocol::Tools
                        && direct
                        && rejection.class == reply::RejectClass::NoAction
                        && !reply.text.trim().is_empty()
                        && reply.finish == Some(Finish::Stop) =>
                {
                    Ok(answer_from_text(&reply.text))
                }
                other => other.map_err(Refused::from),
            };
        }
        let tools: Vec<_> = reply.calls.iter().filter(|call| !grammar.actions.contains_key(&call.name)).collect();
        let offered = |call: &ToolCall| set.specs.specs.iter().any(|spec| spec.name == call.name);
        if tools.len() == reply.calls.len() && tools.iter().all(|call| offered(call)) {
            return self.read_tool_calls(&reply.calls);
        }
        let first = &reply.calls[0];
        if !grammar.actions.contains_key(&first.name) && offered(first) {
            return self.read_tool_calls(&reply.calls[..1]);
        }
        // Long text comes in the message's text, in tags, whatever the protocol.
        Ok(reply::extract_tool_call(&first.name, &first.arguments, &reply.text, finish, grammar)?)
    }

    /// Native calls of tools are `directly_call_tool`.
    fn read_tool_calls(&self, calls: &[ToolCall]) -> Result<Extracted, Refused> {
        let mut read = Vec::new();
        for call in calls {
            let (params, repairs) = match call.arguments.trim() {
                "" | "null" => (Json::Object(Map::new()), Vec::new()),
                text => reply::extract_object(text, reply::Finish::Stop)?,
            };
            read.push((call, params, repairs));
        }
        let repairs = read.iter().flat_map(|(_, _, repairs)| repairs.clone()).collect();
        let mut params = Map::new();
        if let [(call, arguments, _)] = read.as_slice() {
            params.insert("tool_name".to_owned(), Json::from(call.name.as_str()));
            params.insert("params".to_owned(), arguments.clone());
        } else {
            let calls: Vec<Json> = read
                .iter()
                .map(|(call, arguments, _)| serde_json::json!({ "tool_name": call.name, "params": arguments }))
                .collect();
            params.insert("calls".to_owned(), Json::Array(calls));
        }
        Ok(Extracted { params, repairs, ..empty("directly_call_tool") })
    }

    /// Checks what no schema can: built-in rules, then the action's own `verify`. Nothing happens here.
    fn accept(
        &self,
        reply: &Reply,
        extracted: Extracted,
        set: &ActionSet,
        nonce: &crate::prompt::Nonce,
    ) -> Result<Chosen, Refused> {
        let action = set.actions.iter().find(|action| action.name == extracted.action).ok_or_else(|| Refused {
            class: "unknown_action".to_owned(),
            message: format!("`{}` is not one of the actions of this turn.", extracted.action),
        })?;
        let mut extracted = extracted;
        extracted.params.values_mut().for_each(restore);
        for body in extracted.tags.values_mut() {
            if let std::borrow::Cow::Owned(text) = guard::restore(body) {
                *body = text;
            }
        }
        if let ActionKind::Builtin(builtin) = action.kind {
            self.check_builtin(builtin, &extracted)?;
        }
        let frame = Frame::default()
            .with("params", Value::from(Serde(&extracted.params)))
            .with("tags", Value::from(Serde(&extracted.tags)))
            .with("nonce", Value::from(nonce.as_str()));
        for (that, message) in &action.verify {
            let holds = self.eval(that, &frame).map_err(|e| verify_refusal(e.to_string()))?;
            if !holds.is_true() {
                let refused = verify_refusal(self.verify_words(that, message.as_deref(), &frame));
                if action.ends_loop() {
                    self.note_refused_end(&action.name, &extracted.params, &refused.message);
                }
                return Err(refused);
            }
        }
        self.events.emit(Event::Action {
            action: action.name.clone(),
            identifier: extracted.identifier.clone(),
            thought: extracted.thought.clone(),
            params: Json::Object(extracted.params.clone()),
            tags: extracted.tags.keys().cloned().collect(),
            repairs: extracted
                .repairs
                .iter()
                .map(|repair| RepairNote { kind: repair.kind.to_owned(), detail: repair.detail.clone() })
                .collect(),
        });
        Ok(Chosen {
            action: Arc::clone(action),
            identifier: extracted.identifier,
            thought: extracted.thought,
            params: extracted.params,
            tags: extracted.tags,
            calls: reply.calls.clone(),
            text: if reply.calls.is_empty() { String::new() } else { reply.text.clone() },
            shown: Shown::default(),
        })
    }

    fn verify_words(&self, that: &str, message: Option<&str>, frame: &Frame) -> String {
        let Some(message) = message else { return format!("this must hold: {that}") };
        let scope = crate::state::Scope::new(Arc::clone(&self.base), frame.clone());
        let templates = &self.edition.templates;
        templates.render_text(message, &scope.context()).unwrap_or_else(|_| message.to_owned())
    }
}

/// What the model copied out of guarded text becomes what it was: evidence is compared with the input as it came.
fn restore(value: &mut Json) {
    match value {
        Json::String(text) => {
            if let std::borrow::Cow::Owned(restored) = guard::restore(text) {
                *text = restored;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(restore),
        Json::Object(map) => map.values_mut().for_each(restore),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn verify_refusal(message: String) -> Refused {
    Refused { class: "verify".to_owned(), message }
}

fn empty(action: &str) -> Extracted {
    Extracted {
        action: action.to_owned(),
        identifier: None,
        thought: None,
        params: Map::new(),
        tags: IndexMap::new(),
        repairs: Vec::new(),
        warnings: Vec::new(),
    }
}

fn answer_from_text(text: &str) -> Extracted {
    let params = Map::from_iter([("answer_payload".to_owned(), Json::from(text.trim()))]);
    Extracted { params, ..empty("directly_answer") }
}

fn reply_finish(finish: Option<Finish>) -> reply::Finish {
    match finish {
        Some(Finish::Stop) => reply::Finish::Stop,
        Some(Finish::Length) => reply::Finish::Length,
        Some(Finish::ToolCalls) => reply::Finish::ToolCalls,
        Some(Finish::ContentFilter | Finish::Pause | Finish::Other) | None => reply::Finish::Unknown,
    }
}
