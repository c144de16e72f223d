//! What a look at the files means: whether a version is new, may be used, or must wait. No files and no clock in here.

use std::time::{Duration, Instant};

use super::contents::Version;

/// A version that looks half-written (it has errors, or a file of it is suddenly empty or gone) must stay the same for
/// so long before it counts. Editors that empty a file and write it again take a few milliseconds; a person who saves a
/// mistake does not notice the wait.
pub(super) const SETTLE: Duration = Duration::from_millis(100);

/// What one look found.
#[derive(Debug, Clone)]
pub(super) struct Sight {
    pub(super) version: Version,
    /// Whether it passed its check.
    pub(super) sound: bool,
    /// Whether a file of it was emptied or removed.
    pub(super) blanked: bool,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing is new.
    Nothing,
    /// It may be half-written: look again after so long.
    Wait(Duration),
    /// A new version that can be used.
    Use,
    /// A new version that cannot be used.
    Refuse,
    /// After a refusal the files are again what is in force.
    Restored,
}

/// What was decided so far about one loop.
#[derive(Debug)]
pub(super) struct Judge {
    in_force: Option<Version>,
    refused: Option<Version>,
    /// A version that may be half-written, and when it was first seen.
    doubt: Option<(Version, Instant)>,
}

impl Judge {
    pub(super) fn new(in_force: Option<Version>) -> Self {
        Self { in_force, refused: None, doubt: None }
    }

    /// Decides about a look. `patient` gives a version that looks half-written time to become whole.
    pub(super) fn decide(&mut self, sight: &Sight, now: Instant, patient: bool) -> Decision {
        if self.in_force.as_ref() == Some(&sight.version) {
            self.doubt = None;
            return if self.refused.take().is_some() { Decision::Restored } else { Decision::Nothing };
        }
        if self.refused.as_ref() == Some(&sight.version) {
            self.doubt = None;
            return Decision::Nothing;
        }
        if patient && (!sight.sound || sight.blanked) {
            let since = match &self.doubt {
                Some((version, since)) if *version == sight.version => *since,
                _ => now,
            };
            let left = SETTLE.saturating_sub(now.saturating_duration_since(since));
            if !left.is_zero() {
                self.doubt = Some((sight.version.clone(), since));
                return Decision::Wait(left);
            }
        }
        self.doubt = None;
        if sight.sound { Decision::Use } else { Decision::Refuse }
    }

    /// The version in force; none before the first that could be used.
    pub(super) fn in_force(&self) -> Option<&Version> {
        self.in_force.as_ref()
    }

    /// Notes that a version is in force from now on.
    pub(super) fn uses(&mut self, version: Version) {
        (self.in_force, self.refused) = (Some(version), None);
    }

    /// Notes that a version was refused, so that it is told once.
    pub(super) fn refuses(&mut self, version: Version) {
        self.refused = Some(version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Contents;

    fn version(text: &str) -> Version {
        Contents::of_texts(&[("a", text)]).version()
    }

    fn sight(text: &str, sound: bool) -> Sight {
        Sight { version: version(text), sound, blanked: text.is_empty() }
    }

    struct Story {
        judge: Judge,
        start: Instant,
    }

    impl Story {
        fn new() -> Self {
            Self { judge: Judge::new(Some(version("1"))), start: Instant::now() }
        }

        /// One look so many milliseconds after the start, and what follows from its decision.
        fn look(&mut self, at: u64, sight: Sight) -> Decision {
            let decision = self.judge.decide(&sight, self.start + Duration::from_millis(at), true);
            match decision {
                Decision::Use => self.judge.uses(sight.version),
                Decision::Refuse => self.judge.refuses(sight.version),
                _ => {}
            }
            decision
        }
    }

    #[test]
    fn a_good_version_is_used_at_once_and_once() {
        let mut story = Story::new();
        assert_eq!(story.look(0, sight("1", true)), Decision::Nothing);
        assert_eq!(story.look(0, sight("2", true)), Decision::Use);
        assert_eq!(story.look(1, sight("2", true)), Decision::Nothing);
        assert_eq!(story.look(1, sight("1", true)), Decision::Use, "back to an earlier version is a change too");
    }

    #[test]
    fn a_bad_version_waits_is_refused_once_and_recovers() {
        let mut story = Story::new();
        assert_eq!(story.look(0, sight("bad", false)), Decision::Wait(SETTLE));
        assert_eq!(story.look(60, sight("bad", false)), Decision::Wait(Duration::from_millis(40)));
        assert_eq!(story.look(100, sight("bad", false)), Decision::Refuse);
        assert_eq!(story.look(101, sight("bad", false)), Decision::Nothing, "told once");
        assert_eq!(story.look(200, sight("worse", false)), Decision::Wait(SETTLE), "another mistake is told too");
        assert_eq!(story.look(300, sight("worse", false)), Decision::Refuse);
        assert_eq!(story.look(301, sight("1", true)), Decision::Restored);
        assert_eq!(story.look(302, sight("1", true)), Decision::Nothing);
        assert_eq!(story.look(303, sight("bad", false)), Decision::Wait(SETTLE), "a mistake made again is told again");
    }

    #[test]
    fn a_half_written_version_that_becomes_whole_was_never_refused() {
        let mut story = Story::new();
        assert_eq!(
            story.look(0, sight("", true)),
            Decision::Wait(SETTLE),
            "an emptied file is most likely being saved"
        );
        assert_eq!(story.look(90, sight("ha", false)), Decision::Wait(SETTLE), "each state has its own time");
        assert_eq!(story.look(95, sight("half and half", true)), Decision::Use);
        assert_eq!(story.look(96, sight("", true)), Decision::Wait(SETTLE));
        assert_eq!(story.look(196, sight("", true)), Decision::Use, "a file that stays empty is meant to be");
    }

    #[test]
    fn without_patience_everything_counts_at_once() {
        let mut judge = Judge::new(Some(version("1")));
        assert_eq!(judge.decide(&sight("bad", false), Instant::now(), false), Decision::Refuse);
        assert_eq!(judge.decide(&sight("", true), Instant::now(), false), Decision::Use);
    }
}
