//! What is known of the values behind the names of the catalogue.

use std::sync::{Arc, LazyLock};

use super::shape::Shape;
use crate::event::ExitReason;

/// What Jinja's `loop` has inside a `for`.
pub(super) static FOR_LOOP: LazyLock<Shape> = LazyLock::new(|| {
    let numbers = ["index", "index0", "revindex", "revindex0", "length", "depth", "depth0"];
    let numbers = numbers.into_iter().map(|key| (key, Shape::Scalar("a number")));
    let flags = ["first", "last"].into_iter().map(|key| (key, Shape::Scalar("a boolean")));
    let others = ["previtem", "nextitem", "cycle", "changed"].into_iter().map(|key| (key, Shape::Any));
    Shape::map(numbers.chain(flags).chain(others))
});

/// What is known of the values that every template of a loop sees, apart from `state`, `env` and `workspace.vars`.
pub(super) fn shape_of(name: &str) -> Shape {
    let text = Shape::Scalar("a string");
    let number = Shape::Scalar("a number");
    match name {
        "now" | "os" | "nonce" | "error" | "here" => text,
        "reason" => Shape::Words(ExitReason::ALL.map(|reason| reason.name().to_owned()).into()),
        "index" => Shape::Scalar("an integer"),
        "last_iteration" => Shape::Scalar("a boolean"),
        "feedback" => Shape::List(Arc::new(text)),
        "timeline" | "history" | "todo" | "tools" | "skills" | "actions" => Shape::List(Arc::new(elements_of(name))),
        "perception" => Shape::of_value(&seen(crate::event::PerceptionState::default())),
        // What a `reflect` step hands over may be anything.
        "reflection" => Shape::of_value(&seen(crate::event::ReflectionState::default())),
        "spin" => Shape::of_value(&seen(crate::event::SpinState::default())),
        // The figures are none before the first one.
        "progress" => Shape::of_value(&seen(crate::event::ProgressState::default())),
        "checkpoint" => Shape::of_value(&seen(crate::event::CheckpointState::default())),
        // Before there is a verdict, nothing is known of how sure the judge is.
        "verification" => Shape::of_value(&seen(crate::event::VerificationState::default())),
        "capabilities" => Shape::of_value(&seen(crate::event::CapabilityState::default())),
        "steps" | "tags" => Shape::map::<String>([]),
        "run" => {
            let usage = ["input", "output", "cache_read", "cache_write"].map(|key| (key, number.clone()));
            Shape::map([
                ("id", text.clone()),
                ("loop", text),
                ("iteration", number.clone()),
                ("max_iterations", number.clone()),
                ("elapsed", number.clone()),
                ("usage", Shape::map(usage)),
                ("cost_usd", number.clone()),
                ("model_calls", number.clone()),
                ("tool_calls", number),
            ])
        }
        _ => Shape::Any,
    }
}

/// What is known of the elements of a list.
pub(super) fn elements_of(name: &str) -> Shape {
    let text = Shape::Scalar("a string");
    match name {
        "history" => Shape::map([
            ("iteration", Shape::Scalar("a number")),
            ("action", text),
            ("identifier", Shape::Any),
            ("params", Shape::Any),
            ("ok", Shape::Scalar("a boolean")),
            ("result", Shape::Any),
            ("error", Shape::Any),
        ]),
        "timeline" => Shape::map([("kind", text), ("content", Shape::Any)]),
        "todo" => {
            let status = ["open", "current", "done"].map(str::to_owned);
            Shape::map([("id", text.clone()), ("text", text), ("status", Shape::Words(status.into()))])
        }
        "skills" => Shape::map([
            ("name", text.clone()),
            ("description", text.clone()),
            ("loaded", Shape::Scalar("a boolean")),
            ("text", text.clone()),
            ("first_line", Shape::Scalar("a number")),
            ("last_line", Shape::Scalar("a number")),
            ("lines", Shape::Scalar("a number")),
            ("files", Shape::List(Arc::new(text))),
        ]),
        "tools" => Shape::map([("name", text.clone()), ("description", text)]),
        "actions" => {
            Shape::map([("name", text.clone()), ("description", text), ("params", Shape::Any), ("tags", Shape::Any)])
        }
        _ => Shape::Any,
    }
}

/// What a mechanism knows at first: its keys are those that it always has.
fn seen(state: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(state).unwrap_or_default()
}
