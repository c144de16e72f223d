//! Files that judge a loop: no step writes them, and what a program did to them is put back before they judge.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use sha2::{Digest, Sha256};

use super::{Access, AccessError, Inside};

/// The most bytes that are kept of all files together. Of a file beyond that only the hash is known: it can be told that
/// it has changed, and not be put back.
const KEPT: usize = 64 << 20;

/// Where files go that were in the way: nothing that a person may still want is lost.
const ASIDE: &str = ".loopwright/set_aside";

/// The engine's own folder, and git's: what lies there judges nobody.
const SKIPPED: [&str; 2] = [".git", ".loopwright"];

/// Patterns with the files that they stood for when they came into force.
#[derive(Debug)]
pub(super) struct Protected {
    patterns: Vec<String>,
    matcher: Override,
    kept: Mutex<Option<Kept>>,
}

/// Files by their path from the workspace's folder down.
type Kept = BTreeMap<PathBuf, Original>;

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Original {
    File { hash: [u8; 32], content: Option<Arc<[u8]>>, mode: Option<fs::Permissions> },
    Link(PathBuf),
}

impl Access {
    /// The same, with files that nothing may write once they are in force, see [`Self::enforce`]. The patterns are those of
    /// `.gitignore`, relative to the workspace.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn protecting(&self, patterns: &[String]) -> Result<Self, AccessError> {
        if patterns.is_empty() {
            return Ok(self.clone());
        }
        let mut all = patterns.to_vec();
        // A folder may be a link to another one inside the roots: what lies there is protected as well.
        all.extend(patterns.iter().filter_map(|pattern| self.behind_link(pattern)));
        let mut builder = OverrideBuilder::new("/");
        let bad = |pattern: &str, source: ignore::Error| AccessError::Pattern {
            pattern: pattern.to_owned(),
            problem: source.to_string(),
        };
        for pattern in &all {
            builder.add(plain(pattern)).map_err(|source| bad(pattern, source))?;
        }
        let matcher = builder.build().map_err(|source| bad(&all.join(" "), source))?;
        let protected = Protected { patterns: all, matcher, kept: Mutex::default() };
        let protected = self.protected.iter().cloned().chain([Arc::new(protected)]).collect();
        Ok(Self { protected, ..self.clone() })
    }

    /// What is wrong with a pattern, if anything.
    #[must_use]
    pub fn pattern_problem(pattern: &str) -> Option<String> {
        let bare = plain(pattern).trim_matches('/');
        if bare.is_empty() {
            return Some("it names nothing".to_owned());
        }
        if Path::new(bare).components().any(|part| part == Component::ParentDir) {
            return Some("what lies outside the workspace is never written by it".to_owned());
        }
        OverrideBuilder::new("/").add(plain(pattern)).err().map(|error| error.to_string())
    }

    /// Whether anything is protected.
    #[must_use]
    pub fn protects(&self) -> bool {
        !self.protected.is_empty()
    }

    /// From now on the protected files must stay as they are. Reads them; a second time it does nothing. Gives the patterns
    /// of those lists of patterns that no file fits.
    pub fn enforce(&self) -> Vec<String> {
        let mut idle = Vec::new();
        for protected in &*self.protected {
            let known = protected.lock().is_some();
            if !known {
                let now = protected.read(self.root(), true);
                if now.is_empty() {
                    idle.extend(protected.patterns.iter().cloned());
                }
                protected.lock().get_or_insert(now);
            }
        }
        idle
    }

    /// Puts back what was changed or is gone, and puts aside what is new. `name` names the folder for what was in the way.
    /// Gives the files that were not as they should be.
    ///
    /// # Errors
    /// Files that could not be put back, in words.
    pub fn put_back(&self, name: &str) -> Result<Vec<String>, String> {
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for protected in &*self.protected {
            let Some(kept) = protected.lock().clone() else { continue };
            let now = protected.read(self.root(), false);
            for path in now.keys().filter(|path| !kept.contains_key(*path)) {
                found.push(shown(path));
                if let Err(problem) = self.put_aside(path, name) {
                    failed.push(format!("{}: {problem}", shown(path)));
                }
            }
            for (path, original) in kept.iter().filter(|(path, original)| !same(now.get(*path), original)) {
                found.push(shown(path));
                let restored = match (now.get(path), original) {
                    (Some(now), was) if now.has_content_of(was) => was.set_mode(&self.root().join(path)),
                    (_, original) => self.restore(path, original, name),
                };
                if let Err(problem) = restored {
                    failed.push(format!("{}: {problem}", shown(path)));
                }
            }
        }
        if failed.is_empty() { Ok(found) } else { Err(failed.join("; ")) }
    }

    /// The protected files that are changed or gone. New ones do not count.
    #[must_use]
    pub fn changed(&self) -> Vec<String> {
        let mut changed = Vec::new();
        for protected in &*self.protected {
            let Some(kept) = protected.lock().clone() else { continue };
            let now = protected.read(self.root(), false);
            changed.extend(kept.iter().filter(|(path, was)| !same(now.get(*path), was)).map(|(path, _)| shown(path)));
        }
        changed
    }

    /// Refuses a write to a file that judges the loop.
    pub(super) fn writable(&self, path: &Inside) -> Result<(), AccessError> {
        let guards = self.protected.iter().filter(|protected| protected.lock().is_some());
        match guards.into_iter().any(|protected| protected.matches(Path::new(&path.shown))) {
            true => Err(AccessError::Protected { path: path.shown.clone() }),
            false => Ok(()),
        }
    }

    /// The pattern for the place to which the beginning of a pattern leads through links.
    fn behind_link(&self, pattern: &str) -> Option<String> {
        let folder = literal_folder(pattern);
        let real = self.root().join(&folder).canonicalize().ok()?;
        let below = real.strip_prefix(self.root().canonicalize().ok()?).ok()?.to_path_buf();
        if folder.as_os_str().is_empty() || below == folder || below.as_os_str().is_empty() {
            return None;
        }
        let rest = plain(pattern).trim_start_matches('/').strip_prefix(folder.to_str()?)?;
        Some(format!("/{}{rest}", below.to_str()?))
    }

    fn restore(&self, path: &Path, original: &Original, name: &str) -> Result<(), String> {
        let words = |error: std::io::Error| error.to_string();
        let full = self.root().join(path);
        // A folder on the way may have become a link to somewhere else, or a file.
        for ancestor in ancestors(path) {
            let on_the_way = self.root().join(&ancestor).symlink_metadata();
            if on_the_way.is_ok_and(|meta| !meta.is_dir()) {
                self.put_aside(&ancestor, name)?;
            }
        }
        if full.symlink_metadata().is_ok() {
            self.put_aside(path, name)?;
        }
        if let Some(folder) = full.parent() {
            fs::create_dir_all(folder).map_err(words)?;
        }
        match original {
            Original::Link(target) => std::os::unix::fs::symlink(target, &full).map_err(words),
            Original::File { content: None, .. } => Err("it is too large to have been kept".to_owned()),
            Original::File { content: Some(content), .. } => {
                fs::write(&full, content).map_err(words)?;
                original.set_mode(&full)
            }
        }
    }

    /// Moves a file, a link or a folder out of the way.
    fn put_aside(&self, path: &Path, name: &str) -> Result<(), String> {
        let folder = self.root().join(ASIDE).join(name);
        let target = (0u32..)
            .map(|n| if n == 0 { folder.join(path) } else { folder.join(format!("{}.{n}", path.display())) })
            .find(|target| target.symlink_metadata().is_err());
        // The numbers do not end before the file system does.
        let Some(target) = target else { return Err("there is no name for it".to_owned()) };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        }
        fs::rename(self.root().join(path), target).map_err(|error| error.to_string())
    }
}

