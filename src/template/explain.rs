//! Words for a template that does not render: the innermost cause, its bytes, and the values that were involved.

use std::ops::Range;
use std::sync::Arc;

use minijinja::value::ValueKind;
use minijinja::{ErrorKind, Value};

use super::builder::OutsideRoot;
use super::error::{INSIDE, floor_boundary};
use super::walk::{self, NameUse, Part, Walk};
use super::{Place, TemplateError, TemplateErrorKind, filters, functions, syntax};
use crate::diag::did_you_mean;

/// The most values that are shown with an error, and the most characters of each.
const MAX_VALUES: usize = 6;
const MAX_VALUE_CHARS: usize = 60;

/// Where the code at fault came from.
pub(super) struct Origin<'a> {
    /// The text as its author wrote it.
    pub(super) source: &'a str,
    /// Its name, when it is a file.
    pub(super) file: Option<&'a str>,
    /// Whether it is an expression without braces.
    pub(super) bare: bool,
    /// For an expression that was compiled inside a wrapper: the wrapper's length, and where the expression begins.
    pub(super) wrapped: Option<(usize, usize)>,
}

/// Our words for an error of the template language.
pub(super) fn explain(
    error: &minijinja::Error,
    origin: &Origin<'_>,
    text_of: &dyn Fn(&str) -> Option<Arc<str>>,
    ctx: &Value,
) -> TemplateError {
    let (cause, outside) = innermost(error);
    let (file, text) = match cause.name().and_then(|name| Some((name.to_string(), text_of(name)?))) {
        Some((name, text)) => (Some(name), text),
        None => (origin.file.map(str::to_string), Arc::from(origin.source)),
    };
    let own = file.as_deref() == origin.file;
    let kind = if outside { TemplateErrorKind::OutsideRoot } else { kind_of(cause.kind()) };
    let mut found = TemplateError::new(kind, sentence(cause));
    found.file = file;
    found.source = text.clone();
    if kind == TemplateErrorKind::Syntax {
        let fault = syntax::fault(cause, &text);
        found.kind = fault.kind;
        found.message = fault.message;
        found.help = fault.help;
        found.place = Some(Place::of(&text, fault.range));
        return found;
    }
    let range = cause.range().map(|range| match origin.wrapped {
        Some((wrapper, start)) if own => {
            let to = |at: usize| (at.saturating_sub(wrapper) + start).min(text.trim_end().len());
            to(range.start)..to(range.end)
        }
        _ => range,
    });
    let walked = if own && origin.bare { walk::walk_expr(&text) } else { walk::walk(&text) }.unwrap_or_default();
    let range = range.unwrap_or(0..text.len());
    found.place = Some(Place::of(&text, range.clone()));
    let around = surroundings(&text, &range, own && origin.bare);
    describe(&mut found, &walked, &around, &range, ctx);
    if let Some(place) = &found.place {
        found.place = Some(Place::of(&text, place.range.clone()));
    }
    found.values = values(&walked, &around, ctx);
    found
}

/// An error inside an included file comes wrapped in one of the include; the innermost says what is wrong.
fn innermost(error: &minijinja::Error) -> (&minijinja::Error, bool) {
    let mut outside = false;
    let mut innermost = error;
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        outside |= cause.is::<OutsideRoot>();
        if let Some(cause) = cause.downcast_ref::<minijinja::Error>() {
            innermost = cause;
        }
        next = cause.source();
    }
    (innermost, outside)
}

fn kind_of(kind: ErrorKind) -> TemplateErrorKind {
    match kind {
        ErrorKind::SyntaxError | ErrorKind::BadEscape | ErrorKind::InvalidDelimiter => TemplateErrorKind::Syntax,
        ErrorKind::TemplateNotFound => TemplateErrorKind::NotFound,
        ErrorKind::UnknownFilter => TemplateErrorKind::UnknownFilter,
        ErrorKind::UnknownTest => TemplateErrorKind::UnknownTest,
        ErrorKind::UnknownFunction => TemplateErrorKind::UnknownFunction,
        ErrorKind::UnknownMethod => TemplateErrorKind::UnknownMethod,
        ErrorKind::UndefinedError => TemplateErrorKind::Undefined,
        ErrorKind::OutOfFuel => TemplateErrorKind::OutOfFuel,
        ErrorKind::WriteFailure => TemplateErrorKind::TooLarge,
        _ => TemplateErrorKind::Operation,
    }
}

