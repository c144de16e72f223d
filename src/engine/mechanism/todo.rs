//! Todo checkpoints: what would end the loop with open todos is held back once, and a todo that lasts is pointed out.

use minijinja::Value;
use minijinja::value::Serde;

use crate::document::Then;
use crate::engine::act::Handled;
use crate::engine::iteration::LoopRun;
use crate::engine::program::ActionKind;
use crate::engine::turn::Chosen;
use crate::engine::{core::LoopCore, program::ActionProgram};
use crate::event::{CheckpointState, Event, MechanismName};
use crate::mechanism::{Plan, Verdict};

impl LoopRun {
    /// Holds an action back that would end the loop, when todos are open: what it would have done is not done.
    pub(in crate::engine) fn hold_back(&self, chosen: &mut Chosen) -> Option<Handled> {
        let core = &self.core;
        let settings = core.program.mechanisms.todo;
        if !settings.enabled {
            return None;
        }
        let plan = core.plan();
        let last = core.state().iteration >= self.max_iterations;
        let verdict = {
            let mut memory = core.mechanism_memory();
            memory.todos.begin(&plan);
            if !finishes(&chosen.action) {
                return None;
            }
            let verdict = memory.todos.should_hold(&settings, &plan, last);
            if verdict.act {
                memory.todos.hold();
            }
            verdict
        };
        core.decided(MechanismName::Todo, &verdict);
        if !verdict.act {
            return None;
        }
        // An answer that people saw while it arrived has not been given.
        chosen.shown.retract(&core.events);
        core.show_checkpoint(&plan, &verdict, &chosen.action.name, 0);
        let words =
            format!("{} was held back: {} todos are open. TODO_CHECKPOINT lists them.", chosen.action.name, plan.open);
        Some(Handled::held(words))
    }
}

impl LoopCore {
    /// Counts iterations on the current todo.
    pub(super) fn watch_todos(&self, handled: &Handled) {
        let settings = self.program.mechanisms.todo;
        if !settings.enabled || handled.held {
            return;
        }
        let plan = self.plan();
        let effective = handled.ok;
        let verdict = self.mechanism_memory().todos.end(&settings, &plan, effective);
        self.decided(MechanismName::Todo, &verdict);
        if verdict.act {
            self.show_checkpoint(&plan, &verdict, "", settings.stale_after);
        } else {
            self.state().seen.checkpoint = Value::from(Serde(CheckpointState::default()));
        }
    }

    /// Puts a checkpoint into the next prompt.
    fn show_checkpoint(&self, plan: &Plan, verdict: &Verdict, action: &str, iterations: u32) {
        let state = CheckpointState {
            rule: verdict.grounds.rule.clone(),
            action: action.to_owned(),
            current: plan.current.clone().unwrap_or_default(),
            open: plan.open,
            iterations,
        };
        self.state().seen.checkpoint = Value::from(Serde(&state));
        self.events.emit(Event::TodoCheckpoint { grounds: verdict.grounds.clone(), state });
    }

    /// What the list of todos says now.
    fn plan(&self) -> Plan {
        let text = |todo: &Value, key: &str| todo.get_attr(key).ok().and_then(|v| v.as_str().map(str::to_owned));
        let open: Vec<Value> =
            self.state().todo.iter().filter(|todo| text(todo, "status").as_deref() != Some("done")).cloned().collect();
        let marked = open.iter().find(|todo| text(todo, "status").as_deref() == Some("current"));
        let current = marked.or(open.first()).and_then(|todo| text(todo, "id"));
        Plan { open: u32::try_from(open.len()).unwrap_or(u32::MAX), current }
    }
}

/// Whether an action declares the work done. One that gives up, or hands over to a loop, does not.
fn finishes(action: &ActionProgram) -> bool {
    match &action.kind {
        ActionKind::Builtin(_) | ActionKind::Tool(_) => action.then == Then::Exit,
        ActionKind::Steps(steps) => action.then == Then::Exit || steps.ends_with(Then::Exit),
        ActionKind::Loop(_) => false,
    }
}
