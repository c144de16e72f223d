//! What a step may touch: files inside the declared roots, programs, the network; and what the model's own calls may do.

mod address;
mod capture;
mod decide;
mod descendants;
mod error;
mod files;
mod network;
mod process;
mod protect;
#[cfg(feature = "mcp")]
mod service;
mod walk;

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use capture::{Captured, captured};
pub use error::AccessError;
pub use files::Inside;
#[cfg(feature = "mcp")]
pub(crate) use network::causes;
pub use network::{HttpRequest, HttpResponse, Reach};
pub use process::{Finished, Program};
#[cfg(feature = "mcp")]
pub use service::Service;

use crate::document::PolicyRule;

/// Files, processes and network of a workspace. Shared by all runs; clones are cheap and the same.
#[derive(Debug, Clone)]
pub struct Access {
    root: Arc<Path>,
    roots: Arc<[PathBuf]>,
    rules: Arc<[PolicyRule]>,
    /// Folders of documents, relative to the workspace.
    steering: Arc<[PathBuf]>,
    network: Arc<network::Network>,
    /// What judges the loop that uses this.
    protected: Arc<[Arc<protect::Protected>]>,
}

impl Access {
    /// The workspace's folder, the folders that files may lie in (relative ones lie in the workspace's), and the
    /// policy's rules in order.
    #[must_use]
    pub fn new(root: &Path, roots: &[PathBuf], rules: Vec<PolicyRule>) -> Self {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let roots = roots.iter().map(|folder| root.join(folder)).collect();
        Self {
            root: root.into(),
            roots,
            rules: rules.into(),
            steering: Arc::default(),
            network: Arc::default(),
            protected: Arc::default(),
        }
    }

    /// The same, with these folders of documents kept from the model: what it writes there would steer later runs.
    #[must_use]
    pub fn steered_by(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { steering: folders.into_iter().map(plain).collect(), ..self }
    }

    /// The workspace's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The same, with names looked up by `lookup`.
    #[cfg(test)]
    fn with_lookup(self, lookup: Arc<network::Lookup>) -> Self {
        Self { network: Arc::new(network::Network::new(lookup)), ..self }
    }

    fn roots(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().map(|root| root.components().collect())
    }
}

/// A folder's path without `.` in it.
fn plain(folder: PathBuf) -> PathBuf {
    folder.components().filter(|part| *part != Component::CurDir).collect()
}
