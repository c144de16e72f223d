//! Where the values of templates come from: whether somebody outside may have written them.

use std::collections::{BTreeMap, HashSet};

use super::context::Subject;
use super::steps::{StepView, lists};
use super::values::Declared;
use crate::document::is_template;
use crate::syntax::{Node, Value};
use crate::template::walk::{Part, walk, walk_expr};

/// Names whose values people, models, programs or web pages may have written.
const OUTSIDE: [&str; 8] = ["input", "params", "tags", "result", "steps", "item", "feedback", "history"];

/// State variables that steps set from outside: the variable, and the value that it is set from in the end.
pub(super) type Carried = BTreeMap<String, String>;

/// What is known of the values where a step stands.
pub(super) struct Origins<'a> {
    pub(super) declared: Declared<'a>,
    carried: &'a Carried,
    /// Steps whose lists of files depend on nothing from outside.
    fixed: HashSet<String>,
    /// Whether `result` is that of such a step.
    fixed_result: bool,
    item: Item,
}

/// A value from outside in a template.
pub(super) struct Outside {
    /// Its path.
    pub(super) name: String,
    /// Where it comes from, when it is a state variable.
    pub(super) from: Option<String>,
    /// Its first byte.
    pub(super) at: usize,
}

/// What `item` stands for.
enum Item {
    /// An element of this list.
    Element(Vec<Part>),
    /// Something that the document writes out.
    Own,
    /// Anything.
    Unknown,
}

/// The state variables of a document that carry what comes from outside.
pub(super) fn carried(subject: Subject<'_>) -> Carried {
    let mut carried = Carried::new();
    // What one variable is set from may be another; each round finds at least one more, or is the last.
    loop {
        let mut found = Vec::new();
        walk_steps(subject, &carried, &mut |step, origins| {
            for entry in step.key("set").into_iter().flat_map(Node::entries) {
                let outside = strings(&entry.value).find_map(|text| origins.first_outside(text));
                found.extend(outside.map(|outside| (entry.key.to_string(), outside.from.unwrap_or(outside.name))));
            }
        });
        let before = carried.len();
        for (name, from) in found {
            carried.entry(name).or_insert(from);
        }
        if carried.len() == before {
            return carried;
        }
    }
}

/// Visits every step of a document with what is known of the values there.
pub(super) fn walk_steps<'a>(
    subject: Subject<'a>,
    carried: &Carried,
    visit: &mut impl FnMut(StepView<'_>, &Origins<'_>),
) {
    for list in lists(subject.node()) {
        let mut origins = Origins {
            declared: Declared::of(subject, list.place),
            carried,
            fixed: HashSet::new(),
            fixed_result: false,
            item: Item::Unknown,
        };
        walk_list(list.node, &mut origins, visit);
    }
}

fn walk_list(list: &Node, origins: &mut Origins<'_>, visit: &mut impl FnMut(StepView<'_>, &Origins<'_>)) {
    for step in StepView::list(Some(list)) {
        origins.item = origins.item_of(step.key("for_each").and_then(Node::as_str));
        visit(step, origins);
        let mut verbs = step.verbs().peekable();
        if verbs.peek().is_some() {
            let fixed = step.key("for_each").is_none()
                && verbs.all(|verb| {
                    matches!(&*verb.key, "list" | "grep")
                        && !strings(&verb.value).any(|text| origins.first_outside(text).is_some())
                });
            origins.fixed_result = fixed;
            if let Some(id) = step.id() {
                if fixed {
                    origins.fixed.insert(id.to_owned())
                } else {
                    origins.fixed.remove(id)
                };
            }
        }
        origins.item = Item::Unknown;
        if let Some(handler) = step.on_error() {
            walk_list(handler, origins, visit);
        }
    }
}

impl Origins<'_> {
    /// The first value from outside in a template.
    pub(super) fn first_outside(&self, text: &str) -> Option<Outside> {
        let walked = is_template(text).then(|| walk(text).ok()).flatten()?;
        let used = walked.variables.iter().find(|used| self.of_path(&used.path))?;
        let variable = used.path.get(1).and_then(|part| part.name.as_deref()).filter(|_| used.root() == "state");
        let from = variable.and_then(|variable| self.carried.get(variable)).cloned();
        Some(Outside { name: dotted(&used.path), from, at: used.range.start })
    }

    fn of_path(&self, path: &[Part]) -> bool {
        let name = |at: usize| path.get(at).and_then(|part| part.name.as_deref());
        if self.declared.is_confined(path) {
            return false;
        }
        match name(0) {
            Some("state") => name(1).is_some_and(|variable| self.carried.contains_key(variable)),
            Some("steps") => !(name(1).is_some_and(|id| self.fixed.contains(id)) && is_file(path.get(2..))),
            Some("result") => !(self.fixed_result && is_file(path.get(1..))),
            Some("item") => match &self.item {
                Item::Own => false,
                Item::Unknown => true,
                Item::Element(list) => self.of_path(&[list, path.get(1..).unwrap_or_default()].concat()),
            },
            Some(root) => OUTSIDE.contains(&root),
            None => false,
        }
    }

    fn item_of(&self, list: Option<&str>) -> Item {
        let Some(walked) = list.and_then(|list| walk_expr(list).ok()) else { return Item::Unknown };
        match walked.elements {
            // A list of items of the step's own would be no list.
            Some(path) if path.first().is_some_and(|root| root.name.as_deref() != Some("item")) => Item::Element(path),
            Some(_) => Item::Unknown,
            None if walked.variables.iter().any(|used| self.of_path(&used.path)) => Item::Unknown,
            None => Item::Own,
        }
    }
}

/// Whether a path in the result of `list` or `grep` leads to the name of a file.
fn is_file(rest: Option<&[Part]>) -> bool {
    let names: Vec<Option<&str>> = rest.unwrap_or_default().iter().map(|part| part.name.as_deref()).collect();
    matches!(names.as_slice(), [Some("paths"), ..] | [Some("matches"), _, Some("path")])
}

fn dotted(path: &[Part]) -> String {
    path.iter().filter_map(|part| part.name.as_deref()).collect::<Vec<_>>().join(".")
}

/// The texts of a value at any depth.
fn strings(node: &Node) -> Box<dyn Iterator<Item = &str> + '_> {
    match &node.value {
        Value::String(text) => Box::new(std::iter::once(&**text)),
        Value::Seq(items) => Box::new(items.iter().flat_map(strings)),
        Value::Map(entries) => Box::new(entries.iter().flat_map(|entry| strings(&entry.value))),
        _ => Box::new(std::iter::empty()),
    }
}
