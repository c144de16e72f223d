//! Spin: from a suspicion to an incident, and what follows from it.
//!
//! Two things tell that a loop repeats itself. Patterns decide by themselves. What only looks like one, such as several
//! actions of one type in a row, raises a suspicion: most of those are honest work, so a helper model is asked, and its
//! word counts when it is sure.

use serde::Deserialize;

use super::line;
use super::settings::{Mode, SpinSettings};
use super::spin::{Finding, Severity};
use super::throttle::{Moment, Verdict};
use crate::event::{Grounds, SpinConsequence as Consequence, SpinOpinion, SpinState};

/// Iterations until the helper model is asked again after it saw no spin: at least so many, and so many more the less
/// sure it was.
const QUIET: u32 = 5;
const UNSURE: f64 = 10.0;

/// The family of what the helper model says.
const REVIEW: &str = "review";

/// The most characters of what the helper model says.
const REASON: usize = 400;
const WORDS: usize = 200;
const MOST: usize = 8;

/// A repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Repetition {
    /// The pattern's name.
    pub family: String,
    /// The action or tool that is repeated.
    pub action: String,
    /// How often.
    pub count: u32,
    /// How one can tell.
    pub reason: String,
    /// The rule and its numbers.
    pub grounds: Grounds,
    /// What the detector found; none when the helper model said so.
    pub finding: Option<Finding>,
    /// What to do instead, and the actions to take next, as the helper model sees it.
    pub suggestions: Vec<String>,
    /// See `suggestions`.
    pub next_actions: Vec<String>,
}

impl Repetition {
    /// What the detector found at an action.
    #[must_use]
    pub fn new(found: &Finding, action: &str) -> Self {
        let grounds =
            Grounds::of(found.family).with("count", found.evidence.count).with("threshold", found.evidence.threshold);
        Self {
            family: found.family.to_owned(),
            action: action.to_owned(),
            count: u32::try_from(found.evidence.count).unwrap_or(u32::MAX),
            reason: found.evidence.text.clone(),
            grounds,
            finding: Some(found.clone()),
            suggestions: Vec::new(),
            next_actions: Vec::new(),
        }
    }
}

/// What the detector found in an iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sight {
    /// The last action.
    pub action: String,
    /// A pattern that decides.
    pub pattern: Option<Repetition>,
    /// One that only raises a suspicion.
    pub suspicion: Option<Repetition>,
}

impl Sight {
    /// Sorts out what was found at an action.
    pub fn add(&mut self, action: &str, found: &[Finding]) {
        action.clone_into(&mut self.action);
        for finding in found {
            let place = match finding.severity {
                Severity::Hard => &mut self.pattern,
                Severity::Suspicion => &mut self.suspicion,
            };
            place.get_or_insert_with(|| Repetition::new(finding, action));
        }
    }
}

/// The helper model's opinion.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Opinion {
    /// Whether the loop repeats itself.
    pub is_spinning: bool,
    /// How sure it is, 0 to 1.
    #[serde(default)]
    pub confidence: f64,
    /// How one can tell.
    #[serde(default)]
    pub reason: String,
    /// What to do instead.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// The actions that it would take next.
    #[serde(default)]
    pub next_actions: Vec<String>,
}

/// What the helper model's opinion amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// A repetition, when it was sure of one.
    pub found: Option<Repetition>,
    /// What it said; none when it said nothing.
    pub opinion: Option<SpinOpinion>,
    /// Its confidence, and the one that was needed.
    pub grounds: Grounds,
}

/// Spin detection's memory in one run of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watch {
    /// What is known: `spin` in templates.
    pub state: SpinState,
    /// What the detector found last.
    pub sight: Sight,
    reviews: u32,
    /// The action that the helper model was asked about last, and the first iteration in which it may be asked again.
    asked: Option<(String, u32)>,
    /// The incident that goes on: what was found last.
    incident: Option<Repetition>,
}

impl Watch {
    /// Whether to ask the helper model now. `asked` says that a step wants it whatever is suspected.
    #[must_use]
    pub fn should_review(&self, settings: &SpinSettings, asked: bool, now: Moment) -> Verdict {
        if settings.mode == Mode::Off {
            return Verdict::no("off");
        }
        let suspicion = self.sight.suspicion.as_ref();
        let verdict = match suspicion {
            _ if self.sight.action.is_empty() => return Verdict::no("nothing_done"),
            _ if self.reviews >= settings.max_reviews => {
                Verdict::no("max_reviews").with("reviews", self.reviews).with("max_reviews", settings.max_reviews)
            }
            _ if asked => Verdict::yes("forced"),
            None => return Verdict::no("no_suspicion"),
            Some(_) if settings.mode == Mode::Free => return Verdict::no("not_named"),
            Some(suspicion) => match self.ask_from(&suspicion.action) {
                Some(from) if now.iteration < from => {
                    Verdict::no("reviewed").with("iteration", now.iteration).with("ask_from", from)
                }
                _ => Verdict::yes(&suspicion.family),
            },
        };
        suspicion
            .into_iter()
            .flat_map(|suspicion| &suspicion.grounds.numbers)
            .fold(verdict, |verdict, (name, figure)| verdict.with(name, *figure))
    }

