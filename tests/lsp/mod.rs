//! The language server, spoken to over its pipes: sessions as data in `tests/cases/lsp/`, and what a file cannot express.

mod client;
mod protocol;
mod script;
