//! The words of decoding errors: what was expected, what was found, and what to write instead.

use serde::de::{Expected, Unexpected};

use crate::diag::{did_you_mean, list_words};
use crate::syntax::{Node, Style, Value};

/// Quotes, dashes and spaces that word processors and web pages put into text, and no key contains.
const ODD: &[char] = &['“', '”', '„', '‘', '’', '–', '—', '\u{a0}', '\u{200b}', '\u{202f}', '\u{feff}'];

/// The longest text that a message repeats. Longer ones are likelier to be secrets or prompts than typing errors.
const SHOWN: usize = 24;

/// Turns serde's description of a Rust type into words for an author.
pub(super) fn expected(rust: &str) -> String {
    let words = match rust {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize"
        | "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "an integer",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" | "str" => "a string",
        "a sequence" => "a list",
        "unit" => "null",
        _ if rust.starts_with("struct ") || rust.starts_with("a map") => "a map",
        _ if rust.starts_with("tuple ") || rust.starts_with("a tuple") => "a list",
        _ => rust,
    };
    words.to_owned()
}

/// What a visitor says that it wants.
pub(super) fn wanted(visitor: &dyn Expected) -> String {
    expected(&visitor.to_string())
}

/// The range of a Rust integer type, as words after "an integer".
pub(super) fn integer_range(rust: &str) -> Option<&'static str> {
    Some(match rust {
        "u8" => "from 0 to 255",
        "u16" => "from 0 to 65535",
        "u32" => "from 0 to 4294967295",
        "u64" | "usize" => "of 0 or more",
        "i8" => "from -128 to 127",
        "i16" => "from -32768 to 32767",
        "i32" => "from -2147483648 to 2147483647",
        "i64" | "isize" => "of at most 9223372036854775807",
        _ if rust.starts_with("a nonzero ") => "of 1 or more",
        _ => return None,
    })
}

/// The value that was found.
pub(super) fn found(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(b) => format!("the boolean {b}"),
        Unexpected::Unsigned(n) => format!("the integer {n}"),
        Unexpected::Signed(n) => format!("the integer {n}"),
        Unexpected::Float(f) => format!("the number {f}"),
        Unexpected::Str(s) => string(s),
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map | Unexpected::StructVariant => "a map".to_owned(),
        other => other.to_string(),
    }
}

/// The value of a node that was found.
pub(super) fn found_node(node: &Node) -> String {
    found(unexpected(node))
}

/// A node in serde's terms.
pub(super) fn unexpected(node: &Node) -> Unexpected<'_> {
    match &node.value {
        Value::Null => Unexpected::Unit,
        Value::Bool(b) => Unexpected::Bool(*b),
        Value::Int(n) => Unexpected::Signed(*n),
        Value::UInt(n) => Unexpected::Unsigned(*n),
        Value::Float(f) => Unexpected::Float(*f),
        Value::String(s) => Unexpected::Str(s),
        Value::Seq(_) => Unexpected::Seq,
        Value::Map(_) => Unexpected::Map,
    }
}

fn string(text: &str) -> String {
    if text.chars().count() > SHOWN || text.contains('\n') {
        "a string".to_owned()
    } else {
        format!("the string \"{text}\"")
    }
}

/// A word that a person wrote, cut if it is long.
pub(super) fn shorten(word: &str) -> String {
    if word.chars().count() <= 2 * SHOWN {
        return word.to_owned();
    }
    let head: String = word.chars().take(2 * SHOWN).collect();
    format!("{head}…")
}

pub(super) fn is_null(found: Unexpected<'_>) -> bool {
    matches!(found, Unexpected::Unit | Unexpected::Option)
}

/// What to write where nothing was written.
pub(super) fn help_for_null(expected: &str) -> Option<String> {
    Some(match expected {
        "a map" => "write `{}` for an empty map, or delete the key".to_owned(),
        "a list" => "write `[]` for an empty list, or delete the key".to_owned(),
        "a string" => "write a text (`\"\"` for an empty one), or delete the key".to_owned(),
        _ => "give it a value, or delete the key".to_owned(),
    })
}

pub(super) fn unknown_key_help(key: &str, known: &[&str]) -> String {
    if let Some(odd) = key.chars().find(|c| ODD.contains(c)) {
        return format!("the key contains `{odd}` (U+{:04X}), which a text editor put there; type it anew", odd as u32);
    }
    let parts = key.split_once(':').or_else(|| key.split_once('='));
    if let Some((name, value)) = parts.filter(|(name, _)| known.contains(&name.trim())) {
        return format!("write `{}: {}`, with a space after the colon", name.trim(), value.trim());
    }
    match did_you_mean(key, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "no keys are allowed here".to_owned(),
        None => format!("expected one of {}", list_words(known)),
    }
}

/// How to write a list where something else was found.
pub(super) fn list_help(node: &Node) -> String {
    match node.as_str() {
        Some(text) if text.len() <= SHOWN && node.style == Style::Plain => format!("write `[{text}]`"),
        _ => "write `[…]`, or one `- ` line for each item".to_owned(),
    }
}

/// How to write a map with these keys where a list of maps, or a text, was found.
pub(super) fn map_help(node: &Node, known: &[&str]) -> Option<String> {
    if node.as_str().is_some() && !known.is_empty() {
        return Some(format!("write a map; its keys are {}", list_words(known)));
    }
    let one_map_each = node.items().iter().all(|item| matches!(item.value, Value::Map(_)));
    (one_map_each && !node.items().is_empty()).then(|| "write the keys without `- ` and without `[ ]`".to_owned())
}

/// The boolean that a word stands for in other formats.
pub(super) fn boolean_word(node: &Node) -> Option<bool> {
    let word = node.as_str()?.to_ascii_lowercase();
    match word.as_str() {
        "yes" | "y" | "on" | "true" | "enabled" => Some(true),
        "no" | "n" | "off" | "false" | "disabled" => Some(false),
        _ => None,
    }
}

/// A number that a string would be, were it written as one.
pub(super) struct Numeral {
    /// How to write it.
    pub(super) written: String,
    /// It has leading zeros and no quotes, so that readers of YAML do not agree on it.
    pub(super) ambiguous: bool,
}

/// Reads a string such as `012`, `1_000`, `1,000` or `"5"` as the number that was probably meant.
pub(super) fn numeral(node: &Node) -> Option<Numeral> {
    let text = node.as_str()?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let plain: String = digits.chars().filter(|c| !matches!(c, '_' | ',' | ' ')).collect();
    let mut parts = plain.splitn(2, '.');
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next();
    let is_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || fraction.is_some_and(|f| !is_digits(f)) {
        return None;
    }
    let trimmed = whole.trim_start_matches('0');
    let whole_written = if trimmed.is_empty() { "0" } else { trimmed };
    let written = match fraction {
        Some(fraction) => format!("{sign}{whole_written}.{fraction}"),
        None => format!("{sign}{whole_written}"),
    };
    Some(Numeral { written, ambiguous: node.style == Style::Ambiguous && whole.len() > 1 && whole.starts_with('0') })
}