impl Protected {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a path from the workspace's folder down, or a folder that holds it, fits a pattern.
    fn matches(&self, path: &Path) -> bool {
        path.ancestors()
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| self.matcher.matched(folder, folder != path).is_whitelist())
    }

    /// The files that fit now. `whole` keeps what is in them.
    fn read(&self, root: &Path, whole: bool) -> Kept {
        let mut files = Kept::new();
        let mut room = if whole { KEPT } else { 0 };
        for (folder, obeys_git) in self.patterns.iter().flat_map(|pattern| starts(pattern)) {
            // What lies behind a link is found where it lies. Of the link itself it counts where it leads.
            if let Some((link, target)) = link_on_the_way(root, &folder) {
                files.insert(link, Original::Link(target));
                continue;
            }
            let walk = WalkBuilder::new(root.join(&folder))
                .standard_filters(false)
                .git_ignore(obeys_git)
                .require_git(false)
                .filter_entry(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name))
                .build();
            for entry in walk.filter_map(Result::ok) {
                let Ok(path) = entry.path().strip_prefix(root) else { continue };
                let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
                if is_folder || files.contains_key(path) || !self.matches(path) {
                    continue;
                }
                if let Some(original) = Original::read(entry.path(), &mut room) {
                    files.insert(path.to_path_buf(), original);
                }
            }
        }
        files
    }
}

