//! What makes two calls, or two results, the same: canonical forms and their hashes.

use std::cell::Cell;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::mask::Masker;

/// The hash of a canonical form. 128 bits of SHA-256: the same in every process, so it may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            // The length keeps ("ab", "c") apart from ("a", "bc").
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let bytes = hash.finalize();
        let mut head = [0u8; 16];
        head.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
        Self(u128::from_le_bytes(head))
    }
}

/// Keys whose value is a command, where spaces are only layout.
const COMMANDS: [&str; 4] = ["cmd", "command", "commandline", "shell"];
/// Keys whose value is a question in words, where spaces and case are only layout.
const QUESTIONS: [&str; 4] = ["query", "q", "search", "question"];

/// JSON nested deeper than this is compared as text.
const DEEPEST: usize = 64;

/// The spelling of a key: `requestId`, `request-id` and `request_id` are one.
pub(super) fn plain_key(key: &str) -> String {
    key.chars().filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

/// Writes JSON in one form: keys sorted at every depth, declared keys and nulls left out, JSON inside strings read, paths and
/// layout made plain, `1` and `"1"` the same. `ignored` holds plain keys.
pub(super) fn canonical(value: &Value, ignored: &[String]) -> String {
    let mut out = String::new();
    Writer::new(ignored, false).value(None, value, DEEPEST, &mut out);
    out
}

/// What does not count in a result.
pub(super) struct Noise<'a> {
    pub(super) masker: &'a Masker,
    /// Keys, in their plain spelling.
    pub(super) ignored: &'a [String],
    /// Whether the call had no arguments: then an id in its result is what it asked for.
    pub(super) bare: bool,
}

/// A result in its canonical form, and the settings that left something out of it.
pub(super) struct Canonical {
    pub(super) text: String,
    pub(super) left_out: Vec<&'static str>,
}

/// The canonical form of a result: JSON as in [`canonical`] with its lists in any order, text with its lines in any order
/// and the masked parts out. What would leave nothing at all is not left out: it is the result.
pub(super) fn canonical_result(text: &str, noise: &Noise<'_>) -> Canonical {
    let json = json_in(text);
    let (plain, ignores) = match &json {
        Some(json) => without_ignored(json, noise.ignored),
        None => (without_escapes(text).into_owned(), false),
    };
    let (masked, mut left_out) = noise.masker.apply(&plain, noise.bare);
    let told = if masked.contains(char::is_alphanumeric) {
        masked
    } else {
        left_out.clear();
        plain.as_str().into()
    };
    left_out.extend(ignores.then_some("`ignore_results`"));
    let text = if json.is_some() { told.into_owned() } else { sorted_lines(&told) };
    Canonical { text, left_out }
}

/// JSON without the keys that do not count, and whether there were any; with them when there is nothing else.
fn without_ignored(json: &Value, ignored: &[String]) -> (String, bool) {
    let write = |ignored: &[String]| {
        let (mut out, writer) = (String::new(), Writer::new(ignored, true));
        writer.value(None, json, DEEPEST, &mut out);
        (out, writer.skipped.get())
    };
    match write(ignored) {
        (rest, true) if !rest.contains(char::is_alphanumeric) => (write(&[]).0, false),
        written => written,
    }
}

fn sorted_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines.join("\n")
}

struct Writer<'a> {
    ignored: &'a [String],
    /// Whether the order of a list means nothing.
    any_order: bool,
    /// Whether a key was left out.
    skipped: Cell<bool>,
}

impl<'a> Writer<'a> {
    fn new(ignored: &'a [String], any_order: bool) -> Self {
        Self { ignored, any_order, skipped: Cell::new(false) }
    }

