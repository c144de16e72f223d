//! Who answers in a replay: a model that is as quick and as reliable as its profile says. The same question in the same
//! iteration gets the same answer under all settings, so that only the settings differ.

use std::time::Duration;

use serde::Serialize;

use crate::event::MechanismName;
use crate::mechanism::{Account, Opinion};

/// How a model answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Calls take 5 to 30 s; what it says is right, and in one of five cases it sees the goal one look too late.
    #[default]
    Realistic,
    /// Calls take 1 to 10 s; every fourth verdict is wrong, and every second account has a topic of its own.
    Noisy,
    /// Calls take 10 s; it always says the same: the same topics, no spin, not done.
    Quiet,
}

/// A model that answers in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ai {
    /// How it answers.
    pub profile: Profile,
    /// What chance begins with.
    pub seed: u64,
}

/// What is asked: of which history, by which mechanism, in which iteration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) history: &'a str,
    pub(super) mechanism: MechanismName,
    pub(super) iteration: u32,
}

/// How often a verdict of the noisy profile is wrong, an account has a topic of its own, and the realistic profile is
/// late.
const WRONG: f64 = 0.25;
const STRAY: f64 = 0.5;
const LATE: f64 = 0.2;

impl Ai {
    /// How long the answer takes.
    pub(super) fn takes(self, question: Question<'_>) -> Duration {
        let between = |least: f64, most: f64| least + (most - least) * self.chance(question, 0);
        Duration::from_secs_f64(match self.profile {
            Profile::Realistic => between(5.0, 30.0),
            Profile::Noisy => between(1.0, 10.0),
            Profile::Quiet => 10.0,
        })
    }

    /// What the loop is doing.
    pub(super) fn account(self, question: Question<'_>, topics: &[String]) -> Account {
        let mut topics = match self.profile {
            Profile::Quiet => vec!["the task".to_owned()],
            Profile::Realistic | Profile::Noisy => topics.to_vec(),
        };
        if self.profile == Profile::Noisy && self.chance(question, 1) < STRAY {
            topics.push(format!("detail of iteration {}", question.iteration));
        }
        Account { topics, confidence: 0.8, ..Account::default() }
    }

    /// Whether the loop repeats itself.
    pub(super) fn opinion(self, question: Question<'_>, spinning: bool) -> Opinion {
        let (is_spinning, confidence) = match self.profile {
            Profile::Realistic => (spinning, 0.95),
            Profile::Noisy => (spinning != self.errs(question), 0.5 + 0.5 * self.chance(question, 2)),
            Profile::Quiet => (false, 0.9),
        };
        Opinion { is_spinning, confidence, ..Opinion::default() }
    }

    /// Whether the goal is reached; `first` says that nobody has looked since it was.
    pub(super) fn done(self, question: Question<'_>, reached: bool, first: bool) -> bool {
        match self.profile {
            Profile::Realistic => reached && !(first && self.chance(question, 1) < LATE),
            Profile::Noisy => reached != self.errs(question),
            Profile::Quiet => false,
        }
    }

    /// What a judge names as missing.
    pub(super) fn missing(self, topics: &[String]) -> Vec<String> {
        match self.profile {
            Profile::Quiet => vec!["the task".to_owned()],
            Profile::Realistic | Profile::Noisy => topics.to_vec(),
        }
    }

    /// What a judge wants to be done next: something else after each action, but where nothing ever changes.
    pub(super) fn movements(self, iteration: u32) -> Vec<String> {
        match self.profile {
            Profile::Quiet => Vec::new(),
            Profile::Realistic | Profile::Noisy => vec![format!("go on from iteration {iteration}")],
        }
    }

    fn errs(self, question: Question<'_>) -> bool {
        self.chance(question, 1) < WRONG
    }

    /// A number from 0 to below 1 that depends on nothing but the seed and the question.
    fn chance(self, question: Question<'_>, salt: u64) -> f64 {
        let mut hash = self.seed;
        let mechanism = question.mechanism.name().bytes();
        for byte in question.history.bytes().chain([0]).chain(mechanism) {
            hash = mixed(hash ^ u64::from(byte));
        }
        hash = mixed(hash ^ u64::from(question.iteration));
        hash = mixed(hash ^ salt);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let share = (hash >> 11) as f64 / (1_u64 << 53) as f64;
        share
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(iteration: u32) -> Question<'static> {
        Question { history: "a run", mechanism: MechanismName::Verification, iteration }
    }

    fn share(profile: Profile, of: impl Fn(Ai, Question<'_>) -> bool) -> f64 {
        let ai = Ai { profile, seed: 1 };
        let count = (0..4000).filter(|n| of(ai, question(*n))).count();
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let share = count as f64 / 4000.0;
        share
    }

    #[test]
    fn profiles_are_as_good_as_they_say() {
        let near = |share: f64, wanted: f64| (share - wanted).abs() < 0.03;
        assert!(near(share(Profile::Realistic, |ai, q| !ai.done(q, true, true)), LATE));
        assert!(near(share(Profile::Realistic, |ai, q| !ai.done(q, true, false)), 0.0));
        assert!(near(share(Profile::Realistic, |ai, q| ai.done(q, false, false)), 0.0));
        assert!(near(share(Profile::Noisy, |ai, q| ai.done(q, false, false)), WRONG));
        assert!(near(share(Profile::Noisy, |ai, q| !ai.opinion(q, true).is_spinning), WRONG));
        assert!(near(share(Profile::Noisy, |ai, q| ai.account(q, &[]).topics.len() == 1), STRAY));
        assert!(near(share(Profile::Quiet, |ai, q| ai.done(q, true, false) || ai.opinion(q, true).is_spinning), 0.0));
        assert!(near(share(Profile::Realistic, |ai, q| ai.takes(q).as_secs_f64() < 17.5), 0.5));
    }

    #[test]
    fn the_same_question_gets_the_same_answer_and_another_seed_another() {
        let times = |seed| (0..20).map(|n| Ai { profile: Profile::Noisy, seed }.takes(question(n))).collect::<Vec<_>>();
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
    }
}
