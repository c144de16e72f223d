//! The gate's memory, and its decisions.
//!
//! Public failures gave the bounds: gates that asked hundreds of times for the same verdict, that held a finished run for
//! ever because their judge was away, and whose "every five" became "every one or two" since each throttle ran on its
//! own. So one verification is made at a time, all throttles start again when it is *over*, and each way of going on has
//! an end.

use std::time::Duration;

use super::VerificationSettings;
use crate::event::{
    Grounds, VerificationConsequence as Consequence, VerificationOutcome as Outcome, VerificationState,
    VerificationTrigger as Trigger,
};
use crate::mechanism::hash;
use crate::mechanism::settings::Mode;
use crate::mechanism::throttle::{Every, Moment, Verdict};

/// The same verdict so many times in a row ends the loop.
const SAME: u32 = 3;

/// Verifications in a row without a verdict after which the loop's end goes through.
const OUTAGES: u32 = 2;

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// Whether the goal is reached; none when the judge gave no verdict.
    pub satisfied: Option<bool>,
    /// Whether programs alone said no: they would say the same again until something changes.
    pub by_programs: bool,
    /// Whether there is new evidence, or a new file.
    pub news: bool,
    /// What is known now.
    pub state: VerificationState,
}

/// The verification gate's memory in one run of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// The last verdict: `verification` in templates.
    pub state: VerificationState,
    every: Every,
    /// When the last verification was over; the loop's beginning before the first one.
    last: Duration,
    /// When something happened last.
    active: Duration,
    /// Tokens of this turn's prompt, and of the one when the last verification was over.
    tokens: Option<usize>,
    baseline: Option<usize>,
    /// An action since the last verification may have changed something.
    changed: bool,
    /// Programs alone said no the last time.
    by_programs: bool,
    in_flight: bool,
    made: u32,
    failures: u32,
    refusals: u32,
    outages: u32,
    /// What the last verdict named as missing, and all that it said; how often in a row.
    said: Option<(String, String)>,
    same: u32,
}

impl Gate {
    /// Notes the size of this turn's prompt, in tokens that are counted the same way in all turns.
    pub fn prompt(&mut self, tokens: usize) {
        self.tokens = Some(tokens);
        self.baseline.get_or_insert(tokens);
    }

    /// Forgets the size of the prompt: what follows is the prompt of another loop.
    pub fn forget_prompt(&mut self) {
        (self.tokens, self.baseline) = (None, None);
    }

    /// Notes that an action is over, and whether it may have changed anything.
    pub fn acted(&mut self, changed: bool, now: Moment) {
        self.changed |= changed;
        self.active(now);
    }

    /// Notes that something happens.
    pub fn active(&mut self, now: Moment) {
        self.active = self.active.max(now.at);
    }

    /// The time that is left until the watchdog wakes; none when it sleeps.
    #[must_use]
    pub fn until_watchdog(&self, settings: &VerificationSettings, now: Moment) -> Option<Duration> {
        let awake = settings.mode == Mode::On && !self.in_flight && self.made < allowance(settings, Trigger::Watchdog);
        awake.then(|| settings.watchdog.saturating_sub(now.at.saturating_sub(self.active)))
    }

    /// Whether to verify now.
    ///
    /// Who says that the goal is reached is heard at once. What only looks waits for iterations, time or tokens, and
    /// leaves a half of all verifications to those who say so.
    #[must_use]
    pub fn should_verify(&self, settings: &VerificationSettings, trigger: Trigger, now: Moment) -> Verdict {
        let only_asked = trigger != Trigger::Step && trigger != Trigger::Request;
        if settings.mode == Mode::Off {
            return Verdict::no("off");
        }
        if settings.mode == Mode::Free && only_asked {
            return Verdict::no("not_named");
        }
        if self.in_flight {
            return Verdict::no("in_flight");
        }
        let allowed = allowance(settings, trigger);
        if self.made >= allowed {
            let verdict = Verdict::no("max_verifications").with("made", self.made).with("allowed", allowed);
            return verdict.with("max_verifications", settings.max_verifications);
        }
        match trigger {
            Trigger::PostAction => self.should_look(settings, now),
            Trigger::Watchdog => {
                let idle = now.at.saturating_sub(self.active);
                let verdict = if idle < settings.watchdog { Verdict::no("active") } else { Verdict::yes("watchdog") };
                verdict.with("idle_ms", idle).with("watchdog_ms", settings.watchdog)
            }
            _ => Verdict::yes(trigger.name()).with("made", self.made).with("allowed", allowed),
        }
    }

