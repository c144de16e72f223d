//! Values without quotes: numbers, literals in JSON's and Python's spelling, and bare words.

use serde_json::{Number, Value};

/// Key of the object that stands for NaN or an infinity, which JSON cannot write. No schema accepts it.
const NON_FINITE: &str = "\u{fffe}non-finite";

/// What a word without quotes means.
pub(super) enum Scalar {
    /// As in strict JSON.
    Strict(Value),
    /// A number or literal in another spelling.
    Respelled(Value),
    /// NaN or an infinity.
    NonFinite(Value),
    /// None of these: text.
    Word(Value),
}

/// The value of a word without quotes.
pub(super) fn scalar(word: &str) -> Scalar {
    if let Some(value) = literal(word) {
        return if matches!(word, "true" | "false" | "null") {
            Scalar::Strict(value)
        } else {
            Scalar::Respelled(value)
        };
    }
    if let Some(number) = strict_number(word) {
        return Scalar::Strict(Value::Number(number));
    }
    if let Some(number) = number(word) {
        return Scalar::Respelled(Value::Number(number));
    }
    if matches!(word.trim_start_matches(['-', '+']).to_ascii_lowercase().as_str(), "nan" | "infinity" | "inf") {
        let mut map = serde_json::Map::new();
        map.insert(NON_FINITE.to_owned(), Value::String(word.to_owned()));
        return Scalar::NonFinite(Value::Object(map));
    }
    Scalar::Word(Value::String(word.to_owned()))
}

/// True, false or null, as JSON, Python or JavaScript writes it.
pub(super) fn literal(word: &str) -> Option<Value> {
    match word {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        "null" | "Null" | "NULL" | "None" | "undefined" => Some(Value::Null),
        _ => None,
    }
}

/// A number with what models add to it: a plus, no digit before or after the point, `_` between digits.
pub(super) fn number(word: &str) -> Option<Number> {
    if let Some(number) = strict_number(word) {
        return Some(number);
    }
    let (sign, digits) = match word.as_bytes().first()? {
        b'-' => ("-", &word[1..]),
        b'+' => ("", &word[1..]),
        _ => ("", word),
    };
    let first = digits.as_bytes().first()?;
    if !(first.is_ascii_digit() || (*first == b'.' && digits.as_bytes().get(1)?.is_ascii_digit())) {
        return None;
    }
    let mut clean = String::with_capacity(word.len() + 2);
    clean.push_str(sign);
    if *first == b'.' {
        clean.push('0');
    }
    let bytes = digits.as_bytes();
    for (index, &byte) in bytes.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| bytes.get(i));
        let after = bytes.get(index + 1);
        let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
        match byte {
            b'_' if digit(before) && digit(after) => {}
            b'.' if digit(before) && !digit(after) => clean.push_str(".0"),
            b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' => clean.push(char::from(byte)),
            _ => return None,
        }
    }
    strict_number(&clean)
}

fn strict_number(word: &str) -> Option<Number> {
    let first = word.as_bytes().first()?;
    if !(first.is_ascii_digit() || *first == b'-') {
        return None;
    }
    serde_json::from_str(word).ok()
}

/// Whether NaN or an infinity stands anywhere in the value.
pub(super) fn has_non_finite(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key(NON_FINITE) || map.values().any(has_non_finite),
        Value::Array(items) => items.iter().any(has_non_finite),
        _ => false,
    }
}
