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
mod tests {
    use super::*;
    use crate::mechanism::spin::{Detector, Record, Rules};

    fn settings() -> SpinSettings {
        SpinSettings {
            mode: Mode::On,
            same_action: 3,
            same_logic: 5,
            max_warnings: 2,
            confidence: 0.9,
            max_reviews: 6,
            tier: "helper".into(),
        }
    }

    fn now(iteration: u32) -> Moment {
        Moment { iteration, ..Moment::default() }
    }

    fn yes(confidence: f64) -> Option<Opinion> {
        Some(Opinion { is_spinning: true, confidence, reason: "the same again".into(), ..Opinion::default() })
    }

    fn rule(verdict: &Verdict) -> (bool, &str) {
        (verdict.act, &verdict.grounds.rule)
    }

    /// A watch with the detector behind it.
    struct World(Watch, Detector);

    impl World {
        fn new() -> Self {
            Self(Watch::default(), Detector::new(&Rules::default()))
        }

        fn take(&mut self, action: &str, path: &str, result: &str) {
            let record = Record::call(action, serde_json::json!({ "path": path }), result);
            self.0.sight = Sight::default();
            self.0.sight.add(action, &self.1.observe_all(&record));
        }

        fn conclude(&mut self, found: Option<&Repetition>) -> (Consequence, bool) {
            let Self(watch, detector) = self;
            watch.conclude(&settings(), found, |finding| detector.is_over(finding))
        }
    }

    #[test]
    fn three_of_a_kind_are_a_suspicion_and_no_more() {
        let mut world = World::new();
        world.take("read", "a", "one");
        world.take("read", "b", "two");
        assert_eq!(rule(&world.0.should_review(&settings(), false, now(2))), (false, "no_suspicion"));
        world.take("write", "a", "done");
        for (path, result) in [("c", "three"), ("d", "four"), ("e", "five")] {
            world.take("read", path, result);
        }
        let verdict = world.0.should_review(&settings(), false, now(6));
        assert_eq!(rule(&verdict), (true, "same_action"));
        assert_eq!(verdict.grounds.numbers.len(), 2);
        assert_eq!(world.conclude(None), (Consequence::None, false));
        let free = SpinSettings { mode: Mode::Free, ..settings() };
        assert_eq!(rule(&world.0.should_review(&free, false, now(6))), (false, "not_named"));
        assert!(world.0.should_review(&free, true, now(6)).act, "a step may ask");
        let off = SpinSettings { mode: Mode::Off, ..settings() };
        assert!(!world.0.should_review(&off, true, now(6)).act);
    }

    #[test]
    fn an_opinion_counts_when_it_is_sure_and_the_next_one_waits() {
        let mut world = World::new();
        (0..3).for_each(|n| world.take("read", &n.to_string(), &format!("result {n}")));
        let World(watch, _) = &mut world;
        let weighed = watch.weigh(&settings(), yes(0.8), now(3));
        assert_eq!(weighed.found, None);
        assert!(weighed.opinion.is_some_and(|said| said.is_spinning && !said.counts && said.confidence < 0.9));
        assert_eq!(rule(&watch.should_review(&settings(), false, now(9))), (false, "reviewed"));
        assert!(watch.should_review(&settings(), false, now(10)).act, "3 + 5 + 10 * (1 - 0.8)");
        assert_eq!(watch.weigh(&settings(), None, now(10)).found, None, "no answer is no spin");
        assert!(!watch.should_review(&settings(), false, now(24)).act);
        // Another action is another question.
        (0..3).for_each(|n| world.take("list", &n.to_string(), &format!("names {n}")));
        let World(watch, _) = &mut world;
        assert!(watch.should_review(&settings(), false, now(24)).act);
        assert!(watch.weigh(&settings(), yes(0.9), now(24)).found.is_some());
        assert!(watch.should_review(&settings(), false, now(25)).act, "a spin is watched closely");
    }

    #[test]
    fn reviews_end_with_their_budget() {
        let mut world = World::new();
        world.take("read", "a", "one");
        let World(mut watch, _) = world;
        assert_eq!(rule(&Watch::default().should_review(&settings(), true, now(0))), (false, "nothing_done"));
        for iteration in 0..6 {
            assert!(watch.should_review(&settings(), true, now(iteration)).act);
            watch.weigh(&settings(), None, now(iteration));
        }
        assert_eq!(rule(&watch.should_review(&settings(), true, now(900))), (false, "max_reviews"));
    }

