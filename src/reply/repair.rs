//! What was repaired: each kind once, with how often and where first.

use super::Repair;

/// The kinds of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    ArrayClosedByBrace,
    Coerced,
    Comment,
    Concatenated,
    ExtraComma,
    FullWidth,
    InnerQuote,
    LoneSurrogate,
    LongString,
    MissingCloser,
    MissingComma,
    NonFinite,
    OtherQuotes,
    ParamsText,
    RawControl,
    Respelled,
    SmartQuotes,
    TagInObject,
    TrailingComma,
    UnknownEscape,
    UnquotedKey,
    UnquotedValue,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ArrayClosedByBrace => "array_closed_by_brace",
            Self::Coerced => "coerced",
            Self::Comment => "comment",
            Self::Concatenated => "concatenated",
            Self::ExtraComma => "extra_comma",
            Self::FullWidth => "full_width",
            Self::InnerQuote => "inner_quote",
            Self::LoneSurrogate => "lone_surrogate",
            Self::LongString => "long_string",
            Self::MissingCloser => "missing_closer",
            Self::MissingComma => "missing_comma",
            Self::NonFinite => "non_finite",
            Self::OtherQuotes => "other_quotes",
            Self::ParamsText => "params_text",
            Self::RawControl => "raw_control",
            Self::Respelled => "respelled",
            Self::SmartQuotes => "smart_quotes",
            Self::TagInObject => "tag_in_object",
            Self::TrailingComma => "trailing_comma",
            Self::UnknownEscape => "unknown_escape",
            Self::UnquotedKey => "unquoted_key",
            Self::UnquotedValue => "unquoted_value",
        }
    }
}

/// Repairs of one object. Bounded: there are few kinds, and a second repair of a kind only counts.
#[derive(Debug, Default, Clone)]
pub(super) struct Log {
    entries: Vec<(Kind, usize, usize)>,
}

impl Log {
    /// Counts a repair at a byte of the text.
    pub(super) fn note(&mut self, kind: Kind, at: usize) {
        match self.entries.iter_mut().find(|entry| entry.0 == kind) {
            Some(entry) => entry.1 += 1,
            None => self.entries.push((kind, 1, at)),
        }
    }

    /// Nothing was repaired.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// This kind of repair was made.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.entries.iter().any(|entry| entry.0 == kind)
    }

    /// The repairs in the order in which each kind first came, with places in `text`.
    pub(super) fn into_repairs(self, text: &str) -> Vec<Repair> {
        self.entries
            .into_iter()
            .map(|(kind, count, at)| {
                let place = place(text, at);
                let detail = if count == 1 { place } else { format!("{count} times, first at {place}") };
                Repair { kind: kind.name(), detail }
            })
            .collect()
    }
}

/// Line and column of a byte, as people count.
pub(super) fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    format!("line {line}, column {column}")
}
