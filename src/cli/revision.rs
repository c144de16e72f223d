//! A workspace as it was at a revision of git: its documents and templates, copied into a folder that goes away again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::CliError;

/// What may be a document or a template. Everything else stays where it is.
const ENDINGS: [&str; 9] = ["yaml", "yml", "toml", "j2", "jinja", "jinja2", "md", "txt", "json"];

/// The largest file that is copied: the largest template that is read.
const MAX_BYTES: u64 = 8 << 20;

/// A folder with the files of a revision. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Revision {
    /// The folder, which stands for the repository's.
    pub(super) folder: PathBuf,
    /// The working folder, from the repository's.
    below: PathBuf,
}

impl Drop for Revision {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files, where it harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// `REV:PATH` in its two parts, if the word is neither a file nor a Windows path.
pub(super) fn split(word: &str) -> Option<(&str, &str)> {
    let (revision, path) = word.split_once(':')?;
    let is_revision = !revision.is_empty() && !revision.starts_with('-') && !Path::new(word).exists();
    is_revision.then_some((revision, path))
}

impl Revision {
    /// The file or folder of a path that counts from the working folder, as every other path does.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        let start = self.folder.join(&self.below);
        Path::new(path).components().fold(start, |at, part| match part {
            Component::Normal(name) => at.join(name),
            // Not out of the copy.
            Component::ParentDir if at != self.folder => at.parent().map_or_else(|| at.clone(), Path::to_owned),
            _ => at,
        })
    }

    /// Copies the files of a revision. Only git's database is read: no hook, filter or checkout runs.
    ///
    /// # Errors
    /// There is no git, no repository, or no such revision.
    pub(super) fn open(revision: &str) -> Result<Self, CliError> {
        let top = git(&["rev-parse", "--show-toplevel"])?;
        let top = String::from_utf8_lossy(&top).trim_end().to_owned();
        let commit = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{tree}}")])
            .map_err(|_| CliError::usage(format!("git knows no revision `{revision}` in {top}")))?;
        let tree = String::from_utf8_lossy(&commit).trim().to_owned();
        let listing = git(&["ls-tree", "-r", "-l", "-z", "--full-tree", &tree])?;
        let files: Vec<(String, PathBuf)> = listing.split(|byte| *byte == 0).filter_map(entry).collect();
        let below = git(&["rev-parse", "--show-prefix"])?;
        let below = PathBuf::from(String::from_utf8_lossy(&below).trim_end());
        let copy = Self { folder: new_folder()?, below };
        copy.fill(&files)
            .and_then(|()| copy.close())
            .map_err(|error| CliError::failed(format!("Cannot read {revision} from git: {error}")))?;
        Ok(copy)
    }

    /// Makes the folder a workspace of its own, so that none is looked for above it, where others may write.
    fn close(&self) -> std::io::Result<()> {
        if ["yaml", "yml", "toml"].iter().any(|end| self.folder.join(format!("loopwright.{end}")).is_file()) {
            return Ok(());
        }
        std::fs::write(self.folder.join("loopwright.yaml"), "kind: workspace\n")
    }

    /// Writes the blobs into the folder.
    fn fill(&self, files: &[(String, PathBuf)]) -> std::io::Result<()> {
        // The names go through a file: with two pipes, either side could wait for the other.
        let list = self.folder.join(".objects");
        let mut names = std::fs::File::create(&list)?;
        for (object, _) in files {
            writeln!(names, "{object}")?;
        }
        drop(names);
        let mut child = Command::new("git")
            .args(["cat-file", "--batch"])
            .stdin(Stdio::from(std::fs::File::open(&list)?))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(stdout) = child.stdout.take() {
            let mut stdout = BufReader::new(stdout);
            for (_, path) in files {
                let mut head = String::new();
                stdout.read_line(&mut head)?;
                let size: u64 = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok()).unwrap_or(0);
                let mut bytes = Vec::new();
                std::io::Read::by_ref(&mut stdout).take(size + 1).read_to_end(&mut bytes)?;
                bytes.pop();
                let file = self.folder.join(path);
                if let Some(folder) = file.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                std::fs::write(file, bytes)?;
            }
        }
        child.wait()?;
        std::fs::remove_file(list)
    }
}

/// A line of `git ls-tree -l`: the object and the path of a file that is worth a copy.
fn entry(line: &[u8]) -> Option<(String, PathBuf)> {
    let line = std::str::from_utf8(line).ok()?;
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split_whitespace();
    let (mode, kind, object, size) = (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
    // Symbolic links (120000) could lead out of the copy.
    let is_file = kind == "blob" && mode.starts_with("100") && size.parse::<u64>().ok()? <= MAX_BYTES;
    let path = PathBuf::from(path);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let ending = path.extension().and_then(|ending| ending.to_str())?.to_ascii_lowercase();
    (is_file && inside && ENDINGS.contains(&ending.as_str())).then(|| (object.to_owned(), path))
}

/// A new folder that nobody else can have made before.
fn new_folder() -> Result<PathBuf, CliError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let base = std::env::temp_dir();
    let base = std::fs::canonicalize(&base).unwrap_or(base);
    for _ in 0..1000 {
        let folder = base.join(format!("loopwright-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        // `create_dir` fails where there is something, also a link that somebody put there.
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(CliError::failed(format!("Cannot make {}: {error}", folder.display()))),
        }
    }
    Err(CliError::failed(format!("Cannot make a folder in {}", base.display())))
}

fn git(arguments: &[&str]) -> Result<Vec<u8>, CliError> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| CliError::usage(format!("Cannot start git: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(CliError::usage(format!("git {}: {words}", arguments.first().unwrap_or(&""))))
}
