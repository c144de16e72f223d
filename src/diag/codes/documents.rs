//! Codes about what documents declare: names, sections, state, presets.

codes! {
    /// Two documents have the same name.
    ///
    /// Documents of one kind are found by name, so each name must be used once.
    /// Rename one of them.
    ///
    /// ## Bad
    ///
    /// ```yaml loops/a.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ```yaml loops/b.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets again. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/a.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ```yaml loops/b.yaml
    /// name: triage_again
    /// prompt: { instruction: Sort the tickets again. }
    /// ```
    DUPLICATE_NAME = "duplicate-name", Error;

    /// Presets extend each other in a circle.
    ///
    /// A preset cannot build on itself, directly or through others.
    /// Remove one `extends` of the chain that the message shows.
    ///
    /// ## Bad
    ///
    /// ```yaml loops/presets/small.yaml
    /// kind: preset
    /// name: small
    /// extends: preset/tiny
    /// ```
    ///
    /// ```yaml loops/presets/tiny.yaml
    /// kind: preset
    /// name: tiny
    /// extends: preset/small
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/presets/small.yaml
    /// kind: preset
    /// name: small
    /// limits: { max_iterations: 10 }
    /// ```
    ///
    /// ```yaml loops/presets/tiny.yaml
    /// kind: preset
    /// name: tiny
    /// extends: preset/small
    /// ```
    EXTENDS_CYCLE = "extends-cycle", Error;

    /// A section needs exactly one source of text.
    ///
    /// Write either `text` or `file`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: Sort the tickets.
    ///   sections:
    ///     - { name: QUEUES, tier: semi_dynamic }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: Sort the tickets.
    ///   sections:
    ///     - { name: QUEUES, tier: semi_dynamic, text: "billing, bugs, other" }
    /// ```
    SECTION_SOURCE = "section-source", Error;

    /// A state variable's default does not fit its type.
    ///
    /// The default is the variable's value when a run starts, so it must be one that the variable may take.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   count: { type: integer, default: none }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   count: { type: integer, default: 0 }
    /// ```
    STATE_DEFAULT = "state-default", Error;
}
