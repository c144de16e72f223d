//! A document that cannot be read because something is half written in it, made readable with the least change.

use crate::diag::{Diagnostics, Severity, SourceId};
use crate::lsp::analysis::{Analysis, is_template};
use crate::lsp::request::{Asked, View};
use crate::syntax::{Format, parse};

/// What may follow the cursor on its line, so that the line can be read; brackets that are open are closed behind it. The
/// first that works is taken.
const ENDS: [&str; 6] = ["x", ": x", "x }}\"", "x }}'", "\"", "'"];

/// The workspace with the document made readable; none when the document can be read as it is, or in no way.
pub(super) fn readable(asked: &Asked<'_>, view: &View<'_>, text: &str, offset: usize) -> Option<Analysis> {
    let path = &asked.buffer.path;
    let format = Format::of_path(path).unwrap_or(Format::Yaml);
    if is_template(path) || reads(text, format) {
        return None;
    }
    let line = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |end| offset + end);
    let (before, after) = (&text[..offset], &text[end..]);
    let brackets = open_brackets(&text[line..offset]);
    let cut = ENDS.iter().flat_map(|close| {
        let bare = format!("{before}{close}{after}");
        [bare, format!("{before}{close}{brackets}{after}")]
    });
    let without = std::iter::once(format!("{}{after}", &text[..line]));
    let draft = cut.chain(without).find(|draft| reads(draft, format))?;
    Some(asked.analysis.with_draft(&asked.root, view.buffers, path, &draft))
}

/// What closes the brackets that a line leaves open, those inside quotes and templates aside.
fn open_brackets(line: &str) -> String {
    let mut closing = Vec::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => closing.push('}'),
            (None, '[') => closing.push(']'),
            (None, '}' | ']') => {
                closing.pop();
            }
            _ => {}
        }
    }
    closing.iter().rev().map(|close| format!(" {close}")).collect()
}

fn reads(text: &str, format: Format) -> bool {
    let mut found = Diagnostics::new();
    let node = parse(SourceId::NONE, text, format, &mut found);
    node.is_some() && found.count(Severity::Error) == 0
}
