//! The second gate: each document against its JSON Schema, with the validator's errors in our words at our places.
//!
//! Decoding is the first gate and has the better words; what it said already is not said again.

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value as Json;

use crate::diag::{Code, Diagnostic, Diagnostics, Severity, SourceId, Span, codes, list_words};
use crate::document;
use crate::syntax::{Node, Style, Value};

/// The schema of a kind of document, and its validator: both never change, so each is made once.
fn schema_of(kind: document::Kind) -> &'static (Json, Option<Validator>) {
    static MADE: [OnceLock<(Json, Option<Validator>)>; document::Kind::ALL.len()] =
        [const { OnceLock::new() }; document::Kind::ALL.len()];
    MADE[kind as usize].get_or_init(|| {
        let schema = crate::schema::generate(crate::schema::SchemaKind::Document(kind));
        let validator = jsonschema::draft202012::new(&schema).ok();
        (schema, validator)
    })
}

/// Whether a document has to pass the gate. What is no map was refused already, and the workspace's defaults, when no file
/// declares it, were written by nobody.
fn is_written(node: &Node) -> bool {
    matches!(node.value, Value::Map(_)) && !node.span.is_none()
}

/// What a document's schema says about it, whether or not it was said before.
pub(super) fn schema_errors(kind: document::Kind, node: &Node) -> Diagnostics {
    let mut own = Diagnostics::new();
    if let Some(validator) = schema_of(kind).1.as_ref().filter(|_| is_written(node)) {
        let json = node.to_json();
        for error in validator.iter_errors(&json) {
            explain(&error, node, &mut own);
        }
    }
    own
}

/// The places of the errors that were found so far, by file.
#[derive(Default)]
pub(super) struct Said {
    places: HashMap<SourceId, Vec<Span>>,
    /// What is missing by place: decoding shows the key of the map, and the schema the first key in it.
    missing: HashMap<SourceId, Vec<(Span, String)>>,
}

impl Said {
    /// Notes the errors among these findings.
    pub(super) fn note<'d>(&mut self, findings: impl IntoIterator<Item = &'d Diagnostic>) {
        let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
        for finding in errors {
            let Some(place) = finding.span else { continue };
            self.places.entry(place.source).or_default().push(place);
            if finding.code == codes::MISSING_KEY {
                self.missing.entry(place.source).or_default().push((place, finding.message.clone()));
            }
        }
    }

    /// Whether an error at the same place, inside it, or about the map that it begins was found already.
    fn covers(&self, finding: &Diagnostic) -> bool {
        let Some(place) = finding.span else { return !self.places.is_empty() };
        let is_missing = finding.code == codes::MISSING_KEY;
        let said = |span: &Span| {
            let inside = span.start >= place.start && span.end <= place.end;
            // What is missing is shown at the first key; a broken map is shown whole, from its bracket on.
            let around = is_missing && span.start <= place.start && span.end >= place.end;
            inside || around
        };
        let missing = self.missing.get(&place.source).into_iter().flatten();
        let same = |(_, message): &(Span, String)| is_missing && *message == finding.message;
        // Decoding finds every such key, or none of the document's.
        self.places.get(&place.source).is_some_and(|known| known.iter().any(said)) || missing.into_iter().any(same)
    }
}

/// Adds what a document's schema says about it and nobody said before.
pub(super) fn through_gate(
    kind: document::Kind,
    node: &Node,
    errors: Diagnostics,
    said: &mut Said,
    found: &mut Diagnostics,
) {
    if is_written(node) {
        misplaced(&schema_of(kind).0, node, found);
        misread(node, found);
    }
    let mut new = errors;
    new.retain(|finding| !said.covers(finding));
    said.note(&new);
    found.extend(new);
}

/// Whether a document's schema takes it.
#[cfg(test)]
pub(super) fn takes(kind: document::Kind, node: &Node) -> bool {
    schema_of(kind).1.as_ref().is_some_and(|validator| validator.is_valid(&node.to_json()))
}

