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
    ACTION_CONFLICT = "action-conflict", Error,
        "An action has two sources of work.",
        "`from_tool` and `from_loop` bring their own parameters and their own work, so they cannot stand \
         beside `do`, `params` or each other. Keep one of them.";
    ALIAS_BOMB = "alias-bomb", Error,
        "Aliases expand to too many values.",
        "An alias repeats everything under its anchor. A few nested aliases can stand for billions of values, \
         so a document may not expand to more than 250,000 of them. Write the repeated parts out, or use fewer levels.";
    ALLOW_CONFLICT = "allow-conflict", Warning,
        "A loop lists something that its `allow` switches off.",
        "What `allow` switches off is not offered, whatever the loop lists. Remove one of the two.";
    AMBIGUOUS_BOOLEAN = "ambiguous-boolean", Warning,
        "A word that some readers of YAML take for a boolean.",
        "`yes`, `no`, `on` and `off` were booleans in YAML 1.1 and are texts in YAML 1.2, which is read here. \
         Write `true` or `false`, or put the word in quotes.";
    AMBIGUOUS_NUMBER = "ambiguous-number", Warning,
        "A number that readers of YAML understand differently, or that loses what was written.",
        "`012` is twelve to one YAML reader and ten to another, and `1.10` becomes the number 1.1. \
         Write the number without leading zeros, or put it in quotes if it is a text such as a version.";
    CUT_TEXT = "cut-text", Warning,
        "A `#` cuts off what looks like a part of the text.",
        "A `#` after a space begins a comment, so `Close issue #12` is read as `Close issue`. \
         Put the value in quotes if the `#` belongs to it, or write `# ` with a space if it is a comment.";
    DELIMITER_IN_TEMPLATE = "delimiter-in-template", Warning,
        "A section delimiter is written by hand.",
        "The engine wraps every section in delimiters with a fresh nonce. One that is written into a template \
         is not recognised, or can be forged. Declare a section under `prompt.sections` and write only its \
         text.";
    DONE_OUTSIDE_INIT = "done-outside-init", Error,
        "`then: done` stands outside `hooks.init`.",
        "`done` ends a loop before its first iteration, since there is nothing to do. Elsewhere write `exit` \
         for success or `fail` for failure.";
    DUPLICATE_KEY = "duplicate-key", Error,
        "A key is written twice in one map.",
        "Two entries with the same key cannot both be meant; many readers keep the last one in silence. \
         Remove one of them. `a` and `\"a\"` are the same key.";
    DUPLICATE_NAME = "duplicate-name", Error,
        "Two documents have the same name.",
        "Documents of one kind are found by name, so each name must be used once. Rename one of them.";
    EMPTY_FILE = "empty-file", Error,
        "The file holds no document.",
        "The file is empty, or has only comments or markers. A document is a map; the shortest loop has `name` and `prompt`.";
    ENCODING = "encoding", Error,
        "The file is not UTF-8 text.",
        "Documents are read as UTF-8, with or without a byte order mark. Save the file as UTF-8; in PowerShell, \
         write with `Out-File -Encoding utf8`.";
    ENDLESS_LOOP = "endless-loop", Warning,
        "Nothing that the loop offers can end it.",
        "No offered action ends the loop: neither `finish` nor `directly_answer` is offered, and no action or \
         step says `then: exit` or `then: fail`. It would run until a limit stops it.";
    EXTENDS_CYCLE = "extends-cycle", Error,
        "Presets extend each other in a circle.",
        "A preset cannot build on itself, directly or through others. Remove one `extends` of the chain that \
         the message shows.";
    FILE_MISSING = "file-missing", Error,
        "A file does not exist.",
        "The file was not found in the workspace, beside the document, or among the shipped files. Paths are \
         relative to the workspace.";
    FILE_TOO_LARGE = "file-too-large", Error,
        "The file is larger than a document may be.",
        "A document may have at most 1 MiB. Put long texts into files of their own and refer to them.";
    FILE_UNREADABLE = "file-unreadable", Error,
        "A file or folder cannot be read.",
        "The operating system refused to read it. The message has its words.";
    FLOAT_FOR_INTEGER = "float-for-integer", Warning,
        "A whole number is written as a decimal or with an exponent.",
        "`1e3` and `1000.0` are decimals in YAML and TOML. Where a whole number is wanted they are accepted, \
         since the value is the same; write `1000`.";
    FOLDER_CYCLE = "folder-cycle", Error,
        "A symbolic link leads back to a folder around it.",
        "Folders of documents are searched with everything below them. A link to a folder above would make \
         that endless; remove the link.";
    INCLUDE_CYCLE = "include-cycle", Error,
        "Templates include or extend each other in a circle.",
        "A template cannot include or extend itself, directly or through others. Remove one link of the chain \
         that the message shows.";
    INVALID_SCHEMA = "invalid-schema", Error,
        "A JSON Schema is not valid.",
        "Parameters, inputs, outputs and state variables are described in JSON Schema 2020-12. The message \
         says which keyword is wrong.";
    INVALID_VALUE = "invalid-value", Error,
        "A value has the right type and cannot be accepted.",
        "The value was read and its own rules refuse it, for example a duration without a unit or a name with a space in it. \
         The message says what is expected.";
    JOINED_LINES = "joined-lines", Warning,
        "Lines that look like a list are joined into one text.",
        "Text that goes on in the next line is joined with a space, also if that line begins with `- `. \
         A list stands under a key without a value; `|` keeps the lines of a text as they are and `>` does not.";
    LIMIT_CONFLICT = "limit-conflict", Warning,
        "Limits that contradict each other.",
        "One limit can never be reached because of another, or leaves no room to work. Change one of them.";
    LOOP_CYCLE = "loop-cycle", Error,
        "Loops call each other in a circle.",
        "A loop that is an action of itself, directly or through others, would nest until the depth limit \
         ends it. Remove one `from_loop` of the chain that the message shows.";
    MERGE_KEY = "merge-key", Error,
        "The merge key `<<` is not part of YAML 1.2.",
        "Merging maps with `<<` was an extension of YAML 1.1. Use an alias for a whole value (`b: *a`), \
         or `extends` where a document has it.";
    MISSING_KEY = "missing-key", Error,
        "A required key is missing.",
        "The map lacks a key that it must have. The message names the key.";
    MISSING_OVERRIDE = "missing-override", Error,
        "An action has the name of a built-in one and does not say that it replaces it.",
        "Add `override: true` to replace the built-in action, or choose another name.";
    MISSING_PARAM = "missing-param", Error,
        "A call lacks a parameter that the tool needs.",
        "The tool's parameters require it, so the call would be refused. Add it under `params`.";
    MULTI_DOCUMENT = "multi-document", Error,
        "The file holds more than one YAML document.",
        "A file holds one document. Put what follows the second `---` into a file of its own.";
    NEEDLESS_OVERRIDE = "needless-override", Error,
        "An action says that it replaces a built-in one, and there is none of that name.",
        "Remove `override`, or correct the name.";
    NON_FINITE_NUMBER = "non-finite-number", Error,
        "Infinity and not-a-number cannot be used.",
        "`.inf` and `.nan` (in TOML `inf` and `nan`) have no place in JSON, which models and tools are sent. \
         Write a large number, or leave the key out if you mean no limit.";
    NON_STRING_KEY = "non-string-key", Error,
        "A map key is not a string.",
        "`true:`, `1:` and `null:` are a boolean, a number and a null to YAML. Put the key in quotes.";
    NOT_IN_FORCE = "not-in-force", Info,
        "A setting is read and validated, and not yet in force.",
        "The setting is part of the language and has no effect in this version.";
    NUMBER_OUT_OF_RANGE = "number-out-of-range", Error,
        "A whole number does not fit into 64 bits, or not into the range that is wanted.",
        "Whole numbers go from -9223372036854775808 to 18446744073709551615. A key may ask for less. \
         Put longer digit strings in quotes.";
    OPTION_INJECTION = "option-injection", Warning,
        "A value may be taken for a program's option.",
        "An argument of `run` begins with a template, so its value may begin with `-`. The step refuses such a \
         value when it runs. Put an item `--` before it, give the parameter a `pattern` that excludes it, or write \
         `allow_dash: true`.";
    POLICY = "policy", Warning,
        "A rule of the policy can never decide anything.",
        "The first rule that matches a call decides. This one matches no call, or stands after one that matches every \
         call.";
    SCRIPT_INJECTION = "script-injection", Warning,
        "A value becomes a part of a script.",
        "`run` uses no shell, so a value is one argument and nothing more. In `[sh, -c, \"echo {{ params.x }}\"]` that \
         argument is a program, and whoever chooses the value writes it. Keep templates out of the script and \
         pass values as further items: `[sh, -c, 'echo \"$1\"', sh, \"{{ params.x }}\"]`.";
    SECTION_SOURCE = "section-source", Error,
        "A section needs exactly one source of text.",
        "Write either `text` or `file`.";
    STATE_DEFAULT = "state-default", Error,
        "A state variable's default does not fit its type.",
        "The default is the variable's value when a run starts, so it must be one that the variable may take.";
    TEMPLATE_CONSTANT = "template-constant", Warning,
        "A template prints a constant.",
        "`{{ 1 }}` prints `1`, so the braces have no use; often they belong to JSON or LaTeX and were meant \
         literally. Put literal braces in `{% raw %}` and `{% endraw %}`.";
    TEMPLATE_NOT_FOUND = "template-not-found", Error,
        "A template includes or extends a file that does not exist.",
        "The name is looked up beside the template, in the workspace, and in the folders under \
         `paths.prompts`.";
    TEMPLATE_OUT_OF_FUEL = "template-out-of-fuel", Error,
        "A template would do more work than it may.",
        "The ranges that the template runs through are constant and together far larger than the fuel of one \
         rendering. Use smaller ranges.";
    TEMPLATE_OUTSIDE_ROOT = "template-outside-root", Error,
        "A template names a file outside the workspace.",
        "Templates may read files of the workspace only, by relative names without `..`.";
    TEMPLATE_SYNTAX = "template-syntax", Error,
        "A template cannot be read.",
        "The text between `{{ }}` or `{% %}` is not a valid template. To write braces literally, \
         put them in `{% raw %}` and `{% endraw %}`.";
    TEMPLATE_UNCLOSED_BLOCK = "template-unclosed-block", Error,
        "A block of a template is not closed.",
        "Every `{% if %}`, `{% for %}`, `{% raw %}` and so on needs its end. The place is the block's \
         opening.";
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
    UNKNOWN_ACTION = "unknown-action", Error,
        "An action that does not exist.",
        "The loop neither declares nor offers an action of this name.";
    UNKNOWN_BUILTIN = "unknown-builtin", Error,
        "A built-in action that does not exist.",
        "The message lists the built-in actions.";
    UNKNOWN_FILTER = "unknown-filter", Error,
        "A filter that does not exist.",
        "A template uses a filter that the engine does not have. The reference lists the filters.";
    UNKNOWN_FORGE = "unknown-forge", Error,
        "A forge that does not exist.",
        "No forge document of this name lies in the folders under `paths.loops`, and none is shipped.";
    UNKNOWN_FUNCTION = "unknown-function", Error,
        "A function that does not exist.",
        "A template calls a function that the engine does not have. The reference lists the functions.";
    UNKNOWN_KEY = "unknown-key", Error,
        "A key that does not exist here.",
        "Unknown keys are errors, because a misspelt key would otherwise be a setting without effect. \
         The message lists the keys that exist here.";
    UNKNOWN_LOOP = "unknown-loop", Error,
        "A loop that does not exist.",
        "No loop document of this name lies in the folders under `paths.loops`, and none is shipped.";
    UNKNOWN_MODEL = "unknown-model", Error,
        "A model or tier that does not exist.",
        "Models and tiers are declared in the workspace, under `models` and `tiers`.";
    UNKNOWN_PARAM = "unknown-param", Error,
        "A parameter that the action does not declare.",
        "The name must be one of the properties of the action's parameters.";
    UNKNOWN_PRESET = "unknown-preset", Error,
        "A preset that does not exist.",
        "No preset document of this name lies in the folders under `paths.loops`, and none is shipped.";
    UNKNOWN_PROVIDER = "unknown-provider", Error,
        "A provider that does not exist.",
        "The message lists the providers.";
    UNKNOWN_STATE = "unknown-state", Error,
        "A state variable that the loop does not declare.",
        "Declare it under `state`, with a type or a default.";
    UNKNOWN_TAG = "unknown-tag", Error,
        "A YAML tag that is not understood.",
        "Tags such as `!important` or `!!python/object` have no meaning here and are refused. \
         Put text that begins with `!` in quotes.";
    UNKNOWN_TEST = "unknown-test", Error,
        "A test that does not exist.",
        "A template uses a test (after `is`) that the engine does not have. The reference lists the tests.";
    UNKNOWN_TOOL = "unknown-tool", Error,
        "A tool that does not exist.",
        "No built-in tool has this name, no tool document of this name lies in the folders under \
         `paths.loops`, and none is shipped.";
    UNKNOWN_VARIANT = "unknown-variant", Error,
        "A word that is not one of the words allowed here.",
        "The value must be one of a fixed list of words. The message lists them.";
    UNKNOWN_VERB = "unknown-verb", Error,
        "A step's verb that does not exist.",
        "The reference lists the verbs.";
    UNREACHABLE_STEP = "unreachable-step", Error,
        "A step that can never run.",
        "An earlier step of the same list ends the handler whenever it is reached. Remove the later step, or \
         give the earlier one a condition.";
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
