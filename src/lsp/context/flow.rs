//! Lists and maps in brackets, as far as the cursor: both notations have them.

use super::{Place, Role, Step, word_start};

/// One open bracket.
struct Open {
    is_map: bool,
    /// The key whose value is being written.
    key: Option<String>,
}

/// What is known after a bracketed value was read.
pub(super) enum Flow {
    /// It is closed; what follows it begins here.
    Closed(usize),
    /// The cursor is inside it.
    Inside(Place),
}

/// Reads the value that begins with a bracket at `start`, at most up to `end`, which is the cursor.
pub(super) fn read(text: &str, start: usize, end: usize, path: &[Step], separator: char) -> Flow {
    let mut open: Vec<Open> = Vec::new();
    let mut at = start;
    let mut word = start;
    while at < end {
        let Some(c) = text[at..].chars().next() else { break };
        let next = at + c.len_utf8();
        match c {
            '{' | '[' => {
                open.push(Open { is_map: c == '{', key: None });
                word = next;
            }
            '}' | ']' => {
                open.pop();
                if open.is_empty() {
                    return Flow::Closed(next);
                }
            }
            ',' => {
                word = next;
                if let Some(around) = open.last_mut() {
                    around.key = None;
                }
            }
            '"' | '\'' => match quoted_end(text, at, end) {
                Some(closed) => {
                    at = closed;
                    continue;
                }
                None => return Flow::Inside(inside(&open, path, next, true)),
            },
            '#' if text[..at].ends_with([' ', '\n', '\t']) => {
                at = text[at..end].find('\n').map_or(end, |line| at + line);
                continue;
            }
            _ if c == separator => {
                if let Some(around) = open.last_mut().filter(|around| around.is_map && around.key.is_none()) {
                    let key = text[word..at].trim().trim_matches(['"', '\'']);
                    around.key = Some(key.to_owned());
                    word = next;
                }
            }
            _ => {}
        }
        at = next;
    }
    Flow::Inside(inside(&open, path, word_start(text, end), false))
}

/// The end of a quoted text that begins at `at`; none when the cursor is inside it.
pub(super) fn quoted_end(text: &str, at: usize, end: usize) -> Option<usize> {
    let quote = text[at..].chars().next()?;
    let mut chars = text[at + 1..end].char_indices().peekable();
    while let Some((inner, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                chars.next();
            }
            _ if c == quote => {
                if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                    chars.next();
                    continue;
                }
                return Some(at + 1 + inner + 1);
            }
            _ => {}
        }
    }
    None
}

fn inside(open: &[Open], path: &[Step], start: usize, is_quoted: bool) -> Place {
    let mut path = path.to_vec();
    let mut role = Role::Value;
    for (depth, around) in open.iter().enumerate() {
        let is_last = depth + 1 == open.len();
        role = Role::Value;
        match (&around.key, around.is_map) {
            (Some(key), true) => path.push(Step::Key(key.clone())),
            (None, true) if is_last && !is_quoted => role = Role::Key,
            (None, true) => {}
            (_, false) => path.push(Step::Item),
        }
    }
    Place { path, role, start }
}
