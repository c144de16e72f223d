//! What is passed over when a folder is looked through: the workspace's `paths.exclude`.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::document::WorkspaceDoc;

/// Patterns of files and folders, from the workspace's folder.
#[derive(Debug, Clone)]
pub struct Exclude {
    patterns: Gitignore,
}

impl Exclude {
    /// The patterns of a workspace in this folder; one that cannot be read is passed over, and [`exclude_faults`] says so.
    #[must_use]
    pub fn of(workspace: &WorkspaceDoc, root: &Path) -> Self {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut builder = GitignoreBuilder::new(root);
        for pattern in &workspace.paths.exclude {
            // What is wrong with it is a finding.
            let _ = builder.add_line(None, &pattern.value);
        }
        Self { patterns: builder.build().unwrap_or_else(|_| Gitignore::empty()) }
    }

    /// Whether a file is passed over, itself or with a folder around it.
    #[must_use]
    pub fn covers(&self, file: &Path) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        real.starts_with(self.patterns.path()) && self.patterns.matched_path_or_any_parents(&real, false).is_ignore()
    }
}

/// Patterns that cannot be read.
pub fn exclude_faults(workspace: &WorkspaceDoc, findings: &mut Diagnostics) {
    for pattern in &workspace.paths.exclude {
        if let Err(error) = GitignoreBuilder::new("/").add_line(None, &pattern.value) {
            let message = format!("`{}` is no pattern: {error}", pattern.value);
            findings.push(
                Diagnostic::error(codes::INVALID_VALUE, pattern.span, message)
                    .help("write it as in a `.gitignore`, such as `tests/fixtures/` or `**/*.draft.yaml`"),
            );
        }
    }
}
