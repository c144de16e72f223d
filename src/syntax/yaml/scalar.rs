//! What a plain YAML scalar means: the core schema of YAML 1.2, and what it leaves in doubt.

use crate::syntax::{Style, Value};

/// A plain scalar, read.
pub(super) struct Plain {
    pub(super) value: Value,
    pub(super) style: Style,
    pub(super) fault: Option<Fault>,
}

/// A plain scalar that is a number and cannot be used as one.
pub(super) enum Fault {
    /// Infinity or not a number.
    NonFinite,
    /// A whole number beyond 64 bits.
    OutOfRange,
}

/// Reads a plain scalar.
///
/// `012` stays a text, although the core schema makes it twelve: other readers make it ten, and as a text
/// nothing is lost. Where a number is wanted it is refused.
pub(super) fn plain(text: &str) -> Plain {
    let sure = |value| Plain { value, style: Style::Plain, fault: None };
    let doubtful = |value| Plain { value, style: Style::Ambiguous, fault: None };
    let string = || Value::String(text.into());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return sure(Value::Null),
        "true" | "True" | "TRUE" => return sure(Value::Bool(true)),
        "false" | "False" | "FALSE" => return sure(Value::Bool(false)),
        _ => {}
    }
    if is_old_boolean(text) {
        return doubtful(string());
    }
    if let Some((radix, digits)) = prefixed(text) {
        return match i64::from_str_radix(digits, radix) {
            Ok(n) => doubtful(Value::Int(n)),
            Err(_) => match u64::from_str_radix(digits, radix) {
                Ok(n) => doubtful(Value::UInt(n)),
                Err(_) => out_of_range(),
            },
        };
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if is_digits(unsigned) {
        if unsigned.len() > 1 && unsigned.starts_with('0') {
            return doubtful(string());
        }
        return match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(n), _) if text.starts_with('+') => doubtful(Value::Int(n)),
            (Ok(n), _) => sure(Value::Int(n)),
            (_, Ok(n)) => sure(Value::UInt(n)),
            _ => out_of_range(),
        };
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return non_finite();
    }
    if let Some(fraction) = decimal(unsigned) {
        return match text.parse::<f64>() {
            Ok(n) if n.is_finite() => {
                let lossy = fraction.len() > 1 && fraction.ends_with('0');
                // `123e45` is often a commit or another word of digits.
                let exponent = !text.contains('.');
                // `.5` may be the end of something, such as of a file's name.
                let bare = unsigned.starts_with('.') || text.starts_with('+');
                let value = Value::Float(n);
                if lossy || exponent || bare { doubtful(value) } else { sure(value) }
            }
            _ => non_finite(),
        };
    }
    if is_old_date(text) || is_old_sexagesimal(unsigned) || is_old_number(unsigned) {
        return doubtful(string());
    }
    sure(string())
}

/// `2026-01-31` and `2026-1-5`, with or without a time: a date in YAML 1.1.
fn is_old_date(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let short = |part: &str| is_digits(part) && part.len() <= 2;
    let shape = is_digits(year) && year.len() == 4 && short(month) && short(day);
    shape && time.is_none_or(|time| time.starts_with(|c: char| c.is_ascii_digit()))
}

/// `1_000` and `0b11`: numbers in YAML 1.1.
fn is_old_number(unsigned: &str) -> bool {
    if let Some(bits) = unsigned.strip_prefix("0b") {
        return !bits.is_empty() && bits.bytes().all(|b| matches!(b, b'0' | b'1' | b'_'));
    }
    let digits = unsigned.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    digits && unsigned.contains('_') && unsigned.starts_with(|c: char| c.is_ascii_digit())
}

/// `12:30` and `1:30:45`: numbers to the base of sixty in YAML 1.1, so 750 and 5445.
fn is_old_sexagesimal(unsigned: &str) -> bool {
    let mut parts = unsigned.split(':');
    let first = parts.next().is_some_and(|part| is_digits(part) && !part.starts_with('0'));
    let mut more = 0;
    let rest = parts.all(|part| {
        more += 1;
        is_digits(part) && part.len() <= 2 && part.parse::<u8>().is_ok_and(|part| part < 60)
    });
    first && rest && more > 0
}

