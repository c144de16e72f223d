//! What a loop says of its verification gate, compiled; and what the gate remembers.

use std::sync::Mutex;

use super::checks::CheckProgram;
use crate::document::{LoopDoc, TextSource, Verification};
use crate::engine::finish::End;
use crate::engine::sections::{Source, file_source, inline};
use crate::load::{Library, Loaded};
use crate::mechanism::Mode;
use crate::mechanism::verification::{Gate, VerificationSettings};

/// A loop's verification gate.
pub(in crate::engine) struct GateProgram {
    pub(super) settings: VerificationSettings,
    pub(super) checks: Vec<CheckProgram>,
    /// Patterns of the files that the loop may not edit.
    pub(in crate::engine) protect: Vec<String>,
    /// What the judge is told.
    pub(super) prompt: Source,
}

impl GateProgram {
    /// The gate of a loop.
    ///
    /// # Errors
    /// A check that is wrong, a file that is not there.
    pub(in crate::engine) fn compile(library: &Library, loaded: &Loaded<LoopDoc>) -> Result<Self, String> {
        let own = loaded.doc.mechanisms.verification.as_ref();
        let settings = VerificationSettings::new(own, library.workspace.doc.mechanisms.verification);
        let on = own.filter(|_| settings.mode == Mode::On);
        let checks = on.and_then(|own| own.checks.as_deref()).unwrap_or_default();
        let prompt = match own.and_then(|own| own.prompt.as_ref()) {
            Some(TextSource::Inline(text)) => inline(text),
            Some(TextSource::File(path)) => file_source(library, path, &loaded.folder)?,
            None => file_source(library, &library.mechanism_file(loaded, "verification"), &loaded.folder)?,
        };
        Ok(Self {
            checks: checks
                .iter()
                .enumerate()
                .map(|(at, check)| CheckProgram::compile(at, check))
                .collect::<Result<_, _>>()?,
            protect: on.map(protect).unwrap_or_default(),
            settings,
            prompt,
        })
    }

    /// Whether the loop may only end when the gate lets it, and the gate looks by itself.
    pub(in crate::engine) fn guards(&self) -> bool {
        self.settings.mode == Mode::On
    }

    /// Whether the loop says nothing of its own about the gate.
    pub(in crate::engine) fn is_unnamed(&self) -> bool {
        self.settings.mode == Mode::Free
    }
}

fn protect(own: &Verification) -> Vec<String> {
    own.protect.iter().flatten().map(|pattern| pattern.to_string()).collect()
}

/// What the gate remembers. Loops that share a task share it.
pub(in crate::engine) struct SharedGate {
    /// When it began, in the run's time.
    pub(super) began: std::time::Duration,
    pub(super) memory: Mutex<GateMemory>,
}

/// The gate's memory, and an end that waits for the end of a step list.
#[derive(Default)]
pub(super) struct GateMemory {
    pub(super) gate: Gate,
    pub(super) settled: Option<End>,
}

impl SharedGate {
    pub(super) fn new(began: std::time::Duration) -> Self {
        Self { began, memory: Mutex::default() }
    }
}
