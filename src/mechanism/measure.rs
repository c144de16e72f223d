//! One iteration's decisions without a model, for the benchmarks.

use std::time::Duration;

use super::spin::{Detector, Record, Rules};
use super::{Circumstances, Moment, Perception, Settings, Sight, Verdict, Watch};
use crate::document::{Mechanisms, Switches};
use crate::event::PerceptionTrigger;

/// The mechanisms of a loop that has run for a while.
pub struct Iterations {
    settings: Settings,
    detector: Detector,
    watch: Watch,
    perception: Perception,
    now: Moment,
}

impl Iterations {
    /// After so many iterations, each of which read another part of some file.
    #[must_use]
    pub fn after(iterations: u32) -> Self {
        let document = Mechanisms {
            perception: Some(Default::default()),
            reflection: Some(Default::default()),
            spin: Some(Default::default()),
            ..Mechanisms::default()
        };
        let mut all = Self {
            settings: Settings::new(&document, &Switches::default()),
            detector: Detector::new(&Rules::default()),
            watch: Watch::default(),
            perception: Perception::default(),
            now: Moment::default(),
        };
        for _ in 0..iterations {
            all.decide();
        }
        all
    }

    /// One more iteration: what is decided in it.
    pub fn decide(&mut self) -> [bool; 3] {
        self.now = Moment { at: self.now.at + Duration::from_secs(3), iteration: self.now.iteration + 1 };
        let n = self.now.iteration;
        let arguments = serde_json::json!({ "path": format!("src/part_{}.rs", n % 97), "offset": n % 7 * 40 });
        let record = Record::call("read_file", arguments, format!("part {n}: {}", "words of the file ".repeat(20)));
        let found = self.detector.observe_all(&record);
        self.watch.sight = Sight::default();
        self.watch.sight.add(&record.action, &found);
        let review = self.watch.should_review(&self.settings.spin, false, self.now);
        let pattern = self.watch.sight.pattern.clone();
        let detector = &self.detector;
        self.watch.conclude(&self.settings.spin, pattern.as_ref(), |finding| detector.is_over(finding));
        let (_, reflection) = super::level(&self.settings.reflection, Circumstances::default());
        let perception =
            self.perception.should_update(&self.settings.perception, PerceptionTrigger::PostAction, self.now);
        if perception.act {
            self.perception.looked(self.now);
        }
        [review, reflection, perception].map(|verdict: Verdict| verdict.act)
    }
}

impl std::fmt::Debug for Iterations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iterations").field("now", &self.now).finish_non_exhaustive()
    }
}
