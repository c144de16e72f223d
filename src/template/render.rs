//! Rendering: find the compiled template by its own text and evaluate it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::machinery::{self, ast};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, ErrorKind, State, Template, Value};

use super::builder::{Files, Neutralised};
use super::explain::{Origin, explain};
use super::{TemplateError, filters};

/// The longest text that a template may make.
const MAX_TEXT: usize = 8 * 1024 * 1024;

/// The variable that holds an expression's value while it is read back.
const VALUE: &str = "__value";
const EXPR_START: &str = "{% set __value = (";
const EXPR_END: &str = ") %}";

/// A text with what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// How many delimiter shapes in printed values were made harmless.
    pub neutralised: usize,
}

/// All templates of a set of documents, compiled. Shared between runs.
pub struct Templates {
    pub(super) steps: Environment<'static>,
    pub(super) prompts: Environment<'static>,
    pub(super) files: Arc<Files>,
    pub(super) known: HashMap<OwnedKey, Arc<Entry>>,
    pub(super) later: RwLock<HashMap<OwnedKey, Arc<Entry>>>,
}

/// What a string is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Step,
    Prompt,
    Expr,
}

/// A compiled string.
pub(super) struct Entry {
    form: Form,
    code: Code,
}

enum Code {
    /// Compiled and kept in the environment under this name.
    Kept(String),
    /// Too many are kept already: this source is compiled at each use.
    Once(String),
}

enum Form {
    /// Text with markers in it.
    Text,
    /// One expression.
    Value {
        /// Where the expression starts in the source.
        start: usize,
        /// Where it ends.
        end: usize,
        /// Whether it builds lists or maps, in which an undefined value could hide.
        builds: bool,
    },
}

impl Templates {
    /// A string's value: itself without markers, the expression's value with its type when it is one
    /// `{{ expression }}`, text otherwise.
    ///
    /// # Errors
    /// When the template does not compile or does not render.
    pub fn render_value(&self, source: &str, ctx: &Value) -> Result<Value, TemplateError> {
        if is_literal(source) {
            return Ok(Value::from(source));
        }
        let entry = self.find(source, Kind::Step)?;
        self.value(source, &entry, Kind::Step, ctx)
    }

    /// A string's text, with values printed as they are.
    ///
    /// # Errors
    /// When the template does not compile or does not render.
    pub fn render_text(&self, source: &str, ctx: &Value) -> Result<String, TemplateError> {
        let value = self.render_value(source, ctx)?;
        Ok(match value.as_str() {
            Some(text) => text.to_string(),
            None => filters::print(&value),
        })
    }

    /// A string's text for a prompt, with printed values guarded.
    ///
    /// # Errors
    /// When the template does not compile or does not render.
    pub fn render_prompt(&self, source: &str, ctx: &Value) -> Result<Rendered, TemplateError> {
        if is_literal(source) {
            // As in a template, the last line break of a prompt's source is not part of it.
            let text = source.strip_suffix('\n').map_or(source, |text| text.strip_suffix('\r').unwrap_or(text));
            return Ok(Rendered { text: text.to_string(), neutralised: 0 });
        }
        let entry = self.find(source, Kind::Prompt)?;
        self.text(source, &entry, Kind::Prompt, ctx)
    }

    /// A file's text for a prompt, with printed values guarded.
    ///
    /// # Errors
    /// When there is no such file, or it does not compile or render.
    pub fn render_prompt_file(&self, name: &str, ctx: &Value) -> Result<Rendered, TemplateError> {
        let source = self.files.text(name).ok_or_else(|| TemplateError::not_found(name))?;
        evaluate(&self.prompts, &Code::Kept(name.to_string()), ctx, rendered)
            .map_err(|e| self.explain_file(&e, name, &source, ctx))
    }

