//! What goes wrong in a template, with the place and the values that were involved.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use minijinja::Value;

use super::explain::{Origin, explain};

/// What kind of mistake it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// The text is not a template.
    Syntax,
    /// A block is not closed.
    UnclosedBlock,
    /// No filter of that name.
    UnknownFilter,
    /// No test of that name.
    UnknownTest,
    /// No function of that name.
    UnknownFunction,
    /// The value has no such method.
    UnknownMethod,
    /// A variable or attribute is not there.
    Undefined,
    /// An included file is not there.
    NotFound,
    /// An included name leads out of the prompt folders.
    OutsideRoot,
    /// The template did too much work.
    OutOfFuel,
    /// The text became too long.
    TooLarge,
    /// An operation does not fit the values.
    Operation,
}

/// Where in a template's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// Characters from the line's start, counted from 1.
    pub column: usize,
    /// Bytes of the source.
    pub range: Range<usize>,
}

impl Place {
    /// The place of a byte range in a source; the range is cut to the source.
    #[must_use]
    pub fn of(source: &str, range: Range<usize>) -> Self {
        let start = floor_boundary(source, range.start);
        let end = floor_boundary(source, range.end).max(start);
        let before = &source[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            range: start..end,
        }
    }
}

/// A template that does not compile or does not render. The details are read as fields: `e.kind`, `e.message`.
#[derive(Debug, Clone)]
pub struct TemplateError(Box<TemplateErrorDetails>);

/// What a [`TemplateError`] says.
#[derive(Debug, Clone)]
pub struct TemplateErrorDetails {
    /// What kind of mistake.
    pub kind: TemplateErrorKind,
    /// One sentence, without the place.
    pub message: String,
    /// The file, when the template is one.
    pub file: Option<String>,
    /// The template's source as its author wrote it (of the file, when `file` is some).
    pub source: Arc<str>,
    /// Where in `source`; none where the engine does not say.
    pub place: Option<Place>,
    /// Variables that the failing line uses, with their values cut short; secrets are left out.
    pub values: Vec<(String, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Deref for TemplateError {
    type Target = TemplateErrorDetails;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for TemplateError {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.file, &self.place) {
            (Some(file), Some(place)) => write!(f, " ({file}:{}:{})", place.line, place.column)?,
            (Some(file), None) => write!(f, " ({file})")?,
            (None, Some(place)) => {
                let excerpt = self.source[place.range.clone()].trim();
                if !excerpt.is_empty() && excerpt.len() <= 120 {
                    write!(f, " (at `{excerpt}`)")?;
                }
            }
            (None, None) => {}
        }
        for (i, (name, value)) in self.values.iter().enumerate() {
            f.write_str(if i == 0 { "; " } else { ", " })?;
            write!(f, "{name} = {value}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TemplateError {}

impl TemplateError {
    pub(super) fn new(kind: TemplateErrorKind, message: String) -> Self {
        Self(Box::new(TemplateErrorDetails {
            kind,
            message,
            file: None,
            source: Arc::from(""),
            place: None,
            values: Vec::new(),
            help: None,
        }))
    }

    pub(super) fn not_found(name: &str) -> Self {
        Self::new(TemplateErrorKind::NotFound, format!("Template file `{name}` does not exist"))
    }

    /// A text that is not a template.
    pub(super) fn syntax(error: &minijinja::Error, source: &str) -> Self {
        explain(error, &Origin { source, file: None, bare: false, wrapped: None }, &|_| None, &Value::UNDEFINED)
    }
}

/// Help for names that lead out of the workspace.
pub(super) const INSIDE: &str = "use a relative name without `..`, written with `/`";

/// The last character boundary at or before `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