fn sentence(error: &minijinja::Error) -> String {
    match error.kind() {
        ErrorKind::OutOfFuel => "Template does too much work".to_string(),
        kind => super::error::capitalised(error.detail().unwrap_or(&kind.to_string())),
    }
}

/// The tag around a place, whose variables are worth showing; the whole of a bare expression.
fn surroundings(text: &str, range: &Range<usize>, bare: bool) -> Range<usize> {
    if bare {
        return 0..text.len();
    }
    let start = floor_boundary(text, range.start);
    let end = floor_boundary(text, range.end).max(start);
    let from = text[..start].rfind(['{', '\n']).unwrap_or(0);
    let to = text[end..].find(['}', '\n']).map_or(text.len(), |i| end + i);
    from..to
}

/// Says which name is at fault, and what it may have been meant to be.
fn describe(found: &mut TemplateError, walked: &Walk, around: &Range<usize>, at: &Range<usize>, ctx: &Value) {
    let name_at = |names: &[NameUse]| -> Option<NameUse> {
        let near = |name: &&NameUse| at.start <= name.range.start && name.range.start <= at.end;
        let inside = |name: &&NameUse| around.contains(&name.range.start);
        names.iter().find(near).or_else(|| names.iter().find(inside)).cloned()
    };
    let (name, word, known) = match found.kind {
        TemplateErrorKind::Undefined => return undefined(found, walked, around, ctx),
        TemplateErrorKind::OutOfFuel => {
            found.help = Some("make the loops shorter: filter or cut the data before it is printed".into());
            return;
        }
        TemplateErrorKind::OutsideRoot => {
            found.help = Some(INSIDE.into());
            return;
        }
        TemplateErrorKind::UnknownMethod => {
            found.help = Some("values have no methods; use a filter, such as `{{ list | join(', ') }}`".into());
            if let Some(name) = name_at(&walked.methods) {
                found.message = format!("Unknown method `{}`", name.name);
                found.place = Some(Place { line: 0, column: 0, range: name.range });
            }
            return;
        }
        TemplateErrorKind::UnknownFilter => (
            unknown(&walked.filters, functions::FILTERS, name_at),
            "filter",
            functions::suggest_filter as fn(&str) -> Option<String>,
        ),
        TemplateErrorKind::UnknownTest => (
            unknown(&walked.tests, functions::TESTS, name_at),
            "test",
            functions::suggest_test as fn(&str) -> Option<String>,
        ),
        TemplateErrorKind::UnknownFunction => {
            (name_at(&walked.functions), "function", functions::suggest_function as fn(&str) -> Option<String>)
        }
        _ => return,
    };
    if let Some(name) = name {
        found.message = format!("Unknown {word} `{}`", name.name);
        found.help = known(&name.name);
        found.place = Some(Place { line: 0, column: 0, range: name.range });
    }
}

/// The name that is in no table, or the one nearest to the place.
fn unknown(names: &[NameUse], table: &[&str], name_at: impl Fn(&[NameUse]) -> Option<NameUse>) -> Option<NameUse> {
    let missing: Vec<NameUse> = names.iter().filter(|name| !table.contains(&name.name.as_str())).cloned().collect();
    name_at(&missing)
}

