//! Typed documents: loop, tool, forge, preset, workspace.

mod section;

pub use section::{Tier, Trust};
