//! The visitor over the syntax tree of a template.

use minijinja::machinery::ast::{self, Expr, Stmt};

use super::lead;
use super::path::{end, name_after, range, written};
use super::scope::{Certain, Scopes, defined_if};
use super::{FOR_LOOP, IncludeKind, IncludeUse, NameUse, Part, VariableUse, Walk};

/// Filters whose result has the same kind of elements as their input.
const KEEP_ELEMENTS: &[&str] = &["list", "reject", "rejectattr", "reverse", "select", "selectattr", "sort", "unique"];

pub(super) fn template(source: &str, parsed: &Stmt<'_>) -> Walk {
    let mut visitor = Visitor { source, scopes: Scopes::new(), walk: Walk::default() };
    visitor.stmt(parsed);
    visitor.walk.exports = visitor.scopes.names();
    visitor.walk.leads = lead::of_template(parsed);
    visitor.done()
}

pub(super) fn expression(source: &str, parsed: &Expr<'_>) -> Walk {
    let mut visitor = Visitor { source, scopes: Scopes::new(), walk: Walk::default() };
    visitor.expr(parsed);
    visitor.walk.value = visitor.operand(parsed);
    visitor.walk.elements = visitor.elements(parsed);
    visitor.walk.certain = [true, false].map(|truth| visitor.certain(parsed, truth));
    visitor.done()
}

pub(super) struct Visitor<'s> {
    source: &'s str,
    scopes: Scopes,
    pub(super) walk: Walk,
}

/// Whether the last part of a path may be missing.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Needed,
    Optional,
}

