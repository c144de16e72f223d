//! The settings that hold for a loop, every default filled in.

use std::time::Duration;

use super::verification::VerificationSettings;
use crate::document::{Direction, Level, Mechanisms, Switches};

/// How much of a mechanism is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing, not even when a step asks: `enabled: false`, or switched off for the workspace.
    Off,
    /// What costs no model call, and what a step asks for: the loop does not name the mechanism.
    Free,
    /// All of it: the loop names the mechanism, itself or through a preset.
    On,
}

impl Mode {
    pub(super) fn new(allowed: bool, named: Option<Option<bool>>) -> Self {
        match named {
            _ if !allowed => Self::Off,
            Some(Some(false)) => Self::Off,
            Some(_) => Self::On,
            None => Self::Free,
        }
    }
}

/// The settings of all mechanisms of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Perception.
    pub perception: PerceptionSettings,
    /// Reflection.
    pub reflection: ReflectionSettings,
    /// Spin detection.
    pub spin: SpinSettings,
    /// The progress check, where the loop has one.
    pub progress: Option<ProgressSettings>,
    /// Todo checkpoints.
    pub todo: TodoSettings,
    /// The verification gate.
    pub verification: VerificationSettings,
}

/// Settings of perception.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceptionSettings {
    /// How much of it is on.
    pub mode: Mode,
    /// Iterations between updates.
    pub every: u32,
    /// The shortest time between updates.
    pub min_interval: Duration,
    /// What the shortest time grows to while nothing changes.
    pub max_interval: Duration,
    /// The model tier.
    pub tier: String,
}

/// Settings of reflection.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectionSettings {
    /// How much of it is on.
    pub mode: Mode,
    /// The level of a plain iteration.
    pub default: Level,
    /// Reflections that ask a model, in one run of the loop.
    pub max_calls: Option<u32>,
    /// The model tier.
    pub tier: String,
}

/// Settings of spin detection.
#[derive(Debug, Clone, PartialEq)]
pub struct SpinSettings {
    /// How much of it is on.
    pub mode: Mode,
    /// Actions of one type in a row that raise a suspicion.
    pub same_action: u32,
    /// Records that the helper model judges.
    pub same_logic: u32,
    /// Warnings in one incident before the loop ends.
    pub max_warnings: u32,
    /// The confidence from which the helper model's opinion counts.
    pub confidence: f64,
    /// How often the helper model is asked in one run of the loop.
    pub max_reviews: u32,
    /// The model tier.
    pub tier: String,
}

/// Settings of the progress check.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressSettings {
    /// An expression that gives a number.
    pub metric: String,
    /// Which way it should move.
    pub direction: Direction,
    /// Iterations without a better figure before the loop ends.
    pub patience: u32,
}

impl ProgressSettings {
    /// Whether figures taken by other settings cannot be compared with those of these.
    #[must_use]
    pub fn asks_otherwise(&self, other: &Self) -> bool {
        (&self.metric, self.direction) != (&other.metric, other.direction)
    }
}

/// Settings of todo checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TodoSettings {
    /// Whether they are on.
    pub enabled: bool,
    /// Effective iterations with the same current todo before a checkpoint is shown.
    pub stale_after: u32,
}

/// The tier of all mechanisms but verification.
const HELPER: &str = "helper";

pub(super) fn tier(named: Option<impl ToString>) -> String {
    named.map_or_else(|| HELPER.to_owned(), |tier| tier.to_string())
}

impl Settings {
    /// The settings of a loop in a workspace.
    #[must_use]
    pub fn new(document: &Mechanisms, allowed: &Switches) -> Self {
        let perception = document.perception.as_ref();
        let reflection = document.reflection.as_ref();
        let spin = document.spin.as_ref();
        let todo = document.todo.as_ref();
        Self {
            perception: PerceptionSettings {
                mode: Mode::new(allowed.perception, perception.map(|own| own.enabled)),
                every: perception.and_then(|own| own.every).unwrap_or(1),
                min_interval: perception.and_then(|own| own.min_interval).map_or(Duration::from_secs(30), |d| d.0),
                max_interval: perception.and_then(|own| own.max_interval).map_or(Duration::from_secs(300), |d| d.0),
                tier: tier(perception.and_then(|own| own.tier.as_ref())),
            },
            reflection: ReflectionSettings {
                mode: Mode::new(allowed.reflection, reflection.map(|own| own.enabled)),
                default: reflection.and_then(|own| own.default).unwrap_or(Level::Minimal),
                max_calls: reflection.and_then(|own| own.max_calls),
                tier: tier(reflection.and_then(|own| own.tier.as_ref())),
            },
            spin: SpinSettings {
                mode: Mode::new(allowed.spin, spin.map(|own| own.enabled)),
                same_action: spin.and_then(|own| own.same_action).unwrap_or(3),
                same_logic: spin.and_then(|own| own.same_logic).unwrap_or(5),
                max_warnings: spin.and_then(|own| own.max_warnings).unwrap_or(2),
                confidence: spin.and_then(|own| own.confidence).unwrap_or(0.9),
                max_reviews: spin.and_then(|own| own.max_reviews).unwrap_or(6),
                tier: tier(spin.and_then(|own| own.tier.as_ref())),
            },
            progress: document.progress.as_ref().filter(|_| allowed.progress).map(|own| ProgressSettings {
                metric: own.metric.to_string(),
                direction: own.direction,
                patience: own.patience,
            }),
            todo: TodoSettings {
                enabled: allowed.todo && todo.and_then(|own| own.enabled).unwrap_or(false),
                stale_after: todo.and_then(|own| own.stale_after).unwrap_or(25),
            },
            verification: VerificationSettings::new(document.verification.as_ref(), allowed.verification),
        }
    }

