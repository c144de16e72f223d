//! What stands at a byte of a document: a key or a value, with the path to it.

use super::context::Step;
use crate::diag::{SourceId, Span};
use crate::syntax::Node;

/// A key or value of a document.
#[derive(Debug, PartialEq)]
pub(super) struct Located {
    /// From the document's root to it.
    pub(super) path: Vec<Step>,
    /// The same as a JSON pointer.
    pub(super) pointer: String,
    pub(super) span: Span,
    pub(super) is_key: bool,
}

/// The key, or the value that is no map and no list, at a byte.
pub(super) fn at(root: &Node, source: SourceId, offset: usize) -> Option<Located> {
    Search { source, offset, path: Vec::new(), pointer: String::new() }.node(root)
}

struct Search {
    source: SourceId,
    offset: usize,
    path: Vec<Step>,
    pointer: String,
}

impl Search {
    fn covers(&self, span: Span) -> bool {
        span.source == self.source && span.start as usize <= self.offset && self.offset <= span.end as usize
    }

    fn found(&self, span: Span, is_key: bool) -> Option<Located> {
        let covers = self.covers(span);
        covers.then(|| Located { path: self.path.clone(), pointer: self.pointer.clone(), span, is_key })
    }

    /// Looks into everything: a TOML table's parts may lie anywhere in the file.
    fn node(&mut self, node: &Node) -> Option<Located> {
        if node.entries().is_empty() && node.items().is_empty() {
            // A value that is not written has the place of its key.
            return self.found(node.span, false).filter(|_| !node.is_null());
        }
        for entry in node.entries() {
            let part = entry.key.replace('~', "~0").replace('/', "~1");
            let found = self.inner(Step::Key(entry.key.to_string()), &part, |search| {
                search.found(entry.key_span, true).or_else(|| search.node(&entry.value))
            });
            if found.is_some() {
                return found;
            }
        }
        let mut items = node.items().iter().enumerate();
        items.find_map(|(index, item)| self.inner(Step::Item, &index.to_string(), |search| search.node(item)))
    }

    fn inner(&mut self, step: Step, part: &str, look: impl FnOnce(&mut Self) -> Option<Located>) -> Option<Located> {
        let length = self.pointer.len();
        self.path.push(step);
        self.pointer.push('/');
        self.pointer.push_str(part);
        let found = look(self);
        self.pointer.truncate(length);
        self.path.pop();
        found
    }
}