    /// Whether to look after an action.
    fn should_look(&self, settings: &VerificationSettings, now: Moment) -> Verdict {
        if now.iteration < settings.min_iteration {
            let verdict = Verdict::no("min_iteration").with("iteration", now.iteration);
            return verdict.with("min_iteration", settings.min_iteration);
        }
        if self.by_programs && !self.changed {
            return Verdict::no("nothing_changed");
        }
        let iterations = self.every.passed(now);
        let age = now.at.saturating_sub(self.last);
        let moved = self.moved();
        let rule = if settings.hard_tokens.is_some_and(|hard| moved >= hard as usize) {
            Verdict::yes("hard_tokens").with("hard_tokens", settings.hard_tokens.unwrap_or_default())
        } else if iterations >= settings.every {
            Verdict::yes("every")
        } else if age >= settings.max_age {
            Verdict::yes("max_age")
        } else if moved <= settings.min_prompt_delta as usize {
            Verdict::no("waits")
        } else if age < settings.cooldown {
            Verdict::no("cooldown").with("cooldown_ms", settings.cooldown)
        } else {
            Verdict::yes("prompt_delta")
        };
        rule.with("iterations", iterations)
            .with("every", settings.every)
            .with("age_ms", age)
            .with("max_age_ms", settings.max_age)
            .with("moved", moved)
            .with("min_prompt_delta", settings.min_prompt_delta)
    }

    /// Tokens by which the prompt differs from what it had when the last verification was over.
    fn moved(&self) -> usize {
        self.tokens.zip(self.baseline).map_or(0, |(tokens, baseline)| tokens.abs_diff(baseline))
    }

    /// A verification begins.
    pub fn begin(&mut self) {
        self.in_flight = true;
    }

    /// A verification was broken off: it counts, and its throttles start again.
    pub fn abandon(&mut self, now: Moment) {
        self.restart(now);
    }

    /// A verification is over: the clock and all throttles start again.
    fn restart(&mut self, now: Moment) {
        self.in_flight = false;
        self.made = self.made.saturating_add(1);
        self.every.restart(now);
        self.last = now.at;
        self.active = now.at;
        self.baseline = self.tokens;
        self.changed = false;
    }

    /// What follows when a verification was asked for and not made.
    #[must_use]
    pub fn unasked(trigger: Trigger, verdict: &Verdict) -> (Consequence, Grounds) {
        match (trigger, verdict.grounds.rule.as_str()) {
            // Nobody can say that the goal is reached, and the loop must not be held for that.
            (Trigger::Finish, "max_verifications") => (Consequence::Unverified, verdict.grounds.clone()),
            (Trigger::Finish, "in_flight") => (Consequence::Refused, verdict.grounds.clone()),
            _ => (Consequence::Continue, verdict.grounds.clone()),
        }
    }

    /// A verification is over: what follows.
    pub fn conclude(
        &mut self,
        settings: &VerificationSettings,
        trigger: Trigger,
        finding: Finding,
        now: Moment,
    ) -> (Consequence, Grounds) {
        let counts = trigger.is_claim() || self.changed;
        self.restart(now);
        let Finding { satisfied, by_programs, news, state } = finding;
        self.by_programs = satisfied == Some(false) && by_programs;
        let (consequence, because) = match satisfied {
            None => self.unknown(trigger),
            Some(true) => (Consequence::Satisfied, Grounds::of("satisfied")),
            Some(false) => {
                self.outages = 0;
                self.failures += u32::from(counts);
                if counts || !by_programs {
                    self.compare(trigger, &state, news);
                }
                self.failed(settings, trigger, counts, by_programs, state.impossible)
            }
        };
        let outcome = match satisfied {
            None => Outcome::Unknown,
            Some(true) => Outcome::Satisfied,
            Some(false) => Outcome::NotSatisfied,
        };
        // Without a verdict the last one stays what it was.
        let known = if satisfied.is_none() { self.state.clone() } else { state };
        self.state = VerificationState {
            satisfied: satisfied == Some(true),
            outcome,
            iteration: now.iteration,
            at: now.at.as_secs_f64(),
            count: self.made,
            failures: self.failures,
            ..known
        };
        (consequence, because)
    }

