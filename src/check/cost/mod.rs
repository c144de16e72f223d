//! The worst case of a loop before it runs: calls, tokens and money, an iteration and a whole run.
//!
//! Every figure is an upper bound of what replies may cost, or unknown with the reason. With
//! *C* the model's `context`, *R* the longest reply, *p* its prices, and *a* the attempts of a call:
//!
//! ```text
//! reply k       = min(R · 2^k, C)            a reply that was cut gets twice the room; C when there is no R
//! tokens(call)  = a · C                      prompt and reply together never exceed the context
//! money(call)   = Σ k<a: (C − reply k) · p.input + reply k · p.output, or C · p.input where input costs more
//! action        = call(main tier, a = action_retries + 1)
//! structured    = call(tier, a = retries + 1)         a forge; 3 attempts where it says nothing
//! step          = verb · (retry + 1) · items of for_each
//! iteration     = action + the most expensive action that is offered + after_iteration
//!                 + summary of a long prompt (helper tier) + one call for each mechanism that is configured
//! run           = init + max_iterations · iteration + the most expensive loop that is an action + finish
//! ```
//!
//! A loop in a step counts as a run of its own, down to `max_depth`. Attempts that a provider refuses cost nothing
//! and are not counted; fallback models and cached tokens, which are cheaper, are not either. The limits on tokens,
//! money and time are not part of a figure: they are listed beside it, as what ends the run earlier.

pub(super) mod models;
mod text;
mod walk;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::load::Library;

/// Calls, tokens and money.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Amount {
    /// Replies of models.
    pub calls: Option<u64>,
    /// Prompt and reply together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Why a figure is not known, each once.
    pub unknown: BTreeSet<String>,
}

impl Amount {
    const ZERO: Self = Self { calls: Some(0), tokens: Some(0), cost_usd: Some(0.0), unknown: BTreeSet::new() };

    fn is_zero(&self) -> bool {
        self.calls == Some(0)
    }

    /// Nothing is known, for this reason.
    fn unknown(why: String) -> Self {
        Self { calls: None, tokens: None, cost_usd: None, unknown: BTreeSet::from([why]) }
    }

    fn join(&self, other: &Self, ints: fn(u64, u64) -> u64, money: fn(f64, f64) -> f64) -> Self {
        Self {
            calls: self.calls.zip(other.calls).map(|(one, other)| ints(one, other)),
            tokens: self.tokens.zip(other.tokens).map(|(one, other)| ints(one, other)),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(one, other)| money(one, other)),
            unknown: self.unknown.union(&other.unknown).cloned().collect(),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        self.join(other, u64::saturating_add, |one, other| one + other)
    }

    /// The larger of each figure: which of two alternatives costs more may differ by figure.
    fn or(&self, other: &Self) -> Self {
        self.join(other, u64::max, f64::max)
    }

    fn times(&self, times: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a factor of 2^52 is no real limit")]
        let factor = times as f64;
        Self {
            calls: self.calls.map(|calls| calls.saturating_mul(times)),
            tokens: self.tokens.map(|tokens| tokens.saturating_mul(times)),
            cost_usd: self.cost_usd.map(|cost| cost * factor),
            unknown: self.unknown.clone(),
        }
    }
}

/// A part of a sum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What it is, in a few words.
    pub what: String,
    /// What it may take.
    #[serde(flatten)]
    pub amount: Amount,
}

/// A limit that ends a run before its worst case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// The key under `limits`.
    pub limit: &'static str,
    /// Its value, as it is written.
    pub value: String,
    /// The iteration in which the worst case reaches it, where that is known; none when it is never reached.
    pub reached_in_iteration: Option<u64>,
}

/// The worst case of a loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The loop's name.
    #[serde(rename = "loop")]
    pub name: String,
    /// `max_iterations`.
    pub iterations: u64,
    /// One iteration.
    pub per_iteration: Amount,
    /// What an iteration is made of.
    pub iteration_parts: Vec<Part>,
    /// The whole run.
    pub per_run: Amount,
    /// What a run has beside its iterations.
    pub run_parts: Vec<Part>,
    /// What ends it earlier.
    pub ceilings: Vec<Ceiling>,
}

impl Preview {
    /// The worst case of the loop of this name; none when there is no such loop.
    pub fn of(library: &Library, name: &str) -> Option<Self> {
        walk::Walker::new(library).preview(name)
    }

    /// For people: a table, the limits, and why a figure is not known.
    pub fn text(&self) -> String {
        text::render(self)
    }
}
