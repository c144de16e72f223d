//! Comparisons and conditions that are decided before anything runs, and values of the wrong type.

use serde_json::Value as Json;

use super::context::Cx;
use super::scope::Scope;
use super::shape::Shape;
use super::text::Text;
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::template::walk::{Comparison, Operand, Relation, Type, Walk};

/// What an operand may be.
enum Domain<'a> {
    Any,
    /// One of these texts.
    Words(&'a [String]),
    Typed(Type),
    Constant(&'a Json),
}

impl Domain<'_> {
    /// The type; a boolean counts as any, since it compares like a number.
    fn kind(&self) -> Option<Type> {
        match self {
            Self::Any | Self::Typed(Type::Boolean) | Self::Constant(Json::Null | Json::Bool(_)) => None,
            Self::Words(_) | Self::Constant(Json::String(_)) => Some(Type::Text),
            Self::Typed(kind) => Some(*kind),
            Self::Constant(Json::Number(_)) => Some(Type::Number),
            Self::Constant(Json::Array(_)) => Some(Type::List),
            Self::Constant(Json::Object(_)) => Some(Type::Map),
        }
    }
}

/// Looks at the comparisons and loops of a template or expression.
pub(super) fn comparisons(cx: &mut Cx<'_>, text: &Text<'_>, walk: &Walk, scope: &Scope) {
    for comparison in &walk.comparisons {
        if let Some(finding) = compared(text, comparison, scope) {
            cx.push(finding);
        }
    }
    for (operand, range) in &walk.iterated {
        if let Some(finding) = iterated(text, operand, range.clone(), scope, "`for`") {
            cx.push(finding);
        }
    }
}

/// A condition that is a constant decides nothing.
pub(super) fn condition(cx: &mut Cx<'_>, text: &Text<'_>, walk: &Walk) {
    let Some(truth) = walk.value.truth() else { return };
    let source = text.as_str();
    let (word, help) = if truth {
        ("always true", "remove the condition, or write one over `state`, `params` or another name")
    } else {
        ("never true", "write a condition over `state`, `params` or another name, or remove what it guards")
    };
    let message = format!("the condition `{}` is {word}", source.trim());
    cx.push(Diagnostic::warning(codes::CONSTANT_CONDITION, text.span(0..source.len()), message).help(help));
}

/// What `for_each` runs through must be a list.
pub(super) fn list(cx: &mut Cx<'_>, text: &Text<'_>, walk: &Walk, scope: &Scope) {
    if let Some(finding) = iterated(text, &walk.value, 0..text.as_str().len(), scope, "`for_each`") {
        cx.push(finding);
    }
}

/// What `metric` gives must be a number.
pub(super) fn number(cx: &mut Cx<'_>, text: &Text<'_>, walk: &Walk, scope: &Scope) {
    let domain = domain(&walk.value, scope);
    if let Some(kind) = domain.kind().filter(|kind| *kind != Type::Number) {
        let range = 0..text.as_str().len();
        let message = format!("a number is needed here, and this is {}", noun(kind));
        let finding = Diagnostic::error(codes::EXPRESSION_TYPE, text.span(range), message);
        cx.push(if matches!(kind, Type::List) { finding.help("count its elements with `| length`") } else { finding });
    }
}

fn iterated(
    text: &Text<'_>,
    operand: &Operand,
    range: std::ops::Range<usize>,
    scope: &Scope,
    what: &str,
) -> Option<Diagnostic> {
    let domain = domain(operand, scope);
    let kind = match domain {
        Domain::Typed(Type::Boolean) | Domain::Constant(Json::Bool(_)) => Type::Boolean,
        _ => domain.kind()?,
    };
    let shown = text.as_str().get(range.clone()).unwrap_or_default().trim();
    match kind {
        Type::Number | Type::Boolean => {
            let message = format!("{what} needs a list, and `{shown}` is {}", noun(kind));
            let finding = Diagnostic::error(codes::EXPRESSION_TYPE, text.span(range), message);
            Some(if kind == Type::Number {
                finding.help(format!("to count up to it, write `range({shown})`"))
            } else {
                finding
            })
        }
        Type::Text if what == "`for_each`" => {
            let message = format!("{what} needs a list, and `{shown}` is a text: it would run once for each character");
            Some(Diagnostic::warning(codes::EXPRESSION_TYPE, text.span(range), message).help("split it: `| lines`"))
        }
        _ => None,
    }
}

fn compared(text: &Text<'_>, comparison: &Comparison, scope: &Scope) -> Option<Diagnostic> {
    let (left, right) = (domain(&comparison.left, scope), domain(&comparison.right, scope));
    match comparison.relation {
        Relation::Equal | Relation::Unequal => equal(text, comparison, &left, &right),
        Relation::Order => ordered(text, comparison, &left, &right),
        Relation::In | Relation::NotIn => contained(text, comparison, &left, &right),
    }
}

