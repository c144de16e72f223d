//! The other files of a skill: read only when they are asked for, and never from outside of its folder.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

use super::discover::is_passed_over;

/// The largest resource that is read, in bytes.
pub const MAX_RESOURCE: usize = 1 << 20;
/// How many resources are listed, and how deep folders are looked into for them.
const MAX_LISTED: usize = 200;
const MAX_DEPTH: usize = 4;

/// Why a resource cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// The path is none.
    #[error("`{0}` is no path of a file")]
    InvalidPath(String),
    /// The path leads out of the skill's folder.
    #[error("`{0}` leads out of the skill's folder; write the path from there down, as in references/guide.md")]
    PathEscape(String),
    /// There is no such file.
    #[error("the skill has no file `{0}`")]
    NotFound(String),
    /// It is a folder, a pipe, or the like.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// It is too large.
    #[error("`{path}` has {bytes} bytes; a resource may have {MAX_RESOURCE}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// It is no text.
    #[error("`{0}` is not UTF-8 text, so it cannot be shown")]
    NotUtf8(String),
    /// The system refuses to read it.
    #[error("`{path}` cannot be read: {problem}")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's words.
        problem: String,
    },
}

impl ResourceError {
    /// The word that programs see.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            Self::InvalidPath(_) => "invalid_path",
            Self::PathEscape(_) => "path_escape",
            Self::NotFound(_) => "not_found",
            Self::NotAFile(_) => "not_a_file",
            Self::TooLarge { .. } => "too_large",
            Self::NotUtf8(_) => "not_utf8",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

/// The text of a file of a skill. The path goes from the skill's folder down; `\` means `/` on every system.
///
/// # Errors
/// When the path leads out of the folder, also through links, or is no readable text file of at most [`MAX_RESOURCE`] bytes.
pub fn read_resource(folder: &Path, path: &str) -> Result<String, ResourceError> {
    let parts = parts(path)?;
    let unreadable =
        |error: &std::io::Error| ResourceError::Unreadable { path: path.to_owned(), problem: error.to_string() };
    let folder = folder.canonicalize().map_err(|error| unreadable(&error))?;
    let mut named = folder.clone();
    for part in &parts {
        if !has_name(&named, part) {
            return Err(ResourceError::NotFound(path.to_owned()));
        }
        named.push(part);
    }
    let real = named.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ResourceError::NotFound(path.to_owned()),
        _ => unreadable(&error),
    })?;
    // Compared part by part, so that `a-evil` does not lie in `a`.
    if !real.starts_with(&folder) {
        return Err(ResourceError::PathEscape(path.to_owned()));
    }
    // The real path has no link any more; one that is put there now is not followed, and a pipe keeps nobody waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = open(&real, flags, Mode::empty()).map_err(|error| unreadable(&error.into()))?;
    let stat = fstat(&fd).map_err(|error| unreadable(&error.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(ResourceError::NotAFile(path.to_owned()));
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if size > MAX_RESOURCE as u64 {
        return Err(ResourceError::TooLarge { path: path.to_owned(), bytes: size });
    }
    let mut bytes = Vec::new();
    File::from(fd).take(MAX_RESOURCE as u64).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    String::from_utf8(text.to_vec()).map_err(|_| ResourceError::NotUtf8(path.to_owned()))
}

/// The parts of a path from the skill's folder down, with `.` and `..` resolved by their names alone.
fn parts(path: &str) -> Result<Vec<&str>, ResourceError> {
    let bytes = path.as_bytes();
    if path.trim().is_empty() || path.contains('\0') {
        return Err(ResourceError::InvalidPath(path.escape_debug().to_string()));
    }
    let has_drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if path.starts_with(['/', '\\']) || has_drive {
        return Err(ResourceError::PathEscape(path.to_owned()));
    }
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| ResourceError::PathEscape(path.to_owned()))?;
            }
            name => parts.push(name),
        }
    }
    Ok(parts)
}

/// Whether a folder has an entry that is spelt exactly so, also on a disk that does not tell cases apart.
fn has_name(folder: &Path, name: &str) -> bool {
    let wanted = super::name::normal_name(name);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        entry.file_name().to_str().is_some_and(|found| found == name || super::name::normal_name(found) == wanted)
    })
}

/// The files of a skill beside its `SKILL.md`, as paths from its folder down, sorted. Nothing is read, and no link is
/// followed.
#[must_use]
pub fn list_resources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = vec![(PathBuf::new(), 0)];
    while let Some((below, depth)) = open.pop() {
        for entry in std::fs::read_dir(folder.join(&below)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let (Some(text), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
            let path = below.join(&name);
            if is_passed_over(text) {
                continue;
            }
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            } else if kind.is_file() && !(depth == 0 && text.eq_ignore_ascii_case("SKILL.md")) {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found.truncate(MAX_LISTED);
    found
}
