//! Where templates and expressions stand, with what each sees there: for tools that help while one is written.

use std::ops::Range;
use std::sync::Arc;

use super::context::Cx;
use super::scope::Scope;
use super::shape::Shape;
use super::steps::{each, lists, place_of};
use super::text::Text;
use crate::diag::{Diagnostics, SourceId, Span};
use crate::syntax::Node;
use crate::template::walk::{Walk, walk, walk_expr};
use crate::verb::{Reference, find};

/// Where a template's bytes lie.
#[derive(Debug, Clone)]
enum Anchor {
    Value(Node),
    Key(Span),
    File { name: String, whole: Span },
}

impl Anchor {
    fn of(text: &Text<'_>) -> Self {
        match text {
            Text::Value(node) => Self::Value((*node).clone()),
            Text::Key(_, span) => Self::Key(*span),
            Text::File(name, ..) => Self::File { name: name.clone(), whole: text.span(0..text.as_str().len()) },
        }
    }
}

/// A template or an expression where it stands. A file that several documents use has one place for each use.
#[derive(Debug, Clone)]
pub struct TemplatePlace {
    text: Anchor,
    scope: Scope,
    /// What it uses; none when it cannot be read.
    pub walk: Option<Arc<Walk>>,
    /// The document that it belongs to; none for a file that no document uses.
    pub document: SourceId,
}

impl TemplatePlace {
    /// Notes a template that is being checked, when somebody wants to know.
    pub(super) fn note(cx: &mut Cx<'_>, text: &Text<'_>, scope: &Scope, is_expression: bool) {
        let Some(places) = &mut cx.places else { return };
        let source = text.as_str();
        let walk = if is_expression { walk_expr(source) } else { walk(source) }.ok().map(Arc::new);
        let (text, scope) = (Anchor::of(text), scope.clone());
        places.push(Self { text, scope, walk, document: SourceId::NONE });
    }

    /// The same with another id for its file, where it is one of its own; documents keep theirs.
    pub(super) fn moved(mut self, here: impl Fn(SourceId) -> SourceId) -> Self {
        if let Anchor::File { whole, .. } = &mut self.text {
            whole.source = here(whole.source);
        }
        self
    }

    /// The whole place in its file.
    #[must_use]
    pub fn whole(&self) -> Span {
        match &self.text {
            Anchor::Value(node) => node.origin.unwrap_or(node.span),
            Anchor::Key(whole) | Anchor::File { whole, .. } => *whole,
        }
    }

    /// The place in the file of some of its bytes.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match &self.text {
            Anchor::Value(node) => node.range_to_source(range),
            Anchor::Key(whole) => *whole,
            Anchor::File { whole, .. } => Span::new(whole.source, offset(range.start), offset(range.end)),
        }
    }

    /// The name of the template's file; empty for one that stands in a document.
    #[must_use]
    pub fn file_name(&self) -> &str {
        match &self.text {
            Anchor::File { name, .. } => name,
            Anchor::Value(_) | Anchor::Key(_) => "",
        }
    }

    /// The names that it sees, each with the kind of value.
    pub fn names(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.scope.all().map(|(name, shape)| (name, shape.noun()))
    }

    /// The attributes of the value at a path, each with its kind; none where nothing is known.
    #[must_use]
    pub fn members(&self, path: &[&str]) -> Vec<(String, &'static str)> {
        let Some((root, rest)) = path.split_first() else { return Vec::new() };
        let mut shape = self.scope.get(root);
        for part in rest {
            shape = shape.and_then(|shape| shape.attribute(part).ok());
        }
        match shape {
            Some(Shape::Map { keys, .. }) => keys.iter().map(|(key, shape)| (key.clone(), shape.noun())).collect(),
            _ => Vec::new(),
        }
    }
}

/// The names of other things that the steps of a document use, each with its place.
#[must_use]
pub fn step_references(document: &Node) -> Vec<(Reference, Span)> {
    let mut found = Vec::new();
    for list in lists(document) {
        each(list.node, &mut |step| {
            for verb in step.verbs() {
                let decoded = find(&verb.key).and_then(|known| known.decode(&verb.value, &mut Diagnostics::new()));
                for reference in decoded.into_iter().flat_map(|decoded| decoded.references()) {
                    let span = place_of(&verb.value, reference.name());
                    found.extend(span.map(|span| (reference, span)));
                }
            }
        });
    }
    found
}