    /// An expression's value.
    ///
    /// # Errors
    /// When the expression does not compile, or does not evaluate, or its value is undefined.
    pub fn eval(&self, expr: &str, ctx: &Value) -> Result<Value, TemplateError> {
        let entry = self.find(expr, Kind::Expr)?;
        self.value(expr, &entry, Kind::Expr, ctx)
    }

    /// A document's value with the templates in its strings rendered, at any depth. Keys are not templates.
    ///
    /// # Errors
    /// When a template in it does not compile or does not render.
    pub fn render_json(&self, value: &serde_json::Value, ctx: &Value) -> Result<Value, TemplateError> {
        use serde_json::Value as Json;
        match value {
            Json::String(source) => self.render_value(source, ctx),
            Json::Array(items) => {
                let items: Result<Vec<Value>, _> = items.iter().map(|item| self.render_json(item, ctx)).collect();
                Ok(Value::from(items?))
            }
            Json::Object(members) => members
                .iter()
                .map(|(key, member)| Ok((key.as_str(), self.render_json(member, ctx)?)))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::from_pairs),
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(Value::from(Serde(value.clone()))),
        }
    }

    fn environment(&self, kind: Kind) -> &Environment<'static> {
        match kind {
            Kind::Prompt => &self.prompts,
            Kind::Step | Kind::Expr => &self.steps,
        }
    }

    /// The compiled form of a string, compiled now if it was not added beforehand.
    fn find(&self, source: &str, kind: Kind) -> Result<Arc<Entry>, TemplateError> {
        let key = &(kind, source) as &dyn Key;
        if let Some(entry) = self.known.get(key) {
            return Ok(entry.clone());
        }
        // Whoever panicked with the lock held left a whole map: entries are inserted in one piece.
        if let Some(entry) = self.later.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return Ok(entry.clone());
        }
        let entry = Arc::new(self.compile(source, kind)?);
        if let Code::Kept(_) = entry.code {
            let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
            later.insert(OwnedKey(kind, Arc::from(source)), entry.clone());
        }
        Ok(entry)
    }

    pub(super) fn compile(&self, source: &str, kind: Kind) -> Result<Entry, TemplateError> {
        if let Some(fault) = super::depth::fault(source, matches!(kind, Kind::Expr)) {
            return Err(fault);
        }
        let fail = |e: &minijinja::Error, start| Err(self.explain(e, kind, source, start, &Value::UNDEFINED));
        let form = match form(source, kind) {
            Ok(form) => form,
            Err(e) => return fail(&e, None),
        };
        let (code, start) = match form {
            Form::Text => (source.to_string(), None),
            Form::Value { start, end, .. } => (format!("{EXPR_START}{}{EXPR_END}", &source[start..end]), Some(start)),
        };
        let env = self.environment(kind);
        let Some(name) = self.files.park(&code) else {
            return match env.template_from_str(&code) {
                Ok(_) => Ok(Entry { form, code: Code::Once(code) }),
                Err(e) => fail(&e, start),
            };
        };
        let compiled = env.get_template(&name).map(drop);
        self.files.unpark(&name);
        match compiled {
            Ok(()) => Ok(Entry { form, code: Code::Kept(name) }),
            Err(e) => fail(&e, start),
        }
    }

    fn text(&self, source: &str, entry: &Entry, kind: Kind, ctx: &Value) -> Result<Rendered, TemplateError> {
        let result = evaluate(self.environment(kind), &entry.code, ctx, rendered);
        result.map_err(|e| self.explain(&e, kind, source, None, ctx))
    }

    fn value(&self, source: &str, entry: &Entry, kind: Kind, ctx: &Value) -> Result<Value, TemplateError> {
        let Form::Value { start, builds, .. } = entry.form else {
            return self.text(source, entry, kind, ctx).map(|rendered| Value::from(rendered.text));
        };
        let result = evaluate(&self.steps, &entry.code, ctx, |_, state| {
            let value = state.lookup(VALUE).unwrap_or(Value::UNDEFINED);
            if value.is_undefined() {
                // Strict for what is not there; the missing `else` of `{{ a if b }}` prints nothing and is none here.
                state.format(value)?;
                return Ok(Value::from(()));
            }
            if builds { settled(value) } else { Ok(value) }
        });
        result.map_err(|e| self.explain(&e, kind, source, Some(start), ctx))
    }

    /// Our words for an error. `start` is where the expression begins in `source`, when it was compiled as one.
    fn explain(
        &self,
        error: &minijinja::Error,
        kind: Kind,
        source: &str,
        start: Option<usize>,
        ctx: &Value,
    ) -> TemplateError {
        let wrapped = start.map(|start| (EXPR_START.len(), start));
        let origin = Origin { source, file: None, bare: kind == Kind::Expr, wrapped };
        explain(error, &origin, &|name| self.files.text(name), ctx)
    }

    pub(super) fn explain_file(
        &self,
        error: &minijinja::Error,
        name: &str,
        source: &str,
        ctx: &Value,
    ) -> TemplateError {
        let origin = Origin { source, file: Some(name), bare: false, wrapped: None };
        explain(error, &origin, &|name| self.files.text(name), ctx)
    }
}

