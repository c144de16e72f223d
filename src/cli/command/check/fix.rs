//! `check --fix`: applies the edits that surely keep what the author means, and looks again until there are none.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::Checked;
use crate::cli::error::CliError;
use crate::cli::text_diff::unified;
use crate::diag::{Diagnostic, Diagnostics, Fix, Severity, SourceId, SourceMap};

/// How often everything is looked at again. Each time at least one edit is made or given up.
const PASSES: usize = 200;

/// New texts of files, by the path that each was read from; byte order marks are not a part of them.
pub(super) type Drafts = BTreeMap<PathBuf, String>;

/// What was repaired.
#[derive(Default)]
pub(super) struct Fixed {
    files: BTreeMap<PathBuf, FixedFile>,
}

struct FixedFile {
    before: String,
    after: String,
    /// How many findings of each code.
    codes: BTreeMap<&'static str, usize>,
}

/// What tells a finding of one pass from those of the next, where its place may be another.
type Identity = (PathBuf, &'static str, String);

/// Repairs what can be repaired. `look` checks everything with these drafts before the files; gives the last look.
///
/// An edit is kept only if it brings no new error to light: what is wrong behind it is for a person to see first.
pub(super) fn fix(look: impl Fn(&Drafts) -> Result<Checked, CliError>) -> Result<(Checked, Fixed), CliError> {
    let (mut drafts, mut fixed) = (Drafts::new(), Fixed::default());
    let mut now = look(&drafts)?;
    let mut given_up: HashSet<Identity> = HashSet::new();
    let mut all_at_once = true;
    for _ in 0..PASSES {
        let sources = &now.library.sources;
        let mut wanted: Vec<(&Diagnostic, &Fix)> = now
            .found
            .iter()
            .filter_map(|finding| Some((finding, finding.fix.as_ref().filter(|fix| fix.safe)?)))
            .filter(|(finding, fix)| now.is_own(fix.span.source) && !given_up.contains(&identity(finding, sources)))
            .collect();
        wanted.sort_by_key(|(_, fix)| fix.span);
        without_overlaps(&mut wanted);
        if !all_at_once {
            wanted.truncate(1);
        }
        if wanted.is_empty() {
            break;
        }
        let mut next_drafts = drafts.clone();
        for (path, text) in edited(&wanted, sources) {
            next_drafts.insert(path, text);
        }
        let next = look(&next_drafts)?;
        if is_worse(&now, &next) {
            // One of them is to blame: from here on they are tried one by one.
            if !all_at_once {
                given_up.extend(wanted.iter().map(|(finding, _)| identity(finding, sources)));
            }
            all_at_once = false;
            continue;
        }
        for (finding, fix) in &wanted {
            fixed.note(finding, sources.path(fix.span.source), sources.text(fix.span.source));
        }
        (drafts, now) = (next_drafts, next);
    }
    for (path, file) in &mut fixed.files {
        file.after = drafts.remove(path).unwrap_or_default();
    }
    Ok((now, fixed))
}

/// The edits that are left to a person, a line each: they may change what is meant, or bring another error to light.
pub(super) fn held_back(checked: &Checked) -> String {
    let sources = &checked.library.sources;
    let mut text = String::new();
    for finding in checked.found.iter() {
        let Some(fix) = finding.fix.as_ref().filter(|fix| checked.is_own(fix.span.source)) else { continue };
        let before = sources.text(fix.span.source).get(fix.span.start as usize..fix.span.end as usize);
        let place = sources.line_col(fix.span).start;
        let path = sources.path(fix.span.source).display();
        let (before, after) = (first_line(before.unwrap_or_default()), first_line(&fix.replacement));
        let edit = sources.masked(format!("`{before}` → `{after}`"));
        writeln!(text, "Left to you {path}:{}:{}: {}: {edit}", place.line, place.column, finding.code).ok();
    }
    text
}

/// The first line of a text, with a sign when there is more.
fn first_line(text: &str) -> String {
    match text.trim_end().split_once('\n') {
        Some((line, _)) => format!("{}…", line.trim_end()),
        None => text.to_owned(),
    }
}

fn identity(finding: &Diagnostic, sources: &SourceMap) -> Identity {
    let path = finding.span.map(|span| sources.path(span.source).to_owned()).unwrap_or_default();
    (path, finding.code.0, finding.message.clone())
}

/// Drops each edit that begins before the one before it ends.
fn without_overlaps(wanted: &mut Vec<(&Diagnostic, &Fix)>) {
    let mut last: Option<(SourceId, u32)> = None;
    wanted.retain(|(_, fix)| {
        let free = last.is_none_or(|(source, end)| source != fix.span.source || fix.span.start >= end);
        if free {
            // An empty place takes one edit only.
            last = Some((fix.span.source, fix.span.end.max(fix.span.start + 1)));
        }
        free
    });
}

/// The files' texts with the edits made; the edits are sorted and apart from each other.
fn edited(wanted: &[(&Diagnostic, &Fix)], sources: &SourceMap) -> Drafts {
    let mut texts = Drafts::new();
    for (_, fix) in wanted.iter().rev() {
        let source = fix.span.source;
        let text = texts.entry(sources.path(source).to_owned()).or_insert_with(|| sources.text(source).to_owned());
        let range = fix.span.start as usize..fix.span.end as usize;
        // Places come from the same text; one that does not fit it is left alone.
        if text.get(range.clone()).is_some() {
            text.replace_range(range, &fix.replacement);
        }
    }
    texts
}

/// Whether there is an error that was not there before.
fn is_worse(before: &Checked, after: &Checked) -> bool {
    let count = |found: &Diagnostics, sources: &SourceMap| {
        let mut counts: HashMap<Identity, usize> = HashMap::new();
        for finding in found.iter().filter(|finding| finding.severity == Severity::Error) {
            *counts.entry(identity(finding, sources)).or_default() += 1;
        }
        counts
    };
    let known = count(&before.found, &before.library.sources);
    let new = count(&after.found, &after.library.sources);
    new.iter().any(|(identity, count)| known.get(identity).is_none_or(|known| known < count))
}

impl Fixed {
    fn note(&mut self, finding: &Diagnostic, path: &Path, before: &str) {
        let file = self.files.entry(path.to_owned()).or_insert_with(|| FixedFile {
            before: before.to_owned(),
            after: String::new(),
            codes: BTreeMap::new(),
        });
        *file.codes.entry(finding.code.0).or_default() += 1;
    }

    /// Whether nothing was repaired.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The new text of a file, if it has one.
    pub(super) fn text(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(|file| file.after.as_str())
    }

    /// A line about each file.
    pub(super) fn summary(&self, verb: &str) -> String {
        let mut text = String::new();
        for (path, file) in &self.files {
            let codes: Vec<String> = file.codes.iter().map(|(code, count)| format!("{count} {code}")).collect();
            writeln!(text, "{verb} {}: {}", path.display(), codes.join(", ")).ok();
        }
        text
    }

    /// The changes as a unified diff.
    pub(super) fn diff(&self) -> String {
        self.files.iter().map(|(path, file)| unified(path, &file.before, &file.after)).collect()
    }

    /// Writes the files, each as a whole, unless one has changed since it was read.
    pub(super) fn write(&self) -> Result<(), CliError> {
        self.files.iter().try_for_each(|(path, file)| {
            replace(path, file).map_err(|error| CliError::usage(format!("Cannot write {}: {error}", path.display())))
        })
    }
}

/// Another reader sees the old file or the new one. A link stays a link, and permissions stay.
fn replace(path: &Path, file: &FixedFile) -> std::io::Result<()> {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let real = std::fs::canonicalize(path)?;
    let bytes = std::fs::read(&real)?;
    let (mark, text) = bytes.strip_prefix(MARK).map_or((&b""[..], &bytes[..]), |text| (MARK, text));
    if text != file.before.as_bytes() {
        return Err(std::io::Error::other("it was changed meanwhile; run the command again"));
    }
    let mut beside = real.clone().into_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    let done = std::fs::write(&beside, [mark, file.after.as_bytes()].concat())
        .and_then(|()| std::fs::set_permissions(&beside, std::fs::metadata(&real)?.permissions()))
        .and_then(|()| std::fs::rename(&beside, &real));
    if done.is_err() {
        // What is left of the attempt is of no use to anybody.
        let _ = std::fs::remove_file(&beside);
    }
    done
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;
    use crate::check::{Options, Targets, check};
    use crate::load::{Library, Overlay};

    fn look(folder: &Path, drafts: &Drafts) -> Checked {
        let real = |path: &PathBuf| std::fs::canonicalize(path).unwrap();
        let overlay: Overlay = drafts.iter().map(|(path, text)| (real(path), text.as_str().into())).collect();
        let mut library = Library::open_with(folder, overlay).0;
        let found = check(&mut library, Targets::All, Options { schemas: true });
        let documents = library.own_sources();
        Checked { library, found, files: Vec::new(), documents }
    }

    /// Lines that a loop may have, each with mistakes that are repaired and some that are not.
    const LINES: [&str; 12] = [
        "descripton: Sorts tickets.",
        "limits: { max_iteratons: 5, max_total_tokens: 1e6 }",
        "limits: { max_iterations: 0, max_depth: 012 }",
        "state: { a: NO, b: 012, c: 1.10 }",
        "state: &state\n  a: &a [1]",
        "tools: [read_fil]",
        "zebra: 1",
        "builtin: [finsh]",
        "actons: { close: { descripton: Close., thn: stop } }",
        "actions: { close: { description: &Co closes., then: exit } }",
        "allow: { tool: \"yes\" }",
        "prompt:\n\tinstruction: {{ inptu }}",
    ];

    /// After repairs nothing is worse: no error is new, and what is not repaired is still said.
    #[test]
    fn repairs_bring_no_new_error() {
        let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let lines = proptest::sample::subsequence(LINES.to_vec(), 0..=LINES.len()).prop_shuffle();
        runner
            .run(&(lines, any::<bool>()), |(lines, crlf)| {
                let mut text = format!("name: triage\n{}\n", lines.join("\n"));
                if !text.contains("prompt:") {
                    text.push_str("prompt: { instruction: Sort the tickets. } # kept\n");
                }
                let text = if crlf { text.replace('\n', "\r\n") } else { text };
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("loops/triage.yaml");
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, &text).unwrap();
                let before = look(folder.path(), &Drafts::new());
                let (after, fixed) = fix(|drafts| Ok(look(folder.path(), drafts))).unwrap();
                prop_assert!(!is_worse(&before, &after), "{text}\n{}", fixed.diff());
                prop_assert!(after.found.count(Severity::Error) <= before.found.count(Severity::Error));
                let said: Vec<Identity> =
                    after.found.iter().map(|finding| identity(finding, &after.library.sources)).collect();
                for finding in before.found.iter().filter(|finding| finding.fix.is_none()) {
                    let unchanged = ["unknown-tool", "number-out-of-range", "unknown-builtin"];
                    let identity = identity(finding, &before.library.sources);
                    prop_assert!(!unchanged.contains(&identity.1) || said.contains(&identity), "{identity:?}\n{text}");
                }
                fixed.write().unwrap();
                let written = std::fs::read_to_string(&path).unwrap();
                prop_assert_eq!(fixed.text(&path).unwrap_or(&text), &written);
                prop_assert_eq!(written.matches("\r\n").count(), text.matches("\r\n").count());
                let again = fix(|drafts| Ok(look(folder.path(), drafts))).unwrap().1;
                prop_assert!(again.is_empty(), "nothing is left to repair: {}", again.diff());
                Ok(())
            })
            .unwrap();
    }
}
