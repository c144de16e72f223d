//! What a loop remembers of its own prompts: sections as they were sent, the transcript, encoded bytes.

use std::sync::Arc;

use minijinja::Value;

use super::core::LoopCore;
use super::program::ActionSet;
use super::prompt_size::PromptSize;
use super::sections::{Depends, SectionProgram, Source};
use crate::event::Event;
use crate::model::tokens::Counter;
use crate::model::{EncodeCache, ModelInfo, Protocol, ToolCall, ToolResult, ToolSpec, ToolSpecs, Transcript, Turn};
use crate::prompt::{Assembled, Assembler, Nonce, Section};
use crate::state::{Frame, Scope};
use crate::verb::StepFailure;

/// The word that stands for the turn's nonce where the prompt may not change with every turn.
const NONCE_WORD: &str = "NONCE";

/// What a chat format adds to each message: its role and the marks around it.
const MESSAGE_TOKENS: usize = 4;

/// A loop's prompt memory.
pub(super) struct Memory {
    pub(super) assembler: Assembler,
    pub(super) transcript: Transcript,
    pub(super) cache: EncodeCache,
    input: Arc<str>,
    /// Bodies that are rendered only when what they depend on changed: the key and the text.
    bodies: Vec<Option<(u64, Arc<str>)>>,
    /// Nonces in the transcript, for scripts and recordings.
    sealed: Vec<(String, String)>,
    /// Bytes of the transcript's text.
    transcript_len: usize,
    /// Its tokens, as `counter` counts.
    transcript_tokens: usize,
    counter: Counter,
    /// A set of native tools that was counted: its id and its tokens.
    tools: Option<(u64, usize)>,
    /// Bytes of the previous request before its last part.
    stable_bytes: usize,
    first_turn: bool,
    size: PromptSize,
}

/// A turn's prompt.
pub(super) struct TurnPrompt {
    pub(super) assembled: Assembled,
    pub(super) nonce: Nonce,
    /// How much it says, in comparable tokens, where the verification gate wants to know.
    pub(super) size: Option<usize>,
}

impl Memory {
    /// An empty memory for a loop.
    pub(super) fn new(core: &LoopCore, input: Arc<str>) -> Self {
        Self {
            assembler: Assembler::new(&core.shared.prompt_secret()),
            transcript: Transcript::default(),
            cache: EncodeCache::default(),
            input,
            bodies: Vec::new(),
            sealed: Vec::new(),
            transcript_len: 0,
            transcript_tokens: 0,
            counter: Counter::ESTIMATE,
            tools: None,
            stable_bytes: 0,
            first_turn: true,
            size: PromptSize::default(),
        }
    }

    /// Forgets what was rendered: the sections are of another version. Those whose text is the same keep their nonce.
    pub(super) fn forget_bodies(&mut self) {
        self.bodies.clear();
    }

    /// Counts tokens as this model does from now on.
    ///
    /// Where nothing depends on the count of the first turn, that one is an estimate: the vocabulary is read while
    /// the model answers, and no request waits for it.
    pub(super) fn count_for(&mut self, model: &ModelInfo) {
        let known = Counter::for_model(model);
        let mut counter = known;
        if self.first_turn && model.context.is_none() {
            known.warm_up();
            counter = Counter::ESTIMATE;
        }
        self.count_with(counter);
    }

    /// Counts tokens with another counter from now on, what is there already included.
    pub(super) fn count_with(&mut self, counter: Counter) {
        if counter != self.counter {
            self.counter = counter;
            self.assembler.recount();
            self.tools = None;
            self.transcript_tokens = self.transcript.turns().iter().map(|turn| size_of(turn, counter).1).sum();
        }
    }

    /// Whether the counts are estimates.
    pub(super) fn estimated(&self) -> bool {
        self.counter.estimated()
    }

    /// Assembles the prompt of a turn.
    ///
    /// # Errors
    /// A template that does not render.
    pub(super) fn assemble(
        &mut self,
        core: &LoopCore,
        set: &ActionSet,
        protocol: Protocol,
        last_iteration: bool,
    ) -> Result<TurnPrompt, StepFailure> {
        let counter = self.counter;
        loop {
            let nonce = self.assembler.begin_turn();
            let bodies = self.render(core, set, protocol, &nonce, last_iteration)?;
            let sections: Vec<Section<'_>> = bodies
                .into_iter()
                .map(|(program, body)| Section { name: &program.name, tier: program.tier, trust: program.trust, body })
                .collect();
            // An untrusted text that holds the fresh nonce can only be an echo of an earlier prompt: draw again.
            let Ok(assembled) = self.assembler.assemble(&sections, &|text| counter.count(text)) else { continue };
            for guarded in &assembled.guarded {
                core.events.emit(Event::Neutralised {
                    section: guarded.section.clone(),
                    shapes: guarded.shapes,
                    redrawn: guarded.redrawn,
                });
            }
            let bodies = sections.iter().map(|section| &section.body);
            let size = core.gate.guards().then(|| self.size.of(bodies, self.transcript.turns()));
            return Ok(TurnPrompt { assembled, nonce, size });
        }
    }

