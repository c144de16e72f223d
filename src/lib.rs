//! Loopwright runs agent loops that are written as configuration.
//!
//! Data flows one way: text → [`syntax`] tree with spans → [`document`] types → checked library →
//! compiled program → [`engine`] → [`event`] stream, from which everything a person sees is drawn.

mod check;
mod cli;
mod diag;
mod document;
mod engine;
mod event;
mod load;
mod mechanism;
mod model;
mod policy;
mod prompt;
mod reply;
mod report;
mod schema;
mod state;
mod syntax;
mod template;
mod tool;
mod verb;

pub use cli::command_line;
