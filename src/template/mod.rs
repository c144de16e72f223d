//! Strings that compute: the environment, the two value rules, rendering.
//!
//! Every string of a document is compiled once, when the document is loaded, and found again by its own text. A string
//! without markers is itself; a string that is exactly one `{{ expression }}` keeps the expression's type; anything
//! else renders to text. A template that makes a part of the prompt ([`Use::Prompt`]) passes each printed value
//! through [`guard`], so that a value cannot pretend to be a section delimiter.

#[cfg(test)]
mod ahead;
mod builder;
mod depth;
mod error;
mod explain;
mod filters;
mod functions;
pub mod guard;
mod names;
mod render;
mod syntax;
pub mod walk;

pub use builder::TemplatesBuilder;
pub use error::{Place, TemplateError, TemplateErrorKind};
pub use functions::{FILTERS, FUNCTIONS, TESTS, suggest_filter, suggest_function, suggest_test};
pub use names::{NAMES, Where, catalogued};
pub use render::{Rendered, Templates};

/// What a template's text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// An argument of a step: values are printed as they are.
    Step,
    /// Text for a model: printed values are guarded against delimiter shapes.
    Prompt,
}

#[cfg(test)]
mod error_tests;
#[cfg(test)]
mod tests;
