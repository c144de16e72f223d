//! What is known of an expression's value before it is computed, and which values are compared with which.

use std::ops::Range;

use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind, Expr};
use serde_json::Value as Json;

use super::path::{range, written};
use super::visit::Visitor;
use super::{Comparison, Operand, Relation, Type};

/// Filters whose result has one type, whatever comes in.
const FILTER_TYPES: &[(&str, Type)] = &[
    ("batch", Type::List),
    ("bool", Type::Boolean),
    ("capitalize", Type::Text),
    ("count", Type::Number),
    ("dictsort", Type::List),
    ("float", Type::Number),
    ("groupby", Type::List),
    ("int", Type::Number),
    ("items", Type::List),
    ("join", Type::Text),
    ("length", Type::Number),
    ("lines", Type::List),
    ("list", Type::List),
    ("lower", Type::Text),
    ("map", Type::List),
    ("round", Type::Number),
    ("slice", Type::List),
    ("sort", Type::List),
    ("split", Type::List),
    ("string", Type::Text),
    ("title", Type::Text),
    ("tojson", Type::Text),
    ("trim", Type::Text),
    ("unique", Type::List),
    ("upper", Type::Text),
];

impl Visitor<'_> {
    /// What is known of an expression's value.
    pub(super) fn operand(&self, expr: &Expr<'_>) -> Operand {
        if let Some(value) = expr.as_const() {
            return serde_json::to_value(&value).map_or(Operand::Unknown, Operand::Constant);
        }
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => {
                self.path(expr).map_or(Operand::Unknown, Operand::Path)
            }
            Expr::List(_) | Expr::Tuple(_) => Operand::Typed(Type::List),
            Expr::Map(_) => Operand::Typed(Type::Map),
            Expr::Compare(_) | Expr::Test(_) => Operand::Typed(Type::Boolean),
            Expr::UnaryOp(op) => Operand::Typed(match op.op {
                ast::UnaryOpKind::Not => Type::Boolean,
                ast::UnaryOpKind::Neg => Type::Number,
            }),
            Expr::BinOp(op) => match op.op {
                BinOpKind::Concat => Operand::Typed(Type::Text),
                BinOpKind::Sub | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem | BinOpKind::Pow => {
                    Operand::Typed(Type::Number)
                }
                // `+` and `*` are for texts and lists too; `and` and `or` give one of their sides.
                BinOpKind::Add | BinOpKind::Mul | BinOpKind::ScAnd | BinOpKind::ScOr => Operand::Unknown,
                _ => Operand::Typed(Type::Boolean),
            },
            Expr::Filter(filter) => {
                let known = FILTER_TYPES.iter().find(|(name, _)| *name == filter.name);
                known.map_or(Operand::Unknown, |(_, kind)| Operand::Typed(*kind))
            }
            _ => Operand::Unknown,
        }
    }

    /// Notes `left == right` and its like.
    pub(super) fn compared(&mut self, op: &ast::BinOp<'_>, whole: Range<usize>) {
        let relation = match op.op {
            BinOpKind::Eq => Relation::Equal,
            BinOpKind::Ne => Relation::Unequal,
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => Relation::Order,
            BinOpKind::In => Relation::In,
            _ => return,
        };
        self.comparison(&op.left, relation, &op.right, whole);
    }

    /// Notes the first link of `a < b < c`.
    pub(super) fn compared_chain(&mut self, compare: &ast::Compare<'_>, whole: Range<usize>) {
        let mut left = &compare.expr;
        for op in &compare.ops {
            let relation = match op.op {
                CompareOpKind::Eq => Relation::Equal,
                CompareOpKind::Ne => Relation::Unequal,
                CompareOpKind::In => Relation::In,
                CompareOpKind::NotIn => Relation::NotIn,
                _ => Relation::Order,
            };
            self.comparison(left, relation, &op.expr, whole.clone());
            left = &op.expr;
        }
    }

    fn comparison(&mut self, left: &Expr<'_>, relation: Relation, right: &Expr<'_>, whole: Range<usize>) {
        let (from, to) = (self.operand(left), self.operand(right));
        if matches!((&from, &to), (Operand::Unknown, _) | (_, Operand::Unknown)) {
            return;
        }
        let ranges = (whole_of(left), whole_of(right));
        self.walk.comparisons.push(Comparison { left: from, relation, right: to, ranges, range: whole });
    }
}

/// The bytes of an operand. The span of `a.b` in the tree begins at the point.
fn whole_of(expr: &Expr<'_>) -> Range<usize> {
    match written(expr).as_deref() {
        Some([first, .., last]) => first.range.start..range(expr.span()).end.max(last.range.end),
        _ => range(expr.span()),
    }
}

impl Operand {
    /// Whether the value counts as true, where it is known.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Constant(value) => Some(match value {
                Json::Null => false,
                Json::Bool(truth) => *truth,
                Json::Number(number) => number.as_f64() != Some(0.0),
                Json::String(text) => !text.is_empty(),
                Json::Array(items) => !items.is_empty(),
                Json::Object(map) => !map.is_empty(),
            }),
            _ => None,
        }
    }
}
