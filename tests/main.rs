//! Integration tests.

mod architecture;
mod cli;
