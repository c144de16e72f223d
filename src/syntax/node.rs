//! The tree that a document becomes: values with the place each came from.

use std::sync::Arc;

use super::Offsets;
use crate::diag::{Diagnostic, Diagnostics, Span, codes};

/// A value and where it was written. Cheap to clone: children are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written; for an alias, the alias; for a key without a value, the key.
    pub span: Span,
    /// Where it was defined, if this is an alias. Its children keep the spans of their definition.
    pub origin: Option<Span>,
    /// How it was written.
    pub style: Style,
    /// For a string: how offsets in it map to offsets in the file.
    pub offsets: Offsets,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: `null`, `~`, or no value at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`].
    UInt(u64),
    /// A finite number with a point or an exponent.
    Float(f64),
    /// A text.
    String(Arc<str>),
    /// A list.
    Seq(Arc<[Node]>),
    /// A map, in the order in which it was written. Keys are unique.
    Map(Arc<[Entry]>),
}

impl Value {
    /// The kind of value, as a noun with an article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::UInt(_) => "an integer",
            Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Seq(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// Where the key was written.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// A scalar without quotes, or anything in TOML that is not a string.
    Plain,
    /// A YAML scalar without quotes that readers disagree about (`012`, `yes`), or that loses what was written (`1.10`).
    Ambiguous,
    /// A string in single or double quotes.
    Quoted,
    /// A string after `|` or `>`, or a multi-line string in TOML.
    Block,
    /// A list or map written with indentation.
    Indented,
    /// A TOML table that a `[header]` opened.
    Table,
    /// A list or map in brackets.
    Flow,
    /// Not written at all: built in Rust.
    Synthetic,
    /// Written and refused, with an error that has been reported: an alias to nothing, or a number that is none.
    /// Decoding passes over it without another word.
    Invalid,
}

impl Node {
    /// A node with a place, not reached through an alias.
    pub fn new(value: Value, span: Span, style: Style) -> Self {
        Node { value, span, origin: None, style, offsets: Offsets::Start }
    }

    /// The tree of a JSON value, without places.
    pub fn synthetic(json: &serde_json::Value) -> Self {
        let value = match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Bool(*b),
            serde_json::Value::Number(n) => match (n.as_i64(), n.as_u64()) {
                (Some(i), _) => Value::Int(i),
                (None, Some(u)) => Value::UInt(u),
                // Without the arbitrary-precision feature a number is always one of the three.
                (None, None) => Value::Float(n.as_f64().unwrap_or_default()),
            },
            serde_json::Value::String(s) => Value::String(s.as_str().into()),
            serde_json::Value::Array(items) => Value::Seq(items.iter().map(Node::synthetic).collect()),
            serde_json::Value::Object(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.as_str().into(),
                        key_span: Span::NONE,
                        value: Node::synthetic(value),
                    })
                    .collect(),
            ),
        };
        Node::new(value, Span::NONE, Style::Synthetic)
    }

    /// The value as JSON, map order kept. Spans, styles and aliases are gone.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(i) => (*i).into(),
            Value::UInt(u) => (*u).into(),
            // Never a silent null: infinity and the like are refused when a document is read.
            Value::Float(f) => (*f).into(),
            Value::String(s) => s.as_ref().into(),
            Value::Seq(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => entries.iter().map(|entry| (entry.key.to_string(), entry.value.to_json())).collect(),
        }
    }

    /// The value under a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, if this is a map that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    /// The entries of a map; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The same map, at the same place, with only these entries.
    pub fn with_entries(&self, entries: Vec<Entry>) -> Node {
        Node { value: Value::Map(entries.into()), ..self.clone() }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is null or an absent value.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The value at a JSON pointer such as `/actions/x/do/0`; the empty pointer is this node.
    pub fn at_pointer(&self, pointer: &str) -> Option<&Node> {
        let mut node = self;
        for token in tokens(pointer)? {
            node = match &node.value {
                Value::Map(_) => node.get(&token)?,
                Value::Seq(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Where the key at a JSON pointer was written; for a list item, where the item was.
    pub fn key_span_at(&self, pointer: &str) -> Option<Span> {
        let (parent, last) = pointer.rsplit_once('/')?;
        let parent = self.at_pointer(parent)?;
        let last = unescape(last);
        match &parent.value {
            Value::Map(_) => parent.entry(&last).map(|entry| entry.key_span),
            Value::Seq(items) => items.get(last.parse::<usize>().ok()?).map(|item| item.span),
            _ => None,
        }
    }

    /// The place in the file of a byte offset in this string, for errors inside a string such as a
    /// template's. The start of the value when the two cannot be matched.
    pub fn offset_to_source(&self, decoded_offset: usize) -> u32 {
        let home = self.origin.unwrap_or(self.span);
        // The line break that a block scalar ends with may not be in the file.
        self.offsets.locate(decoded_offset, home.start).min(home.end)
    }

    /// The file range of a byte range in this string; never empty unless the range is.
    pub fn range_to_source(&self, decoded: std::ops::Range<usize>) -> Span {
        let home = self.origin.unwrap_or(self.span);
        if home.is_none() || self.offsets == Offsets::Start {
            return home;
        }
        let start = self.offset_to_source(decoded.start);
        let end = self.offset_to_source(decoded.end).max(start);
        Span::new(home.source, start, end)
    }

    /// Warns about scalars without quotes that do not mean what they seem to: for values of no declared type,
    /// such as defaults and parameters, where no decoding would notice.
    pub fn warn_ambiguous(&self, diagnostics: &mut Diagnostics) {
        match &self.value {
            Value::Seq(items) => {
                // In a list, `y` and `n` are the names of axes and parameters.
                let is_letter = |item: &&Node| item.as_str().is_some_and(|text| text.len() == 1);
                items.iter().filter(|item| !is_letter(item)).for_each(|item| item.warn_ambiguous(diagnostics));
            }
            Value::Map(entries) => {
                entries.iter().for_each(|entry| entry.value.warn_ambiguous(diagnostics));
            }
            Value::Int(_) | Value::UInt(_) if self.style == Style::Ambiguous => {
                let number = self.to_json();
                diagnostics.push(
                    Diagnostic::warning(
                        codes::AMBIGUOUS_NUMBER,
                        self.span,
                        format!("this is the number {number}, and other readers of YAML take it for something else"),
                    )
                    .help(format!("write {number}; or quote it if it is a text"))
                    .fix(self.span, number.to_string()),
                );
            }
            Value::Float(number) if self.style == Style::Ambiguous => {
                // A whole number was written with an exponent, or with nothing but zeros behind the point.
                let length = self.span.end.saturating_sub(self.span.start) as usize;
                let zeros = number.fract() != 0.0 && length > number.to_string().len();
                let lost = if zeros { "the zeros at its end are" } else { "how it was written is" };
                diagnostics.push(
                    Diagnostic::warning(
                        codes::AMBIGUOUS_NUMBER,
                        self.span,
                        format!("this is the number {number}, and {lost} lost"),
                    )
                    .help("quote it if it is a text such as a version"),
                );
            }
            Value::String(text) if self.style == Style::Ambiguous && is_time(text) => {
                let what = if text.contains('-') { "a date" } else { "a number to the base of sixty" };
                diagnostics.push(
                    Diagnostic::warning(
                        codes::AMBIGUOUS_NUMBER,
                        self.span,
                        format!("`{text}` is read as a text, and some readers of YAML take it for {what}"),
                    )
                    .help("put it in quotes")
                    .fix(self.span, format!("\"{text}\"")),
                );
            }
            Value::String(text) if self.style == Style::Ambiguous => {
                let number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
                let code = if number { codes::AMBIGUOUS_NUMBER } else { codes::AMBIGUOUS_BOOLEAN };
                let help = if number {
                    "quote it if it is a text; write it in decimal digits, the first of them no zero, if it is a number"
                } else {
                    "quote it if it is a text; write `true` or `false` if it is a boolean"
                };
                diagnostics.push(
                    Diagnostic::warning(code, self.span, format!("`{text}` is read as a text"))
                        .help(help)
                        .safe_fix(self.span, format!("\"{text}\"")),
                );
            }
            _ => {}
        }
    }

    /// How many values this stands for, itself included.
    pub fn count(&self) -> usize {
        let children: usize = match &self.value {
            Value::Seq(items) => items.iter().map(Node::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
            _ => 0,
        };
        children + 1
    }
}

/// Whether an ambiguous text is a date or a time, and no number with leading zeros.
fn is_time(text: &str) -> bool {
    text.contains(':') || text.matches('-').count() == 2
}

/// The parts of a JSON pointer, unescaped; `None` if it does not begin with `/`.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    Some(rest.split('/').map(unescape).collect())
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