fn rendered(text: String, state: &mut State<'_, '_>) -> Result<Rendered, minijinja::Error> {
    if text.len() > MAX_TEXT {
        return Err(minijinja::Error::new(ErrorKind::WriteFailure, "text is longer than 8 MiB"));
    }
    let neutralised = state.get_extension::<Neutralised>().map_or(0, |count| count.0);
    Ok(Rendered { text, neutralised })
}

fn evaluate<T>(
    env: &Environment<'_>,
    code: &Code,
    ctx: &Value,
    finish: impl FnOnce(String, &mut State<'_, '_>) -> Result<T, minijinja::Error>,
) -> Result<T, minijinja::Error> {
    match code {
        Code::Kept(name) => evaluate_template(&env.get_template(name)?, env, ctx, finish),
        Code::Once(source) => evaluate_template(&env.template_from_str(source)?, env, ctx, finish),
    }
}

fn evaluate_template<'e, T>(
    template: &Template<'e, 'e>,
    env: &'e Environment<'e>,
    ctx: &Value,
    finish: impl FnOnce(String, &mut State<'_, '_>) -> Result<T, minijinja::Error>,
) -> Result<T, minijinja::Error> {
    let compiled = machinery::get_compiled_template(template);
    let mut text = String::with_capacity(compiled.buffer_size_hint);
    let mut out = machinery::make_string_output(&mut text);
    let escape = compiled.initial_auto_escape.clone();
    let (_, mut state) = machinery::eval(env, &compiled.instructions, ctx.clone(), &compiled.blocks, &mut out, escape)?;
    drop(out);
    finish(text, &mut state)
}

/// Whether a string holds no template markers.
pub(super) fn is_literal(source: &str) -> bool {
    !memchr::memchr_iter(b'{', source.as_bytes())
        .any(|i| matches!(source.as_bytes().get(i + 1), Some(b'{' | b'%' | b'#')))
}

/// How a string is to be compiled.
fn form(source: &str, kind: Kind) -> Result<Form, minijinja::Error> {
    match kind {
        Kind::Prompt => Ok(Form::Text),
        Kind::Expr => {
            let builds = builds(&machinery::parse_expr(source)?);
            Ok(Form::Value { start: 0, end: source.len(), builds })
        }
        Kind::Step => {
            let trimmed = source.trim();
            let Some(inner) = trimmed.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) else {
                return Ok(Form::Text);
            };
            let parsed = machinery::parse(trimmed, "<string>", SyntaxConfig::default())?;
            let ast::Stmt::Template(template) = &parsed else { return Ok(Form::Text) };
            let [ast::Stmt::EmitExpr(emit)] = template.children.as_slice() else { return Ok(Form::Text) };
            let builds = builds(&emit.expr);
            let start = source.len() - source.trim_start().len() + 2;
            let lead = usize::from(inner.starts_with(['-', '+']));
            let trail = usize::from(inner.len() > lead && inner.ends_with(['-', '+']));
            Ok(Form::Value { start: start + lead, end: start + inner.len() - trail, builds })
        }
    }
}

