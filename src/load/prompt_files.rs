//! Template files: where a name leads, their text, and which were read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

use super::near::{near_file, near_shipped};
use super::overlay::Overlay;
use super::shipped::{SHIPPED_LANGUAGES, mechanism_prompt, shipped};
use crate::diag::{Diagnostic, SourceId};
use crate::syntax::read_text;

/// The largest template file that is read.
const MAX_BYTES: u64 = 8 << 20;

/// A template file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// Its name from the workspace's folder, written with `/`.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// Its path, for people; for a shipped file, its name.
    pub path: PathBuf,
    /// Whether it is part of the program.
    pub shipped: bool,
}

/// Why a template file cannot be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PromptFileError {
    /// There is no such file.
    #[error("file `{0}` does not exist")]
    Missing(String),
    /// The name leads out of the workspace.
    #[error("file `{0}` lies outside the workspace")]
    Outside(String),
    /// The file is there and cannot be read.
    #[error("file `{name}` cannot be read: {problem}")]
    Unreadable {
        /// The name.
        name: String,
        /// The system's words.
        problem: String,
    },
    /// The file is not UTF-8.
    #[error("file `{name}`: {}", .finding.message)]
    Encoding {
        /// The name.
        name: String,
        /// Its path, for people.
        path: PathBuf,
        /// What could be read of it.
        text: Arc<str>,
        /// What is wrong; its span has the source [`SourceId::NONE`] and must be moved to the file's own.
        finding: Box<Diagnostic>,
    },
}

/// Reads template files of a workspace, each once. Cheap to clone: clones share what was read.
#[derive(Debug, Clone)]
pub struct PromptFiles {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    shown_root: PathBuf,
    folders: Vec<String>,
    overlay: Overlay,
    read: Mutex<IndexMap<String, Result<PromptFile, PromptFileError>>>,
}

impl PromptFiles {
    /// Files below `root`; `folders` are those that included names are looked up in.
    #[must_use]
    pub fn new(root: &Path, shown_root: &Path, folders: Vec<String>) -> Self {
        Self::with_overlay(root, shown_root, folders, Overlay::default())
    }

    /// The same with texts that stand before the files of their paths.
    #[must_use]
    pub fn with_overlay(root: &Path, shown_root: &Path, folders: Vec<String>, overlay: Overlay) -> Self {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let inner = Inner { root, shown_root: shown_root.to_owned(), folders, overlay, read: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// The folders under `paths.prompts`, without `.`.
    #[must_use]
    pub fn folders(&self) -> &[String] {
        &self.inner.folders
    }

    /// The file of exactly this name: the workspace's, else the shipped one.
    ///
    /// # Errors
    /// When it is missing, unreadable, not UTF-8, or outside the workspace.
    pub fn read(&self, name: &str) -> Result<PromptFile, PromptFileError> {
        // The map is valid after each single insertion, so a panic elsewhere leaves nothing half done.
        if let Some(known) = self.inner.read.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        let result = self.inner.load(name);
        self.inner.read.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), result.clone());
        result
    }

