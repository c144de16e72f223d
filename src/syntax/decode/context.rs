//! What serde's traits have no room for: nodes and spans handed to the reserved newtypes, warnings, and what to leave out.
//!
//! Each is laid aside on this thread just before the visitor runs that picks it up.

use std::cell::RefCell;
use std::collections::HashSet;

use super::DecodeError;
use crate::diag::{Diagnostic, Span};
use crate::syntax::{Node, Style};

/// The newtype name that asks for the undecoded node.
pub(in crate::syntax) const RAW: &str = "$loopwright::Raw";
/// The newtype name that asks for the span next to the value.
pub(in crate::syntax) const SPANNED: &str = "$loopwright::Spanned";

#[derive(Default)]
struct Context {
    node: Option<Node>,
    span: Option<Span>,
    pending: Option<DecodeError>,
    noticed: Vec<Diagnostic>,
    broken: HashSet<usize>,
    /// Something was left out because it had been refused.
    passed_over: bool,
    enclosing: Vec<Enclosing>,
}

/// A map around the one that is being decoded.
#[derive(Clone, Copy)]
pub(super) struct Enclosing {
    /// The keys that it knows.
    pub(super) fields: &'static [&'static str],
}

thread_local! {
    static CONTEXT: RefCell<Context> = RefCell::default();
}

fn with<R>(run: impl FnOnce(&mut Context) -> R) -> R {
    CONTEXT.with(|context| run(&mut context.borrow_mut()))
}

/// A fresh context for one decoding; the one before it comes back when this ends.
pub(super) struct Scope {
    outer: Option<Context>,
}

impl Scope {
    pub(super) fn enter() -> Self {
        Scope { outer: Some(with(std::mem::take)) }
    }

    /// Ends the scope; gives the findings that came up in it, and whether something was passed over.
    pub(super) fn leave(self) -> (Vec<Diagnostic>, bool) {
        with(|context| (std::mem::take(&mut context.noticed), context.passed_over))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(outer) = self.outer.take() {
            with(|context| *context = outer);
        }
    }
}

/// Identifies a node while its tree is borrowed.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

pub(super) fn offer_node(node: &Node) {
    with(|context| context.node = Some(node.clone()));
}

/// The node that was offered to [`RAW`], once.
pub(in crate::syntax) fn take_node() -> Option<Node> {
    with(|context| context.node.take())
}

pub(super) fn offer_span(span: Span) {
    with(|context| context.span = Some(span));
}

/// The span that was offered to [`SPANNED`], once.
pub(in crate::syntax) fn take_span() -> Option<Span> {
    with(|context| context.span.take())
}

pub(super) fn set_pending(error: DecodeError) {
    with(|context| context.pending = Some(error));
}

/// The error that was laid aside by [`super::decode_within`], if it is the one with this message.
pub(super) fn take_pending(message: &str) -> Option<DecodeError> {
    with(|context| context.pending.take()).filter(|error| error.to_string() == message)
}

/// Keeps a finding that does not stop the decoding.
pub(super) fn notice(diagnostic: Diagnostic) {
    with(|context| context.noticed.push(diagnostic));
}

pub(super) fn set_broken(broken: HashSet<usize>) {
    with(|context| {
        context.broken = broken;
        context.enclosing.clear();
    });
}

/// Whether a node is to be left out: found broken in an earlier pass, or refused when the document was read.
pub(super) fn is_broken(node: &Node) -> bool {
    let invalid = node.style == Style::Invalid;
    with(|context| {
        context.passed_over |= invalid;
        invalid || (!context.broken.is_empty() && context.broken.contains(&address(node)))
    })
}

/// Runs with one more map around.
pub(super) fn inside<R>(enclosing: Enclosing, run: impl FnOnce() -> R) -> R {
    with(|context| context.enclosing.push(enclosing));
    let result = run();
    with(|context| context.enclosing.pop());
    result
}

/// Whether a map around this one knows the key; the innermost is the one that is being decoded.
pub(super) fn known_outside(key: &str) -> bool {
    with(|context| {
        let around = context.enclosing.iter().rev().skip(1);
        around.into_iter().any(|map| map.fields.contains(&key))
    })
}
