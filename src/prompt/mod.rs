//! Sections to the bytes of a request.
//!
//! [`Assembler`] orders sections by tier, wraps each in delimiters with a nonce, and keeps what has not changed: the
//! same bytes, the same nonce, the same pointer. Static tiers make the system blocks, the others the last user part,
//! so nothing that changes can stand before something that does not.

mod assemble;
mod nonce;
mod parse;
mod seen;

pub use crate::document::{Tier, Trust};
pub use crate::template::guard;
pub use assemble::{Assembled, Assembler, Section};
pub use nonce::{Nonce, NonceSource, RunSecret, SecretError};
pub use parse::parse_sections;

#[cfg(test)]
mod security_tests;
