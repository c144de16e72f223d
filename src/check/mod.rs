//! Is it right? Documents in, everything that is wrong with them out.
//!
//! A document passes two gates, decoding and its JSON Schema, and then the rules, which know what the words mean.
//! Nothing is rendered, started, or sent.

mod context;
pub mod cost;
mod gate;
mod ignore;
mod json_schema;
mod kept;
mod logic;
mod names;
mod origin;
mod pass;
mod places;
mod results;
mod rule;
mod schema_keywords;
mod scope;
mod severity;
mod shape;
mod steps;
mod targets;
mod template;
mod template_text;
mod text;
mod values;
mod writes;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span, codes};
use crate::load::Library;

use context::Cx;
use gate::{schema_errors, through_gate};
use ignore::Ignores;
pub use kept::{Haste, Verdicts};
pub use places::{TemplatePlace, step_references};
use scope::Scope;
use targets::Selection;

/// Which documents are checked.
#[derive(Debug, Clone, Copy)]
pub enum Targets<'a> {
    /// Every document of the workspace, and the workspace itself.
    All,
    /// These files, as [`Library::add_path`] gave them.
    Files(&'a [SourceId]),
    /// A loop by name, with everything that it refers to: what a run needs.
    Loop(&'a str),
}

/// How a check is made.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Also compare each document with its JSON Schema.
    pub schemas: bool,
}

/// Checks documents: what was found wrong while they were read, and what the rules find.
///
/// Reads template files and nothing else: no network, no process, and nothing is rendered.
pub fn check(library: &mut Library, targets: Targets<'_>, options: Options) -> Diagnostics {
    checked(library, targets, options, None, None).0
}

/// The same, and every template and expression of those documents and of the files that they use, with what each sees.
#[cfg(test)]
pub fn check_noting_templates(
    library: &mut Library,
    targets: Targets<'_>,
    options: Options,
) -> (Diagnostics, Vec<TemplatePlace>) {
    checked(library, targets, options, Some(Vec::new()), None)
}

/// The same over the whole workspace, without looking again for what `known` has: for a library that was opened again.
pub fn check_again(library: &mut Library, known: &mut Verdicts, haste: Haste) -> (Diagnostics, Vec<TemplatePlace>) {
    checked(library, Targets::All, Options { schemas: true }, Some(Vec::new()), Some((known, haste)))
}

fn checked(
    library: &mut Library,
    targets: Targets<'_>,
    options: Options,
    places: Option<Vec<TemplatePlace>>,
    known: Option<(&mut Verdicts, Haste)>,
) -> (Diagnostics, Vec<TemplatePlace>) {
    let selection = Selection::of(library, targets);
    let mut found = Diagnostics::new();
    found.extend(library.findings().iter().filter(|finding| selection.covers(finding)).cloned());
    let mut sources = std::mem::take(&mut library.sources);
    let mut cx = Cx::new(library, &mut sources, &mut found);
    cx.places = places;
    let mut said = pass::over(&mut cx, &selection.subjects(library), options, known);
    if options.schemas {
        for unusable in library.unusable.iter().filter(|doc| selection.has(doc.source)) {
            if let Some(node) = &unusable.node {
                let first = cx.found.len();
                rule::verbs::in_tree(&mut cx, node);
                said.note(cx.found.iter().skip(first));
                through_gate(unusable.kind, node, schema_errors(unusable.kind, node), &mut said, cx.found);
            }
            rule::secrets::in_source(&mut cx, unusable.source);
        }
    }
    cx.mask_sources();
    let places = cx.places.take().unwrap_or_default();
    let templates = cx.template_files();
    let mut ignores = Ignores::default();
    for text in &templates {
        ignores.in_template(text, &sources);
    }
    for source in selection.own(library) {
        ignores.in_document(source, &sources);
    }
    for subject in selection.subjects(library) {
        ignores.in_texts(subject.node(), &sources);
    }
    ignores.apply(&mut found, &sources, true);
    mask(&mut found, &sources);
    severity::apply(&library.workspace.doc, &mut found);
    library.sources = sources;
    found.sort(&library.sources);
    (found, places)
}

/// Takes secrets out of what other rules say about the same values.
pub fn mask(found: &mut Diagnostics, sources: &SourceMap) {
    let hidden = sources.hidden();
    for finding in found.iter_mut().filter(|_| !hidden.is_empty()) {
        let labels = finding.labels.iter_mut().map(|(_, label)| label);
        for words in labels.chain([&mut finding.message]).chain(&mut finding.help) {
            for secret in hidden.iter().filter(|secret| words.contains(**secret)).copied().collect::<Vec<_>>() {
                *words = words.replace(secret, "***");
            }
        }
    }
}

/// Checks every document of a workspace, as `loopwright check` does: schemas, templates, and all rules.
///
/// Reads template files and nothing else: no network, no process, and nothing is rendered.
pub fn check_workspace(library: &mut Library) -> Diagnostics {
    check(library, Targets::All, Options { schemas: true })
}

/// The files of documents that a loop needs: its own, what it extends, and everything that it refers to.
pub fn sources_of_loop(library: &Library, name: &str) -> Vec<SourceId> {
    Selection::of(library, Targets::Loop(name)).sources()
}

/// Checks a bare template file against the names that it may use; without any, against all that documents may use.
pub fn check_template(library: &mut Library, path: &Path, names: &[String]) -> Diagnostics {
    check_template_noting(library, path, names).0
}

/// The same, and the template with what it sees; those that it includes follow it.
pub fn check_template_noting(
    library: &mut Library,
    path: &Path,
    names: &[String],
) -> (Diagnostics, Vec<TemplatePlace>) {
    let mut places = Vec::new();
    let mut found = Diagnostics::new();
    let mut sources = std::mem::take(&mut library.sources);
    let scope = if names.is_empty() { Scope::open() } else { Scope::of_names(names) };
    match library.files.name_of(path) {
        Some(name) => {
            let mut cx = Cx::new(library, &mut sources, &mut found);
            cx.places = Some(Vec::new());
            if let Some(text) = cx.template_file(&name, path) {
                template::check_text(&mut cx, &text, &scope);
                rule::secrets::in_templates(&mut cx);
                cx.mask_sources();
            }
            places = cx.places.take().unwrap_or_default();
            let templates = cx.template_files();
            let mut ignores = Ignores::default();
            for text in &templates {
                ignores.in_template(text, &sources);
            }
            ignores.apply(&mut found, &sources, !names.is_empty());
            severity::apply(&library.workspace.doc, &mut found);
        }
        None => {
            let source = sources.add(path, "");
            let message = "the file lies outside the workspace, so what it includes cannot be found";
            found.push(Diagnostic::error(codes::TEMPLATE_OUTSIDE_ROOT, Span::new(source, 0, 0), message));
        }
    }
    library.sources = sources;
    found.sort(&library.sources);
    (found, places)
}
