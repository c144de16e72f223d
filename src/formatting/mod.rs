//! One way to write a document: spaces, indentation and quotes, and never what it says.
//!
//! The layout is the work of `pretty_yaml`. What it gives is read again by our own reader and compared, value by value, and
//! comment by comment; a text that would not say the same is refused.

mod blocks;

use pretty_yaml::config::{FormatOptions, LanguageOptions, LayoutOptions, LineBreak, ProseWrap, Quotes};

use crate::diag::{Diagnostics, Severity, SourceId};
use crate::syntax::{Format, Node, Value, parse};

/// How wide a line may get before a bracketed list or map is broken up: the width of this repository's own documents.
const WIDTH: usize = 120;

/// Why a document is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It cannot be read, so nobody can tell whether it would say the same.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// The formatter has no way to write it.
    #[error("the formatter cannot read it: {0}")]
    NotUnderstood(String),
    /// The formatted text would say something else.
    #[error("formatting would change what it says, at `{0}`")]
    Meaning(String),
    /// A comment would get lost.
    #[error("formatting would lose or change a comment")]
    Comment,
}

/// A YAML document in the one layout. Line ends stay what they are in the first line, and so does a byte order mark.
///
/// # Errors
/// When that is not possible without changing what the document says.
pub fn yaml(text: &str) -> Result<String, Refusal> {
    let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body));
    let before = read(body).map_err(Refusal::Unreadable)?;
    let (plain, kept) = blocks::set_aside(body, &before);
    let is_crlf = body.find('\n').is_some_and(|at| body[..at].ends_with('\r'));
    let options = FormatOptions {
        layout: LayoutOptions {
            print_width: WIDTH,
            indent_width: 2,
            line_break: if is_crlf { LineBreak::Crlf } else { LineBreak::Lf },
        },
        language: LanguageOptions {
            quotes: Quotes::PreferDouble,
            trailing_comma: false,
            format_comments: false,
            prefer_single_line: true,
            trim_trailing_zero: false,
            // Prose is part of a prompt: where its lines end is its author's choice.
            prose_wrap: ProseWrap::Preserve,
            ..LanguageOptions::default()
        },
    };
    let formatted =
        pretty_yaml::format_text(&plain, &options).map_err(|error| Refusal::NotUnderstood(error.to_string()))?;
    let formatted = blocks::put_back(formatted, &kept);
    let after = read(&formatted).map_err(|_| Refusal::Meaning(String::new()))?;
    if let Some(place) = difference(&before, &after, "") {
        return Err(Refusal::Meaning(place));
    }
    if comments(body) != comments(&formatted) {
        return Err(Refusal::Comment);
    }
    Ok(format!("{mark}{formatted}"))
}

/// The tree of a text, or the first thing that is wrong with it.
fn read(text: &str) -> Result<Node, String> {
    let mut found = Diagnostics::new();
    let node = parse(SourceId(0), text, Format::Yaml, &mut found);
    let error = found.iter().find(|finding| finding.severity == Severity::Error);
    match (node, error) {
        (Some(node), None) => Ok(node),
        (_, error) => Err(error.map_or_else(|| "it is empty".to_owned(), |error| error.message.clone())),
    }
}

/// The first place where two trees differ, the order of keys included.
fn difference(before: &Node, after: &Node, path: &str) -> Option<String> {
    match (&before.value, &after.value) {
        (Value::Map(old), Value::Map(new)) => {
            if old.len() != new.len() {
                return Some(path.to_owned());
            }
            old.iter().zip(new.iter()).find_map(|(old, new)| {
                let path = format!("{path}/{}", old.key);
                if old.key == new.key { difference(&old.value, &new.value, &path) } else { Some(path) }
            })
        }
        (Value::Seq(old), Value::Seq(new)) => {
            if old.len() != new.len() {
                return Some(path.to_owned());
            }
            let mut pairs = old.iter().zip(new.iter()).enumerate();
            pairs.find_map(|(index, (old, new))| difference(old, new, &format!("{path}/{index}")))
        }
        (old, new) => (old != new).then(|| path.to_owned()),
    }
}

/// What follows a `#` on each line, wherever that is: not only comments, but with equal values what differs is a comment.
fn comments(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> =
        text.lines().filter_map(|line| line.split_once('#').map(|(_, comment)| comment.trim())).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests;
