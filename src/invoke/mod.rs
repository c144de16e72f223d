//! Calls and what is wrapped around them: the middleware of tools, forges and skills, and skills written in Rust.
//!
//! A call is resolved, its arguments are validated, then it goes through the middleware to the work. Whatever fails on the way is
//! a result that the model can read; nothing panics through.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use loopwright::invoke::{Call, FnSkill, Invoker, Manifest, Middleware, Registry};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Crate {
//!     /// How many apples lie in it.
//!     apples: u32,
//! }
//!
//! let count = FnSkill::new(Manifest::new("count-apples", "Counts apples."), |crate_: Crate| async move {
//!     Ok(format!("{} apples", crate_.apples))
//! });
//! let mut registry = Registry::new();
//! registry.register(count).unwrap();
//! let invoker = Invoker::new(registry).middleware(vec![Middleware::timeout(std::time::Duration::from_secs(5))]);
//!
//! let result = invoker.invoke(Call::parse("count-apples", r#"{"apples": 3}"#)).await;
//! assert_eq!((result.content.as_str(), result.is_error), ("3 apples", false));
//! let result = invoker.invoke(Call::parse("count-apples", r#"{"apples": "many"}"#)).await;
//! assert!(result.is_error && result.content.contains("/apples"));
//! # });
//! ```

mod failure;
mod invoker;
mod middleware;
mod registry;
mod schema;
mod skill;
mod stack;
mod validate;

pub use failure::{BoxError, Failure};
pub use invoker::{Call, Invoker, SkillResult};
pub use registry::{DuplicateSkill, Registry};
pub use schema::{boolean_property, integer_property, number_property, object_schema, string_property};
pub use skill::{Definition, FnSkill, Manifest, Skill, SkillOutput, StaticSkill};
pub use stack::{Invocation, Leaf, Link, Outcome, Stack};
pub use validate::ArgumentsValidator;

pub use crate::document::Middleware;

/// The page on embedding: its programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Page;

#[cfg(test)]
mod tests;
