//! Integration tests.

mod architecture;
mod cli;
mod docs;
mod log_analyze;

#[path = "support/raw_http.rs"]
mod raw_http;
