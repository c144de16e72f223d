//! When a model fails: who answers instead, and for how long the failed one is left alone.

use super::core::LoopCore;
use super::error::EngineError;
use super::models::Chain;
use crate::event::Event;
use crate::model::{ErrorClass, ModelError};

impl LoopCore {
    /// The models of a tier as this loop sees it.
    pub(super) fn chain(&self, tier: &str) -> Result<Chain, EngineError> {
        self.shared.engine.models.chain(&self.program, tier)
    }

    /// The first model of a chain that is not left alone; the first of all when every one is.
    pub(super) fn first_ready(&self, chain: &Chain, tier: &str) -> usize {
        let ready = chain.iter().position(|slot| slot.breaker.open_for().is_none()).unwrap_or(0);
        if ready > 0 {
            self.fall_back(chain, 0, ready, tier, "breaker_open");
        }
        ready
    }

    /// Notes a model's failure; the model that is asked instead, when there is one and it could help.
    pub(super) fn next_model(&self, chain: &Chain, at: usize, tier: &str, error: &ModelError) -> Option<usize> {
        if !another_could_help(error.class) {
            return None;
        }
        let retry = &self.shared.engine.library.workspace.doc.retry;
        chain[at].breaker.failed(retry.breaker_failures, retry.breaker_cooldown.0);
        let next = (at + 1..chain.len()).find(|&next| chain[next].breaker.open_for().is_none())?;
        self.fall_back(chain, at, next, tier, error.class.name());
        Some(next)
    }

    fn fall_back(&self, chain: &Chain, from: usize, to: usize, tier: &str, class: &str) {
        self.events.emit(Event::Fallback {
            tier: tier.to_owned(),
            from: chain[from].label.clone(),
            to: chain[to].label.clone(),
            class: class.to_owned(),
        });
    }
}

/// Whether the failure is the model's or its provider's, and not the request's.
fn another_could_help(class: ErrorClass) -> bool {
    match class {
        ErrorClass::RateLimit
        | ErrorClass::Quota
        | ErrorClass::Overloaded
        | ErrorClass::ServerError
        | ErrorClass::Timeout
        | ErrorClass::Auth
        | ErrorClass::NotFound
        | ErrorClass::IncompleteStream
        | ErrorClass::Decode
        | ErrorClass::NotSse => true,
        ErrorClass::BadRequest | ErrorClass::ContextLength | ErrorClass::Mismatch => false,
    }
}
