//! A prompt that is too long for its model: older iterations are summarised, or go.

use super::call::{CallFailure, CallInfo};
use super::core::LoopCore;
use super::finish::End;
use super::iteration::LoopRun;
use crate::document::OverflowStep;
use crate::event::{CallPurpose, Event};
use crate::model::{Block, EncodeCache, ErrorClass, ModelError, NoSink, Request, Sampling, Transcript};
use crate::prompt::{Assembler, Section, Tier, Trust};
use crate::state::{Frame, Scope};
use crate::verb::{Phase, StepFailure};

/// The most bytes of old iterations that a summary is made of: half from the start, half from the end of them.
const MAX_SUMMARISED: usize = 48 * 1024;

impl LoopRun {
    /// Takes the next declared step that makes the prompt shorter; false when there is none left.
    ///
    /// # Errors
    /// The end of the loop: a cancellation, or a limit that the summary would exceed.
    pub(super) async fn shrink(&mut self, steps: &mut std::vec::IntoIter<OverflowStep>) -> Result<bool, End> {
        let keep = self.core.program.overflow.keep as usize;
        for step in steps {
            let old = self.memory.old_text(keep);
            let (turns, before) = (self.memory.old_turns(keep), self.memory.transcript_len());
            if turns == 0 {
                continue;
            }
            let how = match step {
                OverflowStep::Summarise => {
                    let text = match self.core.summarise(&old).await {
                        Ok(text) => text,
                        // A summary is a help, not a condition: the next step may still do.
                        Err(StepFailure::Failed(words)) => {
                            self.core.events.emit(Event::Warning { message: format!("no summary: {words}") });
                            continue;
                        }
                        Err(StepFailure::Cancelled) => return Err(self.core.stopped()),
                        Err(StepFailure::Ended(reason)) => return Err(End::new(reason)),
                    };
                    self.memory.replace_old(keep, &format!("Summary of {turns} earlier turns:\n{text}"));
                    "summarise"
                }
                OverflowStep::Drop => {
                    self.memory.replace_old(keep, &format!("[{turns} earlier turns left out]"));
                    "drop"
                }
            };
            let after = self.memory.transcript_len();
            self.core.events.emit(Event::Shrunk { how: how.to_owned(), turns, before, after });
            return Ok(true);
        }
        Ok(false)
    }
}

impl LoopCore {
    /// The helper tier's summary of old iterations.
    async fn summarise(&self, old: &str) -> Result<String, StepFailure> {
        let chain = self.chain("helper").map_err(|error| StepFailure::new(error.to_string()))?;
        let context = Scope::new(self.base.clone(), Frame::default()).context();
        let templates = &self.edition.templates;
        let system = templates
            .render_prompt_file("prompts/engine/summarise.md.j2", &context)
            .map_err(|error| StepFailure::new(error.to_string()))?;
        let mut assembler = Assembler::new(&self.shared.prompt_secret());
        assembler.begin_turn();
        let section = |name, text: &str| Section {
            name,
            tier: Tier::Dynamic,
            trust: Trust::Untrusted,
            body: super::act::shorten(text.to_owned(), MAX_SUMMARISED).into(),
        };
        let query = super::sub::input_text(&self.base.input);
        let sections = [section("USER_QUERY", &query), section("HISTORY", old)];
        let assembled = assembler.assemble(&sections, &|_| 0).map_err(|error| StepFailure::new(error.to_string()))?;
        let (transcript, sampling) = (Transcript::default(), Sampling::default());
        let mut volatile = assembled.volatile.clone();
        volatile.extend(self.named_secrets());
        let volatile: Vec<(&str, String)> =
            volatile.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let request = Request {
            purpose: None,
            system: &[Block { text: system.text.trim().into() }],
            transcript: &transcript,
            last: &assembled.last,
            retry: &[],
            tools: None,
            force_tool: None,
            schema: None,
            sampling: &sampling,
            volatile: &volatile,
        };
        let mut at = self.first_ready(&chain, "helper");
        loop {
            let info = CallInfo { purpose: CallPurpose::Summary, tier: "helper", phase: Phase::WORK };
            let mut cache = EncodeCache::default();
            match self.call_model(&chain[at], info, request, &mut cache, &mut NoSink).await {
                Ok(reply) if reply.text.trim().is_empty() => return Err(StepFailure::new("the summary is empty")),
                Ok(reply) => return Ok(reply.text.trim().to_owned()),
                Err(CallFailure::Stop(stop)) => return Err(stop),
                Err(CallFailure::Cut(words)) => return Err(StepFailure::new(words)),
                Err(CallFailure::Model(error)) => match self.next_model(&chain, at, "helper", &error) {
                    Some(next) => at = next,
                    None => return Err(StepFailure::new(self.explain(&error))),
                },
            }
        }
    }
}

/// Some servers end the stream without a word when the prompt is longer than their context. Where the declared context
/// is nearly full, and the count is an estimate, that is what an empty stream most likely means.
pub(super) fn suspect(error: &mut ModelError, tokens: usize, context: u32) {
    let empty = error.partial_text.is_empty() && error.partial_reasoning.is_empty();
    if error.class == ErrorClass::IncompleteStream && empty && tokens + tokens / 2 > context as usize {
        error.class = ErrorClass::ContextLength;
        let words =
            format!(" (the request may be too long: about {tokens} tokens, and the declared context has {context})");
        error.message.push_str(&words);
    }
}
