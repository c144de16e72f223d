//! What ends a command early: the kind decides the exit code, the hints say what to do about it.

/// The process exit codes, the same for every command.
pub(super) mod code {
    /// The command did what it was asked.
    pub(in crate::cli) const SUCCESS: u8 = 0;
    /// The thing that was checked or run failed.
    pub(in crate::cli) const FAILED: u8 = 1;
    /// The command line, the workspace or a file cannot be used.
    pub(in crate::cli) const USAGE: u8 = 2;
    /// Ctrl-C.
    pub(in crate::cli) const CANCELLED: u8 = 130;
}

/// Who has to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The person who typed the command or wrote the configuration.
    Usage,
    /// Whatever the command was busy with.
    Failed,
}

/// A command that cannot go on.
#[derive(Debug)]
pub(super) struct CliError {
    kind: Kind,
    pub(super) message: String,
    pub(super) hints: Vec<String>,
}

impl CliError {
    /// Something about the command line or the configuration.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), hints: Vec::new() }
    }

    /// Something that went wrong on the way.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, message: message.into(), hints: Vec::new() }
    }

    /// Adds a line that says what to do.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Usage => code::USAGE,
            Kind::Failed => code::FAILED,
        }
    }
}

/// What a command gives: its exit code, or why it could not go on.
pub(super) type CliResult = Result<u8, CliError>;
