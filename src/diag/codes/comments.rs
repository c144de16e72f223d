//! Codes about what is said to the checker itself: comments that switch findings off, severities of the workspace.

codes! {
    /// A comment is meant to name a schema, and editors do not read it.
    ///
    /// Editors look for `# yaml-language-server: $schema=…` in YAML and for `#:schema …` in TOML.
    /// A comment of another form is passed over, so that there is neither completion nor a word about mistakes.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # yaml-language-server: $schema: loop.schema.json
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # yaml-language-server: $schema=loop.schema.json
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    SCHEMA_COMMENT = "schema-comment", Warning;

    /// A name of a finding that does not exist.
    ///
    /// `checks` in the workspace gives findings a severity by their codes, and there is no code of this name.
    /// `loopwright check --list-codes` lists them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// checks: { endles-loop: error }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// checks: { endless-loop: error }
    /// ```
    UNKNOWN_CODE = "unknown-code", Error;

    /// A severity that cannot be changed.
    ///
    /// An error that keeps a document from being used stays one, whatever `checks` in the workspace says: a run would fail on it.
    /// `loopwright check --explain CODE` says whether a finding is adjustable.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// checks: { unknown-key: warning }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// checks: { unused-anchor: off }
    /// ```
    FIXED_SEVERITY = "fixed-severity", Error;

    /// A comment that switches nothing off.
    ///
    /// `# loopwright: ignore[CODE]` hides the findings with this code on its line, or on the next one when it stands alone.
    /// Here is no such finding, or the code does not exist, or it is an error that keeps the document from being used.
    /// Remove the comment or correct the code.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: Sorts tickets. # loopwright: ignore[cut-text]
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// # loopwright: ignore[unused-anchor]
    /// description: &about Sorts tickets.
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    UNUSED_IGNORE = "unused-ignore", Warning;
}
