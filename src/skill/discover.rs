//! Finding skills: folders with a `SKILL.md`, below the folders that are searched.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How deep skills may lie below a searched folder, and how many folders are looked at. Both are what other tools have, so that
/// a folder of skills means the same to all.
const MAX_DEPTH: usize = 6;
const MAX_FOLDERS: usize = 2000;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file, from the searched folder down; empty when the searched path is the file.
    pub(super) below: PathBuf,
    /// What is wrong with it already.
    pub(super) problem: Option<Problem>,
}

/// Why a place gives no skill, or not as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// `SKILL.md` is a folder or the like.
    NotAFile,
    /// The folder cannot be searched.
    Unreadable,
    /// A link that leads nowhere.
    Dangling,
    /// The file is not named `SKILL.md`; it is read all the same.
    OtherCase,
}

/// Names of folders that are never searched: hidden ones, and other people's packages.
pub(super) fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "__pycache__")
}

/// Every skill below a folder, or the one that it is, sorted by path. A folder with a skill is not searched further: what
/// lies in it is the skill's.
pub(super) fn discover(root: &Path) -> Vec<Found> {
    let mut search = Search { root, found: Vec::new(), seen: HashSet::new() };
    search.folder(Path::new(""), 0);
    search.found.sort_by(|one, other| one.below.cmp(&other.below));
    search.found
}

struct Search<'a> {
    root: &'a Path,
    found: Vec<Found>,
    /// Real paths, so that links that lead in a circle end.
    seen: HashSet<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, below: &Path, depth: usize) {
        let folder = self.root.join(below);
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        if self.seen.len() >= MAX_FOLDERS || !self.seen.insert(real) {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else {
            return self.report(below.to_owned(), Some(Problem::Unreadable));
        };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        // Asked of the list and not of the disk, which may take `skill.md` for it.
        let exact = names.iter().find(|name| *name == "SKILL.md");
        let other = || names.iter().find(|name| name.eq_ignore_ascii_case("SKILL.md") && folder.join(name).is_file());
        if let Some(name) = exact.or_else(other) {
            let problem = match folder.join(name).is_file() {
                false => Some(Problem::NotAFile),
                true => exact.is_none().then_some(Problem::OtherCase),
            };
            return self.report(below.join(name), problem);
        }
        for name in names.iter().filter(|name| !is_passed_over(name)) {
            let path = folder.join(name);
            if path.is_dir() {
                if depth < MAX_DEPTH {
                    self.folder(&below.join(name), depth + 1);
                }
            } else if !path.exists() && path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                self.report(below.join(name), Some(Problem::Dangling));
            }
        }
    }

    fn report(&mut self, below: PathBuf, problem: Option<Problem>) {
        self.found.push(Found { below, problem });
    }
}
