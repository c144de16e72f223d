//! The table of finding kinds: what each is called, one line about it, and a longer explanation.

use std::fmt;

use super::Severity;

/// The name of a kind of finding, such as `duplicate-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Code(pub &'static str);

impl Code {
    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The row of this code in [`CODES`].
    pub fn info(self) -> Option<&'static CodeInfo> {
        find(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is known about a [`Code`].
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The name.
    pub code: Code,
    /// The severity that findings of this kind usually have.
    pub severity: Severity,
    /// One line.
    pub summary: &'static str,
    /// Why it is reported and what to do, for `explain CODE`.
    pub explanation: &'static str,
}

/// The row of the code with this name.
pub fn find(name: &str) -> Option<&'static CodeInfo> {
    CODES.iter().find(|info| info.code.0 == name)
}

/// Declares each code once: a constant and its row in [`CODES`]. Keep the rows in alphabetical order.
macro_rules! codes {
    ($($name:ident = $code:literal, $severity:ident, $summary:literal, $explanation:literal;)*) => {
        $(#[doc = $summary] pub const $name: Code = Code($code);)*

        /// Every code, in alphabetical order.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo {
            code: $name,
            severity: Severity::$severity,
            summary: $summary,
            explanation: $explanation,
        },)*];
    };
}

codes! {
    ALIAS_BOMB = "alias-bomb", Error,
        "Aliases expand to too many values.",
        "An alias repeats everything under its anchor. A few nested aliases can stand for billions of values, \
         so a document may not expand to more than 250,000 of them. Write the repeated parts out, or use fewer levels.";
    AMBIGUOUS_BOOLEAN = "ambiguous-boolean", Warning,
        "A word that some readers of YAML take for a boolean.",
        "`yes`, `no`, `on` and `off` were booleans in YAML 1.1 and are texts in YAML 1.2, which is read here. \
         Write `true` or `false`, or put the word in quotes.";
    AMBIGUOUS_NUMBER = "ambiguous-number", Warning,
        "A number that readers of YAML understand differently, or that loses what was written.",
        "`012` is twelve to one YAML reader and ten to another, and `1.10` becomes the number 1.1. \
         Write the number without leading zeros, or put it in quotes if it is a text such as a version.";
    DUPLICATE_KEY = "duplicate-key", Error,
        "A key is written twice in one map.",
        "Two entries with the same key cannot both be meant; many readers keep the last one in silence. \
         Remove one of them. `a` and `\"a\"` are the same key.";
    EMPTY_FILE = "empty-file", Error,
        "The file holds no document.",
        "The file is empty, or has only comments or markers. A document is a map; the shortest loop has `name` and `prompt`.";
    ENCODING = "encoding", Error,
        "The file is not UTF-8 text.",
        "Documents are read as UTF-8, with or without a byte order mark. Save the file as UTF-8; in PowerShell, \
         write with `Out-File -Encoding utf8`.";
    FILE_TOO_LARGE = "file-too-large", Error,
        "The file is larger than a document may be.",
        "A document may have at most 1 MiB. Put long texts into files of their own and refer to them.";
    FLOAT_FOR_INTEGER = "float-for-integer", Warning,
        "A whole number is written as a decimal or with an exponent.",
        "`1e3` and `1000.0` are decimals in YAML and TOML. Where a whole number is wanted they are accepted, \
         since the value is the same; write `1000`.";
    INVALID_VALUE = "invalid-value", Error,
        "A value has the right type and cannot be accepted.",
        "The value was read and its own rules refuse it, for example a duration without a unit or a name with a space in it. \
         The message says what is expected.";
    MERGE_KEY = "merge-key", Error,
        "The merge key `<<` is not part of YAML 1.2.",
        "Merging maps with `<<` was an extension of YAML 1.1. Use an alias for a whole value (`b: *a`), \
         or `extends` where a document has it.";
    MISSING_KEY = "missing-key", Error,
        "A required key is missing.",
        "The map lacks a key that it must have. The message names the key.";
    MULTI_DOCUMENT = "multi-document", Error,
        "The file holds more than one YAML document.",
        "A file holds one document. Put what follows the second `---` into a file of its own.";
    NON_FINITE_NUMBER = "non-finite-number", Error,
        "Infinity and not-a-number cannot be used.",
        "`.inf` and `.nan` (in TOML `inf` and `nan`) have no place in JSON, which models and tools are sent. \
         Write a large number, or leave the key out if you mean no limit.";
    NON_STRING_KEY = "non-string-key", Error,
        "A map key is not a string.",
        "`true:`, `1:` and `null:` are a boolean, a number and a null to YAML. Put the key in quotes.";
    NUMBER_OUT_OF_RANGE = "number-out-of-range", Error,
        "A whole number does not fit into 64 bits, or not into the range that is wanted.",
        "Whole numbers go from -9223372036854775808 to 18446744073709551615. A key may ask for less. \
         Put longer digit strings in quotes.";
    TEMPLATE_SYNTAX = "template-syntax", Error,
        "A template cannot be read.",
        "The text between `{{ }}` or `{% %}` is not a valid template. To write braces literally, \
         put them in `{% raw %}` and `{% endraw %}`.";
    TEMPLATE_UNQUOTED = "template-unquoted", Error,
        "A value that begins with `{{` must be quoted.",
        "YAML reads `{` at the start of a value as the beginning of a map, so the template never arrives. \
         Put the whole value in double quotes: `\"{{ state.goal }}\"`.";
    TOML_DATETIME = "toml-datetime", Error,
        "A TOML date or time must be quoted.",
        "Documents mean the same in YAML, TOML and JSON, and only TOML has dates and times. Put the value in quotes.";
    TOML_SYNTAX = "toml-syntax", Error,
        "The file is not valid TOML.",
        "The text breaks a rule of TOML. All such places in the file are reported at once.";
    TOO_DEEP = "too-deep", Error,
        "Values are nested too deeply.",
        "Maps and lists may be nested 64 levels deep. No loop needs more; deeper nesting is usually generated or hostile.";
    UNDEFINED_VARIABLE = "undefined-variable", Error,
        "A template uses a name that is not defined.",
        "Templates are strict: a name that does not exist is an error and not an empty text. \
         Test with `is defined`, or give a value with `| default(...)`.";
    UNKNOWN_KEY = "unknown-key", Error,
        "A key that does not exist here.",
        "Unknown keys are errors, because a misspelt key would otherwise be a setting without effect. \
         The message lists the keys that exist here.";
    UNKNOWN_TAG = "unknown-tag", Error,
        "A YAML tag that is not understood.",
        "Tags such as `!important` or `!!python/object` have no meaning here and are refused. \
         Put text that begins with `!` in quotes.";
    UNKNOWN_VARIANT = "unknown-variant", Error,
        "A word that is not one of the words allowed here.",
        "The value must be one of a fixed list of words. The message lists them.";
    UNUSED_ANCHOR = "unused-anchor", Warning,
        "An anchor is never used.",
        "`&word` at the start of a value names the value and is not part of its text. \
         If the text should begin with `&`, put it in quotes; else remove the anchor.";
    WRONG_TYPE = "wrong-type", Error,
        "A value has the wrong type.",
        "The key wants another kind of value, for example a whole number and not a text. \
         The message says what was expected and what was found.";
    YAML_SYNTAX = "yaml-syntax", Error,
        "The file is not valid YAML.",
        "The text breaks a rule of YAML, so what follows cannot be read. Values that begin with one of \
         `@ ` * & ! % { [ | >`, or that contain `: ` or ` #`, must be quoted.";
    YAML_TAB = "yaml-tab", Error,
        "A tab is used for indentation.",
        "YAML indents with spaces only, since tabs have no fixed width. Replace the tab with spaces.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_kebab_case() {
        assert!(CODES.is_sorted_by_key(|info| info.code.0), "keep the codes in alphabetical order");
        for info in CODES {
            let name = info.code.0;
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert!(info.summary.ends_with('.') && info.explanation.ends_with('.'), "{name}");
            assert_eq!(CODES.iter().filter(|other| other.code == info.code).count(), 1, "{name}");
        }
    }
}
