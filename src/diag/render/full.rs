//! Findings for a person: the excerpt with a mark under the exact bytes, the code, and the help.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use super::{Diagnostic, SourceMap};
use crate::diag::{Severity, SourceId, Span};

/// Whether to colour the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Plain text, the same everywhere.
    Plain,
    /// With terminal colours.
    Ansi,
}

/// A code frame a finding, separated by empty lines.
pub fn full(diagnostics: &[Diagnostic], sources: &SourceMap, color: Color) -> String {
    let renderer = match color {
        Color::Plain => Renderer::plain(),
        Color::Ansi => Renderer::styled(),
    };
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&renderer.render(&report(diagnostic, sources)));
        out.push_str("\n\n");
    }
    out
}

fn report<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for source in shown_sources(diagnostic) {
        group = group.element(snippet(diagnostic, source, sources));
    }
    let mut groups = Vec::new();
    match (&diagnostic.help, &diagnostic.fix) {
        (help, Some(fix)) => {
            groups.push(group);
            let title = help.as_deref().unwrap_or("write this instead");
            let text = sources.shown(fix.span.source);
            groups.push(
                Level::HELP.secondary_title(title).element(
                    Snippet::source(text)
                        .path(path(sources, fix.span.source))
                        .patch(Patch::new(range(fix.span, text), fix.replacement.as_str())),
                ),
            );
        }
        (Some(help), None) => groups.push(group.element(Level::HELP.message(help.as_str()))),
        (None, None) => groups.push(group),
    }
    groups
}

/// The files that the finding points into, its own first.
fn shown_sources(diagnostic: &Diagnostic) -> Vec<SourceId> {
    let mut shown = Vec::new();
    let spans = diagnostic.span.into_iter();
    for span in spans.chain(diagnostic.labels.iter().map(|(span, _)| *span)) {
        if !shown.contains(&span.source) {
            shown.push(span.source);
        }
    }
    shown
}

fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    source: SourceId,
    sources: &'a SourceMap,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = sources.shown(source);
    let mut snippet = Snippet::source(text).path(path(sources, source));
    if let Some(span) = diagnostic.span.filter(|span| span.source == source) {
        snippet = snippet.annotation(AnnotationKind::Primary.span(first_line(span, text)));
    }
    for (span, label) in &diagnostic.labels {
        if span.source == source {
            snippet = snippet.annotation(AnnotationKind::Context.span(first_line(*span, text)).label(label.as_str()));
        }
    }
    snippet
}

fn path(sources: &SourceMap, source: SourceId) -> String {
    sources.path(source).display().to_string()
}

/// The span as a range that surely lies in the text, on character boundaries. Of several lines only the first is
/// marked: a finding about a whole map should not print the map.
fn first_line(span: Span, text: &str) -> Range<usize> {
    let range = range(span, text);
    let length = text[range.clone()].find(['\n', '\r']).unwrap_or(range.len());
    range.start..range.start + length
}

fn range(span: Span, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary((span.end as usize).min(text.len())).max(start);
    start..end
}
