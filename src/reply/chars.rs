//! The characters that a forgiving JSON reader knows: blanks, quotes, and the full-width forms of punctuation.

/// A blank between tokens: JSON's own, any Unicode space, and the invisible characters that models leave behind.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// The ASCII sign that a full-width one stands for; any other character is itself.
pub(super) fn narrow(c: char) -> char {
    match c {
        '\u{ff5b}' => '{',
        '\u{ff5d}' => '}',
        '\u{ff3b}' => '[',
        '\u{ff3d}' => ']',
        '\u{ff1a}' => ':',
        '\u{ff0c}' => ',',
        other => other,
    }
}

/// What a string is quoted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// `"`
    Double,
    /// `'`
    Single,
    /// `` ` ``, also closed by the acute accent that some write for it.
    Backtick,
    /// Typographic double quotes.
    SmartDouble,
    /// Typographic single quotes.
    SmartSingle,
}

impl Quote {
    /// The kind of quote that this character opens.
    pub(super) fn of(c: char) -> Option<Self> {
        match c {
            '"' => Some(Self::Double),
            '\'' => Some(Self::Single),
            '`' | '\u{b4}' => Some(Self::Backtick),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ff02}' => Some(Self::SmartDouble),
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{ff07}' => Some(Self::SmartSingle),
            _ => None,
        }
    }

    /// Whether this character may close what the quote opened.
    ///
    /// A straight quote is closed by its own kind only, so that typographic quotes inside stay text.
    pub(super) fn closed_by(self, c: char) -> bool {
        match Self::of(c) {
            Some(other) if other == self => true,
            Some(Self::Double) => self == Self::SmartDouble,
            Some(Self::Single) => self == Self::SmartSingle,
            _ => false,
        }
    }

    /// Three in a row open a long string.
    pub(super) fn triple(self) -> Option<&'static str> {
        match self {
            Self::Double => Some("\"\"\""),
            Self::Single => Some("'''"),
            Self::Backtick => Some("```"),
            Self::SmartDouble | Self::SmartSingle => None,
        }
    }

    /// The length of text before the next character that could close the string, or a backslash.
    pub(super) fn plain_run(self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let found = match self {
            Self::Double => memchr::memchr2(b'"', b'\\', bytes),
            Self::Single => memchr::memchr2(b'\'', b'\\', bytes),
            Self::Backtick => text.find(['`', '\u{b4}', '\\']),
            Self::SmartDouble | Self::SmartSingle => {
                text.char_indices().find(|&(_, c)| c == '\\' || self.closed_by(c)).map(|(at, _)| at)
            }
        };
        found.unwrap_or(text.len())
    }
}

/// A character that may stand in a key without quotes.
pub(super) fn is_bare_key(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '$' | '-' | '.')
}

/// The first character at `at`, if there is one.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..).and_then(|rest| rest.chars().next())
}

/// Whether the text is a closing code fence and nothing more. A run of backticks that is longer than any fence is text.
pub(super) fn is_closing_fence(rest: &str) -> bool {
    const LONGEST: usize = 8;
    let ticks = rest.bytes().take(LONGEST + 1).take_while(|&byte| byte == b'`').count();
    (3..=LONGEST).contains(&ticks) && rest[ticks..].chars().all(is_blank)
}
