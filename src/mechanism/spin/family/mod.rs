//! The families of repetition: one file each, and the table that says in which order they are asked.

mod any_error;
pub(super) mod chant;
mod coverage;
mod cycle;
mod error;
mod event_storm;
mod exact;
mod few_results;
mod monologue;
mod no_news;
mod no_progress;
mod paraphrase;
mod refused_finish;
mod same_action;
mod same_error;
mod same_result;
mod scattered;
mod side_effect;

use std::fmt;

use serde::Serialize;

use super::lane::Lane;
use super::settings::Settings;

/// A kind of repetition.
pub struct Family {
    /// As it is written in documents and printed.
    pub name: &'static str,
    /// What it finds, in one line.
    pub about: &'static str,
    /// Looks at what an agent did lately, of which the newest record is new; gives what the newest completes.
    pub(super) judge: fn(&Lane, &Settings) -> Option<Judged>,
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The families in the order in which they are asked: the cheapest and surest first, suspicions last.
pub const FAMILIES: &[Family] = &[
    error::FAMILY,
    exact::FAMILY,
    side_effect::FAMILY,
    cycle::FAMILY,
    scattered::FAMILY,
    refused_finish::FAMILY,
    same_error::FAMILY,
    any_error::FAMILY,
    coverage::FAMILY,
    monologue::FAMILY,
    chant::FAMILY,
    event_storm::FAMILY,
    paraphrase::FAMILY,
    no_progress::FAMILY,
    no_news::FAMILY,
    same_result::FAMILY,
    few_results::FAMILY,
    same_action::FAMILY,
];

/// Whether a finding decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is a spin.
    Hard,
    /// It may be one: a reason to ask a model, never to end a loop.
    Suspicion,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The records that repeat, oldest first, from 1.
    pub steps: Vec<usize>,
    /// What was counted.
    pub count: usize,
    /// The threshold that the count reached.
    pub threshold: usize,
    /// The same in a sentence.
    pub text: String,
}

/// What a family makes of the newest record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) severity: Severity,
    pub(super) evidence: Evidence,
}

impl Judged {
    fn hard(steps: Vec<usize>, count: usize, threshold: usize, text: String) -> Option<Self> {
        Self::new(Severity::Hard, steps, count, threshold, text)
    }

    fn suspicion(steps: Vec<usize>, count: usize, threshold: usize, text: String) -> Option<Self> {
        Self::new(Severity::Suspicion, steps, count, threshold, text)
    }

    #[expect(clippy::unnecessary_wraps, reason = "every caller returns it as the answer of a family")]
    fn new(severity: Severity, mut steps: Vec<usize>, count: usize, threshold: usize, text: String) -> Option<Self> {
        steps.sort_unstable();
        Some(Self { severity, evidence: Evidence { steps, count, threshold, text } })
    }
}
