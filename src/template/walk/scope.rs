//! Names that a template defines, and what its conditions make certain.

use std::collections::BTreeMap;

use minijinja::machinery::ast;

use super::Part;

/// A name that the template defines.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    /// What it stands for, when that is a plain path: the loop's variable for an element of its list.
    pub(super) alias: Option<Vec<Part>>,
    /// Whether it is set on every way that leads here.
    pub(super) certain: bool,
}

#[derive(Debug, Default)]
pub(super) struct Scopes {
    frames: Vec<BTreeMap<String, Binding>>,
    /// Paths that exist, by the conditions around the current place.
    known: Vec<Vec<Option<String>>>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        let mut scopes = Self { frames: vec![BTreeMap::new()], known: Vec::new() };
        scopes.bind("self", None);
        scopes
    }

    /// Runs `body` in a frame of its own.
    pub(super) fn push(&mut self) {
        self.frames.push(BTreeMap::new());
    }

    pub(super) fn pop(&mut self) {
        self.frames.pop();
    }

    pub(super) fn bind(&mut self, name: &str, alias: Option<Vec<Part>>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(name.to_string(), Binding { alias, certain: true });
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        self.frames.iter().rev().find_map(|frame| frame.get(name))
    }

    /// The names that are defined here.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.frames.iter().flat_map(BTreeMap::keys).filter(|name| *name != "self").cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    /// The current frame, to come back to after a branch.
    pub(super) fn save(&self) -> BTreeMap<String, Binding> {
        self.frames.last().cloned().unwrap_or_default()
    }

    /// Puts a saved frame back and gives the one that was there.
    pub(super) fn swap(&mut self, saved: BTreeMap<String, Binding>) -> BTreeMap<String, Binding> {
        self.frames.last_mut().map(|frame| std::mem::replace(frame, saved)).unwrap_or_default()
    }

    /// After two branches: what only one of them sets is not certain.
    pub(super) fn join(&mut self, one: BTreeMap<String, Binding>, other: BTreeMap<String, Binding>) {
        let mut joined = BTreeMap::new();
        for (name, binding) in &one {
            let both = other.get(name).is_some_and(|b| b.certain) && binding.certain;
            joined.insert(name.clone(), Binding { alias: None, certain: both });
        }
        for name in other.keys() {
            joined.entry(name.clone()).or_insert(Binding { alias: None, certain: false });
        }
        for (name, binding) in &mut joined {
            // A name that neither branch touched stands for what it stood for.
            let parts = |frame: &BTreeMap<String, Binding>| frame.get(name).and_then(|b| b.alias.clone());
            if parts(&one) == parts(&other) {
                binding.alias = parts(&one);
            }
        }
        self.swap(joined);
    }

    pub(super) fn known(&self) -> usize {
        self.known.len()
    }

    pub(super) fn learn(&mut self, paths: Vec<Vec<Part>>) {
        let names = |path: Vec<Part>| path.into_iter().map(|part| part.name).collect();
        self.known.extend(paths.into_iter().map(names));
    }

    pub(super) fn forget(&mut self, to: usize) {
        self.known.truncate(to);
    }

    /// How many leading parts of a path are known to exist.
    pub(super) fn known_parts(&self, path: &[Part]) -> usize {
        self.known
            .iter()
            .map(|known| known.iter().zip(path).take_while(|(name, part)| **name == part.name).count())
            .max()
            .unwrap_or(0)
    }
}

/// What exists for certain.
pub(super) enum Certain<'e, 's> {
    /// What the expression names.
    Value(&'e ast::Expr<'s>),
    /// This key of what the expression names.
    Key(&'e ast::Expr<'s>, String),
}

/// What an expression asks for with `is defined` or `'key' in map`, so that it exists when the expression is true (or
/// false, as `truth` says).
pub(super) fn defined_if<'e, 's>(expr: &'e ast::Expr<'s>, truth: bool) -> Vec<Certain<'e, 's>> {
    let key = |key: &ast::Expr<'s>, map: &'e ast::Expr<'s>| {
        let key = key.as_const().and_then(|key| key.as_str().map(str::to_string));
        key.map(|key| Certain::Key(map, key)).into_iter().collect()
    };
    match expr {
        ast::Expr::Test(test) => match (test.name, truth) {
            ("defined", true) | ("undefined", false) => vec![Certain::Value(&test.expr)],
            ("in", true) => match test.args.first() {
                Some(ast::CallArg::Pos(map)) => key(&test.expr, map),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        ast::Expr::BinOp(op) if truth && matches!(op.op, ast::BinOpKind::In) => key(&op.left, &op.right),
        ast::Expr::UnaryOp(op) if matches!(op.op, ast::UnaryOpKind::Not) => defined_if(&op.expr, !truth),
        ast::Expr::BinOp(op) => match (op.op, truth) {
            (ast::BinOpKind::ScAnd, true) | (ast::BinOpKind::ScOr, false) => {
                let mut paths = defined_if(&op.left, truth);
                paths.extend(defined_if(&op.right, truth));
                paths
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
