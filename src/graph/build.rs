//! From documents to a graph.

use std::collections::VecDeque;

use super::{Edge, EdgeKind, Graph, LoopGraph, Node, NodeKind};
use crate::diag::Diagnostics;
use crate::document::{Action, Limits, LoopDoc, OnError, Step, Then};
use crate::engine::{Outline, outline};
use crate::load::Library;
use crate::verb::{self, Reference};

/// Columns, from left to right. What a node uses stands one further.
mod column {
    pub(super) const START: usize = 0;
    pub(super) const INIT: usize = 1;
    pub(super) const TURN: usize = 2;
    pub(super) const ACTION: usize = 3;
    pub(super) const END: usize = 5;
    pub(super) const FINISH: usize = 6;
}

/// The graph of a loop and of all loops that it leads to. Empty when the library has no such loop.
#[must_use]
pub fn graph(library: &Library, name: &str) -> Graph {
    let mut names = vec![name.to_owned()];
    let mut open = VecDeque::from([name.to_owned()]);
    while let Some(name) = open.pop_front() {
        let Some(loaded) = library.loops.get(&name) else { continue };
        for target in loops_of(&loaded.doc) {
            if library.loops.contains_key(&target) && !names.contains(&target) {
                names.push(target.clone());
                open.push_back(target);
            }
        }
    }
    let loops = names.iter().filter_map(|name| {
        let loaded = library.loops.get(name)?;
        Some(Builder::new(library, &loaded.doc, outline(library, name), &names).build())
    });
    Graph { loops: loops.collect() }
}

