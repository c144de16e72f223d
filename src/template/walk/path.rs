//! Where things stand in the source, and paths as they are written.

use std::ops::Range;

use minijinja::machinery::Span;
use minijinja::machinery::ast::Expr;

use super::Part;

/// The bytes of a filter's or test's name, which the tree does not have: the first such word after its operand.
pub(super) fn name_after(source: &str, name: &str, from: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let text = source.get(from..).unwrap_or_default();
    for (at, _) in text.match_indices(name) {
        let before = text[..at].chars().next_back().is_some_and(is_word);
        let after = text[at + name.len()..].chars().next().is_some_and(is_word);
        if !before && !after {
            return from + at..from + at + name.len();
        }
    }
    from..from
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

pub(super) fn end(expr: &Expr<'_>) -> usize {
    range(expr.span()).end
}

/// A path as it is written: a name with attributes and subscripts, none for anything else.
pub(super) fn written(expr: &Expr<'_>) -> Option<Vec<Part>> {
    match expr {
        Expr::Var(var) => Some(vec![Part { name: Some(var.id.to_string()), range: range(var.span()) }]),
        Expr::GetAttr(get) => {
            let mut path = written(&get.expr)?;
            let stop = range(get.span()).end;
            path.push(Part { name: Some(get.name.to_string()), range: stop.saturating_sub(get.name.len())..stop });
            Some(path)
        }
        Expr::GetItem(get) => {
            let mut path = written(&get.expr)?;
            let name = match &get.subscript_expr {
                Expr::Const(constant) => constant.value.as_str().map(str::to_string),
                _ => None,
            };
            path.push(Part { name, range: range(get.subscript_expr.span()) });
            Some(path)
        }
        _ => None,
    }
}
