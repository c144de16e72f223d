//! Which state variables steps set, and which loops others run: looked up once for all documents of a library.

use std::collections::{HashMap, HashSet};

use super::steps::{each, lists};
use crate::document::{LoopDoc, is_template};
use crate::load::{Library, Loaded};
use crate::syntax::Node;

/// What the documents of a library do to the state of others.
pub(super) struct Writes {
    /// A tool's steps run in the loop that calls it.
    by_tools: HashSet<String>,
    /// What `loop` steps hand to a loop, by its name. One that hands over nothing runs it all the same.
    handed: HashMap<String, HashSet<String>>,
}

impl Writes {
    pub(super) fn of(library: &Library) -> Self {
        let mut writes = Self { by_tools: HashSet::new(), handed: HashMap::new() };
        for tool in library.tools.values() {
            writes.by_tools.extend(sets(&tool.node));
            writes.calls(&tool.node);
        }
        for loaded in library.loops.values() {
            writes.calls(&loaded.node);
        }
        writes
    }

    fn calls(&mut self, document: &Node) {
        for list in lists(document) {
            each(list.node, &mut |step| {
                let Some(args) = step.key("loop") else { return };
                let Some(name) = target(args) else { return };
                let set = args.get("set").into_iter().flat_map(Node::entries);
                self.handed.entry(name.to_owned()).or_default().extend(set.map(|entry| entry.key.to_string()));
            });
        }
    }

    /// Whether another document runs this loop in a step, and so may read its state from the result.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.handed.contains_key(name)
    }

    /// The variables of a loop that something sets after the run began, or when another loop starts it.
    pub(super) fn to(&self, loaded: &Loaded<LoopDoc>) -> HashSet<String> {
        let handed = self.handed.get(&loaded.doc.name.value);
        let others = self.by_tools.iter().chain(handed.into_iter().flatten());
        others.cloned().chain(sets(&loaded.node)).collect()
    }
}

/// The variables that a document's steps set.
fn sets(document: &Node) -> Vec<String> {
    let mut names = Vec::new();
    for list in lists(document) {
        each(list.node, &mut |step| {
            let set = step.key("set").into_iter().flat_map(Node::entries);
            names.extend(set.map(|entry| entry.key.to_string()));
        });
    }
    names
}

/// The loop that a `loop` step runs.
fn target(args: &Node) -> Option<&str> {
    args.as_str().or_else(|| args.get("use")?.as_str()).filter(|name| !is_template(name))
}
