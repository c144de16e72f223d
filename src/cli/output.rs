//! Where the command line prints: data on standard output, everything else on standard error.
//!
//! This is the only file of the command line that may print. A reader that goes away (`| head`) is not an error.

use std::io::{self, IsTerminal, Write};

use super::error::CliError;
use crate::diag::render::Color;
use crate::report::{ScreenOptions, Verbosity, Writer, escape};

/// How a command writes its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// What the global flags and the terminal allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    verbosity: Verbosity,
    no_color: bool,
}

impl Output {
    pub(super) fn new(quiet: bool, verbose: bool, no_color: bool) -> Self {
        let verbosity = match (quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        // https://no-color.org: set and not empty, whatever its value.
        let no_color = no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { verbosity, no_color }
    }

    /// Whether only what was asked for is printed.
    pub(super) fn is_quiet(self) -> bool {
        self.verbosity == Verbosity::Quiet
    }

    /// Writes data to standard output as it is.
    pub(super) fn data(self, text: &str) -> Result<(), CliError> {
        self.data_while_read(text).map(drop)
    }

    /// The same; whether anybody still reads it.
    pub(super) fn data_while_read(self, text: &str) -> Result<bool, CliError> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(write_failed(&error)),
        }
    }

    /// Text that others wrote, as standard output may have it: a terminal is kept from obeying it, a file gets it whole.
    pub(super) fn for_people(self, text: &str) -> String {
        if io::stdout().is_terminal() { escape(text).into_owned() } else { text.to_owned() }
    }

    /// Writes a value to standard output as JSON.
    pub(super) fn json(self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(|error| CliError::failed(error.to_string()))?;
        self.data(&format!("{text}\n"))
    }

    /// Gives standard output to something that speaks a protocol on it.
    pub(super) fn with_stdout<T>(self, talk: impl FnOnce(&mut dyn Write) -> T) -> T {
        talk(&mut io::stdout().lock())
    }

    /// Says something to a person, unless they want quiet.
    pub(super) fn note(self, text: &str) {
        if !self.is_quiet() {
            say(&format!("{}\n", escape(text)));
        }
    }

    /// Shows whole lines that were made for people, unless they want quiet.
    pub(super) fn note_block(self, text: &str) {
        if !self.is_quiet() {
            say(text);
        }
    }

    /// Shows whole lines that were made for people and must be seen.
    pub(super) fn alarm(self, text: &str) {
        say(text);
    }

    /// Puts text before a person without ending the line.
    pub(super) fn prompt(self, text: &str) {
        say(&escape(text));
    }

    /// Says why the command ends.
    pub(super) fn error(self, error: &CliError) {
        let (on, off) = match self.progress_color() {
            true => ("\u{1b}[1m\u{1b}[31m", "\u{1b}[0m"),
            false => ("", ""),
        };
        let mut text = format!("{on}error{off}: {}\n", escape(&error.message));
        for hint in &error.hints {
            let hint = escape(hint).replace('\n', "\n        ");
            text.push_str(&format!("  hint: {hint}\n"));
        }
        say(&text);
    }

    /// Whether standard output takes colours.
    pub(super) fn data_color(self) -> Color {
        let color = !self.no_color && io::stdout().is_terminal() && !is_dumb();
        if color { Color::Ansi } else { Color::Plain }
    }

    /// Whether standard error takes colours.
    pub(super) fn progress_palette(self) -> Color {
        if self.progress_color() { Color::Ansi } else { Color::Plain }
    }

    fn progress_color(self) -> bool {
        !self.no_color && io::stderr().is_terminal() && !is_dumb()
    }

    /// How a run is shown here.
    pub(super) fn screen(self) -> ScreenOptions {
        ScreenOptions {
            live: io::stderr().is_terminal() && !is_dumb(),
            color: self.progress_color(),
            answers_live: io::stdout().is_terminal(),
            verbosity: self.verbosity,
        }
    }

    /// Standard error, for a run's progress.
    pub(super) fn progress_writer(self) -> Writer {
        Box::new(io::stderr())
    }

    /// Standard output, for a run's answers or events.
    pub(super) fn data_writer(self) -> Writer {
        Box::new(io::stdout())
    }
}

/// What is told when standard output does not take what it should.
pub(super) fn write_failed(error: &io::Error) -> CliError {
    CliError::failed(format!("Cannot write to standard output: {error}"))
}

/// A terminal that understands no escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn say(text: &str) {
    let mut err = io::stderr().lock();
    // Nobody listens any more; there is nobody to tell.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
