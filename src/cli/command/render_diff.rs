//! `render --diff`: what changed between two prompts, section by section, and what that does to the prompt cache.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::error::CliError;
use crate::engine::{IterationPrompt, RenderedPrompt};
use crate::prompt::parse_sections;

/// What is read of an earlier `render --format json`.
#[derive(Deserialize)]
pub(super) struct Earlier {
    system: String,
    user: String,
    /// Empty in a file that an older version wrote.
    #[serde(default)]
    nonce: String,
}

impl Earlier {
    /// The prompt of an iteration.
    pub(super) fn of_iteration(prompt: IterationPrompt) -> Self {
        Self { system: prompt.system, user: prompt.user, nonce: prompt.nonce }
    }

    /// A prompt, to be compared with later ones.
    pub(super) fn of(prompt: &RenderedPrompt) -> Self {
        Self { system: prompt.system.clone(), user: prompt.user.clone(), nonce: prompt.nonce.clone() }
    }
}

/// How a section compares with the earlier one of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Same,
    Changed,
    New,
    Gone,
}

/// One section in both prompts.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    status: Status,
    bytes_before: usize,
    bytes_after: usize,
    /// The first line that differs, from 1, with what stood there and what stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    line: usize,
    before: String,
    after: String,
}

/// Both prompts compared. Nonces do not count: they differ in every run.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    sections: Vec<Row>,
    /// Bytes of the stable part, from its start, that are the same in both.
    same_prefix: usize,
    /// The first section of the stable part that differs: a provider's prompt cache holds up to there.
    broken_by: Option<String>,
}

/// Names and bodies. Where several have one name, as the iterations of the past, the later ones are numbered.
type Sections<'a> = Vec<(String, &'a str)>;

/// Compares a prompt with one that `render --format json` wrote into a file.
pub(super) fn compare(file: &Path, prompt: &RenderedPrompt) -> Result<Difference, CliError> {
    let usage = |reason: String| CliError::usage(format!("Cannot compare with {}: {reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| usage(error.to_string()))?;
    let earlier: Earlier = serde_json::from_str(&text)
        .map_err(|error| usage(error.to_string()).hint("write it with: loopwright render LOOP --format json > FILE"))?;
    Ok(between(&earlier, prompt))
}

/// Compares a prompt with one of another workspace, or of an earlier version of it.
pub(super) fn compare_prompts(earlier: &RenderedPrompt, prompt: &RenderedPrompt) -> Difference {
    between(&Earlier::of(earlier), prompt)
}

/// Compares a prompt with an earlier one.
pub(super) fn between(earlier: &Earlier, prompt: &RenderedPrompt) -> Difference {
    both(earlier, &Earlier::of(prompt))
}

/// Compares two prompts.
pub(super) fn both(earlier: &Earlier, prompt: &Earlier) -> Difference {
    let plain = |text: &str, nonce: &str| if nonce.is_empty() { text.to_owned() } else { text.replace(nonce, "NONCE") };
    let (old_system, old_user) = (plain(&earlier.system, &earlier.nonce), plain(&earlier.user, &earlier.nonce));
    let (system, user) = (plain(&prompt.system, &prompt.nonce), plain(&prompt.user, &prompt.nonce));
    let (old_system, old_user) = (sections(&old_system), sections(&old_user));
    let (system, user) = (sections(&system), sections(&user));
    let same = old_system.iter().zip(&system).take_while(|(before, after)| before == after).count();
    let same_prefix = system[..same].iter().map(|(name, body)| 2 * name.len() + body.len()).sum();
    let broken_by = system.get(same).or_else(|| old_system.get(same)).map(|(name, _)| name.clone());
    let (before, after) = ([old_system, old_user].concat(), [system, user].concat());
    let mut rows: Vec<Row> = after.iter().map(|(name, body)| row(name, find(&before, name), Some(body))).collect();
    rows.extend(
        before.iter().filter(|(name, _)| find(&after, name).is_none()).map(|(name, body)| row(name, Some(body), None)),
    );
    Difference { sections: rows, same_prefix, broken_by }
}

fn sections(text: &str) -> Sections<'_> {
    let mut found = Sections::new();
    let mut count: HashMap<&str, usize> = HashMap::new();
    for section in parse_sections(text) {
        let number = count.entry(section.name).and_modify(|count| *count += 1).or_insert(1);
        let name = if *number == 1 { section.name.to_owned() } else { format!("{} {number}", section.name) };
        found.push((name, section.body));
    }
    found
}

fn find<'a>(sections: &[(String, &'a str)], name: &str) -> Option<&'a str> {
    sections.iter().find(|(known, _)| known == name).map(|(_, body)| *body)
}

fn row(name: &str, before: Option<&str>, after: Option<&str>) -> Row {
    let status = match (before, after) {
        (Some(before), Some(after)) if before == after => Status::Same,
        (Some(_), Some(_)) => Status::Changed,
        (None, _) => Status::New,
        (_, None) => Status::Gone,
    };
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let first = (status == Status::Changed).then(|| first_line(before, after));
    Row { name: name.to_owned(), status, bytes_before: before.len(), bytes_after: after.len(), first }
}

fn first_line(before: &str, after: &str) -> Line {
    let (mut old, mut new) = (before.split('\n'), after.split('\n'));
    let mut line = 1;
    loop {
        match (old.next(), new.next()) {
            (Some(before), Some(after)) if before == after => line += 1,
            (before, after) => {
                let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
                return Line { line, before: text(before), after: text(after) };
            }
        }
    }
}

impl Difference {
    /// Whether any section differs.
    pub(super) fn is_empty(&self) -> bool {
        self.sections.iter().all(|row| row.status == Status::Same)
    }

    /// The sections that differ, for people.
    pub(super) fn changes(&self) -> String {
        let text = self.text();
        text.lines()
            .filter(|line| !line.starts_with("  ") || line.starts_with("    "))
            .fold(String::new(), |all, line| all + line + "\n")
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.sections {
            let (before, after) = (row.bytes_before, row.bytes_after);
            let what = match row.status {
                Status::Same => format!("  {}: same, {after} bytes", row.name),
                Status::Changed => format!("~ {}: {before} bytes became {after}", row.name),
                Status::New => format!("+ {}: new, {after} bytes", row.name),
                Status::Gone => format!("- {}: gone, {before} bytes", row.name),
            };
            text.push_str(&what);
            text.push('\n');
            if let Some(first) = &row.first {
                text.push_str(&format!("    line {}\n    - {}\n    + {}\n", first.line, first.before, first.after));
            }
        }
        match &self.broken_by {
            Some(section) => text.push_str(&format!(
                "The stable part differs from {section} on: a prompt cache holds for the {} bytes before it.\n",
                self.same_prefix
            )),
            None => text.push_str("The stable part is the same: a prompt cache holds for all of it.\n"),
        }
        text
    }
}
