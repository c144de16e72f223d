//! One pass of all rules over documents: on several threads, and with the same result as on one.

use std::collections::HashMap;
use std::sync::Arc;

use super::Options;
use super::context::{Cx, Leavings, Subject};
use super::gate::{Said, schema_errors, through_gate};
use super::kept::{Haste, Verdict, Verdicts};
use super::rule::{RULES, secrets};
use super::writes::Writes;
use crate::diag::{Diagnostics, SourceId, SourceMap};
use crate::load::Library;
use crate::parallel;

/// Fewer documents than this are not worth a thread.
const LEAST: usize = 8;

/// What every document of a pass is checked with.
struct Pass<'a> {
    library: &'a Library,
    sources: &'a SourceMap,
    writes: Arc<Writes>,
    /// Whether templates are noted.
    notes: bool,
    options: Options,
}

impl Pass<'_> {
    fn run(&self, subjects: &[Subject<'_>]) -> (Vec<Verdict>, Leavings) {
        let mut sources = self.sources.clone();
        let mut found = Diagnostics::new();
        let mut cx = Cx::new(self.library, &mut sources, &mut found).knowing(Arc::clone(&self.writes));
        cx.places = self.notes.then(Vec::new);
        let verdicts = subjects.iter().map(|subject| self.subject(&mut cx, *subject)).collect();
        (verdicts, cx.leave())
    }

    fn subject(&self, cx: &mut Cx<'_>, subject: Subject<'_>) -> Verdict {
        for rule in RULES {
            tracing::trace!(rule = rule.name, "checking");
            (rule.run)(cx, subject);
        }
        // Which templates a document uses is known once all rules have looked at it.
        secrets::in_templates(cx);
        let mut verdict = cx.verdict();
        for place in &mut verdict.places {
            place.document = subject.source();
        }
        if self.options.schemas {
            verdict.schema = schema_errors(subject.kind(), subject.node());
        }
        verdict
    }
}

/// Applies every rule to every document, and compares it with its schema where that is wanted. What `earlier` knows is not
/// looked for again.
pub(super) fn over(
    cx: &mut Cx<'_>,
    subjects: &[Subject<'_>],
    options: Options,
    mut earlier: Option<(&mut Verdicts, Haste)>,
) -> Said {
    let library = cx.library;
    if let Some((known, _)) = &mut earlier {
        known.look_around(library, subjects);
    }
    let is_known = |subject: &Subject<'_>| {
        earlier.as_ref().is_some_and(|(known, haste)| known.get(library, *subject, *haste).is_some())
    };
    let known: Vec<bool> = subjects.iter().map(is_known).collect();
    let unknown: Vec<Subject<'_>> =
        subjects.iter().zip(&known).filter(|(_, known)| !**known).map(|(subject, _)| *subject).collect();
    let mut fresh = checked(cx, &unknown, options).into_iter();
    let mut said = Said::default();
    said.note(cx.found.iter());
    for (subject, is_known) in subjects.iter().zip(known) {
        let known = earlier.as_ref().filter(|_| is_known);
        let verdict = match known.and_then(|(known, haste)| known.get(library, *subject, *haste)) {
            Some((verdict, names)) => again(cx, verdict, names),
            None => {
                let verdict = fresh.next().unwrap_or_default();
                if let Some((known, _)) = &mut earlier {
                    known.keep(*subject, verdict.clone(), |name| cx.file_id(name));
                }
                verdict
            }
        };
        cx.take_verdict(&verdict);
        said.note(&verdict.rules);
        cx.found.extend(verdict.rules);
        if options.schemas {
            through_gate(subject.kind(), subject.node(), verdict.schema, &mut said, cx.found);
        }
    }
    if let Some((known, _)) = earlier {
        known.retain(subjects);
    }
    said
}

/// A verdict that is known already, with the ids that its template files have now.
fn again(cx: &mut Cx<'_>, verdict: &Verdict, names: &HashMap<SourceId, String>) -> Verdict {
    for (name, path, text) in verdict.files() {
        cx.source_of(name, path, text);
    }
    // Another document may have found them, and is not asked again.
    secrets::in_templates(cx);
    let here = |id: SourceId| names.get(&id).and_then(|name| cx.file_id(name)).unwrap_or(id);
    verdict.clone().moved(here)
}

/// Checks documents on several threads. Template files get the ids that they have here.
fn checked(cx: &mut Cx<'_>, subjects: &[Subject<'_>], options: Options) -> Vec<Verdict> {
    let (writes, notes, first) = (cx.writes(), cx.places.is_some(), cx.sources.len());
    let pass = Pass { library: cx.library, sources: cx.sources, writes, notes, options };
    let weight = |subject: &Subject<'_>| pass.sources.text(subject.source()).len();
    let shares = parallel::shares(subjects, LEAST, weight, |run| pass.run(run));
    let mut verdicts = Vec::with_capacity(subjects.len());
    for (share, leavings) in shares {
        let here = cx.take_over(leavings, first);
        verdicts.extend(share.into_iter().map(|verdict| verdict.moved(&here)));
    }
    verdicts
}
