//! Codes about what actions declare and what they hand over.

codes! {
    /// An action has two sources of work.
    ///
    /// `from_tool` and `from_loop` bring their own parameters and their own work, so they cannot stand beside `do`, `params` or each other.
    /// Keep one of them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look: { from_tool: grep, do: [{ feedback: Found. }] }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look: { from_tool: grep }
    /// ```
    ACTION_CONFLICT = "action-conflict", Error;

    /// A loop lists something that its `allow` switches off.
    ///
    /// What `allow` switches off is not offered, whatever the loop lists.
    /// Remove one of the two.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// allow: { tool: false }
    /// tools: [grep]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// tools: [grep]
    /// ```
    ALLOW_CONFLICT = "allow-conflict", Warning;

    /// An action has the name of a built-in one and does not say that it replaces it.
    ///
    /// Add `override: true` to replace the built-in action, or choose another name.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   finish: { description: End the work., then: exit }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   finish: { override: true, description: End the work., then: exit }
    /// ```
    MISSING_OVERRIDE = "missing-override", Error;

    /// A call lacks a parameter that the tool needs.
    ///
    /// The tool's parameters require it, so the call would be refused.
    /// Add it under `params`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look at the notes.
    ///     do: [{ tool: { use: read_file, params: {} } }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look at the notes.
    ///     do: [{ tool: { use: read_file, params: { path: notes.md } } }]
    /// ```
    MISSING_PARAM = "missing-param", Error adjustable;

    /// An action says that it replaces a built-in one, and there is none of that name.
    ///
    /// Remove `override`, or correct the name.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { override: true, description: Close a ticket., then: exit }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., then: exit }
    /// ```
    NEEDLESS_OVERRIDE = "needless-override", Error adjustable;

    /// A parameter that the action does not declare.
    ///
    /// The name must be one of the properties of the action's parameters.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   reply:
    ///     description: Answer a ticket.
    ///     params: { words: string! }
    ///     stream: { word: answer }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   reply:
    ///     description: Answer a ticket.
    ///     params: { words: string! }
    ///     stream: { words: answer }
    /// ```
    UNKNOWN_PARAM = "unknown-param", Error;
}
