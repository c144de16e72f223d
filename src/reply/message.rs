//! The words that go back to a model whose reply could not be used: what is wrong, and what to write.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::lenient::Fault;
use super::repair::place;
use super::{Finish, Grammar, RejectClass, Rejection};
use crate::diag::did_you_mean;

/// So many faults are written out; the rest are counted.
const SHOWN_FAULTS: usize = 6;
/// A value is quoted up to so many characters.
const SHOWN_VALUE: usize = 60;

fn rejection(class: RejectClass, action: Option<&str>, message: String) -> Rejection {
    Rejection { class, message, action: action.map(str::to_owned) }
}

fn allowed(grammar: &Grammar) -> String {
    let names: Vec<String> = grammar.actions.keys().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

pub(super) fn no_action(finish: Finish, hidden: bool, other_key: Option<&str>, grammar: &Grammar) -> Rejection {
    let cut =
        if finish == Finish::Length { " The reply hit the length limit before it came to one; be brief." } else { "" };
    let hidden = if hidden { " One inside a tag, a string or reasoning does not count." } else { "" };
    let key = other_key.map_or_else(String::new, |key| {
        format!(" The key that names the action is \"@action\", not \"{}\".", shorten(key))
    });
    rejection(
        RejectClass::NoAction,
        None,
        format!(
            "The reply has no action.{cut}{key}{hidden} Write exactly one JSON object whose own top level has \
             \"@action\" with one of: {}.",
            allowed(grammar)
        ),
    )
}

pub(super) fn unknown_action(word: &str, grammar: &Grammar) -> Rejection {
    let meant =
        did_you_mean(word, grammar.actions.keys()).map_or_else(String::new, |name| format!(" Did you mean `{name}`?"));
    rejection(
        RejectClass::UnknownAction,
        None,
        format!("There is no action `{}`.{meant} Write one of: {}.", shorten(word), allowed(grammar)),
    )
}

pub(super) fn broken(raw: &str, start: usize, fault: &Fault, finish: Finish) -> Rejection {
    let begin = place(raw, start);
    if fault.truncated {
        let why = match finish {
            Finish::Length => "The reply hit the length limit.",
            _ => "The reply was cut off.",
        };
        return rejection(
            RejectClass::Truncated,
            None,
            format!(
                "{why} The object that starts at {begin} {}; nothing of it was done. Write it again, whole and shorter; \
                 put long text outside it, in a tag, or do less in one step.",
                fault.what
            ),
        );
    }
    let near: String = raw[fault.at.min(raw.len())..].chars().take(24).collect();
    rejection(
        RejectClass::Malformed,
        None,
        format!(
            "The object that starts at {begin} {} at {}, before `{}`. Write one valid JSON object: keys and strings in \
             double quotes, quotes and line breaks inside strings escaped.",
            fault.what,
            place(raw, fault.at),
            near.escape_debug()
        ),
    )
}

pub(super) fn action_not_text() -> Rejection {
    let message = "\"@action\" must be a string: the name of one action.".to_owned();
    rejection(RejectClass::Malformed, None, message)
}

pub(super) fn two_actions() -> Rejection {
    let message = "One object has two different values of \"@action\". Choose one.".to_owned();
    rejection(RejectClass::Malformed, None, message)
}

pub(super) fn tangled() -> Rejection {
    let message =
        "The reply has too many braces and quotes that begin nothing. Write one JSON object, and little else.";
    rejection(RejectClass::Malformed, None, message.to_owned())
}

pub(super) fn cut_tag(action: Option<&str>, tag: &str, finish: Finish) -> Rejection {
    let why = if finish == Finish::Length { "The reply hit the length limit" } else { "The reply was cut off" };
    rejection(
        RejectClass::Truncated,
        action,
        format!("{why} inside the tag `{tag}`, so nothing was done. Write the reply again, with a shorter body."),
    )
}

pub(super) fn cut_before_tags(action: &str, tags: &[&str]) -> Rejection {
    rejection(
        RejectClass::Truncated,
        Some(action),
        format!("The reply was cut off before the tag {} of `{action}`. Write it again, shorter.", words(tags)),
    )
}

pub(super) fn missing_tags(action: &str, tags: &[&str], nonce: &str) -> Rejection {
    let how: Vec<String> = tags.iter().map(|tag| format!("<|{tag}_{nonce}|>\n…\n<|{tag}_END_{nonce}|>")).collect();
    rejection(
        RejectClass::MissingParam,
        Some(action),
        format!("`{action}` needs the tag {}. After the JSON object write:\n{}", words(tags), how.join("\n")),
    )
}

pub(super) fn missing_params(action: &str, names: &[&str]) -> String {
    format!("`{action}` needs {}.", words(names))
}

pub(super) fn not_finite(action: &str, keys: &[&str]) -> Rejection {
    rejection(
        RejectClass::TypeMismatch,
        Some(action),
        format!("{} of `{action}` is NaN or infinite. Write a number.", words(keys)),
    )
}

pub(super) fn inexact(action: &str, paths: &[String]) -> Rejection {
    let paths: Vec<&str> = paths.iter().take(SHOWN_FAULTS).map(String::as_str).collect();
    rejection(
        RejectClass::TypeMismatch,
        Some(action),
        format!("{} of `{action}` is too large for an exact integer (64 bits).", words(&paths)),
    )
}

pub(super) fn not_an_object(action: &str) -> Rejection {
    rejection(
        RejectClass::Malformed,
        Some(action),
        format!("The arguments of `{action}` are not a JSON object. Write one: {{\"name\": value, …}}."),
    )
}

pub(super) fn no_object(finish: Finish) -> Rejection {
    let cut = if finish == Finish::Length { " It hit the length limit; be brief." } else { "" };
    rejection(RejectClass::NoAction, None, format!("The reply has no JSON object.{cut} Answer with exactly one."))
}

/// All faults of the parameters in one message.
pub(super) fn invalid(action: &str, faults: &[ValidationError<'_>]) -> Rejection {
    let missing = faults.iter().any(is_missing);
    let mut lines: Vec<String> = faults.iter().take(SHOWN_FAULTS).map(fault_words).collect();
    if faults.len() > SHOWN_FAULTS {
        lines.push(format!("and {} more", faults.len() - SHOWN_FAULTS));
    }
    let class = if missing { RejectClass::MissingParam } else { RejectClass::TypeMismatch };
    rejection(class, Some(action), format!("`{action}` has wrong parameters: {}.", lines.join("; ")))
}

fn is_missing(fault: &ValidationError<'_>) -> bool {
    match fault.kind() {
        ValidationErrorKind::Required { .. } => true,
        // "One of these is needed" is written as a choice of `required`.
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            !context.is_empty() && context.iter().all(|branch| branch.iter().all(is_missing))
        }
        _ => false,
    }
}

fn fault_words(fault: &ValidationError<'_>) -> String {
    let at = fault.instance_path().to_string();
    let path = at.trim_start_matches('/').replace('/', ".");
    let inside = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
    match fault.kind() {
        ValidationErrorKind::Required { property } => format!("`{}` is missing{inside}", text_of(property)),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if is_missing(fault) =>
        {
            let choices: Vec<String> =
                context.iter().map(|branch| branch.iter().map(fault_words).collect::<Vec<_>>().join(" and ")).collect();
            choices.join(", or else ")
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(|options| options.iter().map(text_of).collect::<Vec<_>>().join(", "));
            format!("`{path}` is {} and must be one of: {}", quoted(fault.instance()), options.unwrap_or_default())
        }
        _ if path.is_empty() => fault.masked_with("the parameters").to_string(),
        _ => format!("`{path}`: {}", fault.masked_with(quoted(fault.instance()))),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn quoted(value: &Value) -> String {
    // A long string is cut before it is written out, so that a huge one costs nothing.
    match value {
        Value::String(text) if text.len() > 4 * SHOWN_VALUE => format!("\"{}\"", shorten(text)),
        Value::Array(_) | Value::Object(_) => format!("this {}", super::coerce::type_name(value)),
        other => shorten(&other.to_string()),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn words(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
