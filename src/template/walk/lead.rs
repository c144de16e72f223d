//! How the text that a template prints may begin: with a text that is written out, with a value, with a number.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Filter, Stmt};

use super::Part;
use super::path::written;

/// One way in which a template's text may begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Lead {
    /// With this text.
    Text(String),
    /// With the value that a path names.
    Path(Vec<Part>),
    /// With a digit, a bracket, or the word for a boolean.
    Plain,
    /// It is not known.
    Unknown,
}

/// Filters that keep the first character of a value, apart from its case.
const KEEP_FIRST: &[&str] = &["capitalize", "float", "int", "lower", "round", "string", "title", "upper"];
/// Filters that print a count.
const COUNT: &[&str] = &["abs", "count", "length"];

/// How a template's text may begin.
pub(super) fn of_template(parsed: &Stmt<'_>) -> Vec<Lead> {
    let Stmt::Template(template) = parsed else { return vec![Lead::Unknown] };
    let (leads, _) = of_body(&template.children);
    leads
}

/// How a body may begin, and whether it may print nothing.
fn of_body(body: &[Stmt<'_>]) -> (Vec<Lead>, bool) {
    let mut leads = Vec::new();
    for stmt in body {
        let (more, empty) = match stmt {
            Stmt::EmitRaw(raw) if raw.raw.trim().is_empty() => continue,
            Stmt::EmitRaw(raw) => (vec![Lead::Text(raw.raw.to_owned())], false),
            Stmt::EmitExpr(emit) => {
                let found = of_expr(&emit.expr);
                let empty = found.iter().any(|lead| *lead == Lead::Text(String::new()));
                (found, empty)
            }
            Stmt::IfCond(cond) => {
                let (mut one, first) = of_body(&cond.true_body);
                let (other, second) = of_body(&cond.false_body);
                one.extend(other);
                (one, first || second)
            }
            Stmt::Set(_) | Stmt::Macro(_) => continue,
            _ => (vec![Lead::Unknown], false),
        };
        leads.extend(more);
        if !empty {
            return (leads, false);
        }
    }
    (leads, true)
}

fn of_expr(expr: &Expr<'_>) -> Vec<Lead> {
    if let Some(value) = expr.as_const() {
        return vec![Lead::Text(value.to_string())];
    }
    let both = |left: &Expr<'_>, right: &Expr<'_>| [of_expr(left), of_expr(right)].concat();
    match expr {
        Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => {
            vec![written(expr).map_or(Lead::Unknown, Lead::Path)]
        }
        Expr::IfExpr(cond) => {
            let mut leads = of_expr(&cond.true_expr);
            leads.extend(cond.false_expr.as_ref().map_or_else(|| vec![Lead::Text(String::new())], of_expr));
            leads
        }
        Expr::BinOp(op) => match op.op {
            BinOpKind::Concat | BinOpKind::Add if begins_with_text(&op.left) => of_expr(&op.left),
            BinOpKind::Add | BinOpKind::Mul | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem => {
                both(&op.left, &op.right)
            }
            BinOpKind::ScAnd | BinOpKind::ScOr | BinOpKind::Concat => both(&op.left, &op.right),
            BinOpKind::Sub | BinOpKind::Pow => vec![Lead::Unknown],
            _ => vec![Lead::Plain],
        },
        Expr::Compare(_) | Expr::Test(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => vec![Lead::Plain],
        Expr::Filter(filter) => of_filter(filter),
        _ => vec![Lead::Unknown],
    }
}

/// Whether a value always begins with a text that is written out.
fn begins_with_text(expr: &Expr<'_>) -> bool {
    of_expr(expr).iter().all(|lead| matches!(lead, Lead::Text(text) if !text.is_empty()))
}

fn of_filter(filter: &Filter<'_>) -> Vec<Lead> {
    let Some(value) = &filter.expr else { return vec![Lead::Unknown] };
    match filter.name {
        "default" | "d" => {
            let mut leads = of_expr(value);
            leads.extend(filter.args.iter().take(1).flat_map(|arg| match arg {
                CallArg::Pos(arg) => of_expr(arg),
                _ => vec![Lead::Unknown],
            }));
            leads
        }
        name if COUNT.contains(&name) => vec![Lead::Plain],
        name if KEEP_FIRST.contains(&name) => of_expr(value),
        _ => vec![Lead::Unknown],
    }
}