fn equal(text: &Text<'_>, comparison: &Comparison, left: &Domain<'_>, right: &Domain<'_>) -> Option<Diagnostic> {
    let (at_left, at_right) = &comparison.ranges;
    let shown = |range: &std::ops::Range<usize>| text.as_str().get(range.clone()).unwrap_or_default().trim();
    let outcome = if comparison.relation == Relation::Equal { "never true" } else { "always true" };
    // The place is that of the constant, which is what is to be corrected.
    let sides = [(left, right, at_left, at_right), (right, left, at_right, at_left)];
    for (one, other, at_one, at_other) in sides {
        if let (Domain::Words(words), Domain::Constant(Json::String(word))) = (one, other)
            && !words.contains(word)
        {
            let message = format!("this is {outcome}: `{}` is never `{word}`", shown(at_one));
            return Some(
                Diagnostic::warning(codes::IMPOSSIBLE_COMPARISON, text.span(at_other.clone()), message)
                    .help(one_of(word, words)),
            );
        }
    }
    let (kind, other) = (left.kind()?, right.kind()?);
    // Two constants make a constant condition; two empty collections may be compared.
    if kind == other || matches!((left, right), (Domain::Constant(_), Domain::Constant(_))) {
        return None;
    }
    let place = if matches!(left, Domain::Constant(_)) { at_left } else { at_right };
    let message = format!(
        "this is {outcome}: `{}` is {}, and `{}` is {}",
        shown(at_left),
        noun(kind),
        shown(at_right),
        noun(other)
    );
    let finding = Diagnostic::warning(codes::IMPOSSIBLE_COMPARISON, text.span(place.clone()), message);
    let number = [left, right].into_iter().find_map(|side| match side {
        Domain::Constant(Json::String(word)) if word.parse::<f64>().is_ok() => Some(word),
        _ => None,
    });
    Some(match number {
        Some(word) => finding.help(format!("write `{word}` without quotes")),
        None if kind == Type::List || other == Type::List => finding.help("count its elements with `| length`"),
        None => finding.help("compare values of the same type"),
    })
}

fn ordered(text: &Text<'_>, comparison: &Comparison, left: &Domain<'_>, right: &Domain<'_>) -> Option<Diagnostic> {
    let (kind, other) = (left.kind()?, right.kind()?);
    if kind == other {
        return None;
    }
    let message = format!("{} is compared with {} by size", noun(kind), noun(other));
    let lists = kind == Type::List || other == Type::List;
    let help = if lists { "count its elements with `| length`" } else { "compare values of the same type" };
    let finding = Diagnostic::warning(codes::IMPOSSIBLE_COMPARISON, text.span(comparison.range.clone()), message);
    Some(finding.help(help))
}

fn contained(text: &Text<'_>, comparison: &Comparison, left: &Domain<'_>, right: &Domain<'_>) -> Option<Diagnostic> {
    let (at_left, at_right) = &comparison.ranges;
    let shown = text.as_str().get(at_left.clone()).unwrap_or_default().trim();
    if right.kind() == Some(Type::Number) {
        let message = "`in` needs a list, a map or a text on its right, and this is a number";
        return Some(
            Diagnostic::error(codes::EXPRESSION_TYPE, text.span(at_right.clone()), message)
                .help("write `[…]` around it"),
        );
    }
    let (Domain::Words(words), Domain::Constant(Json::Array(items))) = (left, right) else { return None };
    let known = |item: &&Json| item.as_str().is_some_and(|item| words.iter().any(|word| word == item));
    if items.is_empty() || items.iter().any(|item| known(&item)) {
        return None;
    }
    let first = items.iter().find_map(Json::as_str).unwrap_or_default();
    let message = format!("this is never true: `{shown}` is none of these");
    let finding = Diagnostic::warning(codes::IMPOSSIBLE_COMPARISON, text.span(at_right.clone()), message);
    Some(finding.help(one_of(first, words)))
}

fn one_of(word: &str, words: &[String]) -> String {
    match did_you_mean(word, words) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it is one of {}", list_words(words)),
    }
}

fn noun(kind: Type) -> &'static str {
    match kind {
        Type::Text => "a text",
        Type::Number => "a number",
        Type::Boolean => "true or false",
        Type::List => "a list",
        Type::Map => "a map",
    }
}

fn domain<'a>(operand: &'a Operand, scope: &'a Scope) -> Domain<'a> {
    let shape = match operand {
        Operand::Unknown => return Domain::Any,
        Operand::Constant(value) => return Domain::Constant(value),
        Operand::Typed(kind) => return Domain::Typed(*kind),
        Operand::Path(path) => {
            let root = path.first().and_then(|part| part.name.as_deref()).and_then(|name| scope.get(name));
            let rest = path.iter().skip(1);
            rest.fold(root, |shape, part| match &part.name {
                Some(name) => shape?.attribute(name).ok(),
                None => Some(shape?.element()),
            })
        }
    };
    match shape {
        None | Some(Shape::Any) => Domain::Any,
        Some(Shape::Words(words)) => Domain::Words(words),
        Some(Shape::Scalar("a string")) => Domain::Typed(Type::Text),
        Some(Shape::Scalar("a boolean")) => Domain::Typed(Type::Boolean),
        Some(Shape::Scalar(_)) => Domain::Typed(Type::Number),
        Some(Shape::List(_)) => Domain::Typed(Type::List),
        Some(Shape::Map { .. }) => Domain::Typed(Type::Map),
    }
}
