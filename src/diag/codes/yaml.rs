//! Codes about YAML as a notation.

codes! {
    /// Aliases expand to too many values.
    ///
    /// An alias repeats everything under its anchor.
    /// A few nested aliases can stand for billions of values, so a document may not expand to more than 250,000 of them.
    /// Write the repeated parts out, or use fewer levels.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   a: &a [x, x, x, x, x, x, x, x, x, x]
    ///   b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
    ///   c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
    ///   d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
    ///   e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
    ///   f: [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   a: &a [x, x, x, x, x, x, x, x, x, x]
    ///   b: [*a, *a, *a]
    /// ```
    ALIAS_BOMB = "alias-bomb", Error;

    /// A word that some readers of YAML take for a boolean.
    ///
    /// `yes`, `no`, `on` and `off` were booleans in YAML 1.1 and are texts in YAML 1.2, which is read here.
    /// Write `true` or `false`, or put the word in quotes.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   country: NO
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   country: "NO"
    /// ```
    ///
    /// ## Fix
    ///
    /// the word is put in quotes, since it is read as a text.
    AMBIGUOUS_BOOLEAN = "ambiguous-boolean", Warning;

    /// A number that readers of YAML understand differently, or that loses what was written.
    ///
    /// `012` is twelve to one YAML reader and ten to another, and `1.10` becomes the number 1.1.
    /// Write the number without leading zeros, or put it in quotes if it is a text such as a version.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   version: 1.10
    ///   queue: 012
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   version: "1.10"
    ///   queue: "012"
    /// ```
    ///
    /// ## Fix
    ///
    /// a number with leading zeros is put in quotes where it is read as a text, and loses the zeros where a number is wanted.
    AMBIGUOUS_NUMBER = "ambiguous-number", Warning;

    /// A `#` cuts off what looks like a part of the text.
    ///
    /// A `#` after a space begins a comment, so `Close issue #12` is read as `Close issue`.
    /// Put the value in quotes if the `#` belongs to it, or write `# ` with a space if it is a comment.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: Closes issue #12
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// description: "Closes issue #12"
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    CUT_TEXT = "cut-text", Warning;

    /// Lines that look like a list are joined into one text.
    ///
    /// Text that goes on in the next line is joined with a space, also if that line begins with `- `.
    /// A list stands under a key without a value; `|` keeps the lines of a text as they are and `>` does not.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: >
    ///     For each ticket:
    ///     - read it
    ///     - file it
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: |
    ///     For each ticket:
    ///     - read it
    ///     - file it
    /// ```
    JOINED_LINES = "joined-lines", Warning;

    /// The merge key `<<` is not part of YAML 1.2.
    ///
    /// Merging maps with `<<` was an extension of YAML 1.1.
    /// Use an alias for a whole value (`b: *a`), or `extends` where a document has it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   first: &first { queue: billing }
    ///   second: { <<: *first }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state:
    ///   first: &first { queue: billing }
    ///   second: *first
    /// ```
    MERGE_KEY = "merge-key", Error;

    /// The file holds more than one YAML document.
    ///
    /// A file holds one document.
    /// Put what follows the second `---` into a file of its own.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ---
    /// name: answer
    /// prompt: { instruction: Answer the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/triage.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ```yaml loops/answer.yaml
    /// name: answer
    /// prompt: { instruction: Answer the tickets. }
    /// ```
    MULTI_DOCUMENT = "multi-document", Error;

    /// A value that begins with `{{` must be quoted.
    ///
    /// YAML reads `{` at the start of a value as the beginning of a map, so the template never arrives.
    /// Put the whole value in double quotes: `"{{ state.goal }}"`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: {{ input }}
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: "{{ input }}"
    /// ```
    ///
    /// ## Fix
    ///
    /// the value is put in quotes.
    TEMPLATE_UNQUOTED = "template-unquoted", Error;

    /// A YAML tag that is not understood.
    ///
    /// Tags such as `!important` or `!!python/object` have no meaning here and are refused.
    /// Put text that begins with `!` in quotes.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: !important Sorts tickets.
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// description: "!important Sorts tickets."
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    UNKNOWN_TAG = "unknown-tag", Error;

    /// An anchor is never used.
    ///
    /// `&word` at the start of a value names the value and is not part of its text.
    /// If the text should begin with `&`, put it in quotes; else remove the anchor.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: &Co sorts tickets.
    /// prompt: &prompt
    ///   instruction: Sort the tickets.
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// description: "&Co sorts tickets."
    /// prompt:
    ///   instruction: Sort the tickets.
    /// ```
    ///
    /// ## Fix
    ///
    /// the anchor is removed, unless it may be the beginning of a text.
    UNUSED_ANCHOR = "unused-anchor", Warning;

    /// The file is not valid YAML.
    ///
    /// The text breaks a rule of YAML, so what follows cannot be read.
    /// Values that begin with one of ``@ ` * & ! % { [ | >``, or that contain `: ` or ` #`, must be quoted.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// description: Sorts: tickets
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// description: "Sorts: tickets"
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    YAML_SYNTAX = "yaml-syntax", Error;

    /// A tab is used for indentation.
    ///
    /// YAML indents with spaces only, since tabs have no fixed width.
    /// Replace the tab with spaces; `→` stands for a tab here.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    /// →instruction: Sort the tickets.
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: Sort the tickets.
    /// ```
    ///
    /// ## Fix
    ///
    /// each tab becomes two spaces, where that gives the file a meaning.
    YAML_TAB = "yaml-tab", Error;
}
