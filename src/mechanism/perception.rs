//! Perception: what a loop is doing, kept up to date without asking too often.

use serde::Deserialize;

use super::settings::{Mode, PerceptionSettings};
use super::throttle::{Every, Interval, Moment, Verdict};
use super::{hash, line};
use crate::event::{PerceptionState, PerceptionTrigger as Trigger};

/// The most topics and keywords that are kept, and the most characters of one of them, and of the summary.
const MOST_TOPICS: usize = 8;
const MOST_KEYWORDS: usize = 16;
const WORD: usize = 80;
const SUMMARY: usize = 300;

/// What a model says that a loop is doing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Account {
    /// What it is about.
    #[serde(default)]
    pub topics: Vec<String>,
    /// Words to search by.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// In one line.
    #[serde(default)]
    pub summary: String,
    /// How sure it is, 0 to 1.
    #[serde(default)]
    pub confidence: f64,
}

/// Perception's memory in one run of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Perception {
    /// What is known.
    pub state: PerceptionState,
    every: Every,
    interval: Interval,
}

impl Perception {
    /// Whether to look now.
    ///
    /// What a step asks for, a spin and a loop's beginning look at once; the others wait for iterations and time.
    #[must_use]
    pub fn should_update(&self, settings: &PerceptionSettings, trigger: Trigger, now: Moment) -> Verdict {
        match (settings.mode, trigger) {
            (Mode::Off, _) => return Verdict::no("off"),
            (_, Trigger::Forced) => return Verdict::yes("forced"),
            (Mode::Free, _) => return Verdict::no("not_named"),
            (Mode::On, Trigger::SpinDetected) => return Verdict::yes("spin_detected"),
            (Mode::On, Trigger::LoopSwitch) => return Verdict::yes("loop_switch"),
            (Mode::On, Trigger::PostAction | Trigger::Verification) => {}
        }
        let iterations = self.every.passed(now);
        if iterations < settings.every {
            return Verdict::no("every").with("iterations", iterations).with("every", settings.every);
        }
        let interval = self.interval.current(settings.min_interval, settings.max_interval);
        let since = self.interval.passed(now);
        let rule = if since.is_some_and(|since| since < interval) { Verdict::no } else { Verdict::yes };
        let verdict = match (since, since.is_some_and(|since| since < interval)) {
            (None, _) => rule("first"),
            (_, true) => rule("min_interval"),
            (_, false) => rule("due"),
        };
        let verdict = verdict.with("iterations", iterations).with("every", settings.every);
        match since {
            Some(since) => verdict.with("since_ms", since).with("interval_ms", interval),
            None => verdict,
        }
    }

    /// A look is over, whatever came of it: the throttles start again.
    pub fn looked(&mut self, now: Moment) {
        self.every.restart(now);
        self.interval.restart(now);
    }

    /// Takes over what the model said; whether anything was written.
    ///
    /// Where the topics are the same as before, nothing is: what stands in the prompt stays byte for byte what it was.
    /// Only what looks at once writes in any case. Whether something changed is decided by the topics, never by what
    /// the model claims: a model that sees a change every time would keep the interval at its minimum.
    pub fn apply(&mut self, account: Account, trigger: Trigger, now: Moment) -> bool {
        let topics = words(account.topics, MOST_TOPICS);
        let (before, after) = (topics_hash(&self.state.topics), topics_hash(&topics));
        let changed = self.state.epoch == 0 || before != after;
        self.interval.result(changed);
        let at_once = matches!(trigger, Trigger::Forced | Trigger::SpinDetected | Trigger::LoopSwitch);
        if !changed && !at_once {
            self.state.changed = false;
            return false;
        }
        self.state = PerceptionState {
            keywords: words(account.keywords, MOST_KEYWORDS),
            summary: line(&account.summary, SUMMARY),
            confidence: if account.confidence.is_finite() { account.confidence.clamp(0.0, 1.0) } else { 0.0 },
            changed,
            epoch: self.state.epoch + 1,
            last_trigger: Some(trigger),
            last_update_at: now.at.as_secs_f64(),
            prev_topics_hash: if self.state.epoch == 0 { String::new() } else { before },
            topics,
        };
        true
    }
}

/// Words as they are kept: each on one line and once.
fn words(all: Vec<String>, most: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for word in all.iter().map(|word| line(word, WORD)).filter(|word| !word.is_empty()) {
        if kept.len() < most && !kept.iter().any(|known| known.eq_ignore_ascii_case(&word)) {
            kept.push(word);
        }
    }
    kept
}

