//! The verification gate: when to look whether the goal is reached, what a judge's answer amounts to, what follows.

mod answer;
mod gate;
mod settings;

#[cfg(test)]
mod tests;

pub use answer::{Answer, EvidenceChange, EvidenceOp};
pub use gate::{Finding, Gate};
pub use settings::VerificationSettings;
