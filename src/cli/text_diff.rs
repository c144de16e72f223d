//! Two versions of a text as a unified diff. Edits keep most lines, so lines are compared from both ends of each gap.

use std::fmt::Write as _;
use std::path::Path;

/// Lines around a change.
const CONTEXT: usize = 3;

/// A run of lines that differs: where it begins and ends in both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    old: (usize, usize),
    new: (usize, usize),
}

/// The diff, with `a/` and `b/` before the path as `git apply` wants it; empty for equal texts.
pub(super) fn unified(path: &Path, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let path = path.display().to_string();
    let path = path.trim_start_matches("./");
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    let mut at = 0;
    while at < changes.len() {
        let first = at;
        while at + 1 < changes.len() && changes[at + 1].old.0 - changes[at].old.1 <= 2 * CONTEXT {
            at += 1;
        }
        hunk(&mut out, &changes[first..=at], &old, &new);
        at += 1;
    }
    out
}

fn hunk(out: &mut String, changes: &[Change], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
    let before = first.old.0.min(CONTEXT);
    let after = (old.len() - last.old.1).min(CONTEXT);
    let range = |start: usize, end: usize| {
        let length = end - start;
        // An empty range names the line before it.
        format!("{},{length}", if length == 0 { start } else { start + 1 })
    };
    let old_range = range(first.old.0 - before, last.old.1 + after);
    let new_range = range(first.new.0 - before, last.new.1 + after);
    writeln!(out, "@@ -{old_range} +{new_range} @@").ok();
    let mut at = first.old.0 - before;
    for change in changes {
        lines(out, ' ', &old[at..change.old.0]);
        lines(out, '-', &old[change.old.0..change.old.1]);
        lines(out, '+', &new[change.new.0..change.new.1]);
        at = change.old.1;
    }
    lines(out, ' ', &old[at..at + after]);
}

fn lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Where the texts differ. Safe edits never add or remove lines, so equal counts are compared line by line; else all
/// between the equal beginning and the equal end is one change.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    if old.len() == new.len() {
        for at in (0..old.len()).filter(|at| old[*at] != new[*at]) {
            match changes.last_mut().filter(|last| last.old.1 == at) {
                Some(last) => (last.old.1, last.new.1) = (at + 1, at + 1),
                None => changes.push(Change { old: (at, at + 1), new: (at, at + 1) }),
            }
        }
        return changes;
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    vec![Change { old: (same, old.len() - tail), new: (same, new.len() - tail) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_lines_around_them() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("2\n3\n", "2\nthree\n").replace("\n15\n", "\nfifteen\n");
        let diff = unified(Path::new("./a.yaml"), &old, &new);
        assert_eq!(
            diff,
            "--- a/a.yaml\n+++ b/a.yaml\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n\
             @@ -12,7 +12,7 @@\n 12\n 13\n 14\n-15\n+fifteen\n 16\n 17\n 18\n"
        );
        assert_eq!(unified(Path::new("a"), &old, &old), "");
    }

    #[test]
    fn a_last_line_without_an_end_is_marked_and_lines_may_come_and_go() {
        let diff = unified(Path::new("a"), "x\ny", "x\nz");
        assert_eq!(
            diff,
            "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n"
        );
        assert_eq!(unified(Path::new("a"), "x\ny\n", "x\n"), "--- a/a\n+++ b/a\n@@ -1,2 +1,1 @@\n x\n-y\n");
    }
}
