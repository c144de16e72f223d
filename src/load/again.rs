//! Reading a workspace again, and where to look for its changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Library;
use super::discover::{WORKSPACE_FILES, is_document, searched_folders, workspace_files};
use super::memory::Memory;
use crate::diag::SourceId;

/// What was added to a library by hand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Added {
    /// A file or folder: where it is, and how it was named.
    Path(PathBuf, PathBuf),
    /// A text at hand.
    Text(PathBuf, Arc<[u8]>),
}

impl Library {
    /// Reads everything again: the same folder as a workspace, and what was added to it. What did not change is not parsed
    /// again.
    #[must_use]
    pub fn reopen(&self) -> Self {
        // Not searched upward: while the workspace's file is being replaced, one further up must not take its place.
        let files = workspace_files(&self.root);
        let memory = Memory::after(&self.memory);
        let (mut library, _) = Self::open_root(self.root.clone(), &files, self.overlay.clone(), memory);
        for added in &self.added {
            match added {
                Added::Path(path, shown) => {
                    library.add_path(if shown.exists() { shown } else { path });
                }
                Added::Text(path, bytes) => {
                    library.add_text(path, bytes);
                }
            }
        }
        library.memory.settle();
        library
    }

    /// Notes what was added by hand.
    pub(super) fn note_added(&mut self, added: Added) {
        self.added.insert(added);
    }

    /// The same documents, with no template file read yet.
    #[must_use]
    pub fn without_templates(&self) -> Self {
        let mut library = self.clone();
        library.files = self.files.unread();
        library
    }

    /// Whether a file declares the workspace.
    #[must_use]
    pub fn has_workspace_file(&self) -> bool {
        self.workspace.source != SourceId::NONE
    }

    /// Where a file that declares the workspace lies, or might.
    pub fn workspace_paths(&self) -> impl Iterator<Item = PathBuf> {
        WORKSPACE_FILES.iter().map(|name| self.root.join(name))
    }

    /// Every folder that is searched for documents, and what `paths.loops` names that is none.
    #[must_use]
    pub fn document_folders(&self) -> Vec<PathBuf> {
        let named = self.workspace.doc.paths.loops.iter().map(|folder| self.root.join(&folder.value));
        let named = named.chain(self.skill_roots().into_iter().map(|root| root.path));
        let added = self.added.iter().filter_map(|added| match added {
            Added::Path(path, _) if path.is_dir() => Some(path.clone()),
            _ => None,
        });
        named.chain(added).flat_map(|folder| searched_folders(&folder)).collect()
    }

    /// Single files that were added by hand.
    pub fn added_files(&self) -> impl Iterator<Item = &Path> {
        self.added.iter().filter_map(|added| match added {
            Added::Path(path, _) if !path.is_dir() => Some(path.as_path()),
            _ => None,
        })
    }
}

/// Whether a file in a folder of documents is searched for.
#[must_use]
pub fn is_document_file(path: &Path) -> bool {
    is_document(path) || path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}
