//! The interpreter: the only place that holds everything.
//!
//! Reading order: [`iteration`] is one iteration as a list of stages; [`turn`] is its transaction with the model;
//! [`act`] does what was chosen; [`steps`] runs a step list; [`finish`] ends the loop. [`program`] is what all of them
//! run: a checked loop, compiled once.

mod act;
mod action;
mod attempt;
mod batch;
mod builder;
mod builtin;
mod builtin_check;
mod call;
mod capabilities;
mod compile;
mod core;
mod discover;
mod edition;
mod error;
mod fallback;
mod finish;
mod handover;
mod host;
mod intent;
mod iteration;
mod live;
mod mcp;
mod mechanism;
mod memory;
mod models;
mod outline;
mod overflow;
mod program;
mod prompt_size;
mod reload;
mod render;
mod resolve;
mod sections;
mod skillbook;
mod skills;
mod steps;
mod stop;
mod structured;
mod sub;
mod time;
mod toolbox;
mod turn;

pub use builder::{Asker, Engine, EngineBuilder, ModelSpec, NoAsker, Outcome, RunRequest};
pub(crate) use capabilities::capabilities;
pub use edition::{HotReload, Reloaded};
pub use error::EngineError;
pub(crate) use models::{MODEL_HELP, environment_model};
pub use outline::{Outline, OutlineAction, outline};
pub(crate) use render::IterationPrompt;
pub use render::RenderedPrompt;
pub use stop::Cancel;
