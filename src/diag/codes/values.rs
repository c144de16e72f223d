//! Codes about keys, numbers and nesting, in YAML and TOML alike.

codes! {
    /// A key is written twice in one map.
    ///
    /// Two entries with the same key cannot both be meant; many readers keep the last one in silence.
    /// Remove one of them.
    /// `a` and `"a"` are the same key.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits:
    ///   max_iterations: 5
    ///   max_iterations: 8
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits:
    ///   max_iterations: 8
    /// ```
    DUPLICATE_KEY = "duplicate-key", Error;

    /// A whole number is written as a decimal or with an exponent.
    ///
    /// `1e3` and `1000.0` are decimals in YAML and TOML.
    /// Where a whole number is wanted they are accepted, since the value is the same; write `1000`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 1e6 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 1000000 }
    /// ```
    ///
    /// ## Fix
    ///
    /// the number is written as a whole one.
    FLOAT_FOR_INTEGER = "float-for-integer", Warning;

    /// Infinity and not-a-number cannot be used.
    ///
    /// `.inf` and `.nan` (in TOML `inf` and `nan`) have no place in JSON, which models and tools are sent.
    /// Write a large number, or leave the key out if you mean no limit.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { best: .inf }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { best: 1000000000 }
    /// ```
    NON_FINITE_NUMBER = "non-finite-number", Error;

    /// A map key is not a string.
    ///
    /// `true:`, `1:` and `null:` are a boolean, a number and a null to YAML.
    /// Put the key in quotes.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { levels: { 1: low, 2: high } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { levels: { "1": low, "2": high } }
    /// ```
    NON_STRING_KEY = "non-string-key", Error;

    /// A whole number does not fit into 64 bits, or not into the range that is wanted.
    ///
    /// Whole numbers go from -9223372036854775808 to 18446744073709551615.
    /// A key may ask for less.
    /// Put longer digit strings in quotes.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iterations: 0 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_iterations: 1 }
    /// ```
    NUMBER_OUT_OF_RANGE = "number-out-of-range", Error;

    /// Values are nested too deeply.
    ///
    /// Maps and lists may be nested 64 levels deep.
    /// No loop needs more; deeper nesting is usually generated or hostile.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   deep: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   deep: [[[[[ ]]]]]
    /// ```
    TOO_DEEP = "too-deep", Error;
}
