//! MCP servers of the workspace as tools: named, started when they are needed, watched, and ended with the run.
//!
//! What a server says is text that strangers wrote: names, descriptions and schemas are made fit first (`name`,
//! `listing`), results are capped (`content`). `server` decides when a server is started again; the SDK that speaks the
//! protocol is used in `client` only.

#[cfg(feature = "mcp")]
mod client;
mod content;
mod listing;
mod name;
mod secret;
mod server;
mod servers;
mod session;

#[cfg(test)]
mod tests;

pub use name::{clash, is_server_tool, server_name_problem, server_of};
pub use servers::{Lease, McpTool, Servers};

/// Whether this program can speak to MCP servers.
pub const SUPPORTED: bool = cfg!(feature = "mcp");

/// What is said where it cannot.
pub const NOT_SUPPORTED: &str =
    "this program was built without MCP servers: build it with the feature `mcp`, which is on by default";
