//! What can be wrong with a skill: a class for programs, and a diagnostic for people.

use crate::diag::{Code, Diagnostic, Severity, Span, codes};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The skill cannot be loaded.
    Error,
    /// It is loaded; validating refuses it.
    Warning,
    /// It is loaded without a word; validating refuses it.
    Strict,
    /// Worth knowing, also when validating.
    Note,
}

/// Declares the classes: each with its word, the code under which people see it, and how much it weighs.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $code:ident, $level:ident;)+) => {
        /// The class of a finding about a skill.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Fault {
            /// The word that programs see.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The code of its diagnostics.
            fn code(self) -> Code {
                match self { $(Self::$variant => codes::$code,)+ }
            }

            /// How much it weighs.
            fn level(self) -> Level {
                match self { $(Self::$variant => Level::$level,)+ }
            }
        }
    };
}

// Warnings are listed in the order in which they are told.
faults! {
    /// The file is not there.
    NotFound = "not_found", FILE_MISSING, Error;
    /// Something else than a regular file, or a file where a folder is expected.
    NotAFile = "not_a_file", FILE_UNREADABLE, Error;
    /// The system refuses to read it.
    Unreadable = "unreadable", FILE_UNREADABLE, Error;
    /// It is larger than a skill may be.
    TooLarge = "too_large", FILE_TOO_LARGE, Error;
    /// It is not UTF-8.
    NotUtf8 = "not_utf8", ENCODING, Error;
    /// It does not begin with `---`.
    MissingFrontmatter = "missing_frontmatter", SKILL_FRONT_MATTER, Error;
    /// The second `---` is missing.
    UnclosedFrontmatter = "unclosed_frontmatter", SKILL_FRONT_MATTER, Error;
    /// What stands between them is not YAML, or has a key twice.
    InvalidYaml = "invalid_yaml", SKILL_FRONT_MATTER, Error;
    /// It is YAML and no map.
    NotAMapping = "not_a_mapping", SKILL_FRONT_MATTER, Error;
    /// The name has characters that deceive or mean something in a path.
    InvalidName = "invalid_name", SKILL_NAME, Error;
    /// There is no description, or it is blank.
    MissingDescription = "missing_description", SKILL_DESCRIPTION, Error;
    /// The description is no text.
    InvalidDescription = "invalid_description", SKILL_DESCRIPTION, Error;
    /// `input_schema` is no JSON Schema of an object.
    InvalidInputSchema = "invalid_input_schema", SKILL_INVOKE, Error;
    /// `invoke` has no steps, or has mistakes.
    InvalidInvoke = "invalid_invoke", SKILL_INVOKE, Error;
    /// Another skill of this name comes first.
    Shadowed = "shadowed", SKILL_SHADOWED, Error;
    /// A byte order mark stood at the beginning.
    BomStripped = "bom_stripped", SKILL_FORMAT, Warning;
    /// A value was no YAML and was taken as the text that it was meant to be.
    YamlRepaired = "yaml_repaired", SKILL_FORMAT, Warning;
    /// There is no name; the folder's stands for it.
    NameMissing = "name_missing_used_dir", SKILL_FORMAT, Warning;
    /// The name is not the folder's.
    NameDirMismatch = "name_dir_mismatch", SKILL_FORMAT, Warning;
    /// The name has other characters than lower-case letters, digits and single hyphens inside.
    NameNotConforming = "name_not_conforming", SKILL_FORMAT, Warning;
    /// The name has more than 64 characters.
    NameTooLong = "name_too_long", SKILL_FORMAT, Warning;
    /// The description has more than 1024 characters.
    DescriptionTooLong = "description_too_long", SKILL_FORMAT, Warning;
    /// `compatibility` has more than 500 characters.
    CompatibilityTooLong = "compatibility_too_long", SKILL_FORMAT, Warning;
    /// A key that the format does not have.
    UnknownField = "unknown_field", SKILL_FORMAT, Warning;
    /// `license` is no text.
    LicenseIgnored = "license_ignored", SKILL_FORMAT, Warning;
    /// `compatibility` is no text.
    CompatibilityIgnored = "compatibility_ignored", SKILL_FORMAT, Warning;
    /// `metadata` is no map.
    MetadataIgnored = "metadata_ignored", SKILL_FORMAT, Warning;
    /// `allowed-tools` is neither text nor a list.
    AllowedToolsIgnored = "allowed-tools_ignored", SKILL_FORMAT, Warning;
    /// `version` is no text.
    VersionIgnored = "version_ignored", SKILL_FORMAT, Warning;
    /// Another skill's name differs from this one in upper and lower case only.
    NameCaseClash = "name_case_clash", SKILL_FORMAT, Warning;
    /// YAML that the format's own reader refuses: brackets, anchors.
    YamlStyle = "yaml_style", SKILL_FORMAT, Strict;
    /// The file is named `skill.md` or the like, which some tools do not see.
    FileName = "file_name", SKILL_FORMAT, Note;
}

impl Fault {
    /// Whether it is about the other skills around, and not about this one.
    #[must_use]
    pub fn is_about_others(self) -> bool {
        matches!(self, Self::Shadowed | Self::NameCaseClash)
    }
}

/// A finding about a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What kind it is.
    pub fault: Fault,
    /// How much it weighs.
    pub level: Level,
    /// The same for people.
    pub diagnostic: Diagnostic,
}

impl Finding {
    /// A finding with the weight that its class has.
    #[must_use]
    pub fn new(fault: Fault, place: Span, message: impl Into<String>) -> Self {
        let level = fault.level();
        // That a skill is hidden by another is no mistake in it.
        let is_error = level == Level::Error && fault != Fault::Shadowed;
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        Self { fault, level, diagnostic: Diagnostic::new(severity, fault.code(), place, message) }
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.diagnostic = self.diagnostic.help(help);
        self
    }

    /// The same with help where there is some.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<impl Into<String>>) -> Self {
        self.diagnostic = self.diagnostic.maybe_help(help);
        self
    }

    /// What a reader of documents said, under this class.
    #[must_use]
    pub fn of(fault: Fault, diagnostic: Diagnostic) -> Self {
        let level = if diagnostic.severity == Severity::Error { fault.level() } else { Level::Note };
        Self { fault, level, diagnostic }
    }

    /// Whether validating refuses the skill for it.
    #[must_use]
    pub fn is_refused_by_format(&self) -> bool {
        self.level != Level::Note
    }
}
