//! One file a command: its arguments, whose comments are the help, and what it does with them.

pub(super) mod caps;
pub(super) mod check;
pub(super) mod debug;
pub(super) mod diff;
pub(super) mod docs;
pub(super) mod explain;
pub(super) mod fmt;
pub(super) mod graph;
pub(super) mod init;
pub(super) mod lsp;
pub(super) mod mcp;
pub(super) mod model;
pub(super) mod new;
pub(super) mod render;
mod render_diff;
mod render_iterations;
pub(super) mod run;
pub(super) mod schema;
pub(super) mod skills;
pub(super) mod tune;
pub(super) mod watch;