/// Words that YAML 1.1 took for booleans and 1.2 does not.
pub(crate) fn is_old_boolean(text: &str) -> bool {
    let words = ["y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"];
    words.contains(&text)
}

/// The radix and digits of `0o17` and `0x1F`.
fn prefixed(text: &str) -> Option<(u32, &str)> {
    let (radix, digits) = match text.get(..2)? {
        "0o" => (8, &text[2..]),
        "0x" => (16, &text[2..]),
        _ => return None,
    };
    (!digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))).then_some((radix, digits))
}

/// The digits after the point of a decimal without its sign; empty if it has only an exponent.
fn decimal(unsigned: &str) -> Option<&str> {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !is_digits(digits) {
            return None;
        }
    }
    match mantissa.split_once('.') {
        Some(("", fraction)) => is_digits(fraction).then_some(fraction),
        Some((whole, fraction)) => {
            (is_digits(whole) && (fraction.is_empty() || is_digits(fraction))).then_some(fraction)
        }
        None => (exponent.is_some() && is_digits(mantissa)).then_some(""),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn non_finite() -> Plain {
    Plain { value: Value::Null, style: Style::Plain, fault: Some(Fault::NonFinite) }
}

fn out_of_range() -> Plain {
    Plain { value: Value::Null, style: Style::Plain, fault: Some(Fault::OutOfRange) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let text = |s: &str| Value::String(s.into());
        for (written, expected) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("true", Value::Bool(true)),
            ("yes", text("yes")),
            ("NO", text("NO")),
            ("12", Value::Int(12)),
            ("+12", Value::Int(12)),
            ("-12", Value::Int(-12)),
            ("0", Value::Int(0)),
            ("012", text("012")),
            ("0o17", Value::Int(15)),
            ("0x1F", Value::Int(31)),
            ("0o18", text("0o18")),
            ("1_000", text("1_000")),
            ("18446744073709551615", Value::UInt(u64::MAX)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("1e3", Value::Float(1000.0)),
            (".5", Value::Float(0.5)),
            ("1.", Value::Float(1.0)),
            ("1.10", Value::Float(1.1)),
            (".", text(".")),
            ("e3", text("e3")),
            ("1.2.3", text("1.2.3")),
            ("12:30:45", text("12:30:45")),
            ("2026-01-31", text("2026-01-31")),
            ("é", text("é")),
        ] {
            let read = plain(written);
            assert_eq!(read.value, expected, "{written}");
            assert!(read.fault.is_none(), "{written}");
        }
    }

    #[test]
    fn what_is_in_doubt_is_marked() {
        for written in [
            "yes",
            "off",
            "y",
            "N",
            "012",
            "1.10",
            "1e3",
            "2026-01-31",
            "2026-1-5",
            "2026-01-31T10:00:00Z",
            "12:30",
            "1:30:45",
            "1_000",
            "0x1F",
            "0o17",
            "0b11",
            "+1",
            ".5",
            "+1.5",
        ] {
            assert_eq!(plain(written).style, Style::Ambiguous, "{written}");
        }
        for written in [
            "0",
            "1.5",
            "1.0",
            "1.5e3",
            "yes please",
            "2026-1",
            "2026-1-5-x",
            "0b12",
            "1_000_x",
            "_1",
            "12:75",
            "a:30",
            "10:00 sharp",
            "127.0.0.1:80",
        ] {
            assert_eq!(plain(written).style, Style::Plain, "{written}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_used_are_faults() {
        for written in [".inf", "-.Inf", ".nan", "1e999"] {
            assert!(matches!(plain(written).fault, Some(Fault::NonFinite)), "{written}");
        }
        assert!(matches!(plain("18446744073709551616").fault, Some(Fault::OutOfRange)));
    }
}
