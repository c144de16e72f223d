//! What is known of a step's result before it runs: the keys that its verb documents.

use std::sync::Arc;

use super::names::{elements_of, shape_of};
use super::shape::Shape;
use super::steps::StepView;
use crate::document::is_template;
use crate::load::Library;
use crate::syntax::{Entry, Node};

const TEXT: Shape = Shape::Scalar("a string");
const NUMBER: Shape = Shape::Scalar("a number");
const FLAG: Shape = Shape::Scalar("a boolean");

/// What is known of a step's result.
pub(super) fn of_step(library: &Library, step: StepView<'_>) -> Shape {
    let one = step.verbs().next().map_or(Shape::Any, |verb| of_verb(library, verb));
    if step.key("for_each").is_some() { Shape::List(Arc::new(one)) } else { one }
}

fn of_verb(library: &Library, verb: &Entry) -> Shape {
    let list = |element: Shape| Shape::List(Arc::new(element));
    match &*verb.key {
        "read" => {
            Shape::map([("text", TEXT), ("path", TEXT), ("first_line", NUMBER), ("lines", NUMBER), ("truncated", FLAG)])
        }
        "write" | "artifact" => Shape::map([("path", TEXT), ("bytes", NUMBER)]),
        "run" => Shape::map([
            ("stdout", TEXT),
            ("stderr", TEXT),
            // A program that a signal ended has no code, and one that ended itself no signal.
            ("exit_code", Shape::Any),
            ("signal", Shape::Any),
            ("timed_out", FLAG),
            ("truncated", FLAG),
        ]),
        "http" => Shape::map([
            ("status", NUMBER),
            ("headers", Shape::Any),
            ("body", TEXT),
            ("json", Shape::Any),
            ("url", TEXT),
            ("truncated", FLAG),
        ]),
        "load_skill" => list(Shape::map([
            ("name", TEXT),
            ("text", TEXT),
            ("first_line", NUMBER),
            ("last_line", NUMBER),
            ("lines", NUMBER),
            ("files", list(TEXT)),
        ])),
        "list" => Shape::map([("paths", list(TEXT)), ("truncated", FLAG)]),
        "grep" => {
            let found = Shape::map([("path", TEXT), ("line", NUMBER), ("text", TEXT)]);
            Shape::map([("matches", list(found)), ("truncated", FLAG)])
        }
        "loop" => of_loop(library, &verb.value),
        "forge" => {
            let forge = named(&verb.value).and_then(|name| library.forges.get(name));
            forge.map_or(Shape::Any, |forge| Shape::of_schema(&forge.doc.output.schema))
        }
        "todo" => list(elements_of("todo")),
        "timeline" => list(elements_of("timeline")),
        "perceive" => shape_of("perception"),
        "reflect" => shape_of("reflection"),
        "check_spin" => shape_of("spin"),
        "search_capabilities" => shape_of("capabilities"),
        "thought" | "status" | "answer" | "feedback" => TEXT,
        "next_actions" | "forbid_actions" => list(TEXT),
        "set" => Shape::map(verb.value.entries().iter().map(|entry| (entry.key.to_string(), Shape::Any))),
        _ => Shape::Any,
    }
}

/// A loop's result: how it ended, its answer, and the variables that it declares.
fn of_loop(library: &Library, args: &Node) -> Shape {
    let target = named(args).and_then(|name| library.loops.get(name));
    let state = target.map_or(Shape::Any, |target| {
        Shape::map(target.doc.state.iter().map(|(name, var)| (name.clone(), Shape::of_schema(&var.schema))))
    });
    Shape::map([("reason", shape_of("reason")), ("answer", Shape::Any), ("state", state)])
}

/// The document that a step names.
fn named(args: &Node) -> Option<&str> {
    args.as_str().or_else(|| args.get("use")?.as_str()).filter(|name| !is_template(name))
}

/// A result of which nothing is known but that it may also be that of another step.
pub(super) fn either(one: Shape, other: Option<&Shape>) -> Shape {
    if other.is_none_or(|other| *other == one) { one } else { Shape::Any }
}
