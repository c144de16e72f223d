//! Comments that switch findings off: `# loopwright: ignore[CODE]` on the line of a finding, or alone on the line above.
//! In a template the comment is `{# loopwright: ignore[CODE] #}`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::template_text::comments as template_comments;
use super::text::Text;
use crate::diag::codes::{self, all, find};
use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span, did_you_mean};
use crate::syntax::{Format, Node, Value, comments};

/// What a text holds if it may hold such a comment: most have none.
const SIGN: &str = "loopwright:";

#[expect(clippy::expect_used, reason = "the pattern is a constant that every test here compiles")]
static IGNORE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:#|\{#-?)\s*loopwright:\s*ignore\s*(?:\[([^\]]*)\])?").expect("a valid pattern"));

/// One code of one comment.
struct Ignore {
    code: String,
    /// The code's bytes.
    place: Span,
    /// The line that it is about, from 1.
    line: u32,
    used: bool,
}

/// All comments of this kind in what is checked.
#[derive(Default)]
pub(super) struct Ignores {
    all: Vec<Ignore>,
}

impl Ignores {
    /// Adds those of a document: the comments of its notation.
    pub(super) fn in_document(&mut self, source: SourceId, sources: &SourceMap) {
        let text = sources.text(source);
        if !text.contains(SIGN) {
            return;
        }
        let format = Format::of_path(sources.path(source)).unwrap_or(Format::Yaml);
        for range in comments(text, format) {
            self.comment(
                &text[range.clone()],
                |part| span(source, range.start + part.start..range.start + part.end),
                sources,
            );
        }
    }

    /// Adds those in the templates of a document: the comments inside its texts.
    pub(super) fn in_texts(&mut self, node: &Node, sources: &SourceMap) {
        match &node.value {
            Value::String(text) if text.contains(SIGN) => self.in_template(&Text::Value(node), sources),
            Value::Seq(items) => items.iter().for_each(|item| self.in_texts(item, sources)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.in_texts(&entry.value, sources)),
            _ => {}
        }
    }

    /// Adds those of a template.
    pub(super) fn in_template(&mut self, text: &Text<'_>, sources: &SourceMap) {
        let source = text.as_str();
        for range in template_comments(source) {
            self.comment(
                &source[range.clone()],
                |part| text.span(range.start + part.start..range.start + part.end),
                sources,
            );
        }
    }

    /// Reads one comment; `at` gives the place of some of its bytes.
    fn comment(&mut self, comment: &str, at: impl Fn(Range<usize>) -> Span, sources: &SourceMap) {
        let Some(found) = IGNORE.captures(comment) else { return };
        let whole = at(0..comment.len());
        let line = line_meant(whole, sources);
        let mut add = |code: &str, place: Span| {
            // A text that an alias repeats has its comment once.
            if !self.all.iter().any(|known| known.place == place) {
                self.all.push(Ignore { code: code.to_owned(), place, line, used: false });
            }
        };
        let Some(list) = found.get(1).filter(|list| !list.as_str().trim().is_empty()) else { return add("", whole) };
        let mut start = list.start();
        for part in list.as_str().split(',') {
            let code = part.trim();
            let begin = start + (part.len() - part.trim_start().len());
            add(code, at(begin..begin + code.len()));
            start += part.len() + 1;
        }
    }

    /// Takes the findings away that are switched off, and complains about comments that switch nothing off.
    ///
    /// Where not everything was looked for, a comment that found nothing may well be needed: then `complete` is false.
    pub(super) fn apply(mut self, found: &mut Diagnostics, sources: &SourceMap, complete: bool) {
        if self.all.is_empty() {
            return;
        }
        found.retain(|finding| {
            let Some(place) = finding.span else { return true };
            let is_adjustable = finding.code.info().is_some_and(|info| info.adjustable);
            let line = sources.line_col(place).start.line;
            let meant = self.all.iter_mut().find(|ignore| {
                is_adjustable
                    && ignore.place.source == place.source
                    && ignore.line == line
                    && ignore.code == finding.code.as_str()
            });
            let hidden = meant.is_some();
            meant.into_iter().for_each(|ignore| ignore.used = true);
            !hidden
        });
        for ignore in self.all.iter().filter(|ignore| !ignore.used) {
            found.extend(unused(ignore, complete));
        }
    }
}

fn unused(ignore: &Ignore, complete: bool) -> Option<Diagnostic> {
    let finding = |message: String| Diagnostic::warning(codes::UNUSED_IGNORE, ignore.place, message);
    let code = ignore.code.as_str();
    if code.is_empty() {
        let words = "the comment does not say which findings it is about";
        return Some(finding(words.to_owned()).help("write the codes: `loopwright: ignore[CODE, CODE]`"));
    }
    let Some(info) = find(code) else {
        let names: Vec<&str> = all().iter().map(|info| info.code.as_str()).collect();
        let help = match did_you_mean(code, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`loopwright check --list-codes` lists the codes".to_owned(),
        };
        return Some(finding(format!("there is no code `{code}`")).help(help));
    };
    if !info.adjustable {
        let message = format!("`{code}` keeps the document from being used and cannot be switched off");
        return Some(finding(message).help("repair it, and remove the comment"));
    }
    complete.then(|| finding(format!("there is no `{code}` to switch off")).help("remove the comment"))
}

/// The line that a comment is about: its own, or the next with anything else when it stands alone.
fn line_meant(comment: Span, sources: &SourceMap) -> u32 {
    let text = sources.text(comment.source);
    let own = sources.line_col(comment).start.line;
    let start = text[..(comment.start as usize).min(text.len())].rfind('\n').map_or(0, |end| end + 1);
    let mut lines = text[start..].lines();
    let alone = lines.next().is_some_and(|line| line.trim() == sources.slice(comment).trim());
    if !alone {
        return own;
    }
    let passed = lines.take_while(|line| is_empty_or_comment(line.trim())).count();
    own + 1 + u32::try_from(passed).unwrap_or(u32::MAX)
}

fn is_empty_or_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || (line.starts_with("{#") && line.ends_with("#}"))
}

fn span(source: SourceId, range: Range<usize>) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(source, offset(range.start), offset(range.end))
}
