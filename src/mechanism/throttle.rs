//! Throttles: how often a mechanism may act, over time and iterations that are passed in.

use std::time::Duration;

use crate::event::{Figure, Grounds};

/// When something is decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// Time since the loop began.
    pub at: Duration,
    /// The iteration, from 1; 0 before the first one.
    pub iteration: u32,
}

/// A decision with its grounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether to act.
    pub act: bool,
    /// Why.
    pub grounds: Grounds,
}

impl Verdict {
    /// Act, by this rule.
    #[must_use]
    pub fn yes(rule: &str) -> Self {
        Self { act: true, grounds: Grounds::of(rule) }
    }

    /// Leave it, by this rule.
    #[must_use]
    pub fn no(rule: &str) -> Self {
        Self { act: false, grounds: Grounds::of(rule) }
    }

    /// With one more number.
    #[must_use]
    pub fn with(mut self, name: &str, figure: impl Into<Figure>) -> Self {
        self.grounds = self.grounds.with(name, figure);
        self
    }
}

/// Counts iterations since something was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Every {
    last: u32,
}

impl Every {
    /// Iterations since then; all of them before the first time.
    #[must_use]
    pub fn passed(&self, now: Moment) -> u32 {
        now.iteration.saturating_sub(self.last)
    }

    /// It was done now.
    pub fn restart(&mut self, now: Moment) {
        self.last = now.iteration;
    }
}

/// So many results in a row without a change double the interval.
const UNCHANGED_TO_DOUBLE: u32 = 2;

/// The shortest time between two times that something is done, which grows while it changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    last: Option<Duration>,
    unchanged: u32,
}

impl Interval {
    /// The interval that holds now: `min`, doubled for every two results in a row that changed nothing, at most `max`.
    #[must_use]
    pub fn current(&self, min: Duration, max: Duration) -> Duration {
        let doublings = (self.unchanged / UNCHANGED_TO_DOUBLE).min(31);
        min.saturating_mul(1 << doublings).min(max.max(min))
    }

    /// Time since it was done; none before the first time.
    #[must_use]
    pub fn passed(&self, now: Moment) -> Option<Duration> {
        self.last.map(|last| now.at.saturating_sub(last))
    }

    /// It was done now.
    pub fn restart(&mut self, now: Moment) {
        self.last = Some(now.at);
    }

    /// Notes whether a result changed anything.
    pub fn result(&mut self, changed: bool) {
        self.unchanged = if changed { 0 } else { self.unchanged.saturating_add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_doubles_after_two_unchanged_results_up_to_its_maximum() {
        let (min, max) = (Duration::from_secs(30), Duration::from_secs(300));
        let mut interval = Interval::default();
        let mut seen = Vec::new();
        for _ in 0..9 {
            seen.push(interval.current(min, max).as_secs());
            interval.result(false);
        }
        assert_eq!(seen, [30, 30, 60, 60, 120, 120, 240, 240, 300]);
        interval.result(true);
        assert_eq!(interval.current(min, max), min);
        // A maximum below the minimum is no maximum.
        assert_eq!(Interval::default().current(max, min), max);
        for _ in 0..1000 {
            interval.result(false);
        }
        assert_eq!(interval.current(min, max), max);
    }
}