fn undefined(found: &mut TemplateError, walked: &Walk, around: &Range<usize>, ctx: &Value) {
    for used in walked.variables.iter().filter(|used| around.contains(&used.range.start) && !used.optional) {
        let Some((missing, parent)) = missing_part(&used.path, ctx) else { continue };
        let path = dotted(&used.path[..=missing]);
        found.message = format!("`{path}` is undefined");
        let name = used.path[missing].name.as_deref().unwrap_or_default();
        let keys: Vec<String> = keys(&parent);
        found.help = did_you_mean(name, &keys).map(|near| format!("did you mean `{near}`?"));
        let range = used.range.start..used.path[missing].range.end.max(used.range.start);
        found.place = Some(Place { line: 0, column: 0, range });
        return;
    }
    if found.message == "Undefined value" {
        found.message = "A value is undefined".to_string();
    }
}

/// The first part of a path that is not there, and the value that lacks it.
fn missing_part(path: &[Part], ctx: &Value) -> Option<(usize, Value)> {
    let mut value = ctx.clone();
    for (i, part) in path.iter().enumerate() {
        // Which element is meant is not known here.
        let name = part.name.as_deref()?;
        let next = value.get_attr(name).unwrap_or(Value::UNDEFINED);
        if next.is_undefined() {
            return Some((i, value));
        }
        value = next;
    }
    None
}

fn keys(value: &Value) -> Vec<String> {
    if value.kind() != ValueKind::Map {
        return Vec::new();
    }
    value.try_iter().map(|keys| keys.filter_map(|key| key.as_str().map(str::to_string)).collect()).unwrap_or_default()
}

fn dotted(path: &[Part]) -> String {
    let mut text = String::new();
    for part in path {
        match &part.name {
            Some(name) if text.is_empty() => text.push_str(name),
            Some(name) => {
                text.push('.');
                text.push_str(name);
            }
            None => text.push_str("[…]"),
        }
    }
    text
}

/// The values of the variables around a place, cut short; what may be a secret is left out.
fn values(walked: &Walk, around: &Range<usize>, ctx: &Value) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for used in walked.variables.iter().filter(|used| around.contains(&used.range.start)) {
        let known = used.path.iter().take_while(|part| part.name.is_some()).count();
        let path = &used.path[..known];
        let name = dotted(path);
        if is_secret(path) || values.iter().any(|(other, _)| *other == name) {
            continue;
        }
        if let Some(value) = look_up(path, ctx) {
            values.push((name, short(&value)));
        }
        if values.len() == MAX_VALUES {
            break;
        }
    }
    values
}

fn look_up(path: &[Part], ctx: &Value) -> Option<Value> {
    let mut value = ctx.clone();
    for part in path {
        value = value.get_attr(part.name.as_deref()?).ok().filter(|value| !value.is_undefined())?;
    }
    Some(value)
}

/// Whether a path may lead to a secret: all of `env`, and names that say so.
fn is_secret(path: &[Part]) -> bool {
    const SIGNS: &[&str] =
        &["secret", "password", "passwd", "token", "api_key", "apikey", "credential", "authorization"];
    path.iter().enumerate().any(|(i, part)| {
        let name = part.name.as_deref().unwrap_or_default().to_lowercase();
        (i == 0 && name == "env") || (!name.ends_with("tokens") && SIGNS.iter().any(|sign| name.contains(sign)))
    })
}

fn short(value: &Value) -> String {
    let text = match value.as_str() {
        // Only the beginning is shown, so only the beginning is quoted.
        Some(text) => {
            let start: String = text.chars().take(MAX_VALUE_CHARS + 1).collect();
            serde_json::to_string(&start).unwrap_or(start)
        }
        None => match value.kind() {
            ValueKind::Seq => format!("list of {}", value.len().unwrap_or_default()),
            ValueKind::Map => {
                let keys = keys(value);
                if keys.is_empty() { "{}".to_string() } else { format!("map with {}", keys.join(", ")) }
            }
            _ => filters::print(value),
        },
    };
    if text.chars().count() <= MAX_VALUE_CHARS {
        return text;
    }
    text.chars().take(MAX_VALUE_CHARS - 1).chain(['…']).collect()
}
