//! TOML tables to the same tree that YAML becomes.

mod complaint;
mod strings;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Entry, MAX_DEPTH, Node, Style, Value};
use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes};

/// Reads a text, with all its syntax errors.
pub(super) fn parse(source: SourceId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { source, text, found: Vec::new(), too_deep: false };
    let root = reader.table(table.get_ref(), 1);
    let span = Span::new(source, 0, offset(text.trim_end().len()));
    let root = Node::new(Value::Map(root.into()), span, Style::Table);
    let (found, too_deep) = (reader.found, reader.too_deep);
    let readable = !too_deep && complaint::report(source, text, &errors, &root, diagnostics);
    // A value that is no TOML at all is read as something else, which need not be complained about too.
    let explained: Vec<Option<Span>> = diagnostics.iter().map(|d| d.span.map(Span::at_start)).collect();
    diagnostics.extend(found.into_iter().filter(|d| !explained.contains(&d.span.map(Span::at_start))));
    if readable && root.entries().is_empty() {
        diagnostics.push(
            Diagnostic::error(codes::EMPTY_FILE, Span::new(source, 0, 0), "the file holds no document")
                .help("a document is a table; the shortest loop has `name` and `[prompt]`"),
        );
        return None;
    }
    readable.then_some(root)
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(codes::TOO_DEEP, span, format!("values are nested more than {MAX_DEPTH} levels deep"))
        .help("flatten the document")
}

struct Reader<'a> {
    source: SourceId,
    text: &'a str,
    found: Vec<Diagnostic>,
    too_deep: bool,
}

impl Reader<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.source, offset(range.start), offset(range.end))
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The entries of a table, in the order in which they were written.
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Vec<Entry> {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| {
                let key_span = self.span(key.span());
                Entry { key: key.get_ref().as_ref().into(), key_span, value: self.value(value, depth + 1) }
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span);
        entries
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Node {
        let span = self.span(value.span());
        if depth > MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                self.found.push(too_deep(span.at_start()));
            }
            return Node::new(Value::Null, span, Style::Plain);
        }
        let plain = |value| Node::new(value, span, Style::Plain);
        match value.get_ref() {
            DeValue::String(text) => self.string(text, span),
            DeValue::Integer(number) => self.integer(number, span),
            DeValue::Float(number) => self.float(number.as_str(), span),
            DeValue::Boolean(b) => plain(Value::Bool(*b)),
            DeValue::Datetime(_) => {
                let written = self.slice(span).to_owned();
                self.found.push(
                    Diagnostic::error(codes::TOML_DATETIME, span, "dates and times must be quoted")
                        .help(format!("write `\"{written}\"`"))
                        .safe_fix(span, format!("\"{written}\"")),
                );
                plain(Value::String(written.into()))
            }
            DeValue::Array(items) => {
                let items: Vec<Node> = items.iter().map(|item| self.value(item, depth + 1)).collect();
                let style =
                    if self.slice(span).starts_with("[[") && items.first().is_some_and(|i| i.style == Style::Table) {
                        Style::Table
                    } else {
                        Style::Flow
                    };
                Node::new(Value::Seq(items.into()), span, style)
            }
            DeValue::Table(table) => {
                let entries = self.table(table, depth);
                let style = if self.slice(span).starts_with('{') { Style::Flow } else { Style::Table };
                Node::new(Value::Map(entries.into()), span, style)
            }
        }
    }

    fn string(&self, text: &str, span: Span) -> Node {
        let written = self.slice(span);
        let block = written.starts_with("\"\"\"") || written.starts_with("'''");
        let style = if block { Style::Block } else { Style::Quoted };
        let mut node = Node::new(Value::String(text.into()), span, style);
        node.offsets = strings::offsets(written, text, span.start);
        node
    }

    fn integer(&mut self, number: &DeInteger<'_>, span: Span) -> Node {
        let (digits, radix) = (number.as_str(), number.radix());
        if let Ok(n) = i64::from_str_radix(digits, radix) {
            return Node::new(Value::Int(n), span, Style::Plain);
        }
        if let Ok(n) = u64::from_str_radix(digits, radix) {
            return Node::new(Value::UInt(n), span, Style::Plain);
        }
        self.found.push(
            Diagnostic::error(codes::NUMBER_OUT_OF_RANGE, span, "this whole number does not fit into 64 bits")
                .help("put it in quotes if it is an identifier and not a quantity"),
        );
        Node::new(Value::Null, span, Style::Invalid)
    }

    fn float(&mut self, digits: &str, span: Span) -> Node {
        let number = match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => return Node::new(Value::Float(number), span, Style::Plain),
            Ok(number) => Some(number),
            Err(_) => None,
        };
        let written = self.slice(span);
        // What is no number at all is a syntax error, which is reported elsewhere.
        let named = matches!(written.trim_start_matches(['+', '-']), "inf" | "nan");
        if named || number.is_some_and(f64::is_infinite) {
            let message = format!("`{written}` is not a finite number");
            self.found.push(
                Diagnostic::error(codes::NON_FINITE_NUMBER, span, message)
                    .help("write a number, or leave the key out if there is no limit"),
            );
        }
        Node::new(Value::Null, span, Style::Invalid)
    }
}

/// Documents are at most 1 MiB, so offsets fit.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