/// Topics in whatever order and spelling of case.
fn topics_hash(topics: &[String]) -> String {
    let mut topics: Vec<String> = topics.iter().map(|topic| topic.to_lowercase()).collect();
    topics.sort();
    hash(&topics.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn settings() -> PerceptionSettings {
        PerceptionSettings {
            mode: Mode::On,
            every: 2,
            min_interval: Duration::from_secs(30),
            max_interval: Duration::from_secs(300),
            tier: "helper".into(),
        }
    }

    fn at(seconds: u64, iteration: u32) -> Moment {
        Moment { at: Duration::from_secs(seconds), iteration }
    }

    fn about(topics: &[&str]) -> Account {
        Account { topics: topics.iter().map(|t| (*t).to_owned()).collect(), confidence: 7.0, ..Account::default() }
    }

    #[test]
    fn the_throttled_triggers_wait_for_iterations_and_for_time() {
        let mut perception = Perception::default();
        let ask = |perception: &Perception, trigger, now| {
            let verdict = perception.should_update(&settings(), trigger, now);
            (verdict.act, verdict.grounds.rule)
        };
        assert_eq!(ask(&perception, Trigger::PostAction, at(0, 1)), (false, "every".into()));
        assert_eq!(ask(&perception, Trigger::PostAction, at(1, 2)), (true, "first".into()));
        perception.looked(at(1, 2));
        assert_eq!(ask(&perception, Trigger::PostAction, at(60, 3)), (false, "every".into()));
        assert_eq!(ask(&perception, Trigger::PostAction, at(30, 4)), (false, "min_interval".into()));
        assert_eq!(ask(&perception, Trigger::Verification, at(31, 4)), (true, "due".into()));
        for trigger in [Trigger::Forced, Trigger::SpinDetected, Trigger::LoopSwitch] {
            assert!(ask(&perception, trigger, at(1, 2)).0, "{trigger:?} does not wait");
        }
        let verdict = perception.should_update(&settings(), Trigger::PostAction, at(11, 4));
        let numbers: Vec<String> = verdict.grounds.numbers.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(numbers, ["every=2", "interval_ms=30000", "iterations=2", "since_ms=10000"]);
    }

    #[test]
    fn off_does_nothing_and_a_loop_that_does_not_name_it_looks_only_when_asked() {
        let perception = Perception::default();
        for (mode, forced) in [(Mode::Off, false), (Mode::Free, true)] {
            let settings = PerceptionSettings { mode, ..settings() };
            for trigger in [Trigger::PostAction, Trigger::Verification, Trigger::SpinDetected, Trigger::LoopSwitch] {
                assert!(!perception.should_update(&settings, trigger, at(900, 90)).act);
            }
            assert_eq!(perception.should_update(&settings, Trigger::Forced, at(0, 0)).act, forced);
        }
    }

    #[test]
    fn the_same_topics_are_not_written_again_but_for_what_looks_at_once() {
        let mut perception = Perception::default();
        assert!(perception.apply(about(&["Logs", "SSH"]), Trigger::PostAction, at(0, 1)));
        let first = perception.state.clone();
        assert_eq!((first.epoch, first.changed, first.confidence), (1, true, 1.0));
        assert_eq!(first.prev_topics_hash, "");
        // Other order, other case, a blank more: the same topics.
        assert!(!perception.apply(about(&["ssh ", "logs"]), Trigger::PostAction, at(40, 2)));
        assert_eq!(perception.state, PerceptionState { changed: false, ..first.clone() });
        assert!(perception.apply(about(&["ssh", "logs"]), Trigger::Forced, at(41, 3)));
        assert_eq!((perception.state.epoch, perception.state.changed), (2, false));
        assert!(perception.apply(about(&["billing"]), Trigger::PostAction, at(42, 4)));
        assert!(perception.state.changed && perception.state.prev_topics_hash.len() == 16);
    }

    #[test]
    fn unchanged_topics_make_the_interval_grow() {
        let mut perception = Perception::default();
        for second in 0..3 {
            perception.apply(about(&["one"]), Trigger::PostAction, at(second, 1));
            perception.looked(at(second, 1));
        }
        let verdict = perception.should_update(&settings(), Trigger::PostAction, at(40, 9));
        assert_eq!((verdict.act, verdict.grounds.rule.as_str()), (false, "min_interval"));
        assert!(perception.should_update(&settings(), Trigger::PostAction, at(62, 9)).act);
    }

    #[test]
    fn what_a_model_says_at_length_is_kept_in_short() {
        let mut perception = Perception::default();
        let account = Account {
            topics: (0..100).map(|n| format!("topic\n{n}")).collect(),
            summary: "x ".repeat(1000),
            confidence: f64::NAN,
            ..Account::default()
        };
        perception.apply(account, Trigger::PostAction, at(0, 1));
        let state = &perception.state;
        assert_eq!((state.topics.len(), state.topics[0].as_str(), state.confidence), (8, "topic 0", 0.0));
        assert_eq!(state.summary.chars().count(), SUMMARY + 1);
    }
}