/// Says where an unknown key of a whole document belongs, when one of its parts has such a key.
fn misplaced(schema: &Json, node: &Node, found: &mut Diagnostics) {
    let unknown = |entry: &&crate::syntax::Entry| schema["properties"].get(&*entry.key).is_none();
    for entry in node.entries().iter().filter(unknown) {
        let Some(part) = part_with(schema, &entry.key) else { continue };
        let finding = found.iter_mut().find(|finding| {
            let is_guess = finding.help.as_ref().is_some_and(|help| help.starts_with("did you mean"));
            finding.code == codes::UNKNOWN_KEY && finding.span == Some(entry.key_span) && !is_guess
        });
        if let Some(finding) = finding {
            finding.help = Some(format!("`{}` belongs under `{part}`", entry.key));
        }
    }
}

/// Says what YAML made of a comma in a text, and of a dash without a space.
fn misread(node: &Node, found: &mut Diagnostics) {
    let mut help = |code: Code, span: Span, help: &str| {
        if let Some(finding) = found.iter_mut().find(|finding| finding.code == code && finding.span == Some(span)) {
            finding.help = Some(help.to_owned());
        }
    };
    for (at, entry) in node.entries().iter().enumerate() {
        if node.style == Style::Flow && at > 0 && entry.value.is_null() && entry.key.contains(' ') {
            let words = "in braces a comma ends the value; put the whole text in quotes if the comma belongs to it";
            help(codes::UNKNOWN_KEY, entry.key_span, words);
        }
        let dashed = entry.value.entries().first().is_some_and(|first| first.key.starts_with('-'));
        if dashed {
            help(codes::WRONG_TYPE, entry.value.span, "write a space after each `-` that begins an item");
        }
    }
    node.entries().iter().for_each(|entry| misread(&entry.value, found));
    node.items().iter().for_each(|item| misread(item, found));
}

/// The part of a document that has this key, such as `limits`.
fn part_with<'s>(schema: &'s Json, key: &str) -> Option<&'s str> {
    let parts = schema["properties"].as_object()?;
    let has_key = |part: &Json| {
        let pointer = part["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        pointer.and_then(|pointer| schema.pointer(pointer)).is_some_and(|part| part["properties"].get(key).is_some())
    };
    parts.iter().find(|(_, part)| has_key(part)).map(|(name, _)| name.as_str())
}

/// The place of a JSON pointer in a tree, or the nearest one around it.
pub(super) fn place_in(node: &Node, pointer: &str) -> Span {
    let mut pointer = pointer;
    loop {
        if let Some(found) = node.at_pointer(pointer).filter(|found| !found.span.is_none()) {
            return found.span;
        }
        match pointer.rsplit_once('/') {
            Some((around, _)) => pointer = around,
            None => return node.span,
        }
    }
}

fn explain(error: &ValidationError<'_>, root: &Node, found: &mut Diagnostics) {
    let pointer = error.instance_path().as_str();
    let node = root.at_pointer(pointer).unwrap_or(root);
    let key =
        pointer.rsplit('/').next().filter(|key| !key.is_empty()).map(|key| format!("`{key}`: ")).unwrap_or_default();
    let whole = node.span;
    let start = node.entries().first().map_or(whole.at_start(), |entry| entry.key_span);
    let mut push = |code: Code, span: Span, message: String| found.push(Diagnostic::error(code, span, message));
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let span = node.entry(name).map_or(whole, |entry| entry.key_span);
                push(codes::UNKNOWN_KEY, span, format!("unknown key `{name}`"));
            }
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            push(codes::MISSING_KEY, start, format!("missing key `{name}`"));
        }
        Kind::Type { kind } => {
            push(codes::WRONG_TYPE, whole, format!("{key}expected {}, found {}", expected(kind), node.value.kind()));
        }
        Kind::Minimum { limit } => out_of_range(&mut push, &key, whole, "at least", limit, node),
        Kind::Maximum { limit } => out_of_range(&mut push, &key, whole, "at most", limit, node),
        Kind::ExclusiveMinimum { limit } => out_of_range(&mut push, &key, whole, "more than", limit, node),
        Kind::ExclusiveMaximum { limit } => out_of_range(&mut push, &key, whole, "less than", limit, node),
        Kind::Enum { options } => {
            let words: Vec<String> = options.as_array().into_iter().flatten().map(plain).collect();
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_VARIANT,
                    whole,
                    format!("{key}this value is not one of those allowed"),
                )
                .help(format!("expected one of {}", list_words(words))),
            );
        }
        Kind::Constant { expected_value } => {
            push(codes::INVALID_VALUE, whole, format!("{key}must be `{}`", plain(expected_value)));
        }
        Kind::Pattern { pattern } => {
            push(
                codes::INVALID_VALUE,
                whole,
                format!("{key}the text does not have the form that is wanted: {pattern}"),
            );
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context, root, node, &key, found),
        // A step with two verbs: decoding says so, with their names.
        Kind::OneOfMultipleValid { .. } => {}
        _ => push(codes::INVALID_VALUE, whole, format!("{key}{}", error.masked())),
    }
}

