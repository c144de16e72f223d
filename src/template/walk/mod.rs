//! What a template uses, with the bytes of each use: variables with their attributes, filters, tests, functions, other
//! templates. Nothing is rendered; this is what checking builds on.

mod lead;
mod operand;
mod path;
mod scope;
mod visit;

#[cfg(test)]
mod tests;

use std::ops::Range;

use minijinja::machinery;
use minijinja::syntax::SyntaxConfig;

pub use lead::Lead;

use super::{TemplateError, depth};

/// The root of a path for the `loop` of a `for`.
pub const FOR_LOOP: &str = "loop()";

/// Everything that a template uses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Walk {
    /// Variables that the template does not define itself.
    pub variables: Vec<VariableUse>,
    /// Filters, also those that are named as an argument (`map('upper')`).
    pub filters: Vec<NameUse>,
    /// Tests, also those that are named as an argument (`select('odd')`).
    pub tests: Vec<NameUse>,
    /// Calls of names that the template does not define itself.
    pub functions: Vec<NameUse>,
    /// Calls of methods on values. No value of a document has methods.
    pub methods: Vec<NameUse>,
    /// Other templates that are included, extended or imported.
    pub includes: Vec<IncludeUse>,
    /// Outputs that are constants, such as the `{{1}}` of `\frac{{1}}{{2}}`: seldom meant.
    pub constants: Vec<Range<usize>>,
    /// Comparisons of which both sides are known in part.
    pub comparisons: Vec<Comparison>,
    /// What `for` loops run through, with its bytes.
    pub iterated: Vec<(Operand, Range<usize>)>,
    /// What is known of an expression's value; for a template nothing.
    pub value: Operand,
    /// The path of an element of an expression's value, when it is a list that a path names.
    pub elements: Option<Vec<Part>>,
    /// The paths that exist when an expression is true, and when it is false.
    pub certain: [Vec<Vec<Part>>; 2],
    /// How a template's text may begin.
    pub leads: Vec<Lead>,
    /// Names that a template defines for those that import it.
    pub exports: Vec<String>,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
}

/// What is known of a value before it is computed.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Operand {
    /// Nothing.
    #[default]
    Unknown,
    /// It is what a path names.
    Path(Vec<Part>),
    /// It is always this one.
    Constant(serde_json::Value),
    /// It is of this type.
    Typed(Type),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`, `<=`, `>`, `>=`
    Order,
    /// `in`
    In,
    /// `not in`, in a chain
    NotIn,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The left side.
    pub left: Operand,
    /// How it is compared.
    pub relation: Relation,
    /// The right side.
    pub right: Operand,
    /// The bytes of the two sides.
    pub ranges: (Range<usize>, Range<usize>),
    /// The bytes of the whole.
    pub range: Range<usize>,
}

/// A name with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    /// The name.
    pub name: String,
    /// Its bytes.
    pub range: Range<usize>,
}

/// A use of a variable, with as many attributes as are written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    /// The variable, then its attributes: `state.findings[0].kind` has four.
    pub path: Vec<Part>,
    /// The bytes of what is written there.
    pub range: Range<usize>,
    /// How many parts are known to exist, because a condition around the use asks `is defined`.
    pub known: usize,
    /// Whether the last part may be missing: it is asked about with `is defined`, or has a `default`.
    pub optional: bool,
    /// The template sets the variable in one branch only, so here it may or may not be its own.
    pub sometimes_set: bool,
}

impl VariableUse {
    /// The variable's name.
    #[must_use]
    pub fn root(&self) -> &str {
        self.path.first().and_then(|part| part.name.as_deref()).unwrap_or_default()
    }
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name; none for an element of a list, whichever it is.
    pub name: Option<String>,
    /// Its bytes. For a part that another name stands for (as a loop's variable stands for an element of its list)
    /// the bytes of that name.
    pub range: Range<usize>,
}

/// How a template uses another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeKind {
    /// `{% include %}`
    Include,
    /// `{% extends %}`
    Extends,
    /// `{% import %}` and `{% from … import %}`
    Import,
}

/// A use of another template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeUse {
    /// How.
    pub kind: IncludeKind,
    /// The names that may be meant, in the order they are tried; empty when they are known only at run time.
    pub names: Vec<String>,
    /// The bytes of the expression that names it.
    pub range: Range<usize>,
    /// A missing file is no error.
    pub optional: bool,
    /// Names that the template defines and an included one sees.
    pub locals: Vec<String>,
    /// Names that `{% from … import %}` takes.
    pub imported: Vec<NameUse>,
}

/// What a template uses.
///
/// # Errors
/// When it is not a template.
pub fn walk(source: &str) -> Result<Walk, TemplateError> {
    if let Some(fault) = depth::fault(source, false) {
        return Err(fault);
    }
    let parsed =
        machinery::parse(source, "<string>", SyntaxConfig::default()).map_err(|e| TemplateError::syntax(&e, source))?;
    Ok(visit::template(source, &parsed))
}

/// What an expression uses, as `when` has one.
///
/// # Errors
/// When it is not an expression.
pub fn walk_expr(source: &str) -> Result<Walk, TemplateError> {
    if let Some(fault) = depth::fault(source, true) {
        return Err(fault);
    }
    let parsed = machinery::parse_expr(source).map_err(|e| TemplateError::syntax(&e, source))?;
    Ok(visit::expression(source, &parsed))
}
