//! Codes about the keys and values of a document, whatever they are for.

codes! {
    /// A JSON Schema is not valid.
    ///
    /// Parameters, inputs, outputs and state variables are described in JSON Schema 2020-12.
    /// The message says which keyword is wrong.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   count: { type: int, default: 0 }
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
    INVALID_SCHEMA = "invalid-schema", Error;

    /// A JSON Schema says something that has no effect.
    ///
    /// JSON Schema passes over keywords that it does not know, so a typing error in one switches the rule off in silence.
    /// `required` takes the names of `properties`: one that is not there can never be given.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   file:
    ///     description: File a ticket.
    ///     params: { type: object, properties: { title: { type: string, minLenght: 3 } }, required: [titel] }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   file:
    ///     description: File a ticket.
    ///     params: { type: object, properties: { title: { type: string, minLength: 3 } }, required: [title] }
    /// ```
    SUSPICIOUS_SCHEMA = "suspicious-schema", Warning;

    /// A value has the right type and cannot be accepted.
    ///
    /// The value was read and its own rules refuse it, for example a duration without a unit or a name with a space in it.
    /// The message says what is expected.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { timeout: 10 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { timeout: 10m }
    /// ```
    INVALID_VALUE = "invalid-value", Error;

    /// A required key is missing.
    ///
    /// The map lacks a key that it must have.
    /// The message names the key.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: Sorts tickets.
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// description: Sorts tickets.
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    MISSING_KEY = "missing-key", Error;

    /// A setting is read and validated, and not yet in force.
    ///
    /// The setting is part of the language and has no effect in this version.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// store: { path: runs.db }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// ```
    NOT_IN_FORCE = "not-in-force", Info;

    /// A key that does not exist here.
    ///
    /// Unknown keys are errors, because a misspelt key would otherwise be a setting without effect.
    /// The message lists the keys that exist here.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iteratons: 5 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iterations: 5 }
    /// ```
    ///
    /// ## Fix
    ///
    /// the key is corrected when only one known key is near and it is not there yet.
    UNKNOWN_KEY = "unknown-key", Error;

    /// A word that is not one of the words allowed here.
    ///
    /// The value must be one of a fixed list of words.
    /// The message lists them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., then: stop }
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
    UNKNOWN_VARIANT = "unknown-variant", Error;

    /// A value has the wrong type.
    ///
    /// The key wants another kind of value, for example a whole number and not a text.
    /// The message says what was expected and what was found.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iterations: "50" }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iterations: 50 }
    /// ```
    ///
    /// ## Fix
    ///
    /// a number in quotes loses them, and `yes` or `off` become `true` or `false`, where the key wants that.
    WRONG_TYPE = "wrong-type", Error;
}
