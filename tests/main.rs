//! Integration tests.

mod architecture;
mod cli;

#[path = "support/raw_http.rs"]
mod raw_http;
