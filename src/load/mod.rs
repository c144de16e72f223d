//! Files become a library: every document of a workspace by kind and name, with the shipped ones behind them.

mod admit;
mod again;
mod discover;
mod exclude;
mod extends;
mod gather;
mod library;
mod mechanism_files;
mod memory;
mod near;
mod overlay;
mod prompt_files;
mod read;
mod shipped;
mod skills;
mod written;

pub use again::is_document_file;
pub use discover::{WORKSPACE_FILES, find_workspace, says_document_text};
pub use exclude::exclude_faults;
pub use extends::{Layer, with_model_map};
pub use library::{Library, Loaded};
pub use overlay::Overlay;
pub use prompt_files::{PromptFile, PromptFileError};
#[cfg(test)]
pub use shipped::SHIPPED;
pub use shipped::{ENGINE_PROMPTS, SHIPPED_LANGUAGES, mechanism_prompt, mechanism_prompts, shipped, shipped_in};
pub use skills::user_skill_roots;
pub use written::Written;

#[cfg(test)]
mod tests;
