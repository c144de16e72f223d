//! Recorded runs against other thresholds: what the mechanisms would have done, without a model.
//!
//! A [`History`] says what happened in each iteration, and when. It is shown to the very machines that decide in a
//! running loop (`mechanism`), each with the settings of a [`Candidate`]; where these would have asked a model, an
//! [`Ai`] answers, whose calls take time and whose word is as good as its profile. What came of the answers in the
//! agent's own behaviour cannot be known: its actions stay as they were.

mod candidate;
mod events;
mod history;
mod plot;
mod profile;
mod replay;
mod table;
mod verify;

pub use candidate::{Base, CandidateError, Override, Sweep, candidates};
pub use history::{History, read};
pub use plot::plot;
pub use profile::{Ai, Profile};
pub use table::{Compared, compare, table};
