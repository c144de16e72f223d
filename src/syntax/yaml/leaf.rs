//! Scalars and tags: what one leaf of the document becomes.

use granit_parser::{ScalarStyle, Tag};

use super::Builder;
use super::scalar::{self, Fault};
use crate::diag::{Diagnostic, Span, codes};
use crate::syntax::{Node, Style, Value, offsets};

impl Builder<'_> {
    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
        place: granit_parser::Span,
    ) -> Node {
        let written = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        let mut span = trim_end(self.text, span);
        if written == Style::Block {
            span.start = block_header(self.text, span.start);
        }
        self.doubts(text, style, span);
        let forced_text = self.scalar_tag(tag, place);
        if written == Style::Plain && !forced_text {
            let plain = scalar::plain(text);
            self.fault(plain.fault.as_ref(), text, span);
            let style_read = if plain.fault.is_some() { Style::Invalid } else { plain.style };
            let mut node = Node::new(plain.value, span, style_read);
            if node.as_str().is_some() {
                node.offsets = offsets::of_scalar(self.slice(span), text, style, span.start);
            }
            return node;
        }
        let mut node = Node::new(Value::String(text.into()), span, written);
        node.offsets = offsets::of_scalar(self.slice(span), text, style, span.start);
        node
    }

    fn fault(&mut self, fault: Option<&Fault>, text: &str, span: Span) {
        match fault {
            None => {}
            Some(Fault::NonFinite) => self.diagnostics.push(
                Diagnostic::error(codes::NON_FINITE_NUMBER, span, format!("`{text}` is not a finite number"))
                    .help("write a number, or leave the key out if there is no limit; put a text in quotes"),
            ),
            Some(Fault::OutOfRange) => self.diagnostics.push(
                Diagnostic::error(codes::NUMBER_OUT_OF_RANGE, span, "this whole number does not fit into 64 bits")
                    .help("put it in quotes if it is an identifier and not a quantity"),
            ),
        }
    }

    /// Whether a tag makes the scalar a text whatever it looks like. Reports tags that are not understood.
    fn scalar_tag(&mut self, tag: Option<&Tag>, place: granit_parser::Span) -> bool {
        let Some(tag) = tag else { return false };
        match (tag.handle(), tag.suffix()) {
            ("tag:yaml.org,2002:", "str") | ("!" | "", "" | "!") => true,
            ("tag:yaml.org,2002:", "int" | "float" | "bool" | "null") => false,
            _ => {
                self.unknown_tag(place);
                false
            }
        }
    }

    pub(super) fn collection_tag(&mut self, tag: Option<&Tag>, kind: &str, place: granit_parser::Span) {
        let Some(tag) = tag else { return };
        let known = matches!((tag.handle(), tag.suffix()), ("tag:yaml.org,2002:", k) if k == kind);
        if !known && !matches!((tag.handle(), tag.suffix()), ("!" | "", "" | "!")) {
            self.unknown_tag(place);
        }
    }

    fn unknown_tag(&mut self, place: granit_parser::Span) {
        let span = self.span(place.tag_span().unwrap_or(place));
        let written = self.slice(span).to_owned();
        self.diagnostics.push(
            Diagnostic::error(codes::UNKNOWN_TAG, span, format!("unknown tag `{written}`"))
                .help("put the value in quotes if its text begins with `!`; else remove the tag"),
        );
    }
}

/// Where the `|` or `>` of a block scalar stands, given where its text begins, which is what the parser reports.
fn block_header(text: &str, content: u32) -> u32 {
    let before = text.get(..content as usize).unwrap_or_default().trim_end();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = &before[line_start..];
    let header = line.match_indices(['|', '>']).find(|(at, _)| {
        let rest = line[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
        let rest = rest.trim_start();
        let apart = *at == 0 || line[..*at].ends_with([' ', '\t']);
        apart && (rest.is_empty() || rest.starts_with('#'))
    });
    header.map_or(content, |(at, _)| u32::try_from(line_start + at).unwrap_or(content))
}

/// Takes white space off the end: block scalars and plain scalars may run up to the next token.
fn trim_end(text: &str, span: Span) -> Span {
    let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let cut = written.len() - written.trim_end().len();
    Span::new(span.source, span.start, span.end - u32::try_from(cut).unwrap_or(0))
}
