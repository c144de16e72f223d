//! Scalars as YAML that reads back as the same value and that a terminal cannot obey.

use serde_json::Value as Json;

/// A scalar, or a list or map in flow style, on one line.
#[must_use]
pub fn scalar(value: &Json) -> String {
    match value {
        Json::String(text) if is_plain(text) || is_duration(text) => text.clone(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", items.iter().map(scalar).collect::<Vec<_>>().join(", ")),
        Json::Object(map) if map.is_empty() => "{}".to_owned(),
        Json::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", key_word(key), scalar(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key.
pub(super) fn key_word(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { quoted(key) }
}

/// Text in double quotes; whatever does not print is spelled out.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if prints(c) => out.push(c),
            c if u32::from(c) > 0xFFFF => out.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Text of several lines as a block scalar: its header and its lines. None when it must be quoted.
pub(super) fn block(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let body = text.trim_end_matches('\n');
    let first = body.lines().next().unwrap_or_default();
    let simple = body.contains('\n')
        && !first.is_empty()
        && !first.starts_with([' ', '\t'])
        // A line of only blanks in front of the first text could be taken for indentation; elsewhere it is kept.
        && text.chars().all(|c| c == '\n' || c == '\t' || prints(c));
    if !simple {
        return None;
    }
    let (header, kept) = match text.len() - body.len() {
        0 => ("|-", body),
        1 => ("|", body),
        _ => ("|+", &text[..text.len() - 1]),
    };
    Some((header, kept.split('\n').collect()))
}

/// Text with everything that does not print spelled out.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if prints(c) { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

/// Whether a character can stand in YAML and on a terminal as it is.
fn prints(c: char) -> bool {
    // Line separators, marks that turn the direction of text, and the byte order mark look like nothing or like something else.
    let odd = matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}'..='\u{200F}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
    !c.is_control() && !odd
}

/// Whether text can stand without quotes, in flow style too, and stays a string.
fn is_plain(text: &str) -> bool {
    let inner = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                '_' | '-'
                    | '.'
                    | '/'
                    | '@'
                    | ' '
                    | '('
                    | ')'
                    | '+'
                    | '='
                    | ';'
                    | '$'
                    | '*'
                    | '<'
                    | '>'
                    | '\''
                    | '|'
                    | '!'
                    | '?'
            )
    };
    let starts = text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '/' | '.'));
    let word = text.to_ascii_lowercase();
    starts
        && text.chars().all(|c| inner(c) && prints(c))
        && !text.ends_with(' ')
        && !matches!(word.as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n")
        && !word.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit())
        && !matches!(word.as_str(), ".inf" | ".nan" | "." | "..")
        && !text.starts_with("...")
}

/// `30s`, `1h30m`: begins with a digit and is a string all the same.
fn is_duration(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "msh".contains(c))
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(['m', 's', 'h'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_reads_back(text in "\\PC{0,12}|[ -~\n\t]{0,20}|.{0,8}|[0-9msh.e]{0,4}") {
            let read: String = serde_yaml::from_str(&format!("- {}\n", scalar(&Json::from(text.clone()))))
                .map(|mut list: Vec<String>| list.remove(0)).unwrap();
            prop_assert_eq!(&read, &text);
            let read: Vec<String> = serde_yaml::from_str(&format!("[{}]\n", scalar(&Json::from(text.clone())))).unwrap();
            prop_assert_eq!(&read[0], &text);
        }

        #[test]
        fn blocks_read_back(text in "[a-z:#{}'\" \n\t-]{0,40}") {
            if let Some((header, lines)) = block(&text) {
                let lines: String = lines.iter().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect();
                let yaml = format!("a: {header}  # a comment\n{lines}b: 1\n");
                let read: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
                prop_assert_eq!(read["a"].as_str().unwrap(), text.as_str(), "{}", yaml);
            }
        }
    }
}