/// Whether an expression builds a list or a map, where an undefined value would go unnoticed.
fn builds(expr: &ast::Expr<'_>) -> bool {
    // Cheap and on the safe side: only a plain path, a constant or a comparison of such certainly builds nothing.
    match expr {
        ast::Expr::Var(_) | ast::Expr::Const(_) | ast::Expr::Compare(_) | ast::Expr::Test(_) => false,
        ast::Expr::GetAttr(get) => builds(&get.expr),
        ast::Expr::GetItem(get) => builds(&get.expr),
        ast::Expr::UnaryOp(op) => builds(&op.expr),
        ast::Expr::BinOp(op) => builds(&op.left) || builds(&op.right),
        ast::Expr::Filter(filter) => filter.expr.as_ref().is_none_or(builds),
        _ => true,
    }
}

/// A value that stands on its own: lazy sequences, as `+` makes them, are read out, and an undefined value in it is an
/// error. Most values are so already and are not copied.
fn settled(value: Value) -> Result<Value, minijinja::Error> {
    settled_at(value, 0)
}

fn settled_at(value: Value, depth: usize) -> Result<Value, minijinja::Error> {
    if is_settled(&value, depth) { Ok(value) } else { settle(&value, depth) }
}

/// Deeper values are left as they are. The loaders of documents and replies allow fewer levels.
const MAX_DEPTH: usize = 256;

fn is_settled(value: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::Iterable | ValueKind::Invalid => false,
        ValueKind::Seq => value.try_iter().is_ok_and(|mut items| items.all(|item| is_settled(&item, depth + 1))),
        ValueKind::Map => value
            .try_iter()
            .is_ok_and(|mut keys| keys.all(|key| value.get_item(&key).is_ok_and(|item| is_settled(&item, depth + 1)))),
        _ => true,
    }
}

fn settle(value: &Value, depth: usize) -> Result<Value, minijinja::Error> {
    if depth > MAX_DEPTH {
        return Ok(value.clone());
    }
    match value.kind() {
        ValueKind::Undefined => Err(ErrorKind::UndefinedError.into()),
        // An invalid value carries the error that made it, and gives it to whoever reads it.
        ValueKind::Invalid => Err(value.try_iter().err().unwrap_or_else(|| ErrorKind::InvalidOperation.into())),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Result<Vec<Value>, _> = value.try_iter()?.map(|item| settled_at(item, depth + 1)).collect();
            Ok(Value::from(items?))
        }
        ValueKind::Map => {
            let members: Result<Vec<(Value, Value)>, _> = value
                .try_iter()?
                .map(|key| {
                    let item = settled_at(value.get_item(&key)?, depth + 1)?;
                    Ok::<_, minijinja::Error>((key, item))
                })
                .collect();
            Ok(Value::from_pairs(members?))
        }
        _ => Ok(value.clone()),
    }
}

/// A string with what it is compiled for, borrowed or owned, so that looking one up allocates nothing.
pub(super) trait Key {
    fn parts(&self) -> (Kind, &str);
}

#[derive(Debug)]
pub(super) struct OwnedKey(pub(super) Kind, pub(super) Arc<str>);

impl Key for OwnedKey {
    fn parts(&self) -> (Kind, &str) {
        (self.0, &self.1)
    }
}

impl Key for (Kind, &str) {
    fn parts(&self) -> (Kind, &str) {
        *self
    }
}

impl<'a> Borrow<dyn Key + 'a> for OwnedKey {
    fn borrow(&self) -> &(dyn Key + 'a) {
        self
    }
}

impl Hash for dyn Key + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for dyn Key + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn Key + '_ {}

impl Hash for OwnedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for OwnedKey {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for OwnedKey {}
