//! What was found in a document holds as long as nothing changes that it depends on: the document, what it looked up, and
//! what others show of themselves. For whoever checks again and again while somebody writes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;

use super::context::Subject;
use super::places::TemplatePlace;
use crate::diag::{Diagnostics, SourceId, Span, codes};
use crate::load::{Library, PromptFile, PromptFileError};
use crate::syntax::{Entry, Node, Value};

/// Texts of a document that no other document looks at. What they are called is still seen.
const OWN_TEXTS: [&str; 6] = ["description", "usage", "instruction", "output_example", "reactive", "sections"];

/// A question about a template file, and what the answer was.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    pub(super) asked: Asked,
    pub(super) answer: Result<PromptFile, PromptFileError>,
}

/// Who asks for a template file.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// A document in a folder.
    Document(String, String),
    /// Another template.
    Template(String, String),
}

impl Lookup {
    pub(super) fn of(library: &Library, asked: Asked) -> Self {
        let answer = match &asked {
            Asked::Document(name, folder) => library.files.of_document(name, folder),
            Asked::Template(name, parent) => library.files.of_template(name, parent),
        };
        Self { asked, answer }
    }

    fn holds(&self, library: &Library) -> bool {
        Self::of(library, self.asked.clone()).answer == self.answer
    }

    /// The file that was read, whether or not it is text: its name, path and text.
    fn file(&self) -> Option<(&String, &PathBuf, &Arc<str>)> {
        match &self.answer {
            Ok(file) => Some((&file.name, &file.path, &file.text)),
            Err(PromptFileError::Encoding { name, path, text, .. }) => Some((name, path, text)),
            Err(_) => None,
        }
    }
}

/// What was found in one document.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdict {
    /// By the rules.
    pub(super) rules: Diagnostics,
    /// By its schema.
    pub(super) schema: Diagnostics,
    /// Its templates and expressions, and those of the files that it uses.
    pub(super) places: Vec<TemplatePlace>,
    /// What is not to be shown.
    pub(super) hidden: Vec<Span>,
    pub(super) lookups: Vec<Lookup>,
}

impl Verdict {
    /// Gives everything in it other ids for template files.
    pub(super) fn moved(mut self, here: impl Fn(SourceId) -> SourceId) -> Self {
        for finding in self.rules.iter_mut().chain(self.schema.iter_mut()) {
            finding.move_sources(&here);
        }
        for span in &mut self.hidden {
            span.source = here(span.source);
        }
        self.places = self.places.into_iter().map(|place| place.moved(&here)).collect();
        self
    }

    /// The template files that were read: name, path and text.
    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &PathBuf, &Arc<str>)> {
        self.lookups.iter().filter_map(Lookup::file)
    }
}

/// A verdict with what it depends on.
#[derive(Debug, Clone)]
struct Kept {
    verdict: Arc<Verdict>,
    node: Node,
    /// What other documents showed of themselves.
    surroundings: u64,
    /// The ids of the template files in the verdict.
    files: HashMap<SourceId, String>,
}

/// The verdicts of the last check.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    kept: HashMap<SourceId, Kept>,
    outlines: HashMap<SourceId, (Node, u64)>,
    surroundings: u64,
}

/// Which verdicts are good enough to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    /// Those that would be found again.
    None,
    /// Those of documents that are the same, whatever became of others: the next check sees to that.
    OwnFilesOnly,
}

impl Verdicts {
    /// Whether each verdict is what would be found again, and none was kept in haste.
    #[must_use]
    pub fn are_current(&self) -> bool {
        self.kept.values().all(|kept| kept.surroundings == self.surroundings)
    }

