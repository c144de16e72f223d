//! What an editor asks: one file a kind of request, and the table of them.

mod code_action;
mod completion;
mod definition;
pub(super) mod diagnostics;
mod document_symbol;
mod formatting;
mod hover;
mod markdown;
mod references;
mod rename;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::analysis::{Analysis, root_of};
use super::buffers::{Buffer, Buffers};
use super::position::{Encoding, Lines};
use super::protocol::{Location, Position, Range};
use super::transport::{ErrorCode, Failure};
use super::uri;
use crate::diag::Span;

/// What answers a request.
type Answer = fn(&View<'_>, Json) -> Result<Json, Failure>;

/// Every request and what answers it.
pub(super) const REQUESTS: &[(&str, Answer)] = &[
    ("textDocument/codeAction", |view, params| answered(view, params, code_action::answer)),
    ("textDocument/completion", |view, params| answered(view, params, completion::answer)),
    ("textDocument/definition", |view, params| answered(view, params, definition::answer)),
    ("textDocument/documentSymbol", |view, params| answered(view, params, document_symbol::answer)),
    ("textDocument/formatting", |view, params| answered(view, params, formatting::answer)),
    ("textDocument/hover", |view, params| answered(view, params, hover::answer)),
    ("textDocument/prepareRename", |view, params| answered(view, params, rename::prepare)),
    ("textDocument/references", |view, params| answered(view, params, references::answer)),
    ("textDocument/rename", |view, params| answered(view, params, rename::answer)),
];

fn answered<P: DeserializeOwned, R: Serialize>(
    view: &View<'_>,
    params: Json,
    answer: fn(&View<'_>, P) -> Result<R, Failure>,
) -> Result<Json, Failure> {
    let params =
        serde_json::from_value(params).map_err(|error| Failure::new(ErrorCode::InvalidParams, error.to_string()))?;
    let result = answer(view, params)?;
    serde_json::to_value(result).map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))
}

/// What is known when a request is answered.
pub(super) struct View<'a> {
    pub(super) buffers: &'a Buffers,
    pub(super) folders: &'a [PathBuf],
    pub(super) analyses: &'a BTreeMap<PathBuf, Analysis>,
    pub(super) encoding: Encoding,
}

/// An open document that is asked about.
pub(super) struct Asked<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) analysis: &'a Analysis,
    pub(super) lines: Lines<'a>,
    pub(super) root: PathBuf,
}

impl<'a> View<'a> {
    /// The open document at an address; none for one that is no document of a workspace.
    pub(super) fn asked(&self, uri: &str) -> Option<Asked<'a>> {
        let buffer = self.buffers.get(uri)?;
        let root = root_of(&buffer.path, self.folders);
        let analysis = self.analyses.get(&root)?;
        Some(Asked { buffer, analysis, lines: Lines::new(&buffer.text, self.encoding), root })
    }

    /// The address of a file, as the client writes it if it has the file open.
    pub(super) fn uri(&self, path: &Path) -> String {
        self.buffers.at_path(path).map_or_else(|| uri::of_path(path), |buffer| buffer.uri.clone())
    }

    /// Where a span lies; none for what is part of the program.
    pub(super) fn location(&self, analysis: &Analysis, span: Span) -> Option<Location> {
        let path = analysis.path(span.source)?;
        let text = match self.buffers.at_path(path) {
            Some(buffer) => &buffer.text,
            None => analysis.library.sources.text(span.source),
        };
        let range = Lines::new(text, self.encoding).range(span.start as usize..span.end as usize);
        Some(Location { uri: self.uri(path), range })
    }

    /// Where a span of the document that is asked about lies; none when it lies elsewhere.
    pub(super) fn range_in(&self, asked: &Asked<'_>, span: Span) -> Option<Range> {
        let is_here = asked.analysis.path(span.source) == Some(&*asked.buffer.path);
        is_here.then(|| asked.lines.range(span.start as usize..span.end as usize))
    }
}

impl Asked<'_> {
    pub(super) fn offset(&self, position: Position) -> usize {
        self.lines.offset(position)
    }
}
