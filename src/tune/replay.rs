//! One history under one set of settings: the mechanisms' machines, in the order in which the engine asks them.

use std::time::Duration;

use serde::Serialize;

use super::candidate::Candidate;
use super::history::{History, Iteration, TodoNow};
use super::profile::{Ai, Question};
use crate::document::{Level, ToolClass, builtin};
use crate::event::{ExitReason, Grounds, MechanismName, PerceptionTrigger, SpinConsequence, VerificationTrigger};
use crate::mechanism::spin::{Class, Detector, Kind, Record};
use crate::mechanism::verification::Gate;
use crate::mechanism::{Checkpoints, Circumstances, Moment, Perception, Plan, Progress, Sight, Watch, level};

/// What the mechanisms would have done.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Replay {
    /// How it ends.
    pub end: Option<End>,
    /// Iterations that were made.
    pub iterations: u32,
    /// What the run takes, the mechanisms' calls included.
    pub seconds: f64,
    /// Tokens of the prompts of all iterations.
    pub prompt_tokens: u64,
    /// The mechanisms' model calls.
    pub calls: Tally,
    /// How long after the goal was reached the loop ends by a verdict; none where it does not.
    pub goal: Option<Lag>,
    /// How long after it began a spin is found; none where it is not.
    pub spin: Option<Lag>,
    /// Spins that were found where there is none, and verdicts that ended the loop too early.
    pub false_alarms: u32,
    /// What happened, in order.
    pub marks: Vec<Mark>,
}

/// Why a replay ends before its history does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    /// Why.
    pub reason: ExitReason,
    /// After which iteration.
    pub iteration: u32,
}

/// Model calls of each mechanism.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Of perception; wasted are those that saw the same topics as before.
    pub perception: Count,
    /// Of reflection; whether one is wasted cannot be told.
    pub reflection: Count,
    /// Second opinions; wasted are those that saw no spin.
    pub spin: Count,
    /// Of the verification gate; wasted are those that did not end the loop.
    pub verification: Count,
}

impl Tally {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> Count {
        let each = [self.perception, self.reflection, self.spin, self.verification];
        let sum = |of: fn(&Count) -> u32| each.iter().map(of).sum();
        Count { made: sum(|count| count.made), wasted: sum(|count| count.wasted) }
    }

    fn of(&mut self, mechanism: MechanismName) -> Option<&mut Count> {
        match mechanism {
            MechanismName::Perception => Some(&mut self.perception),
            MechanismName::Reflection => Some(&mut self.reflection),
            MechanismName::Spin => Some(&mut self.spin),
            MechanismName::Verification => Some(&mut self.verification),
            MechanismName::Progress | MechanismName::Todo => None,
        }
    }
}

/// How many calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// That were made.
    pub made: u32,
    /// That changed nothing.
    pub wasted: u32,
}

/// How late something is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lag {
    /// Iterations after the one in which it was so.
    pub iterations: u32,
    /// Seconds after that iteration's action was over.
    pub seconds: f64,
}

/// Something that a mechanism did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// In which iteration.
    pub iteration: u32,
    /// When: seconds since the loop began.
    pub at: f64,
    /// Which one.
    pub mechanism: MechanismName,
    /// What it did.
    pub what: What,
    /// Whether it changed nothing.
    pub wasted: bool,
    /// Why it did it.
    #[serde(flatten)]
    pub grounds: Grounds,
}

/// What a mechanism did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It asked a model.
    Call,
    /// It ran the declared checks.
    Check,
    /// It warned the agent.
    Warning,
    /// It put a checkpoint into the prompt.
    Checkpoint,
    /// It ended the loop.
    End,
}

/// The built-in action by which a model asks for a verification.
const REQUEST: &str = "request_verification";

/// Shows a history to the mechanisms.
#[must_use]
pub fn replay(history: &History, candidate: &Candidate, ai: Ai) -> Replay {
    let mut run = Run::new(history, candidate, ai);
    for (iteration, number) in history.iterations.iter().zip(1..) {
        run.iterate(iteration, number);
        if run.out.end.is_some() {
            break;
        }
    }
    run.out.seconds = run.now.at.as_secs_f64();
    run.out
}

pub(super) struct Run<'a> {
    pub(super) history: &'a History,
    pub(super) candidate: &'a Candidate,
    pub(super) ai: Ai,
    pub(super) now: Moment,
    /// When the last iteration was over in the history.
    before: f64,
    detector: Detector,
    watch: Watch,
    perception: Perception,
    progress: Progress,
    pub(super) gate: Gate,
    /// A model has looked since the goal was reached.
    pub(super) looked_since: bool,
    todos: Checkpoints,
    reflections: u32,
    pub(super) topics: Vec<String>,
    plan: Plan,
    /// When the goal was reached, and the spin began, in this replay.
    pub(super) reached: Option<Duration>,
    spun: Option<Duration>,
    pub(super) out: Replay,
}

