//! Skills: folders with a `SKILL.md` in the public Agent Skills format, and the files that lie beside it.
//!
//! There are two ways to read one. Loading is lenient: whatever can be understood is taken, and what other tools may refuse is a
//! warning. Validating is strict: every rule of the format is an error. Both come from one reading, see [`Level`].

mod discover;
mod fault;
mod fences;
mod file;
mod invoke;
mod name;
mod repair;
mod resource;
mod set;
mod style;
mod tools;

pub use fault::{Finding, Level};
pub use file::Skill;
#[cfg(test)]
use file::read;
#[cfg(test)]
use resource::ResourceError;
pub use resource::{list_resources, read_resource};
pub use set::{Root, SkillEntry, SkillSet};

/// The largest `SKILL.md` that is read, in bytes: published ones have 74 KB at most.
pub const MAX_FILE: usize = crate::syntax::MAX_BYTES;

#[cfg(test)]
mod tests;
