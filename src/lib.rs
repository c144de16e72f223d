//! Loopwright runs agent loops that are written as configuration.
//!
//! Data flows one way: text → a tree with spans → typed documents → a checked library → a compiled program → the
//! interpreter → an event stream, from which everything a person sees is drawn.
//!
//! A program that embeds the engine opens a [`Library`], builds an [`Engine`] over it, and runs loops:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use loopwright::{Engine, Library, RunRequest};
//!
//! let (library, _findings) = Library::open(".".as_ref());
//! let engine = Engine::builder(Arc::new(library)).build()?;
//! let request = RunRequest { loop_name: "default".into(), input: "What is in this folder?".into(), ..Default::default() };
//! let outcome = engine.run(request).await?;
//! println!("{}", outcome.answer.unwrap_or_default());
//! # Ok(())
//! # }
//! ```

mod capability;
mod check;
mod cli;
mod compare;
mod diag;
mod document;
mod engine;
pub mod event;
mod explain;
mod formatting;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod guide;
pub mod invoke;
mod load;
mod lsp;
mod mcp;
mod mechanism;
mod model;
mod parallel;
mod policy;
mod prompt;
mod reply;
mod report;
mod schema;
mod skill;
mod state;
mod syntax;
mod template;
mod tool;
mod tune;
mod verb;
mod watch;

pub use check::check_workspace;
pub use cli::command_line;
pub use diag::{Diagnostic, Diagnostics};
pub use document::Effect;
pub use engine::{
    Asker, Cancel, Engine, EngineBuilder, EngineError, HotReload, ModelSpec, NoAsker, Outcome, Reloaded,
    RenderedPrompt, RunRequest,
};
pub use load::Library;
#[doc(hidden)]
pub use mechanism::measure;
pub use mechanism::spin;
pub use model::Protocol;
pub use tool::NativeTool;