fn out_of_range(
    push: &mut impl FnMut(Code, Span, String),
    key: &str,
    span: Span,
    words: &str,
    limit: &Json,
    node: &Node,
) {
    push(codes::NUMBER_OUT_OF_RANGE, span, format!("{key}must be {words} {limit}, found {}", plain(&node.to_json())));
}

/// The errors of the alternative that was probably meant: the one whose own type fits, or whose `provider` does.
fn alternatives(
    context: &[Vec<ValidationError<'static>>],
    root: &Node,
    node: &Node,
    key: &str,
    found: &mut Diagnostics,
) {
    let here = |error: &ValidationError<'_>| {
        root.at_pointer(error.instance_path().as_str()).is_some_and(|place| std::ptr::eq(place, node))
    };
    let fits = |errors: &&Vec<ValidationError<'static>>| {
        !errors.iter().any(|error| {
            let is_discriminator = error.instance_path().as_str().ends_with("/provider");
            (here(error) && matches!(error.kind(), Kind::Type { .. } | Kind::Not { .. } | Kind::Enum { .. }))
                || is_discriminator
        })
    };
    let fitting: Vec<_> = context.iter().filter(fits).collect();
    // Maps with one key each, such as layers of middleware: the one whose key is there.
    let wants_other = |errors: &[ValidationError<'static>]| {
        errors.iter().any(|error| here(error) && matches!(error.kind(), Kind::Required { .. }))
    };
    let named: Vec<_> = fitting.iter().copied().filter(|errors| !wants_other(errors)).collect();
    if let ([errors], _) | (_, [errors]) = (&*fitting, &*named) {
        for error in *errors {
            explain(error, root, found);
        }
        return;
    }
    // Alternatives that differ in the keys that they want are a step's verbs: decoding counts those.
    if !context.is_empty() && context.iter().flatten().all(|error| wants_keys(error)) {
        return;
    }
    let types: Vec<String> = context
        .iter()
        .flatten()
        .filter(|error| here(error))
        .filter_map(|error| match error.kind() {
            Kind::Type { kind } => Some(expected(kind)),
            _ => None,
        })
        .collect();
    let message = if types.is_empty() {
        format!("{key}the value has none of the forms that are allowed here")
    } else {
        format!("{key}expected {}, found {}", types.join(" or "), node.value.kind())
    };
    found.push(Diagnostic::error(codes::WRONG_TYPE, node.span, message));
}

/// Whether an error is only about which keys are there.
fn wants_keys(error: &ValidationError<'_>) -> bool {
    match error.kind() {
        Kind::Required { .. } | Kind::Not { .. } => true,
        Kind::AnyOf { context } => context.iter().flatten().all(wants_keys),
        _ => false,
    }
}

fn expected(kind: &TypeKind) -> String {
    let word = |name: &str| match name {
        "object" => "a map".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "an integer".to_owned(),
        "boolean" => "true or false".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    match kind {
        TypeKind::Single(one) => word(&one.to_string()),
        TypeKind::Multiple(many) => many.iter().map(|one| word(&one.to_string())).collect::<Vec<_>>().join(" or "),
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
