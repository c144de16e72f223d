//! Integration tests.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic as tests do")]

mod architecture;
mod capabilities;
mod cli;
mod docs;
mod embedding;
mod gate;
mod log_analyze;
mod lsp;
mod mechanism_bounds;
mod mechanisms;
mod prefix;
mod real_server;
mod reload;
mod runs;
mod shipped;
mod skills;
mod tune;
mod verbs;

#[path = "support/raw_http.rs"]
mod raw_http;