impl Original {
    /// Whether both are files, and the same is in them.
    fn has_content_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { hash, .. }, Self::File { hash: other, .. }) => hash == other,
            _ => false,
        }
    }

    /// Gives a file the mode that it had.
    fn set_mode(&self, path: &Path) -> Result<(), String> {
        match self {
            Self::File { mode: Some(mode), .. } => {
                fs::set_permissions(path, mode.clone()).map_err(|error| error.to_string())
            }
            _ => Ok(()),
        }
    }

    /// What a file is now; none when it cannot be read, or is none.
    fn read(path: &Path, room: &mut usize) -> Option<Self> {
        let meta = path.symlink_metadata().ok()?;
        if meta.is_symlink() {
            return Some(Self::Link(fs::read_link(path).ok()?));
        }
        if !meta.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let keeps = usize::try_from(meta.len()).is_ok_and(|length| length <= *room);
        let (mut hasher, mut content, mut buffer) = (Sha256::new(), Vec::new(), vec![0; 64 * 1024]);
        loop {
            let read = file.read(&mut buffer).ok()?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            if keeps {
                content.extend_from_slice(&buffer[..read]);
            }
        }
        *room = room.saturating_sub(content.len());
        let content = keeps.then(|| content.into());
        Some(Self::File { hash: hasher.finalize().into(), content, mode: Some(meta.permissions()) })
    }
}

/// Whether a file is what it was. Its mode counts: what runs the checks may skip a file that may not be run or read.
fn same(now: Option<&Original>, was: &Original) -> bool {
    match (now, was) {
        (Some(Original::File { mode: now_mode, .. }), Original::File { mode, .. }) => {
            mode == now_mode && now.is_some_and(|now| now.has_content_of(was))
        }
        (Some(Original::Link(now)), Original::Link(was)) => now == was,
        _ => false,
    }
}

/// A pattern without marks that would turn it round.
fn plain(pattern: &str) -> &str {
    pattern.trim_start_matches(['!', '#']).trim_start_matches("./")
}

/// What a pattern names before its first wildcard.
fn literal_folder(pattern: &str) -> PathBuf {
    let parts = plain(pattern).trim_matches('/').split('/');
    parts.take_while(|part| !part.contains(['*', '?', '[', '{', '\\'])).collect()
}

/// Where the files of a pattern are looked for, and whether what git ignores is left out there.
///
/// What is named counts in any case. A pattern without a `/` inside fits at any depth: below the whole workspace, what git
/// ignores would be all that was ever built.
fn starts(pattern: &str) -> Vec<(PathBuf, bool)> {
    let folder = literal_folder(pattern);
    let is_named = !folder.as_os_str().is_empty();
    let any_depth = !plain(pattern).trim_end_matches('/').contains('/');
    let named = is_named.then_some((folder, false));
    let everywhere = (any_depth || !is_named).then_some((PathBuf::new(), true));
    named.into_iter().chain(everywhere).collect()
}

/// The first link among a path and the folders above it, and where it leads.
fn link_on_the_way(root: &Path, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let all = ancestors(path).into_iter().chain([path.to_path_buf()]).filter(|path| !path.as_os_str().is_empty());
    all.into_iter().find_map(|path| fs::read_link(root.join(&path)).ok().map(|target| (path, target)))
}

/// The folders above a path, the outermost first.
fn ancestors(path: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut above = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        if let Component::Normal(part) = part {
            above.push(part);
            all.push(above.clone());
        }
    }
    all
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
