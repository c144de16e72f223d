//! Writing the file of a script or a recording.
//!
//! By hand, because a person should be able to read it and every text must come back: long texts are literal blocks, and
//! whatever a YAML reader might fold, trim or refuse is quoted and escaped.

use std::fmt::Write as _;

use serde_json::Value;

use super::file::{Exchange, RepliesFile, RepliesKind, Written};
use super::lines::{Part, RequestText};

// Where a note is broken.
const WIDTH: usize = 110;

/// Everything above the exchanges.
pub(super) fn head(file: &RepliesFile) -> String {
    let kind = match file.kind {
        RepliesKind::Script => "script",
        RepliesKind::Recording => "recording",
    };
    let mut out = format!("kind: {kind}\n");
    if let Some(note) = &file.note {
        out.push_str("note: ");
        folded(&mut out, note);
    }
    if let Some(model) = &file.model {
        field(&mut out, 0, "model", model);
    }
    let _ = writeln!(out, "protocol: {}", file.protocol.name());
    out
}

/// One exchange as a list item.
pub(super) fn exchange(exchange: &Exchange) -> String {
    let mut out = String::new();
    if let Some(model) = &exchange.model {
        field(&mut out, 2, "model", model);
    }
    if let Some(purpose) = exchange.purpose {
        field(&mut out, 2, "purpose", purpose.name());
    }
    reply(&mut out, &exchange.reply);
    match &exchange.request {
        None => {}
        Some(RequestText::Whole(text)) => field(&mut out, 2, "request", text),
        Some(RequestText::Parts(parts)) => {
            out.push_str("  request:\n");
            for part in parts {
                match part {
                    Part::Same { same } => {
                        let _ = writeln!(out, "  - same: {same}");
                    }
                    Part::New(text) => {
                        out.push_str("  - ");
                        scalar(&mut out, 4, text);
                    }
                }
            }
        }
    }
    // The first key stands behind the dash.
    out.replace_range(..1, "-");
    out
}

fn reply(out: &mut String, reply: &Written) {
    let start = out.len();
    for (key, text) in [("reasoning", &reply.reasoning), ("text", &reply.text)] {
        if !text.is_empty() {
            field(out, 4, key, text);
        }
    }
    if !reply.calls.is_empty() {
        out.push_str("    calls:\n");
    }
    for call in &reply.calls {
        let _ = writeln!(out, "    - name: {}", quoted(&call.name));
        if let Some(id) = &call.id {
            let _ = writeln!(out, "      id: {}", quoted(id));
        }
        match &call.arguments {
            Value::Null => {}
            Value::String(text) => field(out, 6, "arguments", text),
            other => {
                let _ = writeln!(out, "      arguments: {}", json(other));
            }
        }
    }
    if let Some(finish) = reply.finish {
        let _ = writeln!(out, "    finish: {}", finish.name());
    }
    if let Some(usage) = reply.usage {
        let _ = writeln!(
            out,
            "    usage: {{ input: {}, output: {}, cache_read: {}, cache_write: {} }}",
            usage.input, usage.output, usage.cache_read, usage.cache_write
        );
    }
    if let Some(after) = reply.after {
        let _ = writeln!(out, "    after: {after}");
    }
    if let Some(at) = reply.at {
        let _ = writeln!(out, "    at: {at}");
    }
    if let Some(chunks) = &reply.chunks {
        let _ = writeln!(out, "    chunks: {}", quoted(chunks));
    }
    out.insert_str(start, if out.len() == start { "  reply: {}\n" } else { "  reply:\n" });
}

fn field(out: &mut String, indent: usize, key: &str, text: &str) {
    let _ = write!(out, "{:indent$}{key}: ", "");
    scalar(out, indent + 2, text);
}

/// A text and a line break: a literal block where that keeps every character, else quoted.
fn scalar(out: &mut String, indent: usize, text: &str) {
    let is_literal = text.contains('\n')
        && text.chars().all(|c| is_plain(c) || c == '\n')
        && !text.starts_with([' ', '\n', '\t'])
        // Blanks at the end of the whole text would be in doubt.
        && !text.trim_end_matches('\n').ends_with([' ', '\t']);
    if !is_literal {
        let _ = writeln!(out, "{}", quoted(text));
        return;
    }
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    for line in text.split_inclusive('\n') {
        if line != "\n" {
            let _ = write!(out, "{:indent$}", "");
        }
        out.push_str(line);
    }
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

/// A long line, broken between words.
fn folded(out: &mut String, text: &str) {
    let is_line = text.chars().all(is_plain) && !text.contains('\t') && text.split(' ').all(|word| !word.is_empty());
    if !is_line || text.len() < WIDTH {
        return scalar(out, 2, text);
    }
    out.push_str(">-\n ");
    let mut column = 1;
    for word in text.split(' ') {
        if column + word.len() >= WIDTH && column > 1 {
            out.push_str("\n ");
            column = 1;
        }
        let _ = write!(out, " {word}");
        column += 1 + word.len();
    }
    out.push('\n');
}

/// Whether every YAML reader takes the character as it is, in the middle of a line.
fn is_plain(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{A0}'..='\u{2027}' | '\u{202A}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}' | '\u{10000}'..)
}

fn quoted(text: &str) -> String {
    json(&Value::from(text))
}

/// JSON on one line, which is YAML too.
fn json(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", joined(items.iter().map(json).collect())),
        Value::Object(members) => {
            format!(
                "{{{}}}",
                joined(members.iter().map(|(key, value)| format!("{}: {}", quoted(key), json(value))).collect())
            )
        }
        other => {
            let mut out = String::new();
            for c in other.to_string().chars() {
                if is_plain(c) {
                    out.push(c);
                } else {
                    // Nothing above the BMP gets here.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
            }
            out
        }
    }
}
