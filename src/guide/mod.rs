//! A page in Markdown for a loop, from its own descriptions.

mod markdown;
mod page;

pub use markdown::{code, escape, table};
pub use page::page;

/// The first line of every page, by which a page that was made is told from one that somebody wrote.
pub const MADE: &str = "<!-- Made by `loopwright docs`. Change the loop's document instead. -->";
