//! What went wrong while decoding, with its place.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Expected, Unexpected};

use super::{context, words};
use crate::diag::{Code, Diagnostic, Severity, Span, codes, did_you_mean, list_words};
use crate::syntax::{Node, Style};

/// Why a node could not be decoded. Boxed, since every result of the deserializer carries it.
#[derive(Debug, Clone)]
pub struct DecodeError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    diagnostic: Diagnostic,
    placed: bool,
    /// The node to leave out when the rest is looked at; see [`context::address`].
    culprit: usize,
    /// The children of the culprit, of which one may be the real cause.
    children: Vec<usize>,
    /// The node, or a part of it, was refused when the document was read, which has been reported.
    refused: bool,
}

impl DecodeError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        DecodeError(Box::new(Inner {
            diagnostic: Diagnostic::new(Severity::Error, code, None, message),
            placed: false,
            culprit: 0,
            children: Vec::new(),
            refused: false,
        }))
    }

    pub(super) fn help(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.0.diagnostic.help = help;
        }
        self
    }

    /// Says how to write it; the place must be the whole node.
    pub(super) fn rewrite(mut self, node: &Node, replacement: String) -> Self {
        if !node.span.is_none() {
            // A comma or a space between digits may stand for something else.
            let is_certain = !node.as_str().is_some_and(|text| text.contains([',', ' ']));
            let finding = self.0.diagnostic.clone();
            self.0.diagnostic = match is_certain {
                true => finding.safe_fix(node.span, replacement),
                false => finding.fix(node.span, replacement),
            };
        }
        self
    }

    /// Gives the error its place, unless something further inside already did.
    pub(super) fn at(mut self, node: &Node, key_span: Option<Span>) -> Self {
        if self.0.placed {
            return self;
        }
        let inner = &mut *self.0;
        inner.placed = true;
        inner.culprit = context::address(node);
        inner.children = children(node).map(context::address).collect();
        inner.refused = is_refused(node) || children(node).any(is_refused);
        let span = match key_span {
            Some(key) if inner.diagnostic.code == codes::MISSING_KEY => key,
            None if inner.diagnostic.code == codes::MISSING_KEY => start_of(node),
            _ => node.span,
        };
        inner.diagnostic.span = Some(span).filter(|span| !span.is_none());
        if let Some(origin) = node.origin {
            inner.diagnostic.labels.push((origin, "the value is defined here".to_owned()));
        }
        self
    }

    /// Gives the error the place of a key instead of its value.
    pub(super) fn at_key(mut self, key_span: Span, value: &Node) -> Self {
        if !self.0.placed {
            self.0.placed = true;
            self.0.culprit = context::address(value);
            self.0.diagnostic.span = Some(key_span).filter(|span| !span.is_none());
        }
        self
    }

    pub(super) fn culprit(&self) -> usize {
        self.0.culprit
    }

    /// Whether a part of the culprit was left out, so that this error may be only a consequence.
    pub(super) fn follows_from(&self, broken: &HashSet<usize>) -> bool {
        self.0.refused || !broken.is_empty() && self.0.children.iter().any(|child| broken.contains(child))
    }
}

fn children(node: &Node) -> impl Iterator<Item = &Node> {
    node.items().iter().chain(node.entries().iter().map(|entry| &entry.value))
}

fn is_refused(node: &Node) -> bool {
    node.style == Style::Invalid
}

/// The first key of a map, else the first byte: what is missing has no place of its own.
fn start_of(node: &Node) -> Span {
    node.entries().first().map_or(node.span.at_start(), |entry| entry.key_span)
}

impl From<DecodeError> for Diagnostic {
    fn from(error: DecodeError) -> Self {
        error.0.diagnostic
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.diagnostic.message)
    }
}

impl std::error::Error for DecodeError {}

impl serde::de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        context::take_pending(&message).unwrap_or_else(|| DecodeError::new(codes::INVALID_VALUE, message))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = words::expected(&expected.to_string());
        let message = format!("expected {expected}, found {}", words::found(found));
        let help = words::help_for_null(&expected).filter(|_| words::is_null(found));
        DecodeError::new(codes::WRONG_TYPE, message).help(help)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let given = expected.to_string();
        let found = words::found(found);
        match words::integer_range(&given) {
            Some(range) => {
                DecodeError::new(codes::NUMBER_OUT_OF_RANGE, format!("expected an integer {range}, found {found}"))
            }
            None => {
                DecodeError::new(codes::INVALID_VALUE, format!("expected {}, found {found}", words::expected(&given)))
            }
        }
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let expected = words::expected(&expected.to_string());
        DecodeError::new(codes::INVALID_VALUE, format!("expected {expected}, found {length} items"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let help = match did_you_mean(variant, expected) {
            Some(near) => format!("did you mean `{near}`? expected one of {}", list_words(expected)),
            None => format!("expected one of {}", list_words(expected)),
        };
        DecodeError::new(codes::UNKNOWN_VARIANT, format!("unknown value `{}`", words::shorten(variant)))
            .help(Some(help))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        DecodeError::new(codes::UNKNOWN_KEY, format!("unknown key `{}`", words::shorten(field)))
            .help(Some(words::unknown_key_help(field, expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        DecodeError::new(codes::MISSING_KEY, format!("missing key `{field}`")).help(Some(format!("add `{field}`")))
    }

    fn duplicate_field(field: &'static str) -> Self {
        DecodeError::new(codes::DUPLICATE_KEY, format!("key `{field}` is given twice"))
    }
}
