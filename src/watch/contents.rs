//! What a loop is made of, by content: the digest of every file that it uses, and one hash over all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::check::sources_of_loop;
use crate::load::Library;

/// A version of a loop: SHA-256 over the paths and contents of all files that it uses, as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(String);

impl Version {
    /// All digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file's state in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    /// None for a file that is not there or cannot be read.
    digest: Option<[u8; 32]>,
    /// Nothing but white space: what an editor leaves for a moment between emptying a file and writing it.
    blank: bool,
}

impl State {
    fn of(bytes: &[u8]) -> Self {
        Self { digest: Some(Sha256::digest(bytes).into()), blank: bytes.trim_ascii().is_empty() }
    }

    const ABSENT: Self = Self { digest: None, blank: true };
}

/// The files of the workspace that a loop uses; what is part of the program does not change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    files: BTreeMap<PathBuf, State>,
}

impl Contents {
    /// The files of a loop: documents as they were read, and every template file that the library has read so far.
    pub(super) fn of(library: &Library, name: &str) -> Self {
        let documents = sources_of_loop(library, name);
        let documents = documents.into_iter().map(|id| (library.sources.path(id), library.sources.text(id)));
        let documents = documents.filter(|(path, _)| !path.starts_with("<shipped>"));
        let mut files: BTreeMap<PathBuf, State> =
            documents.map(|(path, text)| (path.to_owned(), State::of(text.as_bytes()))).collect();
        for file in library.files.list().into_iter().filter(|file| !file.shipped) {
            files.insert(file.path, State::of(file.text.as_bytes()));
        }
        Self { files }
    }

    /// A file that nothing is known of.
    pub(super) fn unread(path: &Path) -> Self {
        Self { files: BTreeMap::from([(path.to_owned(), State::ABSENT)]) }
    }

    /// Adds the files of an earlier version as they are now: a loop that cannot be read does not say what it uses.
    pub(super) fn with_files_of(mut self, earlier: &Self) -> Self {
        for path in earlier.files.keys() {
            self.files.entry(path.clone()).or_insert_with(|| match std::fs::read(path) {
                Ok(bytes) => State::of(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)),
                Err(_) => State::ABSENT,
            });
        }
        self
    }

    /// The hash over all of them.
    #[must_use]
    pub fn version(&self) -> Version {
        let mut hash = Sha256::new();
        for (path, state) in &self.files {
            let path = path.as_os_str().as_encoded_bytes();
            // Lengths first, so that no two lists of files give the same bytes.
            hash.update(u64::try_from(path.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(path);
            hash.update([u8::from(state.digest.is_some())]);
            hash.update(state.digest.unwrap_or_default());
        }
        Version(data_encoding::HEXLOWER.encode(&hash.finalize()))
    }

    /// The files that are different, new or gone, as people see them.
    #[must_use]
    pub fn changed_since(&self, earlier: &Self) -> Vec<String> {
        let mine = self.files.iter().filter(|(path, state)| earlier.files.get(*path) != Some(state));
        let gone = earlier.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut paths: Vec<String> =
            mine.map(|(path, _)| path).chain(gone).map(|path| path.to_string_lossy().replace('\\', "/")).collect();
        paths.sort();
        paths
    }

    /// Whether a file that had text has none, or is gone.
    pub(super) fn blanked_since(&self, earlier: &Self) -> bool {
        let texts = earlier.files.iter().filter(|(_, state)| !state.blank);
        let mut texts = texts.map(|(path, _)| path);
        texts.any(|path| self.files.get(path).map_or_else(|| !path.exists(), |state| state.blank))
    }

    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    #[cfg(test)]
    pub(super) fn of_texts(texts: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| (PathBuf::from(path), State::of(text.as_bytes()));
        Self { files: texts.iter().map(file).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_content_and_path_and_nothing_else() {
        let one = Contents::of_texts(&[("a", "1"), ("b", "2")]);
        assert_eq!(one.version(), Contents::of_texts(&[("b", "2"), ("a", "1")]).version());
        for other in [&[("a", "1"), ("b", "3")][..], &[("a", "1")], &[("a", "1"), ("c", "2")], &[("a", ""), ("b", "2")]]
        {
            assert_ne!(one.version(), Contents::of_texts(other).version(), "{other:?}");
        }
    }

    #[test]
    fn changes_are_files_that_differ_came_or_went() {
        let before = Contents::of_texts(&[("same", "1"), ("edited", "2"), ("gone", "3"), ("emptied", "4")]);
        let after = Contents::of_texts(&[("same", "1"), ("edited", "x"), ("new", "5"), ("emptied", " \n")]);
        assert_eq!(after.changed_since(&before), ["edited", "emptied", "gone", "new"]);
        assert!(after.blanked_since(&before));
        let (blank, text) = (Contents::of_texts(&[("a", " ")]), Contents::of_texts(&[("a", "1")]));
        assert!(!text.blanked_since(&blank), "a file that gets its text back is not blank");
        let emptied = Contents::of_texts(&[("emptied", "")]);
        assert!(!emptied.blanked_since(&emptied), "a file that was blank before may stay so");
    }
}
