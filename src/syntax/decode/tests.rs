//! Decoding tests.
