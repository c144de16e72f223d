//! A template's text and where its bytes lie in a file.

use std::ops::Range;
use std::sync::Arc;

use crate::diag::{SourceId, Span};
use crate::syntax::Node;

/// A template's text.
#[derive(Clone)]
pub(super) enum Text<'a> {
    /// A value in a document.
    Value(&'a Node),
    /// A key in a document: only its whole place is known.
    Key(&'a str, Span),
    /// A file: its name from the workspace, its text, its source.
    File(String, Arc<str>, SourceId),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Value(node) => node.as_str().unwrap_or_default(),
            Self::Key(text, _) => text,
            Self::File(_, text, _) => text,
        }
    }

    /// The place of some of its bytes.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        match self {
            Self::Value(node) => node.range_to_source(range),
            Self::Key(_, span) => *span,
            Self::File(_, _, source) => {
                let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                Span::new(*source, offset(range.start), offset(range.end))
            }
        }
    }

    /// The name that included names are relative to.
    pub(super) fn file_name(&self) -> &str {
        match self {
            Self::File(name, ..) => name,
            Self::Value(_) | Self::Key(..) => "",
        }
    }
}
