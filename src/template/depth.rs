//! Refuses a template whose syntax tree would be too deep: it is parsed, walked and dropped by recursion, and a chain of
//! operators nests as brackets do. The template language itself limits brackets and blocks only.

use std::ops::Range;
use std::sync::Arc;

use super::error::{Place, TemplateError, TemplateErrorKind};

/// The most operators in one chain, and the most `elif` in one template. What people write has a handful; some thousands
/// would exhaust the two megabytes of stack that a thread has.
const MOST: usize = 500;

/// The mistake of a text that is too deep; `bare` says that it is an expression without braces.
pub(super) fn fault(source: &str, bare: bool) -> Option<TemplateError> {
    let range = too_deep(source, bare)?;
    let message = format!("An expression or a chain of `elif` has more than {MOST} parts, one inside the other");
    let mut error = TemplateError::new(TemplateErrorKind::Syntax, message);
    error.place = Some(Place::of(source, range));
    error.source = Arc::from(source);
    error.help = Some("compute it in parts, with `{% set %}` or several steps".to_owned());
    Some(error)
}

/// Where a text becomes too deep.
fn too_deep(source: &str, bare: bool) -> Option<Range<usize>> {
    let bytes = source.as_bytes();
    if bytes.len() < MOST {
        return None;
    }
    let (mut at, mut elifs) = (0, 0);
    let mut chain = Chain::default();
    let mut inside = bare;
    while at < bytes.len() {
        let two = bytes.get(at..at + 2).unwrap_or_default();
        if !inside {
            match two {
                b"{#" => at = source[at..].find("#}").map_or(bytes.len(), |end| at + end),
                b"{{" | b"{%" => (inside, chain) = (true, Chain::default()),
                _ => {}
            }
            at += if two.first() == Some(&b'{') { 2 } else { 1 };
            continue;
        }
        match bytes[at] {
            b'}' | b'%' if !bare && matches!(two, b"}}" | b"%}") && chain.open == 0 => {
                inside = false;
                at += 1;
            }
            quote @ (b'"' | b'\'') => at = end_of_text(bytes, at, quote),
            b'(' | b'[' | b'{' => chain.open(),
            b')' | b']' | b'}' => chain.close(),
            b',' => chain.next(),
            b'.' | b'~' | b'|' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' => chain.add(),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let end = bytes[at..].iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
                let end = end.map_or(bytes.len(), |length| at + length);
                match &source[at..end] {
                    "not" | "and" | "or" | "if" | "is" | "in" => chain.add(),
                    "elif" => elifs += 1,
                    _ => {}
                }
                if elifs > MOST {
                    return Some(at..end);
                }
                at = end - 1;
            }
            _ => {}
        }
        if chain.depth > MOST {
            return Some(at..at + 1);
        }
        at += 1;
    }
    None
}

/// The last byte of a text in quotes.
fn end_of_text(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// How deep the tree is at a place: the operators of each bracket that is open, and of the chain itself.
#[derive(Debug, Default)]
struct Chain {
    levels: Vec<usize>,
    here: usize,
    depth: usize,
    open: usize,
}

impl Chain {
    fn add(&mut self) {
        self.here += 1;
        self.depth += 1;
    }

    fn open(&mut self) {
        self.add();
        self.levels.push(std::mem::take(&mut self.here));
        self.open += 1;
    }

    fn close(&mut self) {
        self.next();
        self.here = self.levels.pop().unwrap_or_default();
        self.open = self.open.saturating_sub(1);
    }

    /// The next element of a list is no deeper than the one before.
    fn next(&mut self) {
        self.depth -= std::mem::take(&mut self.here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_refused_and_long_flat_texts_are_not() {
        let deep = [
            format!("{{{{ {}1 }}}}", "not ".repeat(20_000)),
            format!("{{{{ a{} }}}}", " ~ a".repeat(20_000)),
            format!("{{{{ a{} }}}}", ".a".repeat(20_000)),
            format!("{{{{ a{} }}}}", "|trim".repeat(20_000)),
            format!("{{{{ f(a, b){} }}}}", " ~ f(a, b)".repeat(20_000)),
            format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}x".repeat(5_000)),
        ];
        for text in &deep {
            assert!(fault(text, false).is_some(), "{}", &text[..20]);
            assert!(super::super::walk::walk(text).is_err());
        }
        assert!(super::super::walk::walk_expr(&format!("{}1", "not ".repeat(20_000))).is_err());
        let flat = [
            format!("{{{{ [{}] }}}}", "1.5, ".repeat(20_000)),
            "{{ a.b | trim }} - ".repeat(20_000),
            "{# . . . #} text. with. dots. ".repeat(20_000),
            format!("{{{{ '{}' }}}}", "a.b|c ".repeat(20_000)),
            format!("{{{{ {{{}}} }}}}", "'k': a.b, ".repeat(2_000)),
        ];
        for text in &flat {
            assert!(fault(text, false).is_none(), "{}", &text[..20]);
        }
    }
}