    fn ask_from(&self, action: &str) -> Option<u32> {
        self.asked.as_ref().filter(|(about, _)| about == action).map(|(_, from)| *from)
    }

    /// What the helper model's opinion amounts to. Being unsure, like not answering at all, is no spin.
    pub fn weigh(&mut self, settings: &SpinSettings, opinion: Option<Opinion>, now: Moment) -> Weighed {
        self.reviews += 1;
        let said = opinion.is_some();
        let opinion = opinion.unwrap_or_default();
        let confidence = if opinion.confidence.is_finite() { opinion.confidence.clamp(0.0, 1.0) } else { 0.0 };
        let reason = line(&opinion.reason, REASON);
        let counts = opinion.is_spinning && confidence >= settings.confidence;
        let grounds = Grounds::of(REVIEW)
            .with("confidence", confidence)
            .with("needed", settings.confidence)
            .with("reviews", self.reviews);
        let told = SpinOpinion { is_spinning: opinion.is_spinning, confidence, reason: reason.clone(), counts };
        let weighed = Weighed { found: None, opinion: said.then_some(told), grounds: grounds.clone() };
        let action = self.sight.action.clone();
        if !counts {
            // An unsure yes is a reason to look again soon, and an unsure no is one to look at all.
            self.asked = Some((action, now.iteration + QUIET + waited(confidence)));
            return weighed;
        }
        self.asked = None;
        let count = self.sight.suspicion.as_ref().map_or(0, |suspicion| suspicion.count);
        let texts = |all: Vec<String>| all.iter().take(MOST).map(|text| line(text, WORDS)).collect();
        let found = Repetition {
            family: REVIEW.to_owned(),
            action,
            count,
            reason,
            grounds: grounds.with("count", count),
            finding: None,
            suggestions: texts(opinion.suggestions),
            next_actions: texts(opinion.next_actions),
        };
        Weighed { found: Some(found), ..weighed }
    }

    /// What the helper model said last, when it may not be asked any more and what it judged goes on: without this, an
    /// incident that uses up the reviews could never end.
    #[must_use]
    pub fn standing(&self, settings: &SpinSettings) -> Option<Repetition> {
        let incident =
            self.incident.as_ref().filter(|_| self.reviews >= settings.max_reviews && self.is_still_suspected())?;
        let count = self.sight.suspicion.as_ref().map_or(incident.count, |suspicion| suspicion.count);
        Some(Repetition { count, grounds: incident.grounds.clone().with("count", count), ..incident.clone() })
    }

    /// Whether what the helper model judged to be a spin is still suspected.
    fn is_still_suspected(&self) -> bool {
        let Some(incident) = self.incident.as_ref().filter(|incident| incident.finding.is_none()) else { return false };
        let suspected = self.sight.suspicion.as_ref().is_some_and(|suspicion| suspicion.action == incident.action);
        suspected && self.ask_from(&incident.action).is_none()
    }

    /// What follows from what was found in an iteration, and whether an incident begins with it. `is_over` tells of what
    /// was found before whether it is over.
    pub fn conclude(
        &mut self,
        settings: &SpinSettings,
        found: Option<&Repetition>,
        is_over: impl Fn(&Finding) -> bool,
    ) -> (Consequence, bool) {
        let Some(found) = found else {
            let goes_on = match self.incident.as_ref().and_then(|incident| incident.finding.as_ref()) {
                Some(finding) => !is_over(finding),
                None => self.is_still_suspected(),
            };
            if !goes_on {
                self.close();
            }
            return (Consequence::None, false);
        };
        let begins = self.incident.is_none();
        self.state = self.with(found);
        self.incident = Some(found.clone());
        if self.state.warnings >= settings.max_warnings {
            return (Consequence::End, begins);
        }
        self.state.warnings += 1;
        (Consequence::Warning, begins)
    }

    /// Ends the incident, if there is one.
    pub fn close(&mut self) {
        self.incident = None;
        self.state = SpinState::default();
    }

    /// What templates would see of a repetition; nothing follows from it.
    #[must_use]
    pub fn with(&self, found: &Repetition) -> SpinState {
        let (keep, known) = (found.suggestions.is_empty() && found.next_actions.is_empty(), &self.state);
        SpinState {
            is_spinning: true,
            family: found.family.clone(),
            action: found.action.clone(),
            count: found.count,
            reason: found.reason.clone(),
            warnings: known.warnings,
            suggestions: if keep { known.suggestions.clone() } else { found.suggestions.clone() },
            next_actions: if keep { known.next_actions.clone() } else { found.next_actions.clone() },
        }
    }
}

/// Further iterations to wait, from none when the model was sure to [`UNSURE`] when it was not at all.
fn waited(confidence: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10")]
    let more = (UNSURE * (1.0 - confidence)).round() as u32;
    more
}

#[cfg(test)]
mod tests;
