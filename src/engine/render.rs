//! The prompt of a first turn, without a model: what `render` prints.

use std::sync::Arc;

use super::builder::{Engine, Prepared, RunRequest};
use super::core::LoopCore;
use super::error::EngineError;
use super::memory::{Memory, TurnPrompt};
use crate::event::SectionProfile;
use crate::model::tokens::Counter;
use crate::model::{Protocol, ToolSpec, Turn};
use crate::reply::Grammar;
use crate::state::TurnBinding;

/// A prompt as it would be sent. `init` hooks do not run, since they may do real work.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPrompt {
    /// The system message.
    pub system: String,
    /// The user message.
    pub user: String,
    /// The nonce of the turn, which differs in every rendering.
    pub nonce: String,
    /// Native tools, under `protocol: tools`.
    pub tools: Vec<ToolSpec>,
    /// Each section's share.
    pub sections: Vec<SectionProfile>,
    /// The tokens of native tools.
    pub tools_tokens: usize,
    /// Whether the token counts are estimates.
    pub estimated: bool,
    /// Who would answer; none while no model is configured.
    pub model: Option<String>,
}

/// The text that one iteration of a run sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IterationPrompt {
    /// The iteration, from 1.
    pub(crate) iteration: u32,
    /// The system message.
    pub(crate) system: String,
    /// What was said so far, and the open part.
    pub(crate) user: String,
    /// The nonce of the turn.
    pub(crate) nonce: String,
}

/// Sees the prompts of the loop that a run was asked for, before each is sent.
pub(crate) type PromptWatch = Arc<dyn Fn(IterationPrompt) + Send + Sync>;

impl LoopCore {
    /// Shows a prompt to whoever watches.
    pub(super) fn show_prompt(&self, iteration: u32, prompt: &TurnPrompt, transcript: &[Turn]) {
        let Some(watch) = self.shared.engine.prompts.as_ref().filter(|_| self.depth == 0) else { return };
        let system: Vec<&str> = prompt.assembled.system.iter().map(|block| &*block.text).collect();
        let said = transcript.iter().filter_map(|turn| match turn {
            Turn::User(text) | Turn::Assistant(text) | Turn::Calls { text, .. } => Some(&**text),
            Turn::Results(_) => None,
        });
        let user: Vec<&str> = said.chain([prompt.assembled.last.as_str()]).collect();
        let (system, user, nonce) = (system.join("\n\n"), user.join("\n\n"), prompt.nonce.to_string());
        watch(IterationPrompt { iteration, system, user, nonce });
    }
}

impl Engine {
    /// What replies to a loop may say under a nonce, conditions of its actions aside.
    ///
    /// # Errors
    /// The loop cannot run.
    pub(crate) fn grammar(&self, loop_name: &str, nonce: &str) -> Result<Grammar, EngineError> {
        let program = self.inner.editions.begin(loop_name)?.program(loop_name)?;
        let actions = program.actions.values().map(|action| (action.name.clone(), Arc::clone(&action.grammar)));
        Ok(Grammar::new(nonce, actions))
    }

    /// Renders the first turn's prompt.
    ///
    /// # Errors
    /// As [`Engine::run`], or a template that does not render.
    pub fn render(&self, request: &RunRequest) -> Result<RenderedPrompt, EngineError> {
        let Prepared { core, chain, .. } = self.prepare(request)?;
        core.state().iteration = 1;
        let mut memory = Memory::new(&core, request.input.as_str().into());
        let fault = |problem: String| EngineError::Document { name: core.program.name.clone(), problem };
        let set = core.allowed(&TurnBinding::default()).map_err(|end| fault(end.error.unwrap_or_default()))?;
        let protocol = chain.as_ref().map(|chain| chain[0].model.info().protocol).unwrap_or_default();
        if let Ok(chain) = &chain {
            memory.count_with(Counter::for_model(chain[0].model.info()));
        }
        let prompt = memory.assemble(&core, &set, protocol, false).map_err(|failure| fault(failure.to_string()))?;
        let system: Vec<&str> = prompt.assembled.system.iter().map(|block| &*block.text).collect();
        let native = protocol == Protocol::Tools;
        Ok(RenderedPrompt {
            system: system.join("\n\n"),
            user: prompt.assembled.last,
            nonce: prompt.nonce.to_string(),
            tools_tokens: if native { memory.tools_tokens(&set.specs) } else { 0 },
            tools: if native { set.specs.specs.clone() } else { Vec::new() },
            estimated: memory.estimated(),
            sections: prompt.assembled.profile,
            model: chain.map(|chain| chain[0].label.clone()).ok(),
        })
    }
}