/// The loops that a loop names, each once.
fn loops_of(doc: &LoopDoc) -> Vec<String> {
    let hooks = [&doc.hooks.init, &doc.hooks.after_iteration, &doc.hooks.finish].into_iter();
    let from_steps = hooks
        .chain(doc.actions.values().map(|action| &action.steps))
        .flat_map(|steps| uses(steps).into_iter().filter_map(|(kind, name)| (kind == NodeKind::Loop).then_some(name)));
    let from_actions = doc.actions.values().filter_map(|action| Some(action.from_loop.as_ref()?.value.clone()));
    let mut names: Vec<String> = Vec::new();
    for name in from_actions.chain(from_steps) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Every step of a list, those of `on_error` included.
fn each<'a>(steps: &'a [Step], visit: &mut impl FnMut(&'a Step)) {
    for step in steps {
        visit(step);
        if let OnError::Steps(inner) = &step.keys.on_error {
            each(inner, visit);
        }
    }
}

/// What steps call by name.
fn uses(steps: &[Step]) -> Vec<(NodeKind, String)> {
    let mut found = Vec::new();
    each(steps, &mut |step| {
        let verb = step.verb.as_ref().and_then(|verb| Some((verb::find(&verb.name)?, verb.args.node())));
        // What does not decode is a matter for `check`.
        let decoded = verb.and_then(|(verb, args)| verb.decode(args, &mut Diagnostics::new()));
        for reference in decoded.iter().flat_map(|step| step.references()) {
            let one = match reference {
                Reference::Tool(name) => (NodeKind::Tool, name),
                Reference::Forge(name) => (NodeKind::Forge, name),
                Reference::Loop(name) => (NodeKind::Loop, name),
                Reference::Action(_) | Reference::Skill(_) | Reference::State(_) => continue,
            };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    });
    found
}

/// The verbs of steps in order, each once.
fn verbs(steps: &[Step]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    each(steps, &mut |step| {
        names.extend(step.verb.as_ref().map(|verb| verb.name.value.clone()).filter(|name| !names.contains(name)));
    });
    names
}

/// What steps say that follows, beyond going on.
fn follows(steps: &[Step]) -> Vec<Then> {
    let mut found = Vec::new();
    each(steps, &mut |step| {
        found.extend(step.keys.then.as_ref().map(|then| then.value).filter(|then| *then != Then::Continue));
    });
    found
}

struct Builder<'a> {
    library: &'a Library,
    doc: &'a LoopDoc,
    outline: Option<Outline>,
    /// The loops of the whole graph, in their order.
    loops: &'a [String],
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl<'a> Builder<'a> {
    fn new(library: &'a Library, doc: &'a LoopDoc, outline: Option<Outline>, loops: &'a [String]) -> Self {
        Self { library, doc, outline, loops, nodes: Vec::new(), edges: Vec::new() }
    }

    fn build(mut self) -> LoopGraph {
        let doc = self.doc;
        let start = self.node(NodeKind::Start, "start", Vec::new(), column::START);
        let turn_node = Node {
            kind: NodeKind::Turn,
            label: doc.name.value.clone(),
            details: vec![format!("at most {} iterations", doc.limits.max_iterations)],
            column: column::TURN,
            leads_to: None,
        };
        let init = self.hook("init", &doc.hooks.init, column::INIT);
        let turn = self.push(turn_node);
        match init {
            Some(init) => {
                self.edge(start, init, EdgeKind::Flow);
                self.edge(init, turn, EdgeKind::Flow);
                for then in follows(&doc.hooks.init) {
                    self.ends(init, then);
                }
            }
            None => self.edge(start, turn, EdgeKind::Flow),
        }
        for (name, action) in &doc.actions {
            self.action(turn, name, action);
        }
        self.builtins(turn);
        let limits = self.node(NodeKind::Failure, "limit", limits(&doc.limits), column::END);
        self.edge(turn, limits, EdgeKind::Flow);
        self.finish();
        LoopGraph {
            name: doc.name.value.clone(),
            description: doc.description.as_deref().cloned().unwrap_or_default(),
            nodes: self.nodes,
            edges: self.edges,
        }
    }

    fn action(&mut self, turn: usize, name: &str, action: &Action) {
        let mut details = Vec::new();
        if let Some(when) = &action.when {
            details.push(format!("when {when}"));
        }
        if !action.verify.is_empty() {
            let rules = action.verify.len();
            details.push(format!("verifies {rules} rule{}", if rules == 1 { "" } else { "s" }));
        }
        let done = verbs(&action.steps);
        if !done.is_empty() {
            details.push(done.join(", "));
        }
        let node = self.node(NodeKind::Action, name, details, column::ACTION);
        self.edge(turn, node, EdgeKind::Flow);
        let named = action.from_tool.iter().map(|name| (NodeKind::Tool, name.value.clone()));
        let named = named.chain(action.from_loop.iter().map(|name| (NodeKind::Loop, name.value.clone())));
        self.used(node, named.chain(uses(&action.steps)).collect());
        let last = match (&action.from_loop, action.then.as_ref().map(|then| then.value)) {
            // The other loop shares the task, and this one ends when it returns.
            (Some(_), _) => Then::Exit,
            (None, then) => then.unwrap_or(Then::Continue),
        };
        let unconditional = |step: &Step| {
            step.keys.when.is_none() && step.keys.then.as_ref().is_some_and(|then| then.value != Then::Continue)
        };
        if !action.steps.iter().any(unconditional) {
            self.ends(node, last);
        }
        for then in follows(&action.steps) {
            self.ends(node, then);
        }
    }

    fn builtins(&mut self, turn: usize) {
        let Some(outline) = self.outline.take() else { return };
        let mut tools = outline.tools;
        for action in outline.actions.iter().filter(|action| action.builtin) {
            let node = self.node(NodeKind::Builtin, &action.name, Vec::new(), column::ACTION);
            self.edge(turn, node, EdgeKind::Flow);
            // Both ways to call a tool reach the same ones; they are drawn once.
            if action.name.ends_with("_tool") {
                self.used(node, tools.drain(..).map(|name| (NodeKind::Tool, name)).collect());
            }
            self.ends(node, if action.ends { Then::Exit } else { Then::Continue });
        }
    }

    fn hook(&mut self, name: &str, steps: &[Step], column: usize) -> Option<usize> {
        if steps.is_empty() {
            return None;
        }
        let node = self.node(NodeKind::Hook, name, vec![verbs(steps).join(", ")], column);
        self.used(node, uses(steps));
        Some(node)
    }

    /// Joins a node with what follows it.
    fn ends(&mut self, from: usize, then: Then) {
        let to = match then {
            Then::Continue => self.next(),
            Then::Exit => self.end(NodeKind::Success, "exit"),
            Then::Done => self.end(NodeKind::Success, "done"),
            Then::Fail => self.end(NodeKind::Failure, "fail"),
        };
        self.edge(from, to, EdgeKind::Flow);
    }

    /// The end of an iteration, from where the next one begins.
    fn next(&mut self) -> usize {
        let doc = self.doc;
        let known = |node: &Node| {
            node.kind == NodeKind::Next || (node.kind == NodeKind::Hook && node.label == "after_iteration")
        };
        if let Some(at) = self.nodes.iter().position(known) {
            return at;
        }
        let node = match self.hook("after_iteration", &doc.hooks.after_iteration, column::END) {
            Some(hook) => {
                for then in follows(&doc.hooks.after_iteration) {
                    // Its ends stand in its own column, so they are said and not drawn.
                    let word = serde_json::to_value(then).ok().and_then(|word| Some(word.as_str()?.to_owned()));
                    self.nodes[hook].details.extend(word.map(|word| format!("may {word}")));
                }
                hook
            }
            None => self.node(NodeKind::Next, "next", Vec::new(), column::END),
        };
        if let Some(turn) = self.nodes.iter().position(|node| node.kind == NodeKind::Turn) {
            self.edge(node, turn, EdgeKind::Back);
        }
        node
    }

    fn end(&mut self, kind: NodeKind, label: &str) -> usize {
        let known = self.nodes.iter().position(|node| node.kind == kind && node.label == label);
        known.unwrap_or_else(|| self.node(kind, label, Vec::new(), column::END))
    }

    fn finish(&mut self) {
        let doc = self.doc;
        let Some(finish) = self.hook("finish", &doc.hooks.finish, column::FINISH) else { return };
        let is_end = |node: &Node| matches!(node.kind, NodeKind::Success | NodeKind::Failure);
        let ends: Vec<usize> = (0..self.nodes.len()).filter(|at| is_end(&self.nodes[*at])).collect();
        ends.into_iter().for_each(|end| self.edge(end, finish, EdgeKind::Flow));
    }

    /// Joins a node with what it calls; what two nodes of a column call is there once.
    fn used(&mut self, from: usize, what: Vec<(NodeKind, String)>) {
        let column = self.nodes[from].column + 1;
        for (kind, name) in what {
            let same = |node: &Node| node.kind == kind && node.column == column && node.label == name;
            let to = match self.nodes.iter().position(same) {
                Some(known) => known,
                None => {
                    let (details, leads_to) = self.about(kind, &name);
                    self.push(Node { kind, label: name, details, column, leads_to })
                }
            };
            self.edge(from, to, EdgeKind::Uses);
        }
    }

    fn about(&self, kind: NodeKind, name: &str) -> (Vec<String>, Option<usize>) {
        let library = self.library;
        match kind {
            NodeKind::Tool => {
                let effect = library.tools.get(name).and_then(|tool| serde_json::to_value(tool.doc.effect).ok());
                (effect.and_then(|word| Some(vec![word.as_str()?.to_owned()])).unwrap_or_default(), None)
            }
            NodeKind::Forge => {
                let tier = library.forges.get(name).and_then(|forge| forge.doc.tier.as_ref());
                (tier.map(|tier| format!("tier {tier}")).into_iter().collect(), None)
            }
            NodeKind::Loop => (Vec::new(), self.loops.iter().position(|known| known == name)),
            _ => (Vec::new(), None),
        }
    }

    fn node(&mut self, kind: NodeKind, label: &str, details: Vec<String>, column: usize) -> usize {
        self.push(Node { kind, label: label.to_owned(), details, column, leads_to: None })
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize, kind: EdgeKind) {
        let edge = Edge { from, to, kind };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }
}

/// The limits that a document sets, in words.
fn limits(limits: &Limits) -> Vec<String> {
    let tokens = limits.max_total_tokens.map(|most| format!("{most} tokens"));
    let cost = limits.max_cost_usd.map(|most| format!("{most} USD"));
    let time = limits.timeout.map(|most| most.to_string());
    let calls = limits.max_tool_calls.map(|most| format!("{most} tool calls"));
    let all = std::iter::once(format!("{} iterations", limits.max_iterations));
    let all: Vec<String> = all.chain([tokens, cost, time, calls].into_iter().flatten()).collect();
    all.chunks(2).map(|pair| pair.join(", ")).collect()
}