    /// Notes what the documents of a library show of themselves now.
    pub(super) fn look_around(&mut self, library: &Library, subjects: &[Subject<'_>]) {
        let mut hash = DefaultHasher::new();
        for subject in subjects {
            let (source, node) = (subject.source(), subject.node());
            let known = self.outlines.get(&source).filter(|(known, _)| is_same(known, node)).map(|(_, hash)| *hash);
            let outline = known.unwrap_or_else(|| outline(subject));
            self.outlines.insert(source, (node.clone(), outline));
            (subject.kind().name(), source, outline).hash(&mut hash);
        }
        for broken in &library.unusable {
            (broken.kind.name(), &broken.name, broken.source).hash(&mut hash);
        }
        for skill in library.skills.entries() {
            (skill.source, library.sources.text(skill.source)).hash(&mut hash);
        }
        self.surroundings = hash.finish();
    }

    /// What was found in a document, if it would be found again; with the names of the template files in it.
    pub(super) fn get(
        &self,
        library: &Library,
        subject: Subject<'_>,
        haste: Haste,
    ) -> Option<(&Verdict, &HashMap<SourceId, String>)> {
        let kept = self.kept.get(&subject.source())?;
        let holds = is_same(&kept.node, subject.node())
            && (haste == Haste::OwnFilesOnly || kept.surroundings == self.surroundings)
            && kept.verdict.lookups.iter().all(|lookup| lookup.holds(library));
        holds.then_some((&*kept.verdict, &kept.files))
    }

    /// Keeps what was found in a document, with the ids that template files have now.
    pub(super) fn keep(&mut self, subject: Subject<'_>, verdict: Verdict, id_of: impl Fn(&str) -> Option<SourceId>) {
        let files = verdict.files().filter_map(|(name, ..)| Some((id_of(name)?, name.clone())));
        let files: HashMap<SourceId, String> = files.collect();
        let own = subject.source();
        let is_own = |span: &Span| span.source == own || files.contains_key(&span.source);
        let findings = verdict.rules.iter().chain(verdict.schema.iter());
        let spans = findings.flat_map(|finding| finding.span.iter().chain(finding.labels.iter().map(|(span, _)| span)));
        // Places in other documents change with their texts, which are not looked at.
        let moves = !{ spans }.all(is_own);
        // Which file was probably meant depends on all files that there are.
        let misses = verdict
            .rules
            .iter()
            .any(|finding| [codes::FILE_MISSING, codes::TEMPLATE_NOT_FOUND].contains(&finding.code));
        if moves || misses || reads_more(subject) {
            self.kept.remove(&own);
            return;
        }
        let (node, surroundings) = (subject.node().clone(), self.surroundings);
        self.kept.insert(own, Kept { verdict: Arc::new(verdict), node, surroundings, files });
    }

    /// Forgets documents that are gone.
    pub(super) fn retain(&mut self, subjects: &[Subject<'_>]) {
        let there: std::collections::HashSet<SourceId> = subjects.iter().map(|subject| subject.source()).collect();
        self.kept.retain(|source, _| there.contains(source));
        self.outlines.retain(|source, _| there.contains(source));
    }
}

/// Whether a document's verdict depends on files that are not noted as they are looked up.
fn reads_more(subject: Subject<'_>) -> bool {
    match subject {
        Subject::Loop(loaded) => loaded.doc.example.is_some() || loaded.doc.language.is_some(),
        Subject::Workspace(_) => true,
        Subject::Tool(_) | Subject::Forge(_) | Subject::Preset(_) => false,
    }
}

/// Whether two trees are one. Trees are kept as they are while their files do not change.
fn is_same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Map(one), Value::Map(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

/// What others may see of a document. The workspace is seen whole.
fn outline(subject: &Subject<'_>) -> u64 {
    let mut hash = DefaultHasher::new();
    let own: &[&str] = if matches!(subject, Subject::Workspace(_)) { &[] } else { &OWN_TEXTS };
    for entry in subject.node().entries() {
        match &*entry.key {
            key if own.contains(&key) => key.hash(&mut hash),
            "prompt" => {
                let seen = entry.value.entries().iter().filter(|part| !own.contains(&&*part.key));
                seen.for_each(|part| entry_hash(part, &mut hash));
            }
            _ => entry_hash(entry, &mut hash),
        }
    }
    hash.finish()
}

fn entry_hash(entry: &Entry, hash: &mut DefaultHasher) {
    entry.key.hash(hash);
    node_hash(&entry.value, hash);
}

fn node_hash(node: &Node, hash: &mut DefaultHasher) {
    std::mem::discriminant(&node.value).hash(hash);
    match &node.value {
        Value::Null => {}
        Value::Bool(value) => value.hash(hash),
        Value::Int(value) => value.hash(hash),
        Value::UInt(value) => value.hash(hash),
        Value::Float(value) => value.to_bits().hash(hash),
        Value::String(text) => text.hash(hash),
        Value::Seq(items) => {
            items.len().hash(hash);
            items.iter().for_each(|item| node_hash(item, hash));
        }
        Value::Map(entries) => {
            entries.len().hash(hash);
            entries.iter().for_each(|entry| entry_hash(entry, hash));
        }
    }
}
