//! Reflection: how deep to look at an action.

use super::settings::{Mode, ReflectionSettings};
use super::throttle::Verdict;
use crate::document::Level;

/// What is known of an action that is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The level that a `reflect` step set.
    pub set: Option<Level>,
    /// Whether the action was held back, so that there is nothing to look at.
    pub held: bool,
    /// Whether the action failed.
    pub failed: bool,
    /// Whether the loop repeats itself.
    pub spin: bool,
    /// Whether the action is marked `key: true`.
    pub key: bool,
    /// Whether it is one of the engine's own.
    pub builtin: bool,
    /// Reflections that asked a model before, in this run of the loop.
    pub calls: u32,
}

/// The level at which to look, and the rule that says so; the verdict acts when a model is to be asked.
///
/// In this order: off, the level that a step set, an action that was held back, a failure, a spin, a key action, the engine's own actions, the loop's
/// default.
#[must_use]
pub fn level(settings: &ReflectionSettings, now: Circumstances) -> (Level, Verdict) {
    let (wanted, rule) = match now {
        _ if settings.mode == Mode::Off => (Level::None, "off"),
        Circumstances { set: Some(level), .. } => (level, "set_by_step"),
        // The loop does not name reflection: a record is all that costs no model call.
        _ if settings.mode == Mode::Free => (Level::Minimal, "not_named"),
        Circumstances { held: true, .. } => (Level::Minimal, "held_back"),
        Circumstances { failed: true, .. } => (Level::Critical, "action_failed"),
        Circumstances { spin: true, .. } => (Level::Standard, "spin"),
        Circumstances { key: true, .. } => (Level::Deep, "key_action"),
        Circumstances { builtin: true, .. } => (settings.default.min_of_minimal(), "built_in"),
        _ => (settings.default, "default"),
    };
    if !wanted.asks_model() {
        return (wanted, Verdict::no(rule));
    }
    match settings.max_calls {
        Some(max) if now.calls >= max => {
            (Level::Minimal, Verdict::no("max_calls").with("calls", now.calls).with("max_calls", max))
        }
        Some(max) => (wanted, Verdict::yes(rule).with("calls", now.calls).with("max_calls", max)),
        None => (wanted, Verdict::yes(rule).with("calls", now.calls)),
    }
}

impl Level {
    /// At most a record.
    fn min_of_minimal(self) -> Self {
        if self == Self::None { Self::None } else { Self::Minimal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(mode: Mode, default: Level) -> ReflectionSettings {
        ReflectionSettings { mode, default, max_calls: None, tier: "helper".into() }
    }

    #[test]
    fn the_first_of_the_circumstances_that_holds_decides() {
        let on = settings(Mode::On, Level::Minimal);
        let all = Circumstances {
            set: Some(Level::Deep),
            held: true,
            failed: true,
            spin: true,
            key: true,
            builtin: true,
            calls: 0,
        };
        let mut now = all;
        let mut rules = Vec::new();
        let mut ask = |now| {
            let (level, verdict) = level(&on, now);
            rules.push(format!("{} {} {}", level.name(), verdict.grounds.rule, verdict.act));
        };
        ask(now);
        now.set = None;
        ask(now);
        now.held = false;
        ask(now);
        now.failed = false;
        ask(now);
        now.spin = false;
        ask(now);
        now.key = false;
        ask(now);
        now.builtin = false;
        ask(now);
        assert_eq!(
            rules,
            [
                "deep set_by_step true",
                "minimal held_back false",
                "critical action_failed true",
                "standard spin true",
                "deep key_action true",
                "minimal built_in false",
                "minimal default false",
            ]
        );
        assert_eq!(level(&settings(Mode::Off, Level::Deep), all).0, Level::None);
    }

    #[test]
    fn a_loop_that_does_not_name_it_keeps_a_record_and_does_what_a_step_asks() {
        let free = settings(Mode::Free, Level::Minimal);
        let failed = Circumstances { failed: true, spin: true, key: true, ..Circumstances::default() };
        assert_eq!(level(&free, failed).0, Level::Minimal);
        let (wanted, verdict) = level(&free, Circumstances { set: Some(Level::Critical), ..failed });
        assert!(wanted == Level::Critical && verdict.act);
    }

    #[test]
    fn a_default_above_minimal_does_not_hold_for_the_engines_own_actions() {
        let deep = settings(Mode::On, Level::Deep);
        assert_eq!(level(&deep, Circumstances::default()).0, Level::Deep);
        assert_eq!(level(&deep, Circumstances { builtin: true, ..Circumstances::default() }).0, Level::Minimal);
        let none = settings(Mode::On, Level::None);
        assert_eq!(level(&none, Circumstances { builtin: true, ..Circumstances::default() }).0, Level::None);
    }

    #[test]
    fn a_budget_that_is_used_up_leaves_the_record() {
        let two = ReflectionSettings { max_calls: Some(2), ..settings(Mode::On, Level::Minimal) };
        let failed = |calls| Circumstances { failed: true, calls, ..Circumstances::default() };
        assert!(level(&two, failed(1)).1.act);
        let (wanted, verdict) = level(&two, failed(2));
        assert!(wanted == Level::Minimal && !verdict.act && verdict.grounds.rule == "max_calls");
    }
}
