//! Where changes can come from: the folders to be watched, and which names in them matter.
//!
//! Folders are watched, never files: an editor that saves puts a new file in the place of the old one. A name that is a
//! symbolic link is followed link by link, and each link's folder is watched too, so that a folder of configuration that is
//! swapped by moving one link is noticed.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::contents::Contents;
use super::scan::Target;
use crate::load::{Library, is_document_file};

/// The most links in one path, as Linux has it.
const MAX_LINKS: usize = 40;

/// The folders to be watched, by their real paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    folders: BTreeMap<PathBuf, Interest>,
}

/// What matters in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Interest {
    /// Every document, and every folder, since it is searched.
    documents: bool,
    /// These names, there or not.
    names: BTreeSet<OsString>,
}

impl Places {
    /// Where the changes of a loop come from.
    pub(super) fn of(library: &Library, contents: &Contents, target: &Target) -> Self {
        let mut places = Self::default();
        for folder in library.document_folders() {
            let real = places.path(&folder);
            if let Some(real) = real {
                places.folders.entry(real).or_default().documents = true;
            }
        }
        let files = contents.paths().filter_map(|path| std::path::absolute(path).ok());
        let added = library.added_files().map(Path::to_owned);
        let own = match target {
            Target::File(path) => std::path::absolute(path).ok(),
            Target::Name(_) => None,
        };
        let absent = library.files.absent();
        for path in files.chain(added).chain(own).chain(library.workspace_paths()).chain(absent) {
            places.path(&path);
        }
        places
    }

    /// Notes every folder and name that decide what a path means; gives where it really is, if there is anything.
    fn path(&mut self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::new();
        let mut left: Vec<OsString> = parts(path);
        let mut links = 0;
        let mut steps = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            // The root of the file system is no name in a folder.
            if real.as_os_str().is_empty() {
                real = next;
                continue;
            }
            steps += 1;
            let meta = std::fs::symlink_metadata(&next).ok();
            let is_link = meta.as_ref().is_some_and(Metadata::is_symlink);
            if meta.is_none() || is_link || left.is_empty() {
                self.folders.entry(real.clone()).or_default().names.insert(part);
            }
            match meta {
                None => return None,
                Some(_) if is_link => {
                    links += 1;
                    let aim = std::fs::read_link(&next).ok()?;
                    if links > MAX_LINKS {
                        return None;
                    }
                    if aim.is_absolute() {
                        real = PathBuf::new();
                    }
                    left.extend(parts(&aim));
                }
                Some(_) => real = next,
            }
        }
        (steps > 0).then_some(real)
    }

    /// The folders.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Whether something that happened to this path can change what the loop is.
    pub(super) fn matter(&self, path: &Path) -> bool {
        if self.folders.contains_key(path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        self.folders.get(folder).is_some_and(|interest| {
            interest.names.contains(name) || (interest.documents && (is_document_file(path) || path.is_dir()))
        })
    }

    /// Adds the places of another loop.
    pub fn extend(&mut self, other: Self) {
        for (folder, interest) in other.folders {
            let mine = self.folders.entry(folder).or_default();
            mine.documents |= interest.documents;
            mine.names.extend(interest.names);
        }
    }

    /// What the file system says of everything that matters, without reading any file: when nothing was missed, it is the
    /// same as at the last look.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        for (folder, interest) in &self.folders {
            folder.hash(&mut hash);
            for name in &interest.names {
                state(&folder.join(name)).hash(&mut hash);
            }
            if !interest.documents {
                continue;
            }
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut entries: Vec<PathBuf> = entries.filter(|path| is_document_file(path) || path.is_dir()).collect();
            entries.sort();
            for path in entries {
                // What changes in a folder is seen there; the folder itself counts by being there.
                (path.is_dir(), &path, (!path.is_dir()).then(|| state(&path))).hash(&mut hash);
            }
        }
        hash.finish()
    }
}

/// A path's parts, last first, so that the next one is at the end.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    // A drive and the root behind it are one place to begin at.
    let mut list: Vec<OsString> = Vec::new();
    for part in parts {
        match (part, list.last_mut()) {
            (Component::RootDir, Some(prefix)) => prefix.push(std::path::MAIN_SEPARATOR_STR),
            (part, _) => list.push(part.as_os_str().to_owned()),
        }
    }
    list.reverse();
    list
}

/// What identifies a file's content without reading it, of a link both it and what it leads to.
fn state(path: &Path) -> Option<[(u64, u64, u128); 2]> {
    let link = std::fs::symlink_metadata(path).ok()?;
    let file = std::fs::metadata(path).ok();
    Some([identity(&link), file.map(|file| identity(&file)).unwrap_or_default()])
}

fn identity(meta: &Metadata) -> (u64, u64, u128) {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    (number(meta), meta.len(), since.as_nanos())
}

/// What tells a folder from another one that took its place.
pub(super) fn number(meta: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::ino(meta)
    }
    #[cfg(not(unix))]
    {
        let since = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_matters_for_its_names_and_a_searched_one_for_its_documents() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let mut places = Places::default();
        places.path(&root.join("prompts/deep/a.md.j2"));
        places.folders.entry(root.join("loops")).or_default().documents = true;
        assert!(places.matter(&root.join("prompts")), "the first part that is not there");
        assert!(!places.matter(&root.join("report.md")) && !places.matter(&root.join("run.ndjson")));
        assert!(places.matter(&root.join("loops/new.yaml")) && places.matter(&root.join("loops")));
        assert!(!places.matter(&root.join("loops/new.yaml.swp")));

        std::fs::create_dir_all(root.join("prompts/deep")).unwrap();
        places.path(&root.join("prompts/deep/a.md.j2"));
        assert!(
            places.matter(&root.join("prompts/deep/a.md.j2")) && !places.matter(&root.join("prompts/deep/b.md.j2"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn every_link_on_the_way_is_watched() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        for (path, text) in [("volume/..1/x.yaml", "1"), ("volume/..2/x.yaml", "2")] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        symlink("..1", root.join("volume/..data")).unwrap();
        symlink("..data/x.yaml", root.join("volume/x.yaml")).unwrap();
        symlink("volume", root.join("loops")).unwrap();
        let mut places = Places::default();
        assert_eq!(places.path(&root.join("loops/x.yaml")), Some(root.join("volume/..1/x.yaml")));
        for path in ["loops", "volume/x.yaml", "volume/..data", "volume/..1/x.yaml"] {
            assert!(places.matter(&root.join(path)), "{path} of {places:?}");
        }
        let before = places.fingerprint();
        symlink("..2", root.join("volume/..new")).unwrap();
        std::fs::rename(root.join("volume/..new"), root.join("volume/..data")).unwrap();
        assert_ne!(places.fingerprint(), before, "the slow look sees the swap too");
        symlink("a", root.join("b")).unwrap();
        symlink("b", root.join("a")).unwrap();
        assert_eq!(places.path(&root.join("a")), None, "a circle of links ends");
    }
}
