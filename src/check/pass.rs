//! One pass of all rules over documents: on several threads, and with the same result as on one.

use std::sync::Arc;

use super::Options;
use super::context::{Cx, Leavings, Subject};
use super::gate::{Said, schema_errors, through_gate};
use super::rule::{self, RULES};
use super::writes::Writes;
use crate::diag::{Diagnostics, SourceMap};
use crate::load::Library;
use crate::parallel;

/// Fewer documents than this are not worth a thread.
const LEAST: usize = 8;

/// What was found in one document.
struct Verdict {
    rules: Diagnostics,
    schema: Diagnostics,
}

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
        let first = cx.places.as_ref().map_or(0, Vec::len);
        for rule in RULES {
            tracing::trace!(rule = rule.name, "checking");
            (rule.run)(cx, subject);
        }
        // Which templates a document uses is known once all rules have looked at it.
        rule::secrets::in_templates(cx);
        for place in cx.places.iter_mut().flat_map(|places| &mut places[first..]) {
            place.document = subject.source();
        }
        let schema = match self.options.schemas {
            true => schema_errors(subject.kind(), subject.node()),
            false => Diagnostics::new(),
        };
        Verdict { rules: std::mem::take(cx.found), schema }
    }
}

/// Applies every rule to every document, and compares it with its schema where that is wanted.
pub(super) fn over(cx: &mut Cx<'_>, subjects: &[Subject<'_>], options: Options) -> Said {
    let (writes, notes, first) = (cx.writes(), cx.places.is_some(), cx.sources.len());
    let pass = Pass { library: cx.library, sources: cx.sources, writes, notes, options };
    let weight = |subject: &Subject<'_>| pass.sources.text(subject.source()).len();
    let shares = parallel::shares(subjects, LEAST, weight, |run| pass.run(run));
    let mut said = Said::default();
    said.note(cx.found.iter());
    let mut subjects = subjects.iter();
    for (verdicts, leavings) in shares {
        let here = cx.take_over(leavings, first);
        for (verdict, subject) in verdicts.into_iter().zip(&mut subjects) {
            let Verdict { mut rules, schema } = verdict;
            rules.iter_mut().for_each(|finding| finding.move_sources(&here));
            said.note(&rules);
            cx.found.extend(rules);
            if options.schemas {
                through_gate(subject.kind(), subject.node(), schema, &mut said, cx.found);
            }
        }
    }
    said
}