    #[test]
    fn an_incident_is_warned_about_and_ends_the_loop_when_it_goes_on() {
        let mut world = World::new();
        let mut seen = Vec::new();
        let mut step = |path: &str, result: &str| {
            world.take("read", path, result);
            let pattern = world.0.sight.pattern.clone();
            seen.push(world.conclude(pattern.as_ref()));
        };
        (0..5).for_each(|_| step("a", "the same words each time"));
        step("b", "something else for once");
        (0..6).for_each(|_| step("a", "and now another text of it"));
        let nothing = (Consequence::None, false);
        let (first, again) = ((Consequence::Warning, true), (Consequence::Warning, false));
        let whole = [nothing, nothing, nothing, first, again, nothing];
        let end = [nothing, nothing, nothing, first, again, (Consequence::End, false)];
        assert_eq!(seen, [whole, end].concat());
        assert_eq!((world.0.state.warnings, world.0.state.count, world.0.state.family.as_str()), (2, 6, "exact"));
    }

    #[test]
    fn an_incident_that_a_review_found_lasts_as_long_as_the_suspicion() {
        let mut world = World::new();
        (0..3).for_each(|n| world.take("read", &n.to_string(), &format!("result {n}")));
        let found = world.0.weigh(&settings(), yes(1.0), now(3)).found;
        assert_eq!(world.conclude(found.as_ref()), (Consequence::Warning, true));
        world.take("read", "3", "result 3");
        assert_eq!(world.conclude(None), (Consequence::None, false));
        assert!(world.0.state.is_spinning, "nobody was asked, and nothing has changed");
        world.take("write", "3", "done");
        world.conclude(None);
        assert!(!world.0.state.is_spinning && world.0.state.reason.is_empty());
    }

    #[test]
    fn an_incident_outlasts_what_is_done_between_its_rounds() {
        let mut world = World::new();
        let mut seen = Vec::new();
        for round in 0..12 {
            for (path, result) in
                [(format!("edit {round}"), "written"), ("check".to_owned(), "it fails as before, in line 3")]
            {
                let mut record = Record::call("do", serde_json::json!({ "path": path }), result);
                record.error = path == "check";
                record.changes = Some(path != "check");
                world.0.sight = Sight::default();
                world.0.sight.add("do", &world.1.observe_all(&record));
                let pattern = world.0.sight.pattern.clone();
                seen.push(world.conclude(pattern.as_ref()));
            }
        }
        let of = |wanted: Consequence| seen.iter().filter(|(what, _)| *what == wanted).count();
        let begun = seen.iter().filter(|(_, begins)| *begins).count();
        assert_eq!((begun, of(Consequence::Warning)), (1, 2), "{seen:?}");
        assert_eq!(seen.iter().position(|(what, _)| *what == Consequence::End), Some(19), "round 10: {seen:?}");
    }

    #[test]
    fn an_incident_ends_when_it_is_given_up() {
        let mut world = World::new();
        let mut step = |path: &str, result: &str| {
            world.take("read", path, result);
            let pattern = world.0.sight.pattern.clone();
            world.conclude(pattern.as_ref());
            world.0.state.is_spinning
        };
        // The same call among others that change nothing.
        for n in 0..5 {
            step(&format!("f{n}"), &format!("another file, number {n}"));
            step("x", "nothing is there to be seen");
        }
        let after: Vec<bool> = (5..11).map(|n| step(&format!("f{n}"), &format!("another file, number {n}"))).collect();
        assert_eq!(after, [true, true, true, true, false, false]);
    }

    #[test]
    fn the_last_opinion_stands_when_no_review_is_left() {
        let mut world = World::new();
        let few = SpinSettings { max_reviews: 1, ..settings() };
        (0..3).for_each(|n| world.take("read", &n.to_string(), &format!("result {n}")));
        assert_eq!(world.0.standing(&few), None);
        let found = world.0.weigh(&few, yes(1.0), now(3)).found;
        world.conclude(found.as_ref());
        world.take("read", "3", "result 3");
        let standing = world.0.standing(&few);
        assert_eq!(standing.as_ref().map(|found| (found.family.as_str(), found.count)), Some(("review", 4)));
        assert_eq!(world.0.standing(&settings()), None, "it can still be asked");
        assert_eq!(world.conclude(standing.as_ref()), (Consequence::Warning, false));
        world.take("write", "3", "done");
        assert_eq!(world.0.standing(&few), None, "nothing is suspected any more");
    }
}