    fn value(&self, key: Option<&str>, value: &Value, depth: usize, out: &mut String) {
        if depth == 0 {
            let _ = write!(out, "{value}");
            return;
        }
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(flag) => {
                let _ = write!(out, "{flag:?}");
            }
            Value::Number(number) => match number.as_f64() {
                // 3.0 is 3: a model writes either.
                Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => {
                    let _ = write!(out, "{float:.0}");
                }
                _ => {
                    let _ = write!(out, "{number}");
                }
            },
            Value::String(text) => self.text(key, text, depth, out),
            Value::Array(items) => self.list(key, items, depth, out),
            Value::Object(map) => self.object(map, depth, out),
        }
    }

    fn object(&self, map: &Map<String, Value>, depth: usize, out: &mut String) {
        let mut entries: Vec<(&String, &Value)> =
            map.iter().filter(|(key, value)| !value.is_null() && !self.ignores(key)).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        out.push('{');
        for (key, value) in entries {
            // As Rust escapes it, so that no key or value can imitate a bracket.
            let _ = write!(out, "{key:?}:");
            self.value(Some(key), value, depth - 1, out);
            out.push(',');
        }
        out.push('}');
    }

    fn list(&self, key: Option<&str>, items: &[Value], depth: usize, out: &mut String) {
        let mut written: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            let mut one = String::new();
            self.value(key, item, depth - 1, &mut one);
            written.push(one);
        }
        if self.any_order {
            written.sort_unstable();
        }
        out.push('[');
        for one in &written {
            out.push_str(one);
            out.push(',');
        }
        out.push(']');
    }

    fn text(&self, key: Option<&str>, text: &str, depth: usize, out: &mut String) {
        if let Some(json) = json_in(text) {
            self.value(key, &json, depth - 1, out);
            return;
        }
        let trimmed = text.trim();
        let plain = if is_command(key) {
            plain_command(trimmed)
        } else if key.is_some_and(|key| QUESTIONS.contains(&plain_key(key).as_str())) {
            trimmed.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
        } else if trimmed.contains('\n') {
            // The layout of a text with lines may be what is edited.
            text.trim_end().to_owned()
        } else {
            trimmed.to_owned()
        };
        let plain = if is_path(&plain) { plain_path(&plain) } else { plain };
        let scalar = matches!(plain.as_str(), "true" | "false") || is_plain_number(&plain);
        let _ = if scalar { write!(out, "{plain}") } else { write!(out, "{plain:?}") };
    }

    fn ignores(&self, key: &str) -> bool {
        let ignores = !self.ignored.is_empty() && self.ignored.iter().any(|ignored| *ignored == plain_key(key));
        self.skipped.set(self.skipped.get() || ignores);
        ignores
    }
}

/// Whether the value of this key is a command.
pub(super) fn is_command(key: Option<&str>) -> bool {
    key.is_some_and(|key| COMMANDS.contains(&plain_key(key).as_str()))
}

/// A command with single spaces and without a comment at its end.
pub(super) fn plain_command(text: &str) -> String {
    let quoted = text.contains(['"', '\'', '\n']);
    let text = text.find(" # ").filter(|_| !quoted).and_then(|at| text.get(..at)).unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A whole number as JSON writes it, so that `"1"` equals `1` and `"01"` stays a text.
fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.len() <= 15
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
}

/// The JSON object or list that a text is.
fn json_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let bracketed = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    if bracketed { serde_json::from_str(text).ok() } else { None }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4096 && (text == "." || text.contains('/')) && !text.contains(char::is_whitespace)
}

/// A path without `.`, doubled and trailing slashes; `..` is taken as written, since what is a link is not known here.
fn plain_path(text: &str) -> String {
    let (scheme, rest) = match text.find("://") {
        Some(at) => text.split_at(at + 3),
        None => ("", text),
    };
    let root = if scheme.is_empty() && rest.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() && root.is_empty() && scheme.is_empty() {
        return ".".to_owned();
    }
    format!("{scheme}{root}{}", parts.join("/"))
}

/// A text without the escape sequences of a terminal.
fn without_escapes(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.next_if_eq(&'[').is_some() {
            // Parameters, then one letter that ends the sequence.
            while chars.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
            chars.next();
        }
    }
    out.into()
}
