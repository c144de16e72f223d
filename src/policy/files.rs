//! Files inside the declared roots: symbolic links are resolved first, then every folder on the way is opened without
//! following any, so that a link that is swapped in between leads nowhere.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::{Access, AccessError};

/// A path inside the roots, free of symbolic links when it was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// The root that holds it.
    pub(super) base: PathBuf,
    /// From the root down.
    pub(super) rest: PathBuf,
    /// For people: relative to the workspace where it lies in it.
    pub(super) shown: String,
}

impl Inside {
    /// For people: relative to the workspace where it lies in it.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The absolute path.
    #[must_use]
    pub fn full(&self) -> PathBuf {
        self.base.join(&self.rest)
    }

    fn io(&self, doing: &'static str, source: impl Into<std::io::Error>) -> AccessError {
        AccessError::io(doing, self.shown.as_str(), source)
    }
}

/// The start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// At most as many bytes as were asked for.
    pub bytes: Vec<u8>,
    /// Whether the file goes on.
    pub more: bool,
}

impl Access {
    /// Where a path leads, when it is inside the roots. It need not exist.
    ///
    /// # Errors
    /// Paths with `..`, paths that lead out, also through symbolic links, and links that lead nowhere.
    pub fn resolve(&self, path: &str) -> Result<Inside, AccessError> {
        let bad = |problem| AccessError::BadPath { path: path.to_owned(), problem };
        if path.trim().is_empty() {
            return Err(bad("it is empty"));
        }
        if path.contains('\0') {
            return Err(bad("it has a NUL in it"));
        }
        if Path::new(path).components().any(|part| part == Component::ParentDir) {
            return Err(bad("it goes up with `..`; write it from the workspace's folder down, or from `/` down"));
        }
        let full = settle(&self.root().join(path)).map_err(|source| AccessError::io("find", path, source))?;
        let roots = self.roots().map(|root| root.canonicalize().unwrap_or(root));
        let base = roots.filter(|root| full.starts_with(root)).max_by_key(|root| root.as_os_str().len());
        let Some(base) = base else {
            return Err(AccessError::Outside { path: path.to_owned(), roots: self.shown_roots() });
        };
        let workspace = self.root().canonicalize();
        let shown = match workspace.as_deref().map(|workspace| full.strip_prefix(workspace)) {
            Ok(Ok(below)) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(Ok(below)) => below.to_string_lossy().into_owned(),
            _ => full.to_string_lossy().into_owned(),
        };
        let rest = full.strip_prefix(&base).map(Path::to_path_buf).unwrap_or_default();
        Ok(Inside { base, rest, shown })
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// When it is not there, not a regular file, or not readable.
    pub fn open(&self, path: &Inside) -> Result<File, AccessError> {
        let (dir, name) = parent(path, Create::No)?;
        // Without NONBLOCK a pipe would keep us waiting for its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = openat(&dir, &name, flags, Mode::empty()).map_err(|source| path.io("read", source))?;
        let stat = fstat(&fd).map_err(|source| path.io("read", source))?;
        want_file(path, FileType::from_raw_mode(stat.st_mode))?;
        Ok(File::from(fd))
    }

    /// The first `max` bytes of a file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(&self, path: &Inside, max: usize) -> Result<Contents, AccessError> {
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        // One more than asked for tells whether the file goes on.
        let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes).map_err(|source| path.io("read", source))?;
        let more = bytes.len() > max;
        bytes.truncate(max);
        Ok(Contents { bytes, more })
    }

    /// Writes a whole file: either all of it is there afterwards, or what was there before. Makes parent folders.
    ///
    /// # Errors
    /// What the system says, a target that is no regular file, and one that judges the loop.
    pub fn write(&self, path: &Inside, content: &[u8]) -> Result<(), AccessError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        self.writable(path)?;
        let (dir, name) = parent(path, Create::Yes)?;
        let before = match statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                want_file(path, FileType::from_raw_mode(stat.st_mode))?;
                Some(Mode::from_raw_mode(stat.st_mode))
            }
            Err(Errno::NOENT) => None,
            Err(source) => return Err(path.io("write", source)),
        };
        let temporary = format!(".{name}.{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            openat(&dir, &temporary, flags, Mode::from_raw_mode(0o666)).map_err(|source| path.io("write", source))?;
        let written = (|| {
            if let Some(mode) = before {
                fchmod(&fd, mode)?;
            }
            let mut file = File::from(fd);
            file.write_all(content)?;
            // A full disk or a broken one may speak up only now.
            file.sync_all()?;
            renameat(&dir, &temporary, &dir, &name)?;
            Ok(())
        })();
        written.map_err(|source: std::io::Error| {
            // The write's own error is the one to tell.
            let _ = unlinkat(&dir, &temporary, AtFlags::empty());
            path.io("write", source)
        })
    }

    /// Adds to the end of a file, which is made when it is not there. Makes parent folders.
    ///
    /// # Errors
    /// What the system says, a target that is no regular file, and one that judges the loop.
    pub fn append(&self, path: &Inside, content: &[u8]) -> Result<(), AccessError> {
        self.writable(path)?;
        let (dir, name) = parent(path, Create::Yes)?;
        let flags =
            OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd =
            openat(&dir, &name, flags, Mode::from_raw_mode(0o666)).map_err(|source| path.io("append to", source))?;
        let stat = fstat(&fd).map_err(|source| path.io("append to", source))?;
        want_file(path, FileType::from_raw_mode(stat.st_mode))?;
        let mut file = File::from(fd);
        file.write_all(content).and_then(|()| file.sync_all()).map_err(|source| path.io("append to", source))
    }

    fn shown_roots(&self) -> String {
        let shown = |root: PathBuf| match root.strip_prefix(self.root()) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => root.display().to_string(),
        };
        self.roots().map(shown).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Create {
    Yes,
    No,
}

