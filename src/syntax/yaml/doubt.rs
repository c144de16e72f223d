//! Warnings about YAML that is right and probably not what its author means.

use granit_parser::ScalarStyle;

use super::{Builder, scalar};
use crate::diag::{Diagnostic, Span, codes};
use crate::syntax::Value;

impl Builder<'_> {
    /// Looks at a scalar for text that has been joined or cut off.
    pub(super) fn doubts(&mut self, text: &str, style: ScalarStyle, span: Span) {
        match style {
            ScalarStyle::Plain if !text.is_empty() => {
                self.joined(span);
                self.cut(text, span.end);
            }
            ScalarStyle::Folded => {
                self.folded_list(text, span);
                self.folded_loop(text, span);
            }
            _ => {}
        }
    }

    /// A list under a value is not a list: its dashes become part of the text.
    fn joined(&mut self, span: Span) {
        let mut at = span.start as usize;
        let lines = self.slice(span).split_inclusive('\n').map(|line| {
            let start = at + (line.len() - line.trim_start().len());
            at += line.len();
            (start, line.trim())
        });
        let Some((start, line)) = lines.skip(1).find(|(_, line)| line.starts_with("- ")) else {
            return;
        };
        let place = self.range(start, start + line.len());
        self.diagnostics.push(
            Diagnostic::warning(
                codes::JOINED_LINES,
                place,
                "this line goes on with the text above and is no list item",
            )
            .label(span.at_start(), "the text begins here")
            .help("remove the text above if a list is meant; else put the text in quotes or after `|`"),
        );
    }

    /// `Close #12` loses its number, since ` #` begins a comment. For an empty value, `end` is the end of its key.
    pub(super) fn cut(&mut self, text: &str, end: u32) {
        let end = end as usize;
        let rest = self.text[end..].split('\n').next().unwrap_or_default().trim_end();
        let comment = rest.trim_start_matches([' ', '\t', ':']);
        let tight = comment.strip_prefix('#').is_some_and(|c| c.starts_with(|c: char| c.is_alphanumeric()));
        // A remark after a number or a word is usual; a number after words, or instead of a value, is hardly one.
        let is_word =
            text.starts_with(char::is_alphabetic) && !matches!(scalar::plain(text).value, Value::Bool(_) | Value::Null);
        let in_text = (text.contains(' ') || is_word)
            && comment.strip_prefix('#').is_some_and(|c| c.starts_with(|c: char| c.is_ascii_digit()));
        if !tight || !(text.is_empty() || in_text) {
            return;
        }
        let start = end + (rest.len() - comment.len());
        let place = self.range(start, start + comment.len());
        self.diagnostics.push(
            Diagnostic::warning(codes::CUT_TEXT, place, "this is a comment and not part of the value")
                .help("put the value in quotes if `#` belongs to it; else write a space after `#`"),
        );
    }

    /// `>` joins the items of a list into one line.
    fn folded_list(&mut self, text: &str, span: Span) {
        let mut lines = self.slice(span).lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
        let item = |line: &str| line.starts_with("- ") || line.starts_with("* ");
        let items = lines.clone().filter(|line| item(line)).count();
        let joined = lines.find(|line| item(line)).is_some_and(|_| text.contains(" - ") || text.contains(" * "));
        if items > 1 && joined {
            let sign = self.range(span.start as usize, span.start as usize + 1);
            self.diagnostics.push(
                Diagnostic::warning(codes::JOINED_LINES, sign, "`>` joins the items of this list into one line")
                    .help("write `|`, which keeps the lines")
                    .fix(sign, "|"),
            );
        }
    }

    /// `>` joins the lines that a template's loop prints.
    fn folded_loop(&mut self, text: &str, span: Span) {
        let is_loop = |line: &str| line.starts_with("{% for ") || line.starts_with("{%- for ");
        let mut lines = self.slice(span).lines().skip(1).map(str::trim);
        // The loop's own line is joined with the next one, which prints something.
        let joined = |line: &str| text.lines().any(|whole| whole.contains(line) && whole.trim() != line);
        let body = lines.find(|line| is_loop(line) && joined(line)).and_then(|_| lines.next());
        if body.is_some_and(|line| line.starts_with("- ") || line.starts_with("* ")) {
            let sign = self.range(span.start as usize, span.start as usize + 1);
            self.diagnostics.push(
                Diagnostic::warning(
                    codes::JOINED_LINES,
                    sign,
                    "`>` joins all that this template's loop prints into one line",
                )
                .help("write `|`, which keeps the lines")
                .fix(sign, "|"),
            );
        }
    }

    fn range(&self, start: usize, end: usize) -> Span {
        // Documents are at most 1 MiB, so offsets fit.
        let offset = |value: usize| u32::try_from(value.min(self.text.len())).unwrap_or(u32::MAX);
        Span::new(self.source, offset(start), offset(end))
    }
}
