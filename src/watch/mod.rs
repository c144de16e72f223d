//! Saved files become new versions of a loop: noticed, read again, checked, and handed on. Nothing is applied here.
//!
//! What a loop is made of is compared by content ([`Contents`]); events of the file system are only hints that it is time
//! to look ([`Watcher`]). What a look means is decided without files or clocks ([`Judge`], [`Signs`]); [`Follower`] puts
//! these together for one loop.

mod contents;
mod follow;
mod judge;
mod places;
mod scan;
mod signs;
mod watcher;

pub use contents::{Contents, Version};
pub use follow::{Change, Follower, Patience};
pub use scan::Target;
pub use watcher::{Next, Watcher};

#[cfg(test)]
mod tests;
