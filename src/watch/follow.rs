//! Following one loop: a look, what it means, and the version that comes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::contents::{Contents, Version};
use super::judge::{Decision, Judge, Sight};
use super::places::Places;
use super::scan::{Scan, Target};
use crate::diag::{Diagnostic, Diagnostics, SourceMap};
use crate::event::{ReloadFinding, ReloadStatus};
use crate::load::Library;

/// Whether a version that looks half-written gets time to become whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It does: somebody may be writing.
    Settle,
    /// It does not: whoever asks knows that the files are whole.
    None,
}

/// A new version, or why there is none.
#[derive(Debug)]
pub struct Change<T> {
    /// What became of it.
    pub status: ReloadStatus,
    /// The loop's name, as far as it is known.
    pub name: Option<String>,
    /// The version in force until now.
    pub before: Option<Version>,
    /// The version that was found.
    pub after: Version,
    /// The files that differ from the version in force until now.
    pub files: Vec<String>,
    /// Why it was refused; warnings about one that can be used.
    pub findings: Diagnostics,
    /// Why it cannot be used though nothing is wrong with any file alone.
    pub problem: Option<String>,
    /// The documents that were found.
    pub library: Arc<Library>,
    /// What was built from it, when it can be used.
    pub built: Option<T>,
}

impl<T> Change<T> {
    /// What was found, as an event tells it.
    #[must_use]
    pub fn told(&self) -> Vec<ReloadFinding> {
        let problem = self.problem.as_ref().map(|words| ReloadFinding::of_change(words));
        self.findings.iter().map(|finding| told(finding, &self.library.sources)).chain(problem).collect()
    }
}

fn told(finding: &Diagnostic, sources: &SourceMap) -> ReloadFinding {
    let place =
        finding.span.map(|span| (sources.path(span.source).display().to_string(), sources.line_col(span).start));
    ReloadFinding {
        severity: finding.severity.as_str().to_owned(),
        code: Some(finding.code.to_string()),
        message: finding.message.clone(),
        line: place.as_ref().map(|(_, at)| at.line),
        column: place.as_ref().map(|(_, at)| at.column),
        file: place.map(|(file, _)| file),
        help: finding.help.clone(),
    }
}

/// Readings in one look. Files that change faster are judged as they were read last; the next event brings another look.
const MOST_READINGS: u32 = 5;

/// Reads until two readings agree, or what is in force is found again: a change in the middle of one reading gives a mixture
/// that never was on disk. Each reading gets the one before it.
pub(super) fn steady(in_force: &Version, mut read: impl FnMut(Option<&Scan>) -> Scan) -> Scan {
    let mut scan = read(None);
    for _ in 1..MOST_READINGS {
        let version = scan.contents.version();
        if version == *in_force {
            break;
        }
        scan = read(Some(&scan));
        if scan.contents.version() == version {
            break;
        }
    }
    scan
}

/// What one look gave.
#[derive(Debug)]
pub struct Look<T> {
    /// What is new.
    pub change: Option<Change<T>>,
    /// When to look again though nothing happens.
    pub again: Option<Duration>,
    /// Where changes can come from.
    pub places: Places,
}

/// Follows one loop through its versions.
#[derive(Debug)]
pub struct Follower {
    target: Target,
    /// The documents of the last version that could be used, or those to begin with.
    library: Arc<Library>,
    contents: Contents,
    judge: Judge,
}

impl Follower {
    /// Follows a loop of which no version is known to be usable yet.
    #[must_use]
    pub fn new(library: Library, target: Target) -> Self {
        let own = match &target {
            Target::Name(name) => {
                let broken = library.unusable.iter().find(|file| file.name.as_deref() == Some(name));
                let sound = library.loops.get(name).filter(|found| !found.shipped).map(|found| &found.path);
                broken.map(|file| &file.path).or(sound)
            }
            Target::File(path) => Some(path),
        };
        let contents = own.map(|path| Contents::unread(path)).unwrap_or_default();
        Self { target, library: Arc::new(library), contents, judge: Judge::new(None) }
    }

    /// Follows a loop that is in use as this library has it. Its templates are read now.
    #[must_use]
    pub fn in_use(library: &Library, name: &str) -> Self {
        let target = Target::Name(name.to_owned());
        let scan = Scan::of(library.without_templates(), &target, &Contents::default(), library.has_workspace_file());
        let judge = Judge::new(Some(scan.contents.version()));
        Self { target, library: scan.library, contents: scan.contents, judge }
    }

    /// The documents of the version in use.
    #[must_use]
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// What the version in use is made of.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Reads and checks everything again. `build` makes of a sound version what its user needs; where it cannot, the
    /// version is refused with its words.
    pub fn look<T>(
        &mut self,
        now: Instant,
        patience: Patience,
        build: impl FnOnce(&Arc<Library>, &Contents) -> Result<T, String>,
    ) -> Look<T> {
        let scan = self.steady_scan();
        let places = Places::of(&scan.library, &scan.contents, &self.target);
        let version = scan.contents.version();
        let sight = Sight {
            sound: scan.is_sound(),
            blanked: scan.contents.blanked_since(&self.contents),
            version: version.clone(),
        };
        let decision = self.judge.decide(&sight, now, patience == Patience::Settle);
        let (status, built, problem) = match decision {
            Decision::Nothing => return Look { change: None, again: None, places },
            Decision::Wait(again) => return Look { change: None, again: Some(again), places },
            Decision::Restored => (ReloadStatus::Restored, None, None),
            Decision::Refuse => (ReloadStatus::Refused, None, None),
            Decision::Use => match build(&scan.library, &scan.contents) {
                Ok(built) => (self.status_of_use(), Some(built), None),
                Err(problem) => (ReloadStatus::Refused, None, Some(problem)),
            },
        };
        let change = Change {
            status,
            name: scan.name.or_else(|| self.known_name()),
            before: self.judge.in_force().cloned(),
            after: version.clone(),
            files: scan.contents.changed_since(&self.contents),
            findings: scan.findings,
            problem,
            library: Arc::clone(&scan.library),
            built,
        };
        match status {
            ReloadStatus::Refused => self.judge.refuses(version),
            ReloadStatus::Restored => {}
            ReloadStatus::Loaded | ReloadStatus::Applied => {
                self.judge.uses(version);
                (self.library, self.contents) = (scan.library, scan.contents);
            }
        }
        Look { change: Some(change), again: None, places }
    }

    /// The loop's name as far as it was known before: its document may be gone.
    fn known_name(&self) -> Option<String> {
        let path = match &self.target {
            Target::Name(name) => return Some(name.clone()),
            Target::File(path) => std::path::absolute(path).ok()?,
        };
        let is_it = |known: &std::path::Path| std::path::absolute(known).is_ok_and(|known| known == path);
        let found = self.library.loops.iter().find(|(_, loaded)| is_it(&loaded.path));
        found.map(|(name, _)| name.clone())
    }

    /// Reads everything until two readings agree.
    fn steady_scan(&self) -> Scan {
        steady(&self.contents.version(), |last| {
            let newest = last.map_or(&self.library, |scan| &scan.library);
            Scan::fresh(newest, &self.library, &self.target, &self.contents)
        })
    }

    fn status_of_use(&self) -> ReloadStatus {
        if self.judge.in_force().is_some() { ReloadStatus::Applied } else { ReloadStatus::Loaded }
    }
}
