//! What a step may touch: processes, files, network.

use std::path::{Path, PathBuf};

use crate::document::PolicyRule;

/// Files, processes and network of a workspace. Shared by all runs.
#[derive(Debug)]
pub struct Access {
    root: PathBuf,
    roots: Vec<PathBuf>,
    rules: Vec<PolicyRule>,
}

impl Access {
    /// The workspace's folder, the folders that files may lie in, and the policy.
    #[must_use]
    pub fn new(root: &Path, roots: &[PathBuf], rules: Vec<PolicyRule>) -> Self {
        Self { root: root.to_path_buf(), roots: roots.to_vec(), rules }
    }

    /// The workspace's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Access {
    /// Whether the model may call a tool with these parameters, and why not.
    pub fn decide(
        &self,
        _tool: &str,
        _params: &serde_json::Value,
        _effect: crate::document::Effect,
    ) -> (crate::document::Decision, String) {
        (crate::document::Decision::Allow, String::new())
    }
}
