//! A saved change that a run took over or refused, as lines.

use super::plain::{escape, one_line};
use super::screen::Look;
use crate::event::{Event, ReloadStatus};

/// The most characters of a finding.
const WIDE: usize = 400;

/// The most findings that are shown; the event has all of them.
const MOST: usize = 5;

/// The lines of a `reload` event; none of any other.
pub(super) fn lines(event: &Event) -> Vec<(Look, String)> {
    let Event::Reload { loop_name, status, before, after, files, findings } = event else { return Vec::new() };
    let (files, loop_name) = (names(files), escape(loop_name));
    let before = short(before.as_deref().unwrap_or_default());
    let (look, head) = match status {
        ReloadStatus::Loaded => (Look::Good, format!("  loaded {loop_name}: {}", short(after))),
        ReloadStatus::Applied => {
            (Look::Good, format!("  reloaded {loop_name}: {before} became {}, {files}", short(after)))
        }
        ReloadStatus::Refused => {
            (Look::Bad, format!("  not reloaded, {loop_name} stays at {before}: {files} cannot be used"))
        }
        ReloadStatus::Restored => (Look::Good, format!("  {loop_name} is again what it was: {before}")),
    };
    let shown = findings.iter().take(MOST).map(|finding| {
        let look = if finding.severity == "error" { Look::Bad } else { Look::Warning };
        (look, format!("    {}: {}", escape(&finding.severity), one_line(&finding.line(), WIDE)))
    });
    let more = findings.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| (Look::Dim, format!("    and {more} more: loopwright check shows all")));
    std::iter::once((look, head)).chain(shown).chain(rest).collect()
}

/// The first digits of a version, enough for a person to tell it from others.
#[must_use]
pub fn short(version: &str) -> &str {
    version.get(..8).unwrap_or(version)
}

fn names(files: &[String]) -> String {
    match files {
        [] => "its files".to_owned(),
        [one] => one_line(one, WIDE),
        [first, rest @ ..] => format!("{} and {} more", one_line(first, WIDE), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ReloadFinding;

    fn event(status: ReloadStatus, files: &[&str], findings: Vec<ReloadFinding>) -> Event {
        Event::Reload {
            loop_name: "triage".to_owned(),
            status,
            before: Some("0123456789abcdef".to_owned()),
            after: "fedcba9876543210".to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            findings,
        }
    }

    fn text(event: &Event) -> Vec<String> {
        lines(event).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_change_is_one_line_and_a_refusal_says_why() {
        let applied = event(ReloadStatus::Applied, &["a.j2", "b.yaml"], Vec::new());
        assert_eq!(text(&applied), ["  reloaded triage: 01234567 became fedcba98, a.j2 and 1 more"]);
        let mut finding = ReloadFinding::of_change("unknown key\u{1b}[31m");
        (finding.file, finding.line, finding.column) = (Some("b.yaml".to_owned()), Some(3), Some(1));
        let refused = text(&event(ReloadStatus::Refused, &["b.yaml"], vec![finding; 7]));
        assert_eq!(refused[0], "  not reloaded, triage stays at 01234567: b.yaml cannot be used");
        assert!(refused[1].starts_with("    error: b.yaml:3:1: unknown key"), "{refused:?}");
        assert!(!refused[1].contains('\u{1b}'), "{refused:?}");
        assert_eq!(refused.len(), 7, "{refused:?}");
    }
}
