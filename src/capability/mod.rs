//! Capabilities: everything that a loop could use (tools, forges, skills, focus modes), and how the right one is found.
//!
//! A [`Registry`] holds them; [`Registry::find`] ranks them without a model, by [`search`]. [`evaluate`] says how well.

mod catalog;
mod document;
pub mod evaluate;
mod kind;
mod registry;
mod result;
pub mod search;

pub use crate::event::CapabilityKind;
pub use catalog::{CHUNK, chunks, known};
pub use document::words_of_params;
pub use kind::Language;
pub use registry::{Capability, Found, Registry};
pub use result::{is_unsure, list_others, result};