    /// The judge gave no verdict.
    fn unknown(&mut self, trigger: Trigger) -> (Consequence, Grounds) {
        self.outages = self.outages.saturating_add(1);
        let because = Grounds::of("no_verdict").with("outages", self.outages).with("max_outages", OUTAGES);
        match trigger {
            Trigger::Finish if self.outages >= OUTAGES => (Consequence::Unverified, because),
            Trigger::Finish => (Consequence::Refused, because),
            _ => (Consequence::Continue, because),
        }
    }

    /// Counts how often the same is said.
    ///
    /// Who says that the goal is reached, and hears the same answer, does not get on. What only looked may find the same
    /// missing while the work goes well, so there the whole verdict must be the same.
    fn compare(&mut self, trigger: Trigger, state: &VerificationState, news: bool) {
        let said = said(state);
        let alike = self
            .said
            .as_ref()
            .is_some_and(|(missing, all)| *missing == said.0 && (trigger.is_claim() || (*all == said.1 && !news)));
        self.same = if alike { self.same.saturating_add(1) } else { 1 };
        self.said = Some(said);
    }

    /// The goal is not reached.
    fn failed(
        &mut self,
        settings: &VerificationSettings,
        trigger: Trigger,
        counts: bool,
        by_programs: bool,
        impossible: bool,
    ) -> (Consequence, Grounds) {
        if impossible {
            return (Consequence::Unverified, Grounds::of("impossible"));
        }
        if let Some(most) = settings.max_failures.filter(|most| counts && self.failures >= *most) {
            let because = Grounds::of("max_failures").with("failures", self.failures).with("max_failures", most);
            return (Consequence::Unverified, because);
        }
        // Where the author says how often programs may fail, that is the bound.
        if self.same >= SAME && !(by_programs && settings.max_failures.is_some()) {
            let because = Grounds::of("same_missing").with("times", self.same).with("max_times", SAME);
            return (Consequence::Unverified, because);
        }
        let because = Grounds::of("not_satisfied").with("failures", self.failures);
        if trigger != Trigger::Finish {
            return (Consequence::Continue, because);
        }
        self.refusals = self.refusals.saturating_add(1);
        let numbers =
            |because: Grounds| because.with("refusals", self.refusals).with("max_refusals", settings.max_refusals);
        if self.refusals >= settings.max_refusals {
            return (Consequence::Unverified, numbers(Grounds::of("max_refusals")));
        }
        (Consequence::Refused, numbers(because))
    }
}

/// How many verifications a trigger may bring the loop to: those that nobody asked for leave a half to the others.
fn allowance(settings: &VerificationSettings, trigger: Trigger) -> u32 {
    if trigger.is_claim() { settings.max_verifications } else { settings.max_verifications.div_ceil(2) }
}

/// What a verdict names as missing, in any order and case, and all that it says; checks that failed with what they said.
fn said(state: &VerificationState) -> (String, String) {
    let mut missing: Vec<String> = state.missing.iter().map(|item| item.to_lowercase()).collect();
    if missing.is_empty() {
        missing.push(state.reasoning.to_lowercase());
    }
    missing.sort();
    let failed = state.checks.iter().filter(|check| !check.passed);
    missing.extend(failed.map(|check| format!("{}\n{}", check.name, check.output)));
    let missing = hash(&missing.join("\n"));
    let all = hash(&format!("{missing}\n{}", state.next_movements.join("\n").to_lowercase()));
    (missing, all)
}
