//! Events to what a person or a program reads: one file an audience, none with knowledge of its own.
//!
//! A report is a [`Subscriber`](crate::event::Subscriber): it sees every event in order and draws from nothing else.

mod figures;
mod mechanisms;
mod ndjson;
mod plain;
mod reload;
mod screen;
mod servers;
mod terminal;
mod trouble;

pub use ndjson::Ndjson;
pub use plain::escape;
pub use reload::short;
pub use screen::{ScreenOptions, Verbosity};
pub use terminal::Terminal;
pub use trouble::Trouble;

/// Where a report writes to.
pub type Writer = Box<dyn std::io::Write + Send>;
