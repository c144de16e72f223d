//! Documents as they were written, before anything is merged in or decoded: for tools that point into their text.

use super::Library;
use crate::diag::SourceId;
use crate::document::Kind;
use crate::syntax::Node;

/// A file's document as it was written: nothing is merged in, and nothing of it needs to make sense.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Its kind, as far as it could be told.
    pub kind: Kind,
    /// The tree, if it could be read.
    pub node: Option<&'a Node>,
    /// Its folder from the workspace's folder, with `/`.
    pub folder: &'a str,
    /// The file.
    pub source: SourceId,
    /// Whether it is part of the program.
    pub shipped: bool,
}

impl Library {
    /// A file's document as it was written.
    #[must_use]
    pub fn written(&self, source: SourceId) -> Option<Written<'_>> {
        self.all_written().find(|doc| doc.source == source)
    }

    /// Every document as it was written: the workspace's file, its documents, the shipped ones.
    pub fn all_written(&self) -> impl Iterator<Item = Written<'_>> {
        let own = &self.workspace;
        let workspace = (own.source != SourceId::NONE).then_some(Written {
            kind: Kind::Workspace,
            node: Some(&own.node),
            folder: &own.folder,
            source: own.source,
            shipped: false,
        });
        let others = self.docs.iter().map(|doc| Written {
            kind: doc.kind,
            node: doc.node.as_ref(),
            folder: &doc.folder,
            source: doc.source,
            shipped: doc.shipped,
        });
        workspace.into_iter().chain(others)
    }
}
