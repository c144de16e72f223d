//! When to look: hints about single files become one moment. No files and no clock in here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file that is being written, and whose writer has not closed it, is waited for as long as it was touched so recently.
/// Where the system tells of no closing, every write waits for so long.
const QUIET: Duration = if TELLS_CLOSING { Duration::from_millis(100) } else { Duration::from_millis(15) };

/// Whether the system tells when a writer closes a file.
const TELLS_CLOSING: bool = cfg!(target_os = "linux");

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Written to; the writer may not have finished.
    Written,
    /// Its writer closed it.
    Closed,
    /// It came, went or was renamed: complete as it is.
    Moved,
    /// Something about it changed that is not its content, such as who may read it.
    Touched,
}

/// What happened since the last look.
#[derive(Debug, Default)]
pub(super) struct Signs {
    pending: bool,
    /// Files that are being written, and when they were touched last.
    open: HashMap<PathBuf, Instant>,
}

impl Signs {
    /// Notes a hint.
    pub(super) fn note(&mut self, path: &Path, sign: Sign, now: Instant) {
        self.pending = true;
        match sign {
            Sign::Written => {
                self.open.insert(path.to_owned(), now);
            }
            Sign::Closed | Sign::Moved => {
                self.open.remove(path);
            }
            Sign::Touched => {}
        }
    }

    /// Asks for a look without a file: events were lost, or the slow look found a difference.
    pub(super) fn note_unknown(&mut self) {
        self.pending = true;
    }

    /// When to look; none when nothing happened.
    pub(super) fn due(&mut self, now: Instant) -> Option<Instant> {
        if !self.pending {
            return None;
        }
        self.open.retain(|_, touched| *touched + QUIET > now);
        Some(self.open.values().map(|touched| *touched + QUIET).max().unwrap_or(now))
    }

    /// Begins anew, just before a look: what happens from now on asks for another one.
    pub(super) fn looked(&mut self) {
        self.pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_or_moved_file_is_looked_at_at_once() {
        let now = Instant::now();
        let mut signs = Signs::default();
        assert_eq!(signs.due(now), None);
        signs.note(Path::new("a"), Sign::Written, now);
        signs.note(Path::new("a"), Sign::Closed, now);
        assert_eq!(signs.due(now), Some(now));
        signs.looked();
        assert_eq!(signs.due(now), None);
        signs.note(Path::new("b"), Sign::Moved, now);
        assert_eq!(signs.due(now), Some(now));
    }

    #[test]
    fn a_file_that_is_being_written_is_waited_for_but_not_forever() {
        let start = Instant::now();
        let mut signs = Signs::default();
        signs.note(Path::new("a"), Sign::Written, start);
        signs.note(Path::new("b"), Sign::Closed, start);
        assert_eq!(signs.due(start), Some(start + QUIET));
        let later = start + QUIET / 2;
        signs.note(Path::new("a"), Sign::Written, later);
        assert_eq!(signs.due(later), Some(later + QUIET), "it is still being written");
        assert_eq!(signs.due(later + QUIET), Some(later + QUIET), "the writer went away without closing it");
    }
}