impl Visitor<'_> {
    /// Everything in reading order.
    fn done(mut self) -> Walk {
        self.walk.variables.sort_by_key(|used| used.range.start);
        for names in [&mut self.walk.filters, &mut self.walk.tests, &mut self.walk.functions, &mut self.walk.methods] {
            names.sort_by_key(|name| name.range.start);
        }
        self.walk
    }

    fn body(&mut self, stmts: &[Stmt<'_>]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// A body with a frame of its own.
    fn scoped(&mut self, stmts: &[Stmt<'_>]) {
        self.scopes.push();
        self.body(stmts);
        self.scopes.pop();
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt {
            Stmt::Template(template) => self.body(&template.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(emit) => {
                if let Expr::Const(constant) = &emit.expr
                    && !self.is_escape(constant)
                {
                    self.walk.constants.push(range(constant.span()));
                }
                self.expr(&emit.expr);
            }
            Stmt::ForLoop(for_loop) => self.for_loop(for_loop),
            Stmt::IfCond(cond) => self.if_cond(cond),
            Stmt::WithBlock(with) => {
                self.scopes.push();
                for (target, expr) in &with.assignments {
                    self.assign(target, expr);
                }
                self.body(&with.body);
                self.scopes.pop();
            }
            Stmt::Set(set) => self.assign(&set.target, &set.expr),
            Stmt::SetBlock(set) => {
                self.scoped(&set.body);
                if let Some(filter) = &set.filter {
                    self.expr(filter);
                }
                self.bind_target(&set.target, None);
            }
            Stmt::AutoEscape(escape) => {
                self.expr(&escape.enabled);
                self.body(&escape.body);
            }
            Stmt::FilterBlock(block) => {
                self.scoped(&block.body);
                self.expr(&block.filter);
            }
            Stmt::Block(block) => {
                self.scopes.push();
                self.scopes.bind("super", None);
                self.body(&block.body);
                self.scopes.pop();
            }
            Stmt::Import(import) => {
                self.include(IncludeKind::Import, &import.expr, false, Vec::new());
                self.bind_target(&import.name, None);
            }
            Stmt::FromImport(import) => {
                let named = import.names.iter().filter_map(|(name, _)| match name {
                    Expr::Var(var) => Some(NameUse { name: var.id.to_string(), range: range(var.span()) }),
                    _ => None,
                });
                self.include(IncludeKind::Import, &import.expr, false, named.collect());
                for (name, alias) in &import.names {
                    self.bind_target(alias.as_ref().unwrap_or(name), None);
                }
            }
            Stmt::Extends(extends) => self.include(IncludeKind::Extends, &extends.name, false, Vec::new()),
            Stmt::Include(include) => {
                self.include(IncludeKind::Include, &include.name, include.ignore_missing, Vec::new());
            }
            Stmt::Macro(macro_decl) => {
                self.scopes.bind(macro_decl.name, None);
                self.macro_body(macro_decl);
            }
            Stmt::CallBlock(block) => {
                self.call(&block.call);
                self.macro_body(&block.macro_decl);
            }
            Stmt::Do(stmt) => self.call(&stmt.call),
        }
    }

    fn for_loop(&mut self, for_loop: &ast::ForLoop<'_>) {
        self.expr(&for_loop.iter);
        self.walk.iterated.push((self.operand(&for_loop.iter), range(for_loop.iter.span())));
        let element = self.elements(&for_loop.iter);
        self.scopes.push();
        self.bind_target(&for_loop.target, element);
        if let Some(filter) = &for_loop.filter_expr {
            self.expr(filter);
        }
        let own = Part { name: Some(FOR_LOOP.to_owned()), range: range(for_loop.iter.span()) };
        self.scopes.bind("loop", Some(vec![own]));
        let known = self.scopes.known();
        if let Some(filter) = &for_loop.filter_expr {
            self.learn(filter, true);
        }
        self.body(&for_loop.body);
        self.scopes.forget(known);
        self.scopes.pop();
        self.scoped(&for_loop.else_body);
    }

    /// A condition makes no frame: what both branches set is set after it.
    fn if_cond(&mut self, cond: &ast::IfCond<'_>) {
        self.expr(&cond.expr);
        let before = self.scopes.save();
        let known = self.scopes.known();
        self.learn(&cond.expr, true);
        self.body(&cond.true_body);
        self.scopes.forget(known);
        let one = self.scopes.swap(before);
        self.learn(&cond.expr, false);
        self.body(&cond.false_body);
        self.scopes.forget(known);
        let other = self.scopes.save();
        self.scopes.join(one, other);
    }

    fn macro_body(&mut self, macro_decl: &ast::Macro<'_>) {
        for default in &macro_decl.defaults {
            self.expr(default);
        }
        self.scopes.push();
        self.scopes.bind("caller", None);
        for arg in &macro_decl.args {
            self.bind_target(arg, None);
        }
        self.body(&macro_decl.body);
        self.scopes.pop();
    }

    /// Whether a constant is printed because it cannot be written as it is: braces, line ends, blanks and signs.
    fn is_escape(&self, constant: &ast::Spanned<ast::Const>) -> bool {
        let Some(text) = constant.value.as_str() else { return false };
        let written = self.source.get(range(constant.span())).unwrap_or_default();
        !text.contains(char::is_alphanumeric) || text.contains(['{', '}']) || written.contains('\\')
    }

    fn include(&mut self, kind: IncludeKind, name: &Expr<'_>, optional: bool, imported: Vec<NameUse>) {
        self.expr(name);
        let constant = name.as_const();
        let names = match constant.as_ref() {
            Some(value) => match value.as_str() {
                Some(name) => vec![name.to_string()],
                None => value
                    .try_iter()
                    .map(|items| items.filter_map(|item| item.as_str().map(str::to_string)).collect())
                    .unwrap_or_default(),
            },
            None => Vec::new(),
        };
        let locals = self.scopes.names();
        self.walk.includes.push(IncludeUse { kind, names, range: range(name.span()), optional, locals, imported });
    }

    fn assign(&mut self, target: &Expr<'_>, expr: &Expr<'_>) {
        self.expr(expr);
        let alias = self.path(expr);
        self.bind_target(target, alias);
    }

    fn bind_target(&mut self, target: &Expr<'_>, alias: Option<Vec<Part>>) {
        match target {
            Expr::Var(var) => self.scopes.bind(var.id, alias),
            Expr::List(list) => list.items.iter().for_each(|item| self.bind_target(item, None)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.bind_target(item, None)),
            // `{% set ns.x = … %}` uses `ns`.
            Expr::GetAttr(get) => self.expr(&get.expr),
            other => self.expr(other),
        }
    }

    fn exprs(&mut self, exprs: &[Expr<'_>]) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        match expr {
            Expr::Const(_) => {}
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => self.variable(expr, Last::Needed),
            Expr::Slice(slice) => {
                self.expr(&slice.expr);
                for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
                    self.expr(bound);
                }
            }
            Expr::UnaryOp(op) => self.expr(&op.expr),
            Expr::BinOp(op) => {
                self.compared(op, range(op.span()));
                self.expr(&op.left);
                let known = self.scopes.known();
                match op.op {
                    ast::BinOpKind::ScAnd => self.learn(&op.left, true),
                    ast::BinOpKind::ScOr => self.learn(&op.left, false),
                    _ => {}
                }
                self.expr(&op.right);
                self.scopes.forget(known);
            }
            Expr::Compare(compare) => {
                self.compared_chain(compare, range(compare.span()));
                self.expr(&compare.expr);
                for op in &compare.ops {
                    self.expr(&op.expr);
                }
            }
            Expr::IfExpr(cond) => {
                self.expr(&cond.test_expr);
                let known = self.scopes.known();
                self.learn(&cond.test_expr, true);
                self.expr(&cond.true_expr);
                self.scopes.forget(known);
                if let Some(other) = &cond.false_expr {
                    self.learn(&cond.test_expr, false);
                    self.expr(other);
                    self.scopes.forget(known);
                }
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => {
                let at = name_after(self.source, test.name, end(&test.expr));
                self.walk.tests.push(NameUse { name: test.name.to_string(), range: at });
                self.optional(&test.expr, matches!(test.name, "defined" | "undefined"));
                self.args(&test.args);
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.exprs(&list.items),
            Expr::Tuple(tuple) => self.exprs(&tuple.items),
            Expr::Map(map) => {
                self.exprs(&map.keys);
                self.exprs(&map.values);
            }
        }
    }

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) {
        if let Some(expr) = &filter.expr {
            self.optional(expr, matches!(filter.name, "default" | "d"));
        }
        let from = filter.expr.as_ref().map_or(range(filter.span()).start, end);
        let at = name_after(self.source, filter.name, from);
        self.walk.filters.push(NameUse { name: filter.name.to_string(), range: at });
        // These take the name of a filter or test as an argument.
        let named = match filter.name {
            "map" => filter.args.first().map(|arg| (arg, true)),
            "select" | "reject" => filter.args.first().map(|arg| (arg, false)),
            "selectattr" | "rejectattr" => filter.args.get(1).map(|arg| (arg, false)),
            _ => None,
        };
        if let Some((ast::CallArg::Pos(Expr::Const(constant)), is_filter)) = named
            && let Some(name) = constant.value.as_str()
        {
            let name = NameUse { name: name.to_string(), range: range(constant.span()) };
            if is_filter { self.walk.filters.push(name) } else { self.walk.tests.push(name) }
        }
        self.args(&filter.args);
    }

    fn call(&mut self, call: &ast::Call<'_>) {
        match &call.expr {
            Expr::Var(var) if self.scopes.find(var.id).is_none_or(|binding| !binding.certain) => {
                self.walk.functions.push(NameUse { name: var.id.to_string(), range: range(var.span()) });
            }
            Expr::GetAttr(get) => {
                let own = matches!(&get.expr, Expr::Var(var) if self.scopes.find(var.id).is_some());
                if !own {
                    let at = range(get.span()).end;
                    let name = get.name.to_string();
                    self.walk.methods.push(NameUse { range: at.saturating_sub(name.len())..at, name });
                }
                self.expr(&get.expr);
            }
            other => self.expr(other),
        }
        self.args(&call.args);
    }

    fn args(&mut self, args: &[ast::CallArg<'_>]) {
        for arg in args {
            match arg {
                ast::CallArg::Pos(expr)
                | ast::CallArg::Kwarg(_, expr)
                | ast::CallArg::PosSplat(expr)
                | ast::CallArg::KwargSplat(expr) => self.expr(expr),
            }
        }
    }

    fn optional(&mut self, expr: &Expr<'_>, optional: bool) {
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) if optional => self.variable(expr, Last::Optional),
            _ => self.expr(expr),
        }
    }

    /// Records the use of a path and visits what its subscripts compute.
    fn variable(&mut self, expr: &Expr<'_>, last: Last) {
        self.subscripts(expr);
        let Some(written) = written(expr) else {
            // Attributes of something computed: `(a + b).c`.
            match expr {
                Expr::GetAttr(get) => self.expr(&get.expr),
                Expr::GetItem(get) => self.expr(&get.expr),
                _ => {}
            }
            return;
        };
        let (start, stop) = (written[0].range.start, written[written.len() - 1].range.end);
        let binding = self.scopes.find(written[0].name.as_deref().unwrap_or_default());
        let sometimes_set = binding.is_some_and(|binding| !binding.certain);
        if binding.is_some_and(|binding| binding.alias.is_none() && binding.certain) {
            return;
        }
        // The plain name of something that stands for a path was looked at where it was bound.
        if binding.is_some_and(|binding| binding.alias.is_some()) && written.len() == 1 {
            return;
        }
        let path = self.resolved(written);
        let known = self.scopes.known_parts(&path);
        let optional = last == Last::Optional;
        self.walk.variables.push(VariableUse { path, range: start..stop, known, optional, sometimes_set });
    }

    fn subscripts(&mut self, expr: &Expr<'_>) {
        match expr {
            Expr::GetAttr(get) => self.subscripts(&get.expr),
            Expr::GetItem(get) => {
                self.subscripts(&get.expr);
                self.expr(&get.subscript_expr);
            }
            _ => {}
        }
    }

    /// The path that an expression stands for, names of the template replaced by what they stand for.
    pub(super) fn path(&self, expr: &Expr<'_>) -> Option<Vec<Part>> {
        let written = written(expr)?;
        match self.scopes.find(written[0].name.as_deref()?) {
            Some(binding) if binding.alias.is_none() => None,
            _ => Some(self.resolved(written)),
        }
    }

    fn resolved(&self, mut written: Vec<Part>) -> Vec<Part> {
        let root = &written[0];
        let alias = root.name.as_deref().and_then(|name| self.scopes.find(name)).and_then(|b| b.alias.clone());
        let Some(mut path) = alias else { return written };
        let at = root.range.clone();
        path.iter_mut().for_each(|part| part.range = at.clone());
        path.extend(written.drain(1..));
        path
    }

    /// The path of an element of a list.
    fn elements(&self, list: &Expr<'_>) -> Option<Vec<Part>> {
        match list {
            Expr::Filter(filter) if KEEP_ELEMENTS.contains(&filter.name) => self.elements(filter.expr.as_ref()?),
            _ => {
                let mut path = self.path(list)?;
                let range = path.last()?.range.clone();
                path.push(Part { name: None, range });
                Some(path)
            }
        }
    }

    fn learn(&mut self, condition: &Expr<'_>, truth: bool) {
        let paths = self.certain(condition, truth);
        self.scopes.learn(paths);
    }

    /// The paths that exist when a condition is true, or false.
    fn certain(&self, condition: &Expr<'_>, truth: bool) -> Vec<Vec<Part>> {
        let path = |certain: Certain<'_, '_>| match certain {
            Certain::Value(expr) => self.path(expr),
            Certain::Key(map, key) => {
                let mut path = self.path(map)?;
                path.push(Part { name: Some(key), range: range(map.span()) });
                Some(path)
            }
        };
        defined_if(condition, truth).into_iter().filter_map(path).collect()
    }
}
