//! Codes about TOML as a notation.

codes! {
    /// A TOML date or time must be quoted.
    ///
    /// Documents mean the same in YAML, TOML and JSON, and only TOML has dates and times.
    /// Put the value in quotes.
    ///
    /// ## Bad
    ///
    /// ```toml
    /// name = "triage"
    /// prompt.instruction = "Sort the tickets."
    /// state.since = 2026-01-31
    /// ```
    ///
    /// ## Good
    ///
    /// ```toml
    /// name = "triage"
    /// prompt.instruction = "Sort the tickets."
    /// state.since = "2026-01-31"
    /// ```
    ///
    /// ## Fix
    ///
    /// the value is put in quotes.
    TOML_DATETIME = "toml-datetime", Error;

    /// The file is not valid TOML.
    ///
    /// The text breaks a rule of TOML.
    /// All such places in the file are reported at once.
    ///
    /// ## Bad
    ///
    /// ```toml
    /// name = triage
    /// prompt.instruction = "Sort the tickets."
    /// ```
    ///
    /// ## Good
    ///
    /// ```toml
    /// name = "triage"
    /// prompt.instruction = "Sort the tickets."
    /// ```
    TOML_SYNTAX = "toml-syntax", Error;
}
