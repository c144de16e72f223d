//! Spin detection without a model: is an agent doing the same again, with the same outcome, and nothing changed between?
//!
//! A pure function over records. [`Detector::observe`] takes them one by one and costs the same however long the history is;
//! [`detect`] takes a whole [`History`]. What counts as a spin is in the table [`FAMILIES`], one file a family.

mod course;
mod detector;
mod events;
mod family;
mod fingerprint;
mod lane;
mod mask;
mod ranges;
mod read;
mod record;
mod resolve;
mod settings;
mod shape;
mod words;

#[cfg(test)]
mod tests;

pub use detector::{Detector, Rules, Verdict, detect};
pub use family::{Evidence, FAMILIES, Family, Severity};
pub use fingerprint::Fingerprint;
pub use mask::{MASKS, Mask};
pub use read::{ReadError, histories};
pub use record::{Class, History, Kind, Record};
pub use settings::{
    Chant, Count, Coverage, Cycle, Errors, Exact, Families, Monologue, NoNews, NoProgress, Paraphrase, Reset,
    Scattered, Settings,
};

/// What the detector found at one record.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Finding {
    /// The record at which it was found, from 1.
    pub step: usize,
    /// The name of the family.
    pub family: &'static str,
    /// Whether it decides.
    pub severity: Severity,
    /// What decided.
    pub evidence: Evidence,
}
