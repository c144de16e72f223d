//! What is wrong in a document, as data: diagnostics, where they point, and how they are shown.

pub mod codes;
pub mod render;
mod source_map;
mod suggest;

use std::collections::HashSet;

pub use codes::Code;
pub use source_map::{SourceId, SourceMap, Span};
pub use suggest::{did_you_mean, list_words, only_near};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// The document can be used, and probably does not mean what its author thinks.
    Warning,
    /// Worth knowing; nothing to repair.
    Info,
}

impl Severity {
    /// The word that the outputs print.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// An edit that would repair the finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fix {
    /// What to replace.
    pub span: Span,
    /// What to write there.
    pub replacement: String,
    /// Whether it surely keeps what the author means, so that `check --fix` may apply it.
    pub safe: bool,
}

/// One finding about a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence with the offending value, without a final period.
    pub message: String,
    /// The exact place, when the finding has one.
    pub span: Option<Span>,
    /// Related places and what to say about them.
    pub labels: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
    /// An edit that a tool may apply.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of the given severity. A span that is [`Span::NONE`] counts as no place.
    pub fn new(severity: Severity, code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            span: span.into().filter(|span| !span.is_none()),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// A finding that makes the document unusable.
    pub fn error(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A finding that does not stop the document from being used.
    pub fn warning(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    /// A remark.
    pub fn info(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Info, code, span, message)
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to write instead, when there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<impl Into<String>>) -> Self {
        if let Some(help) = help {
            self.help = Some(help.into());
        }
        self
    }

    /// Adds a related place. A place without a source is left out.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_none() {
            self.labels.push((span, text.into()));
        }
        self
    }

    /// Gives every place in it another file.
    pub fn move_sources(&mut self, moved: impl Fn(SourceId) -> SourceId) {
        let labels = self.labels.iter_mut().map(|(span, _)| span);
        for span in labels.chain(&mut self.span).chain(self.fix.as_mut().map(|fix| &mut fix.span)) {
            span.source = moved(span.source);
        }
    }

    /// Adds an edit that probably repairs the finding.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into(), safe: false });
        self
    }

    /// Adds the edit that surely repairs the finding.
    #[must_use]
    pub fn safe_fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into(), safe: true });
        self
    }
}

/// Everything found so far. Readers of what a person wrote push here and keep going.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Nothing found.
    pub fn new() -> Self {
        Diagnostics::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    /// Adds an error; short for `push(Diagnostic::error(...))`.
    pub fn error(&mut self, code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) {
        self.push(Diagnostic::error(code, span, message));
    }

    /// Adds a warning; short for `push(Diagnostic::warning(...))`.
    pub fn warning(&mut self, code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) {
        self.push(Diagnostic::warning(code, span, message));
    }

    /// Adds all findings of another list.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.items.extend(other);
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.items.iter().filter(|d| d.severity == severity).count()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many findings there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The findings in their present order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// The findings, to give one better words.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.items.iter_mut()
    }

    /// The findings as a slice, for the renderers.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.items
    }

    /// Keeps the findings that satisfy the predicate.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.items.retain(keep);
    }

    /// Orders by path, then by offset, and drops findings that say the same about the same place.
    ///
    /// Findings without a place come first. The order is stable, so that a rule may rely on the
    /// order in which it pushed.
    pub fn sort(&mut self, sources: &SourceMap) {
        self.dedup();
        self.items.sort_by(|a, b| {
            let key = |d: &Diagnostic| d.span.map(|span| (sources.path(span.source), span.start));
            key(a).cmp(&key(b))
        });
    }

    /// Drops findings with the same code, place and message as an earlier one: an anchor that is
    /// used twice, or two gates that agree, must not be reported twice.
    pub fn dedup(&mut self) {
        let mut seen = HashSet::new();
        self.items.retain(|d| seen.insert((d.code, d.span, d.message.clone())));
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics { items: vec![diagnostic] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_goes_by_path_then_offset_and_drops_repeats() {
        let mut sources = SourceMap::new();
        let late = sources.add("b.yaml", "name: x\n");
        let early = sources.add("a.yaml", "name: x\n");
        let mut found = Diagnostics::new();
        found.error(codes::UNKNOWN_KEY, Span::new(late, 0, 4), "in b");
        found.error(codes::UNKNOWN_KEY, Span::new(early, 6, 7), "late in a");
        found.error(codes::UNKNOWN_KEY, Span::new(early, 0, 4), "early in a");
        found.error(codes::UNKNOWN_KEY, Span::new(late, 0, 4), "in b");
        found.error(codes::UNKNOWN_KEY, None, "nowhere");
        found.sort(&sources);
        let messages: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["nowhere", "early in a", "late in a", "in b"]);
    }

    #[test]
    fn only_errors_count_as_errors() {
        let mut found = Diagnostics::new();
        found.warning(codes::UNUSED_ANCHOR, None, "a warning");
        assert!(!found.has_errors());
        found.error(codes::UNKNOWN_KEY, Span::NONE, "an error");
        assert!(found.has_errors());
        assert_eq!(found.as_slice()[1].span, None, "a span without a source is no place");
    }
}
