//! Incidents: when they begin, what follows, when they are over.

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