    /// The file that a document in `folder` (from the workspace's folder, `/` between) means by `name`: from the
    /// workspace, else beside the document, else in a prompt folder, else shipped.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_document(&self, name: &str, folder: &str) -> Result<PromptFile, PromptFileError> {
        self.first(name, std::iter::once(name.to_owned()).chain(joined(folder, name)))
    }

    /// The file of a mechanism's prompt in another language than English, where there is one: as for any file that a
    /// document in `folder` names, the workspace's comes first.
    #[must_use]
    pub fn translation(&self, language: &str, name: &str, folder: &str) -> Option<String> {
        let is_name = !language.is_empty() && language.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !is_name || language == SHIPPED_LANGUAGES[0] {
            return None;
        }
        let path = mechanism_prompt(language, name);
        let missing = matches!(self.of_document(&path, folder), Err(PromptFileError::Missing(_)));
        (!missing).then_some(path)
    }

    /// The file that the template `parent` means by `name`: beside it, else from the workspace, else in a prompt folder.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_template(&self, name: &str, parent: &str) -> Result<PromptFile, PromptFileError> {
        let beside = parent.rsplit_once('/').and_then(|(folder, _)| joined(folder, name));
        self.first(name, beside.into_iter().chain([name.to_owned()]))
    }

    /// A file with a name near to one that does not exist, as the document or template in `folder` would write it.
    #[must_use]
    pub fn near(&self, name: &str, folder: &str) -> Option<String> {
        if !is_inside(name) {
            return None;
        }
        let root = &self.inner.root;
        let below: Vec<PathBuf> = self.inner.folders.iter().map(|folder| root.join(folder)).collect();
        let beside = root.join(folder);
        let folders = [root.as_path(), beside.as_path()].into_iter().chain(below.iter().map(PathBuf::as_path));
        near_file(&folders.collect::<Vec<_>>(), name).or_else(|| near_shipped(name))
    }

    fn first(&self, name: &str, near: impl Iterator<Item = String>) -> Result<PromptFile, PromptFileError> {
        if !is_inside(name) {
            return Err(PromptFileError::Outside(name.to_owned()));
        }
        let folders = self.inner.folders.iter().filter_map(|folder| joined(folder, name));
        let mut candidates: Vec<String> = near.chain(folders).collect();
        candidates.dedup();
        for candidate in candidates {
            match self.read(&candidate) {
                Err(PromptFileError::Missing(_)) => {}
                other => return other,
            }
        }
        Err(PromptFileError::Missing(name.to_owned()))
    }

    /// The name of a file of the workspace; none when it lies elsewhere.
    #[must_use]
    pub fn name_of(&self, path: &Path) -> Option<String> {
        let real = std::fs::canonicalize(path).ok()?;
        let below = real.strip_prefix(&self.inner.root).ok()?;
        Some(below.to_string_lossy().replace('\\', "/"))
    }

    /// The same folders, with nothing read yet.
    #[must_use]
    pub fn unread(&self) -> Self {
        let Inner { root, shown_root, folders, overlay, .. } = &*self.inner;
        let inner = Inner {
            root: root.clone(),
            shown_root: shown_root.clone(),
            folders: folders.clone(),
            overlay: overlay.clone(),
            read: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The absolute path of every file that was asked for and not found, so that it can be noticed when it comes.
    #[must_use]
    pub fn absent(&self) -> Vec<PathBuf> {
        let read = self.inner.read.lock().unwrap_or_else(PoisonError::into_inner);
        let absent = |result: &Result<PromptFile, PromptFileError>| match result {
            Ok(file) => file.shipped,
            Err(_) => true,
        };
        read.iter()
            .filter(|(name, result)| is_inside(name) && absent(result))
            .map(|(name, _)| self.inner.root.join(name))
            .collect()
    }

    /// Every file that was read.
    #[must_use]
    pub fn list(&self) -> Vec<PromptFile> {
        let read = self.inner.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.values().filter_map(|result| result.as_ref().ok().cloned()).collect()
    }
}

impl Inner {
    fn load(&self, name: &str) -> Result<PromptFile, PromptFileError> {
        if !is_inside(name) {
            return Err(PromptFileError::Outside(name.to_owned()));
        }
        let shown = self.shown_root.join(name);
        let path = self.root.join(name);
        let real = std::fs::canonicalize(&path);
        // A draft may lie where no file is yet.
        let real_or_named = real.as_ref().unwrap_or(&path);
        if let Some(text) = self.overlay.get(real_or_named).filter(|_| real_or_named.starts_with(&self.root)) {
            return Ok(PromptFile { name: name.to_owned(), text: text.clone(), path: shown, shipped: false });
        }
        let unreadable = |problem: String| PromptFileError::Unreadable { name: name.to_owned(), problem };
        let path = match real {
            Ok(path) => path,
            Err(error) if is_absent(&error) => return shipped_file(name),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        // A symbolic link may lead anywhere; what counts is where the file really is.
        if !path.starts_with(&self.root) {
            return Err(PromptFileError::Outside(name.to_owned()));
        }
        let meta = std::fs::metadata(&path).map_err(|error| unreadable(error.to_string()))?;
        if !meta.is_file() {
            return Err(unreadable("it is not a file".to_owned()));
        }
        if meta.len() > MAX_BYTES {
            return Err(unreadable(format!("it has {} bytes; the limit is {MAX_BYTES}", meta.len())));
        }
        let bytes = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
        match read_text(SourceId::NONE, &bytes) {
            Ok(text) => Ok(PromptFile { name: name.to_owned(), text: text.into(), path: shown, shipped: false }),
            Err((text, finding)) => Err(PromptFileError::Encoding {
                name: name.to_owned(),
                path: shown,
                text: text.into(),
                finding: Box::new(finding),
            }),
        }
    }
}

fn shipped_file(name: &str) -> Result<PromptFile, PromptFileError> {
    let text = shipped(name).ok_or_else(|| PromptFileError::Missing(name.to_owned()))?;
    Ok(PromptFile { name: name.to_owned(), text: text.into(), path: PathBuf::from(name), shipped: true })
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Whether a name stays inside the workspace, whatever it is joined to.
fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('/')
        && !name.contains(['\\', ':'])
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !name.chars().any(char::is_control)
}

fn joined(folder: &str, name: &str) -> Option<String> {
    let folder = folder.trim_matches('/').trim_start_matches("./");
    (!folder.is_empty() && folder != ".").then(|| format!("{folder}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, PromptFiles) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = PromptFiles::new(folder.path(), Path::new("ws"), vec!["prompts".to_owned()]);
        (folder, files)
    }

    #[test]
    fn a_documents_file_comes_from_the_workspace_before_the_documents_folder() {
        let (_folder, files) =
            workspace(&[("a.j2", "root"), ("loops/a.j2", "beside"), ("loops/b.j2", "b"), ("prompts/c.j2", "c")]);
        let text = |name: &str| files.of_document(name, "loops").map(|file| file.text.to_string());
        assert_eq!(text("a.j2").as_deref(), Ok("root"));
        assert_eq!(text("b.j2").as_deref(), Ok("b"));
        assert_eq!(text("c.j2").as_deref(), Ok("c"));
        assert_eq!(text("d.j2"), Err(PromptFileError::Missing("d.j2".to_owned())));
        assert_eq!(
            files.of_template("a.j2", "loops/b.j2").unwrap().text.as_ref(),
            "beside",
            "templates look beside first"
        );
        assert_eq!(
            files.list().iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["a.j2", "loops/b.j2", "prompts/c.j2", "loops/a.j2"]
        );
    }

    #[test]
    fn names_and_links_that_lead_out_of_the_workspace_are_refused() {
        let (folder, files) = workspace(&[("ws/a.j2", "a"), ("secret", "s")]);
        let files = PromptFiles::new(&folder.path().join("ws"), Path::new("ws"), files.folders().to_vec());
        for name in ["../secret", "/etc/passwd", "x/../../secret", "", "a\\b"] {
            assert!(matches!(files.of_document(name, ""), Err(PromptFileError::Outside(_))), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret"), folder.path().join("ws/link")).unwrap();
            assert!(matches!(files.of_document("link", ""), Err(PromptFileError::Outside(_))));
        }
    }

    #[test]
    fn a_file_that_is_not_utf8_says_where() {
        let (folder, files) = workspace(&[("a.j2", "")]);
        std::fs::write(folder.path().join("a.j2"), b"caf\xE9").unwrap();
        let Err(PromptFileError::Encoding { finding, .. }) = files.read("a.j2") else { panic!("must not be read") };
        assert!(finding.message.contains("0xE9"), "{}", finding.message);
    }
}