    /// Whether the loop names one of these mechanisms, so that every decision of its iterations is told.
    #[must_use]
    pub fn watched(&self) -> bool {
        let asking = [self.perception.mode, self.reflection.mode, self.spin.mode, self.verification.mode];
        asking.contains(&Mode::On) || self.progress.is_some() || self.todo.enabled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: serde_json::Value, allowed: &Switches) -> Settings {
        Settings::new(&serde_json::from_value(json).unwrap(), allowed)
    }

    #[test]
    fn what_is_not_named_costs_no_model_call_and_what_is_switched_off_does_nothing() {
        let all = Switches::default();
        let none = settings(serde_json::json!({}), &all);
        assert_eq!([none.perception.mode, none.reflection.mode, none.spin.mode], [Mode::Free; 3]);
        assert!(!none.watched());
        let some = settings(serde_json::json!({ "perception": {}, "reflection": { "enabled": false } }), &all);
        assert_eq!([some.perception.mode, some.reflection.mode, some.spin.mode], [Mode::On, Mode::Off, Mode::Free]);
        let off = Switches { perception: false, ..all };
        assert_eq!(settings(serde_json::json!({ "perception": { "enabled": true } }), &off).perception.mode, Mode::Off);
        let both = serde_json::json!({
            "progress": { "metric": "1", "direction": "up", "patience": 3 }, "todo": { "enabled": true }
        });
        let on = settings(both.clone(), &all);
        assert!(on.watched() && on.progress.is_some() && on.todo.enabled);
        let off = settings(both, &Switches { progress: false, todo: false, ..all });
        assert!(!off.watched() && off.progress.is_none() && !off.todo.enabled);
    }

    /// The defaults that the doc comments of the document types give to authors, in the order of the fields.
    #[test]
    fn the_comments_for_authors_give_these_defaults() {
        let settings = settings(serde_json::json!({}), &Switches::default());
        let span = |time: Duration| crate::document::Duration(time).to_string();
        let code = |text: &str| format!("`{text}`");
        let (perception, reflection, spin) = (&settings.perception, &settings.reflection, &settings.spin);
        let gate = &settings.verification;
        let given = [
            ("Perception", "every", perception.every.to_string()),
            ("Perception", "min_interval", span(perception.min_interval)),
            ("Perception", "max_interval", span(perception.max_interval)),
            ("Perception", "tier", code(&perception.tier)),
            ("Reflection", "default", code(reflection.default.name())),
            ("Reflection", "tier", code(&reflection.tier)),
            ("Spin", "same_action", spin.same_action.to_string()),
            ("Spin", "same_logic", spin.same_logic.to_string()),
            ("Spin", "max_warnings", spin.max_warnings.to_string()),
            ("Spin", "confidence", spin.confidence.to_string()),
            ("Spin", "max_reviews", spin.max_reviews.to_string()),
            ("Spin", "tier", code(&spin.tier)),
            ("Todo", "enabled", settings.todo.enabled.to_string()),
            ("Todo", "stale_after", settings.todo.stale_after.to_string()),
            ("Verification", "every", gate.every.to_string()),
            ("Verification", "max_age", span(gate.max_age)),
            ("Verification", "min_prompt_delta", gate.min_prompt_delta.to_string()),
            ("Verification", "watchdog", span(gate.watchdog)),
            ("Verification", "min_iteration", gate.min_iteration.to_string()),
            ("Verification", "max_verifications", gate.max_verifications.to_string()),
            ("Verification", "max_refusals", gate.max_refusals.to_string()),
            ("Verification", "tier", code(&gate.tier)),
        ];
        let schema = serde_json::to_value(schemars::schema_for!(Mechanisms)).unwrap();
        for (kind, field, value) in given {
            let told = schema["$defs"][kind]["properties"][field]["description"].as_str().unwrap_or_default();
            assert!(told.contains(&format!("Default: {value}.")), "{kind}.{field} is {value}, and is told as: {told}");
        }
    }
}
