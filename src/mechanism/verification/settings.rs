//! The gate's settings, every default filled in.

use std::time::Duration;

use crate::document::{Judge, Verification};
use crate::mechanism::settings::{Mode, tier};

/// Settings of the verification gate.
#[derive(Debug, Clone, PartialEq)]
pub struct VerificationSettings {
    /// How much of it is on.
    pub mode: Mode,
    /// Iterations between verifications.
    pub every: u32,
    /// The longest age of a verdict.
    pub max_age: Duration,
    /// A change of the prompt by more tokens than this asks for one.
    pub min_prompt_delta: u32,
    /// Time without activity after which one is forced.
    pub watchdog: Duration,
    /// The first iteration after which one is made that nobody asked for.
    pub min_iteration: u32,
    /// The shortest time between verifications that the prompt's change asks for.
    pub cooldown: Duration,
    /// A change of the prompt by this many tokens asks for one whatever the cooldown says.
    pub hard_tokens: Option<u32>,
    /// The confidence from which a model's word counts that the goal is reached.
    pub threshold: Option<f64>,
    /// Who judges.
    pub judge: Judge,
    /// Failed verifications after which the loop ends.
    pub max_failures: Option<u32>,
    /// The most verifications in one run of the loop.
    pub max_verifications: u32,
    /// Times that the loop's own end may be refused.
    pub max_refusals: u32,
    /// The model tier.
    pub tier: String,
}

impl VerificationSettings {
    /// The settings of a loop, where `allowed` is the workspace's switch.
    #[must_use]
    pub fn new(document: Option<&Verification>, allowed: bool) -> Self {
        let mode = Mode::new(allowed, document.map(|own| own.enabled));
        let none = Verification::default();
        let own = document.unwrap_or(&none);
        let has_checks = own.checks.as_ref().is_some_and(|checks| !checks.is_empty());
        let judge = match own.judge {
            // Without checks there is nobody else to ask. `check` reports it.
            _ if !has_checks => Judge::Model,
            Some(judge) => judge,
            None => Judge::Checks,
        };
        Self {
            mode,
            every: own.every.unwrap_or(2).max(1),
            max_age: own.max_age.map_or(Duration::from_secs(30), |d| d.0),
            min_prompt_delta: own.min_prompt_delta.unwrap_or(500),
            watchdog: own.watchdog.map_or(Duration::from_secs(120), |d| d.0),
            min_iteration: own.min_iteration.unwrap_or(1),
            cooldown: own.cooldown.map_or(Duration::ZERO, |d| d.0),
            hard_tokens: own.hard_tokens,
            threshold: own.threshold,
            judge,
            max_failures: own.max_failures,
            max_verifications: own.max_verifications.unwrap_or(10),
            max_refusals: own.max_refusals.unwrap_or(5),
            tier: own.tier.as_ref().map_or_else(|| "main".to_owned(), |name| tier(Some(name))),
        }
    }
}