    /// Renders the sections that the prompt has under this protocol.
    fn render<'p>(
        &mut self,
        core: &'p LoopCore,
        set: &ActionSet,
        protocol: Protocol,
        nonce: &Nonce,
        last_iteration: bool,
    ) -> Result<Vec<(&'p SectionProgram, Arc<str>)>, StepFailure> {
        let programs = &core.program.sections;
        self.bodies.resize(programs.len(), None);
        let tags: Vec<&String> = set.actions.iter().flat_map(|action| action.tags.keys()).collect();
        let frame = Frame::default()
            .with("actions", set.listing.clone())
            .with("tags", Value::from_iter(unique(tags)))
            .with("last_iteration", Value::from(last_iteration));
        let scope =
            |nonce: &str| Scope::new(Arc::clone(&core.base), frame.clone().with("nonce", Value::from(nonce))).context();
        let (fixed, fresh) = (scope(NONCE_WORD), scope(nonce.as_str()));
        let mut bodies = Vec::with_capacity(programs.len());
        for (index, program) in programs.iter().enumerate().filter(|(_, program)| program.serves(protocol)) {
            let context = if program.tier.is_static() { &fixed } else { &fresh };
            if let Some(when) = &program.when
                && !core.edition.templates.eval(when, context).map_err(failure)?.is_true()
            {
                continue;
            }
            bodies.push((program, self.body(core, index, program, set, context)?));
        }
        Ok(bodies)
    }

    fn body(
        &mut self,
        core: &LoopCore,
        index: usize,
        program: &SectionProgram,
        set: &ActionSet,
        context: &Value,
    ) -> Result<Arc<str>, StepFailure> {
        let key = match program.depends {
            Depends::Nothing => Some(0),
            Depends::Actions => Some(set.specs.id),
            Depends::Skills => Some(core.state().skills.epoch()),
            Depends::State => None,
        };
        if let (Some(key), Some((known, body))) = (key, &self.bodies[index])
            && *known == key
        {
            return Ok(Arc::clone(body));
        }
        let templates = &core.edition.templates;
        let rendered = match &program.source {
            Source::Fixed(text) => return Ok(Arc::clone(text)),
            Source::Input => return Ok(Arc::clone(&self.input)),
            Source::Inline(source) => templates.render_prompt(source, context).map_err(failure)?,
            Source::File(name) => templates.render_prompt_file(name, context).map_err(failure)?,
        };
        if rendered.neutralised > 0 {
            core.events.emit(Event::Neutralised {
                section: program.name.clone(),
                shapes: rendered.neutralised,
                redrawn: false,
            });
        }
        let body: Arc<str> = rendered.text.trim_end().into();
        if let Some(key) = key {
            self.bodies[index] = Some((key, Arc::clone(&body)));
        }
        Ok(body)
    }

    /// Emits the prompt's make-up; how many tokens it has, as far as the counter knows.
    pub(super) fn profile(
        &mut self,
        core: &LoopCore,
        iteration: u32,
        prompt: &Assembled,
        tools: Option<&ToolSpecs>,
    ) -> usize {
        let head: usize = prompt.system.iter().map(|block| block.text.len()).sum();
        let transcript = self.transcript_len;
        let shared = if self.first_turn || prompt.changed_prefix.is_some() { 0 } else { self.stable_bytes };
        let tokens = prompt.profile.iter().map(|section| section.tokens).sum::<usize>()
            + self.transcript_tokens
            + tools.map_or(0, |tools| self.tools_tokens(tools))
            + 2 * MESSAGE_TOKENS;
        if let Some(section) = prompt.changed_prefix.as_ref().filter(|_| !self.first_turn) {
            core.events.emit(Event::PrefixChanged { iteration, section: section.clone() });
        }
        self.first_turn = false;
        self.stable_bytes = head + transcript;
        if !core.events.is_watched() {
            return tokens;
        }
        core.events.emit(Event::PromptProfile {
            iteration,
            sections: prompt.profile.clone(),
            bytes: head + transcript + prompt.last.len(),
            tokens,
            estimated: self.estimated(),
            shared_prefix: shared,
        });
        tokens
    }

    /// The tokens of native tools, counted once for each set of them.
    pub(super) fn tools_tokens(&mut self, tools: &ToolSpecs) -> usize {
        if let Some((_, tokens)) = self.tools.filter(|(id, _)| *id == tools.id) {
            return tokens;
        }
        let text = |tool: &ToolSpec| format!("{}\n{}\n{}\n", tool.name, tool.description, tool.params);
        let tokens = tools.specs.iter().map(|tool| self.counter.count(&text(tool))).sum();
        self.tools = Some((tools.id, tokens));
        tokens
    }

    /// Appends what happened in an iteration.
    pub(super) fn seal(&mut self, label: &str, body: &str) {
        let sealed = self.assembler.seal("ITERATION", body);
        self.sealed.push((format!("nonce.ITERATION.{label}"), sealed.nonce.to_string()));
        self.push(Turn::User(sealed.text.into()));
    }

    /// Appends native calls with their results.
    pub(super) fn seal_calls(&mut self, text: &str, calls: Vec<ToolCall>, results: Vec<ToolResult>) {
        if self.transcript.turns().is_empty() {
            self.push(Turn::User("Begin.".into()));
        }
        for result in &results {
            self.assembler.observe(&result.content);
        }
        self.push(Turn::Calls { text: text.into(), calls });
        self.push(Turn::Results(results));
    }

    /// Takes over the transcript of the loop around this one.
    pub(super) fn adopt(&mut self, transcript: Transcript) {
        self.transcript = Transcript::default();
        self.size.forget_transcript();
        (self.transcript_len, self.transcript_tokens) = (0, 0);
        for turn in transcript.turns() {
            self.push(turn.clone());
        }
    }

    /// Bytes of the transcript's text.
    pub(super) fn transcript_len(&self) -> usize {
        self.transcript_len
    }

    /// How many turns of the transcript are older than the last `keep` iterations.
    pub(super) fn old_turns(&self, keep: usize) -> usize {
        let turns = self.transcript.turns();
        let mut end = turns.len().saturating_sub(keep);
        // Native results belong to the calls before them: they go or stay together.
        while end > 0 && matches!(turns.get(end), Some(Turn::Results(_))) {
            end -= 1;
        }
        end
    }

    /// The text of these turns.
    pub(super) fn old_text(&self, keep: usize) -> String {
        text_of(&self.transcript.turns()[..self.old_turns(keep)])
    }

    /// Puts one text in the place of the old turns.
    pub(super) fn replace_old(&mut self, keep: usize, text: &str) {
        let recent = self.transcript.turns()[self.old_turns(keep)..].to_vec();
        self.transcript = Transcript::default();
        self.size.forget_transcript();
        (self.transcript_len, self.transcript_tokens) = (0, 0);
        let sealed = self.assembler.seal("EARLIER", text);
        self.sealed.push((format!("nonce.EARLIER.{}", self.sealed.len()), sealed.nonce.to_string()));
        self.push(Turn::User(sealed.text.into()));
        for turn in recent {
            self.push(turn);
        }
    }

    /// The last parts of the transcript as text, for a call that needs to know what happened.
    pub(super) fn recent_text(&self) -> String {
        let turns = self.transcript.turns();
        text_of(&turns[turns.len().saturating_sub(6)..])
    }

    fn push(&mut self, turn: Turn) {
        let (bytes, tokens) = size_of(&turn, self.counter);
        self.transcript_len += bytes;
        self.transcript_tokens += tokens;
        self.transcript.push(turn);
    }

    /// Values that differ between runs of the same input.
    pub(super) fn volatile(&self, core: &LoopCore, prompt: &Assembled) -> Vec<(String, String)> {
        let mut volatile = prompt.volatile.clone();
        volatile.extend(self.sealed.iter().cloned());
        volatile.push(("run.id".to_owned(), core.shared.id.clone()));
        volatile.extend(core.named_secrets());
        volatile
    }
}