impl<'a> Run<'a> {
    fn new(history: &'a History, candidate: &'a Candidate, ai: Ai) -> Self {
        let class = |class: &ToolClass| match class {
            ToolClass::Poll => Class::Poll,
            ToolClass::Wait => Class::Wait,
            ToolClass::Enumerate => Class::Enumerate,
            ToolClass::SideEffect => Class::SideEffect,
        };
        let classes = history.tool_classes.iter().map(|(tool, own)| (tool.clone(), class(own))).collect();
        Self {
            history,
            candidate,
            ai,
            now: Moment::default(),
            before: 0.0,
            detector: Detector::new(&candidate.rules).with_classes(classes),
            watch: Watch::default(),
            perception: Perception::default(),
            progress: Progress::default(),
            gate: Gate::default(),
            looked_since: false,
            todos: Checkpoints::default(),
            reflections: 0,
            topics: Vec::new(),
            plan: Plan::default(),
            reached: None,
            spun: None,
            out: Replay::default(),
        }
    }

    fn iterate(&mut self, one: &Iteration, number: u32) {
        self.now.iteration = number;
        self.out.iterations = number;
        self.gate.prompt(one.prompt_tokens as usize);
        self.pass(Duration::from_secs_f64(one.at - self.before));
        self.before = one.at;
        if self.out.end.is_some() {
            return;
        }
        self.out.prompt_tokens += u64::from(one.prompt_tokens);
        if !one.topics.is_empty() {
            self.topics.clone_from(&one.topics);
        }
        let at = Some(self.now.at);
        self.reached = self.reached.or(at.filter(|_| self.history.goal_at.is_some_and(|goal| number >= goal)));
        self.spun = self.spun.or(at.filter(|_| self.history.spin_at.is_some_and(|spin| number >= spin)));

        // As in the engine: todos come first, and the gate has a word on the engine's own actions that end a loop.
        let leaves = builtin(&one.action).is_some_and(|builtin| builtin.ends_loop);
        let held = self.hold_back(one) || (one.ends && leaves && !self.may_end());
        if one.ends && !held {
            self.out.end.get_or_insert(End { reason: ExitReason::Exit, iteration: number });
        }
        if !held && one.action == REQUEST {
            self.verify(VerificationTrigger::Request);
        }
        if self.out.end.is_some() {
            return;
        }
        let calls_tools = !one.builtin || !one.calls.is_empty();
        self.gate.acted(!held && calls_tools, self.now);
        self.watch_todos(one, held);
        let begins = self.watch_for_spin(one);
        if self.out.end.is_some() {
            return;
        }
        self.reflect(one, held, begins);
        self.perceive(if begins { PerceptionTrigger::SpinDetected } else { PerceptionTrigger::PostAction });
        self.verify(VerificationTrigger::PostAction);
        if self.out.end.is_none() {
            self.measure(one);
        }
    }

    fn hold_back(&mut self, one: &Iteration) -> bool {
        let settings = self.candidate.settings.todo;
        self.todos.begin(&self.plan);
        if !one.ends || !settings.enabled {
            return false;
        }
        let verdict = self.todos.should_hold(&settings, &self.plan, false);
        if verdict.act {
            self.todos.hold();
            self.mark(MechanismName::Todo, What::Checkpoint, false, verdict.grounds);
        }
        verdict.act
    }

    fn watch_todos(&mut self, one: &Iteration, held: bool) {
        if let Some(TodoNow { open, current }) = &one.todo {
            self.plan = Plan { open: *open, current: current.clone() };
        }
        if held {
            return;
        }
        let verdict = self.todos.end(&self.candidate.settings.todo, &self.plan, !one.error);
        if verdict.act {
            self.mark(MechanismName::Todo, What::Checkpoint, false, verdict.grounds);
        }
    }

    /// Whether an incident begins.
    fn watch_for_spin(&mut self, one: &Iteration) -> bool {
        let settings = &self.candidate.settings.spin;
        self.watch.sight = Sight::default();
        for record in records(one, self.now.iteration) {
            let found = self.detector.observe_all(&record);
            let action = if record.action.is_empty() { &one.action } else { &record.action };
            self.watch.sight.add(action, &found);
        }
        let verdict = self.watch.should_review(settings, false, self.now);
        let mut found = self.watch.sight.pattern.clone().or_else(|| self.watch.standing(settings));
        if found.is_none() && verdict.act {
            let question = self.question(MechanismName::Spin);
            let opinion = self.ai.opinion(question, self.spun.is_some());
            let asked = self.ask(question);
            let weighed = self.watch.weigh(settings, Some(opinion), self.now);
            found = weighed.found;
            let numbers = weighed.grounds.numbers.into_iter();
            let grounds = numbers.fold(verdict.grounds, |grounds, (name, figure)| grounds.with(&name, figure));
            self.called(MechanismName::Spin, asked, found.is_none(), grounds);
        }
        let detector = &self.detector;
        let (consequence, begins) = self.watch.conclude(settings, found.as_ref(), |finding| detector.is_over(finding));
        let Some(found) = found else { return false };
        let warnings = self.watch.state.warnings;
        let grounds = found.grounds.with("warnings", warnings).with("max_warnings", settings.max_warnings);
        let what = if consequence == SpinConsequence::End { What::End } else { What::Warning };
        self.mark(MechanismName::Spin, what, false, grounds);
        match self.spun {
            Some(_) if self.out.spin.is_none() => {
                self.out.spin = self.lag(self.history.spin_at, self.spun);
            }
            Some(_) => {}
            None => self.out.false_alarms += u32::from(begins),
        }
        if consequence == SpinConsequence::End {
            self.out.end = Some(End { reason: ExitReason::Spin, iteration: self.now.iteration });
        }
        begins
    }

