//! Walking step lists as they were written, so that a step with a mistake in it is still looked at.

use crate::diag::{Span, codes};
use crate::document::{Duration, STEP_KEYS};
use crate::syntax::{Entry, Node, Value};

/// A step as it was written.
#[derive(Clone, Copy)]
pub(super) struct StepView<'a> {
    pub(super) node: &'a Node,
}

impl<'a> StepView<'a> {
    /// The steps of a list.
    pub(super) fn list(node: Option<&'a Node>) -> impl Iterator<Item = Self> {
        node.into_iter().flat_map(Node::items).map(|node| Self { node })
    }

    /// The verbs; a step with more than one is reported when it is decoded.
    pub(super) fn verbs(self) -> impl Iterator<Item = &'a Entry> {
        self.node.entries().iter().filter(|entry| !STEP_KEYS.contains(&&*entry.key))
    }

    pub(super) fn key(self, name: &str) -> Option<&'a Node> {
        self.node.get(name)
    }

    pub(super) fn id(self) -> Option<&'a str> {
        self.key("id")?.as_str()
    }

    /// The steps of `on_error`, if it has any.
    pub(super) fn on_error(self) -> Option<&'a Node> {
        self.key("on_error").filter(|node| matches!(node.value, Value::Seq(_)))
    }

    /// Whether a failure of this step ends the list: without `on_error`, or when that always ends it.
    pub(super) fn ends_on_failure(self) -> bool {
        match self.key("on_error") {
            None => true,
            Some(node) if node.as_str() == Some("fail") => true,
            Some(node) => Self::list(Some(node)).any(Self::always_ends),
        }
    }

    /// Whether the list ends here whenever it gets here.
    pub(super) fn always_ends(self) -> bool {
        self.key("when").is_none() && self.ends_if_reached()
    }

    /// Whether the list ends here when the step's condition holds.
    pub(super) fn ends_if_reached(self) -> bool {
        let ends = matches!(self.then(), Some(("exit" | "fail" | "done", _)));
        ends && self.key("for_each").is_none() && self.ends_on_failure()
    }

    /// The time that the step, or the program or request in it, may take, if it is written out.
    pub(super) fn written_timeout(self) -> Option<(&'a Node, Duration)> {
        let inner = self.verbs().find_map(|verb| verb.value.get("timeout"));
        let node = self.key("timeout").or(inner)?;
        Some((node, Duration::parse(node.as_str()?).ok()?))
    }

    /// The word under `then`, if the step has one.
    pub(super) fn then(self) -> Option<(&'a str, Span)> {
        let node = self.key("then")?;
        Some((node.as_str()?, node.span))
    }
}

/// The step lists of a document, with what stands around them.
pub(super) fn lists(document: &Node) -> Vec<StepList<'_>> {
    let mut lists = Vec::new();
    let hooks = document.get("hooks");
    for (key, place) in [("init", Place::Init), ("after_iteration", Place::AfterIteration), ("finish", Place::Finish)] {
        lists.extend(hooks.and_then(|hooks| hooks.get(key)).map(|node| StepList { node, place }));
    }
    for entry in document.get("actions").into_iter().flat_map(Node::entries) {
        let place = Place::Action(&entry.key);
        lists.extend(entry.value.get("do").map(|node| StepList { node, place }));
    }
    lists.extend(document.get("do").map(|node| StepList { node, place: Place::Tool }));
    lists
}

/// The programs that judge a loop: each takes the arguments of the step `run`.
pub(super) fn judging_programs(document: &Node) -> impl Iterator<Item = &Node> {
    let checks = document.get("mechanisms").and_then(|all| all.get("verification")?.get("checks"));
    checks.into_iter().flat_map(Node::items).filter_map(|check| check.get("run"))
}

/// A list of steps.
#[derive(Clone, Copy)]
pub(super) struct StepList<'a> {
    pub(super) node: &'a Node,
    pub(super) place: Place<'a>,
}

/// Where a list of steps stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    Init,
    AfterIteration,
    Finish,
    /// The `do` of the action of this name.
    Action(&'a str),
    Tool,
}

/// Every step of a list, those of `on_error` included.
pub(super) fn each<'a>(list: &'a Node, visit: &mut impl FnMut(StepView<'a>)) {
    for step in StepView::list(Some(list)) {
        visit(step);
        if let Some(inner) = step.on_error() {
            each(inner, visit);
        }
    }
}

/// The place of a name in a verb's arguments: the string, or the key.
pub(super) fn place_of(args: &Node, name: &str) -> Option<Span> {
    match &args.value {
        Value::String(text) => (&**text == name).then_some(args.span),
        Value::Seq(items) => items.iter().find_map(|item| place_of(item, name)),
        Value::Map(entries) => entries
            .iter()
            .find(|entry| &*entry.key == name)
            .map(|entry| entry.key_span)
            .or_else(|| entries.iter().find_map(|entry| place_of(&entry.value, name))),
        _ => None,
    }
}

/// The code for a name of this kind that does not exist.
pub(super) fn code_of(reference: &crate::verb::Reference) -> crate::diag::Code {
    use crate::verb::Reference;
    match reference {
        Reference::Action(_) => codes::UNKNOWN_ACTION,
        Reference::Tool(_) => codes::UNKNOWN_TOOL,
        Reference::Forge(_) => codes::UNKNOWN_FORGE,
        Reference::Loop(_) => codes::UNKNOWN_LOOP,
        Reference::Skill(_) => codes::UNKNOWN_SKILL,
        Reference::State(_) => codes::UNKNOWN_STATE,
    }
}
