//! What the model reads: the sections that a loop declares, as text, with what their templates include.

use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::Regex;

use super::{Change, Finding, Severity, Side, change};
use crate::document::TextSource;
use crate::model::tokens::estimate;

/// The most lines that are compared one by one; a prompt of more is compared as a bag of lines.
const MOST_LINES: usize = 1500;
/// The most changed lines that are shown.
const SHOWN: usize = 6;
/// How deep templates may include each other here.
const DEEPEST: usize = 8;

/// Name → text of each section, with conditions and tiers as a first line where they are given.
type Sections = IndexMap<String, String>;

pub(super) fn compare(old: &Side, new: &Side, before: &str, after: &str) -> Vec<Change> {
    let (was, is) = (sections(old, before), sections(new, after));
    let names = is.keys().chain(was.keys().filter(|name| !is.contains_key(*name)));
    let changes = names.filter_map(|name| {
        let finding = match (was.get(name), is.get(name)) {
            (Some(one), Some(other)) if one == other => return None,
            (Some(one), Some(other)) => changed(name, one, other),
            (None, Some(text)) => {
                let sentence = format!("The prompt has a new section {name}, about {} tokens.", estimate(text));
                Finding::new("prompt", Severity::Review, sentence)
            }
            (Some(text), None) => {
                let sentence = format!("The section {name} of the prompt is gone, about {} tokens.", estimate(text));
                Finding::new("prompt", Severity::Review, sentence)
            }
            (None, None) => return None,
        };
        Some(change(finding, Some(after), format!("prompt.{name}"), None, None))
    });
    changes.collect()
}

fn changed(name: &str, old: &str, new: &str) -> Finding {
    let (gone, added) = differing(old, new);
    let tokens = |text: &str| i64::try_from(estimate(text)).unwrap_or(i64::MAX);
    let delta = tokens(new).saturating_sub(tokens(old));
    let sentence = format!(
        "The section {name} of the prompt changes: {} lines gone, {} new, about {delta:+} tokens.",
        gone.len(),
        added.len()
    );
    let minus = gone.iter().take(SHOWN).map(|line| format!("- {line}"));
    let lines = minus.chain(added.iter().take(SHOWN).map(|line| format!("+ {line}"))).collect();
    Finding { lines, ..Finding::new("prompt", Severity::Review, sentence) }
}

/// The lines that only one of two texts has, by their longest common subsequence.
fn differing<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if old.len() > MOST_LINES || new.len() > MOST_LINES {
        let without =
            |list: &[&'a str], other: &[&str]| list.iter().filter(|line| !other.contains(line)).copied().collect();
        return (without(old, new), without(new, old));
    }
    let mut length = vec![vec![0u16; new.len() + 1]; old.len() + 1];
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            length[one][other] = if old[one] == new[other] {
                length[one + 1][other + 1] + 1
            } else {
                length[one + 1][other].max(length[one][other + 1])
            };
        }
    }
    let (mut one, mut other) = (0, 0);
    let (mut gone, mut added) = (Vec::new(), Vec::new());
    while one < old.len() && other < new.len() {
        if old[one] == new[other] {
            (one, other) = (one + 1, other + 1);
        } else if length[one + 1][other] >= length[one][other + 1] {
            gone.push(old[one]);
            one += 1;
        } else {
            added.push(new[other]);
            other += 1;
        }
    }
    gone.extend(&old[one..]);
    added.extend(&new[other..]);
    (gone, added)
}

fn sections(side: &Side, name: &str) -> Sections {
    let Some(loaded) = side.library.loops.get(name) else { return Sections::new() };
    let text = |source: &TextSource| match source {
        TextSource::Inline(text) => whole(side, text, None, 0),
        TextSource::File(path) => from_file(side, path, &loaded.folder),
    };
    let prompt = &loaded.doc.prompt;
    let named = [("PERSISTENT", Some(&prompt.instruction)), ("OUTPUT_EXAMPLE", prompt.output_example.as_ref())];
    let named = named.into_iter().chain([("REACTIVE_DATA", prompt.reactive.as_ref())]);
    let mut sections: Sections = named.filter_map(|(name, source)| Some((name.to_owned(), text(source?)))).collect();
    for doc in &prompt.sections {
        let body = match (&doc.text, &doc.file) {
            (Some(text), _) => whole(side, text, None, 0),
            (None, Some(path)) => from_file(side, path, &loaded.folder),
            (None, None) => String::new(),
        };
        let when = doc.when.as_ref().map(|when| format!(", when {when}")).unwrap_or_default();
        let trust = serde_json::to_value(doc.trust).unwrap_or_default();
        let head = format!("(tier {}, {}{when})", doc.tier.name(), trust.as_str().unwrap_or_default());
        sections.insert(doc.name.value.clone(), format!("{head}\n{body}"));
    }
    sections
}

fn from_file(side: &Side, path: &str, folder: &str) -> String {
    match side.library.files.of_document(path, folder) {
        Ok(file) => whole(side, &file.text, Some(&file.name), 0),
        Err(error) => format!("({error})"),
    }
}

/// A template's text with the texts of those that it names after it.
fn whole(side: &Side, text: &str, name: Option<&str>, depth: usize) -> String {
    static NAMED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\{%-?\s*(?:include|import|from|extends)\s+["']([^"']+)["']"#).ok());
    let mut out = text.trim_end().to_owned();
    if depth >= DEEPEST {
        return out;
    }
    let found = NAMED.iter().flat_map(|pattern| pattern.captures_iter(text)).map(|found| found[1].to_owned());
    for target in found.collect::<Vec<_>>() {
        if let Ok(file) = side.library.files.of_template(&target, name.unwrap_or_default()) {
            out.push_str(&format!("\n{}", whole(side, &file.text, Some(&file.name), depth + 1)));
        }
    }
    out
}
