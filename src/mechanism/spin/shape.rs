//! What a call looks like: what its arguments and its result say about it where no declaration does.

use serde_json::{Map, Value};

use super::fingerprint::{is_command, plain_command, plain_key};
use super::record::Class;
use super::words::count_up_to;

/// Keys of arguments whose value is written somewhere: a call that has one changes something, as far as its shape shows.
const PAYLOADS: [&str; 22] = [
    "old",
    "new",
    "oldstr",
    "newstr",
    "oldstring",
    "newstring",
    "oldtext",
    "newtext",
    "content",
    "contents",
    "body",
    "text",
    "data",
    "value",
    "patch",
    "diff",
    "edits",
    "replacement",
    "insert",
    "inserttext",
    "code",
    "message",
];

/// Keys of arguments that are typed into something: an empty one asks for what it has to say since.
const INPUTS: [&str; 8] = ["cmd", "command", "input", "chars", "keys", "stdin", "keystrokes", "commandline"];

/// Keys of arguments that name a key or a way to go, and what makes a move of a view of them.
const KEYS: [&str; 3] = ["key", "keys", "direction"];
const STEPS: [&str; 12] = [
    "up",
    "down",
    "left",
    "right",
    "tab",
    "space",
    "backspace",
    "arrowup",
    "arrowdown",
    "arrowleft",
    "arrowright",
    "delete",
];

/// Moves of a view, which show something else each time they are made.
const MOVES: [&str; 8] =
    ["scrollup", "scrolldown", "scrollleft", "scrollright", "pageup", "pagedown", "scrolltop", "scrollbottom"];

/// Whether a result only says that it is done: nothing, or one word.
pub(super) fn is_nod(result: &str) -> bool {
    result.is_empty() || (result.len() > 1 && result.chars().all(char::is_alphabetic))
}

/// What arguments look like.
pub(super) struct Shape {
    /// The class that the call shows.
    pub(super) class: Option<Class>,
    /// Top-level arguments with a text that is no number.
    pub(super) texts: usize,
    /// Whether one of them is written somewhere.
    pub(super) payload: bool,
    /// The one argument that is a question in words, with the rest.
    pub(super) question: Option<(String, Map<String, Value>)>,
}

/// From how many words a text is a question.
const QUESTION: usize = 3;

impl Shape {
    pub(super) fn of(action: &str, arguments: &Value, ignored: &[String]) -> Self {
        let empty = Map::new();
        let map = arguments.as_object().unwrap_or(&empty);
        let counted =
            || map.iter().map(|(key, value)| (plain_key(key), value)).filter(|(key, _)| !ignored.contains(key));
        let texts =
            counted().filter(|(_, value)| !value.is_number() && !value.is_boolean() && !value.is_null()).count();
        let payload = counted().any(|(key, _)| PAYLOADS.contains(&key.as_str()));
        let mut questions = map.iter().filter(|(key, value)| {
            let text = value.as_str().unwrap_or_default();
            !ignored.contains(&plain_key(key)) && !text.contains('\n') && count_up_to(text, QUESTION) == QUESTION
        });
        let question = match (questions.next(), questions.next()) {
            (Some((key, value)), None) if !payload => {
                let rest = map.iter().filter(|(other, _)| *other != key).map(|(k, v)| (k.clone(), v.clone())).collect();
                Some((value.as_str().unwrap_or_default().to_owned(), rest))
            }
            _ => None,
        };
        Self { class: shown(action, map), texts, payload, question }
    }
}

/// What a call is by its own words: a command that sleeps, an empty line to a terminal, a move of a view.
fn shown(action: &str, map: &Map<String, Value>) -> Option<Class> {
    let text = |value: &Value| value.as_str().map(str::trim).map(str::to_owned);
    let sleeps = |(key, value): (&String, &Value)| {
        let command = text(value).map(|text| plain_command(&text)).unwrap_or_default();
        let rest = command.strip_prefix("sleep ").unwrap_or_default();
        is_command(Some(key))
            && !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_digit() || b".smh".contains(&byte))
    };
    let empty = |(key, value): (&String, &Value)| {
        INPUTS.contains(&plain_key(key).as_str()) && text(value).is_some_and(|text| text.is_empty())
    };
    let moves = |(key, value): (&String, &Value)| {
        let word = text(value).map(|text| plain_key(&text)).unwrap_or_default();
        MOVES.contains(&word.as_str()) || (KEYS.contains(&plain_key(key).as_str()) && STEPS.contains(&word.as_str()))
    };
    if map.iter().any(sleeps) {
        Some(Class::Wait)
    } else if map.iter().any(empty) || map.iter().any(moves) || plain_key(action).starts_with("scroll") {
        Some(Class::Poll)
    } else {
        None
    }
}
