//! One iteration's decisions without a model, for the benchmarks.

use std::time::Duration;

use super::spin::{Detector, Record, Rules};
use super::verification::{Finding, Gate};
use super::{Checkpoints, Circumstances, Moment, Perception, Plan, Progress, Settings, Sight, Verdict, Watch};
use crate::document::{Mechanisms, Switches};
use crate::event::{PerceptionTrigger, VerificationState, VerificationTrigger};

/// The mechanisms of a loop that has run for a while.
pub struct Iterations {
    settings: Settings,
    detector: Detector,
    watch: Watch,
    perception: Perception,
    gate: Gate,
    progress: Progress,
    todos: Checkpoints,
    now: Moment,
}

impl Iterations {
    /// After so many iterations, each of which read another part of some file.
    #[must_use]
    pub fn after(iterations: u32) -> Self {
        // No cap, so that the thousandth iteration decides as the first does.
        let all_of_them = serde_json::json!({
            "perception": {}, "reflection": {}, "spin": {}, "verification": { "max_verifications": u32::MAX },
            "progress": { "metric": "1", "direction": "up", "patience": u32::MAX }, "todo": { "enabled": true },
        });
        let document: Mechanisms = serde_json::from_value(all_of_them).unwrap_or_default();
        let mut all = Self {
            settings: Settings::new(&document, &Switches::default()),
            detector: Detector::new(&Rules::default()),
            watch: Watch::default(),
            perception: Perception::default(),
            gate: Gate::default(),
            progress: Progress::default(),
            todos: Checkpoints::default(),
            now: Moment::default(),
        };
        for _ in 0..iterations {
            all.decide();
        }
        all
    }

    /// One more iteration: what is decided in it, by perception, reflection, spin, the gate, progress and todos.
    pub fn decide(&mut self) -> [bool; 6] {
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
        let verification = self.decide_verification();
        let (progress, todo) = self.decide_progress();
        [perception, reflection, review, verification, progress, todo].map(|verdict: Verdict| verdict.act)
    }
}

impl Iterations {
    /// The gate's part: a prompt that grows, an action that may have changed something, a verdict that says no.
    fn decide_verification(&mut self) -> Verdict {
        let settings = &self.settings.verification;
        self.gate.prompt(1000 + 40 * self.now.iteration as usize);
        self.gate.acted(true, self.now);
        let verdict = self.gate.should_verify(settings, VerificationTrigger::PostAction, self.now);
        if verdict.act {
            self.gate.begin();
            let missing = (0..8).map(|n| format!("part {n} of iteration {}", self.now.iteration)).collect();
            let state = VerificationState { missing, ..VerificationState::default() };
            let finding = Finding { satisfied: Some(false), state, ..Finding::default() };
            self.gate.conclude(settings, VerificationTrigger::PostAction, finding, self.now);
        }
        verdict
    }

    /// A figure that moves every tenth iteration, and a todo that takes thirty.
    fn decide_progress(&mut self) -> (Verdict, Verdict) {
        let n = self.now.iteration;
        let plan = Plan { open: 3, current: Some((n / 30).to_string()) };
        self.todos.begin(&plan);
        let todo = self.todos.end(&self.settings.todo, &plan, true);
        let settings = self.settings.progress.as_ref();
        let progress = settings.map(|settings| self.progress.measure(settings, Some(f64::from(n / 10))));
        (progress.unwrap_or_else(|| Verdict::no("off")), todo)
    }
}

impl std::fmt::Debug for Iterations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iterations").field("now", &self.now).finish_non_exhaustive()
    }
}
