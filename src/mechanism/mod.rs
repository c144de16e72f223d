//! The mechanisms that hold a loop to its purpose. Here is spin detection; perception, reflection and verification follow.

pub mod spin;