/// Bytes and tokens of a turn's text. User turns join into one message; each of the others is one of its own.
fn size_of(turn: &Turn, counter: Counter) -> (usize, usize) {
    let (mut bytes, mut tokens) = (0, 0);
    let mut add = |text: &str| {
        bytes += text.len();
        tokens += counter.count(text);
    };
    let messages = match turn {
        Turn::User(text) => {
            add(text);
            0
        }
        Turn::Assistant(text) => {
            add(text);
            1
        }
        Turn::Calls { text, calls } => {
            add(text);
            for call in calls {
                add(&call.name);
                add(&call.arguments);
            }
            1
        }
        Turn::Results(results) => {
            results.iter().for_each(|result| add(&result.content));
            results.len()
        }
    };
    (bytes, tokens + messages * MESSAGE_TOKENS)
}

/// The text of turns, for a reader who does not know the protocol.
fn text_of(turns: &[Turn]) -> String {
    let texts = turns.iter().map(|turn| match turn {
        Turn::User(text) | Turn::Assistant(text) => text.to_string(),
        Turn::Calls { calls, .. } => {
            calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect::<Vec<_>>().join("\n")
        }
        Turn::Results(results) => results.iter().map(|result| result.content.clone()).collect::<Vec<_>>().join("\n"),
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn failure(error: crate::template::TemplateError) -> StepFailure {
    StepFailure::new(error.to_string())
}

/// The names once each, in order.
fn unique(names: Vec<&String>) -> Vec<Value> {
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.into_iter().map(|name| Value::from(name.as_str())).collect()
}