/// A path without symbolic links. What does not exist yet is kept as it is written.
fn settle(path: &Path) -> std::io::Result<PathBuf> {
    let mut existing = path.to_path_buf();
    let mut missing = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(mut settled) => {
                settled.extend(missing.iter().rev());
                return Ok(settled);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if existing.symlink_metadata().is_ok() {
                    return Err(std::io::Error::new(error.kind(), "a symbolic link on the way leads nowhere"));
                }
                let Some(name) = existing.file_name().map(ToOwned::to_owned) else { return Err(error) };
                missing.push(name);
                existing.pop();
            }
            Err(error) => return Err(error),
        }
    }
}

/// The opened folder that holds a path, and the path's name in it.
fn parent(path: &Inside, create: Create) -> Result<(OwnedFd, String), AccessError> {
    let doing = if create == Create::Yes { "write" } else { "read" };
    let Some(name) = path.rest.file_name() else {
        return Err(AccessError::WrongKind { path: path.shown.clone(), found: "a folder", wanted: "a file" });
    };
    let name = name
        .to_str()
        .ok_or_else(|| AccessError::BadPath { path: path.shown.clone(), problem: "its name is not UTF-8" })?;
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = open(&path.base, folder, Mode::empty()).map_err(|source| path.io(doing, source))?;
    for part in path.rest.parent().into_iter().flat_map(Path::components) {
        let step = |dir: &OwnedFd| openat(dir, part.as_os_str(), folder | OFlags::NOFOLLOW, Mode::empty());
        let next = match step(&dir) {
            Err(Errno::NOENT) if create == Create::Yes => {
                match mkdirat(&dir, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                    // Another step may have made it just now.
                    Ok(()) | Err(Errno::EXIST) => step(&dir),
                    Err(source) => Err(source),
                }
            }
            other => other,
        };
        dir = next.map_err(|source| path.io(doing, source))?;
    }
    Ok((dir, name.to_owned()))
}

fn want_file(path: &Inside, found: FileType) -> Result<(), AccessError> {
    let found = match found {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    };
    Err(AccessError::WrongKind { path: path.shown.clone(), found, wanted: "a file" })
}
