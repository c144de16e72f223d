//! What a change of documents does to a loop's behaviour, for the person who reviews it.
//!
//! Effective documents are compared, so comments, order, and who said something do not count, and a changed preset does.

mod lists;
mod params;
mod prompt;
mod render;
mod rules;
mod walk;
mod workspace;

pub use render::{json, markdown, text};

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value as Json;

use crate::document::Kind;
use crate::explain::{Defaults, Item, Origin, explain};
use crate::graph::graph;
use crate::load::Library;

/// One of the two versions.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its library.
    pub library: Library,
    /// Where its files are from, if they are a copy: the copy's folder, and what stands before their paths, such as `main:`.
    pub copy: Option<(PathBuf, String)>,
}

/// Something that behaves in another way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The loop; none for the workspace.
    #[serde(rename = "loop")]
    pub of: Option<String>,
    /// What sort of thing: `limit`, `tools`, `action`, `params`, `verify`, `steps`, `prompt`, …
    pub kind: &'static str,
    /// What it means for what the loop may do.
    pub severity: Severity,
    /// The path in the document, such as `limits.max_iterations`.
    pub path: String,
    /// One sentence.
    pub sentence: String,
    /// The value before; none when there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Json>,
    /// The value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Json>,
    /// Where the value before stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_origin: Option<Origin>,
    /// Where the value after stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_origin: Option<Origin>,
    /// Lines that changed, with `-` or `+` in front, where that says more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// What a change means for what a loop may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It may do more, for longer, or is watched less.
    Widens,
    /// A person must judge.
    Review,
    /// It may do less, or is watched more.
    Narrows,
}

impl Severity {
    /// The severity in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Widens => "widens",
            Self::Review => "review",
            Self::Narrows => "narrows",
        }
    }
}

/// What a rule finds: a change without its place.
struct Finding {
    kind: &'static str,
    severity: Severity,
    sentence: String,
    old: Option<Json>,
    new: Option<Json>,
    lines: Vec<String>,
}

impl Finding {
    fn new(kind: &'static str, severity: Severity, sentence: impl Into<String>) -> Self {
        Self { kind, severity, sentence: sentence.into(), old: None, new: None, lines: Vec::new() }
    }

    fn values(mut self, old: Option<&Json>, new: Option<&Json>) -> Self {
        self.old = old.cloned();
        self.new = new.cloned();
        self
    }
}

/// Compares loops with those of the same names, the loops that they lead to, and what all of them stand on.
#[must_use]
pub fn compare(old: &Side, new: &Side, names: &[(String, String)]) -> Vec<Change> {
    let mut changes = workspace::compare(old, new);
    let mut done: Vec<(String, String)> = Vec::new();
    for pair in names {
        let reached = |side: &Side, name: &str| -> Vec<String> {
            graph(&side.library, name).loops.into_iter().skip(1).map(|one| one.name).collect()
        };
        let (before, after) = (reached(old, &pair.0), reached(new, &pair.1));
        let shared = before.iter().filter(|name| after.contains(name)).map(|name| (name.clone(), name.clone()));
        for pair in std::iter::once(pair.clone()).chain(shared) {
            if !done.contains(&pair) {
                changes.extend(one_loop(old, new, &pair));
                done.push(pair);
            }
        }
    }
    changes.sort_by(|one, other| (&one.of, one.severity).cmp(&(&other.of, other.severity)));
    changes
}

fn one_loop(old: &Side, new: &Side, (before, after): &(String, String)) -> Vec<Change> {
    let explained = |side: &Side, name: &str| explain(&side.library, Kind::Loop, name, Defaults::All);
    let (was, is) = match (explained(old, before), explained(new, after)) {
        (Some(was), Some(is)) => (was, is),
        (None, None) => return Vec::new(),
        (was, _) => {
            let (severity, what) = if was.is_some() { (Severity::Narrows, "gone") } else { (Severity::Widens, "new") };
            let name = if was.is_some() { before } else { after };
            let finding = Finding::new("loop", severity, format!("The loop `{name}` is {what}."));
            return vec![change(finding, Some(name), String::new(), None, None)];
        }
    };
    let mut walk = walk::Walk { old, new, of: after, changes: Vec::new() };
    walk.maps(&was.items, &is.items, &mut Vec::new());
    let mut changes = walk.changes;
    changes.extend(prompt::compare(old, new, before, after));
    changes.extend(workspace::tools(old, new, before, after));
    changes
}

/// A finding in its place.
fn change(finding: Finding, of: Option<&str>, path: String, was: Option<Origin>, is: Option<Origin>) -> Change {
    let Finding { kind, severity, sentence, old, new, lines } = finding;
    let of = of.map(str::to_owned);
    Change { of, kind, severity, path, sentence, old, new, old_origin: was, new_origin: is, lines }
}

impl Side {
    /// The origin of a value, with the path that a reviewer knows.
    fn origin(&self, item: &Item) -> Origin {
        let mut origin = item.first_origin().clone();
        if let (
            Some((folder, before)),
            Origin::Document(place) | Origin::Workspace(place) | Origin::Preset { place, .. },
        ) = (&self.copy, &mut origin)
            && let Ok(below) = place.file.strip_prefix(folder)
        {
            place.file = PathBuf::from(format!("{before}{}", below.display()));
        }
        origin
    }
}

#[cfg(test)]
mod tests;