    fn reflect(&mut self, one: &Iteration, held: bool, spin: bool) {
        let now = Circumstances {
            set: None,
            held,
            failed: one.error,
            spin,
            key: one.key,
            builtin: one.builtin,
            calls: self.reflections,
        };
        let (depth, verdict): (Level, _) = level(&self.candidate.settings.reflection, now);
        if verdict.act && depth.asks_model() {
            self.reflections += 1;
            let asked = self.ask(self.question(MechanismName::Reflection));
            self.called(MechanismName::Reflection, asked, false, verdict.grounds);
        }
    }

    pub(super) fn perceive(&mut self, trigger: PerceptionTrigger) {
        let verdict = self.perception.should_update(&self.candidate.settings.perception, trigger, self.now);
        if !verdict.act {
            return;
        }
        let question = self.question(MechanismName::Perception);
        let action = self.history.iterations[self.now.iteration as usize - 1].action.clone();
        let topics = if self.topics.is_empty() { vec![action] } else { self.topics.clone() };
        let account = self.ai.account(question, &topics);
        let asked = self.ask(question);
        self.perception.looked(self.now);
        self.perception.apply(account, trigger, self.now);
        let wasted = !self.perception.state.changed;
        self.called(MechanismName::Perception, asked, wasted, verdict.grounds);
    }

    fn measure(&mut self, one: &Iteration) {
        let Some(settings) = &self.candidate.settings.progress else { return };
        let verdict = self.progress.measure(settings, one.figure);
        if verdict.act {
            self.mark(MechanismName::Progress, What::End, false, verdict.grounds);
            self.out.end = Some(End { reason: ExitReason::NoProgress, iteration: self.now.iteration });
        }
    }

    pub(super) fn question(&self, mechanism: MechanismName) -> Question<'a> {
        Question { history: &self.history.name, mechanism, iteration: self.now.iteration }
    }

    /// Waits for an answer; when the question was put.
    pub(super) fn ask(&mut self, question: Question<'_>) -> Duration {
        let asked = self.now.at;
        self.now.at += self.ai.takes(question);
        asked
    }

    pub(super) fn called(&mut self, mechanism: MechanismName, asked: Duration, wasted: bool, grounds: Grounds) {
        if let Some(count) = self.out.calls.of(mechanism) {
            count.made += 1;
            count.wasted += u32::from(wasted);
        }
        self.mark_at(asked, mechanism, What::Call, wasted, grounds);
    }

    pub(super) fn mark(&mut self, mechanism: MechanismName, what: What, wasted: bool, grounds: Grounds) {
        self.mark_at(self.now.at, mechanism, what, wasted, grounds);
    }

    pub(super) fn mark_at(
        &mut self,
        at: Duration,
        mechanism: MechanismName,
        what: What,
        wasted: bool,
        grounds: Grounds,
    ) {
        let iteration = self.now.iteration;
        self.out.marks.push(Mark { iteration, at: at.as_secs_f64(), mechanism, what, wasted, grounds });
    }

    /// How late it is now.
    pub(super) fn lag(&self, iteration: Option<u32>, since: Option<Duration>) -> Option<Lag> {
        let (iteration, since) = iteration.zip(since)?;
        let seconds = self.now.at.saturating_sub(since).as_secs_f64();
        Some(Lag { iterations: self.now.iteration.saturating_sub(iteration), seconds })
    }
}

/// What the detector is shown of an iteration, as in a running loop.
fn records(one: &Iteration, number: u32) -> Vec<Record> {
    let mut records = Vec::new();
    if !one.thought.trim().is_empty() {
        records.push(Record::text(Kind::Think, &one.thought));
    }
    let record = |action: &str, args: &serde_json::Value, result: &Option<String>, error: bool| Record {
        action: action.to_owned(),
        arguments: args.clone(),
        observation: result.clone(),
        error,
        ..Record::default()
    };
    if one.calls.is_empty() {
        // An action that says nothing of what it did may have done something each time.
        let told = one.result.clone().filter(|text| !text.is_empty());
        let finish = one.ends || builtin(&one.action).is_some_and(|builtin| builtin.ends_loop);
        records.push(Record { moved: one.moved, finish, ..record(&one.action, &one.args, &told, one.error) });
    }
    for call in &one.calls {
        let batch = Some(u64::from(number));
        records.push(Record { batch, ..record(&call.tool, &call.args, &call.result, call.error) });
    }
    records
}
