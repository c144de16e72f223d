//! Texts that stand before the files of their paths: what an editor holds and has not saved.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Text by the real path of its file. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    texts: Arc<HashMap<PathBuf, Arc<str>>>,
}

impl Overlay {
    /// The text that stands before the file of this real path.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(path)
    }
}

impl FromIterator<(PathBuf, Arc<str>)> for Overlay {
    fn from_iter<I: IntoIterator<Item = (PathBuf, Arc<str>)>>(texts: I) -> Self {
        Self { texts: Arc::new(texts.into_iter().collect()) }
    }
}
