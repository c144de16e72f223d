//! Integration tests.

mod architecture;
mod cli;
mod docs;

#[path = "support/raw_http.rs"]
mod raw_http;
