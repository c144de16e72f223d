//! The incremental reader agrees with the final one, however the reply is split.

use super::*;

/// What a reader showed, pieces of one thing joined.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Shown {
    pub(super) fields: IndexMap<String, String>,
    ended: Vec<String>,
    pub(super) tags: IndexMap<String, String>,
    thought: String,
}

impl Shown {
    fn take(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Field { action, key, text } => {
                self.fields.entry(format!("{action}.{key}")).or_default().push_str(text);
            }
            Piece::FieldEnd { action, key } => {
                self.fields.entry(format!("{action}.{key}")).or_default();
                self.ended.push(key.to_owned());
            }
            Piece::Tag { name, text } => self.tags.entry(name.to_owned()).or_default().push_str(text),
            Piece::TagEnd { name } => {
                self.tags.entry(name.to_owned()).or_default();
                self.ended.push(name.to_owned());
            }
            Piece::Thought(text) => self.thought.push_str(text),
            Piece::Retract => *self = Self { thought: std::mem::take(&mut self.thought), ..Self::default() },
        }
    }
}

pub(super) fn show<'a>(parts: impl IntoIterator<Item = &'a str>, grammar: &Grammar) -> Shown {
    let mut shown = Shown::default();
    let mut live = Live::new(grammar);
    for part in parts {
        live.feed(part, &mut |piece| shown.take(piece));
    }
    live.finish(&mut |piece| shown.take(piece));
    shown
}

pub(super) fn chars(text: &str) -> impl Iterator<Item = &str> {
    text.split("").filter(|part| !part.is_empty())
}

/// Splits at places that a small generator picks.
pub(super) fn split(text: &str, seed: u64) -> Vec<&str> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = 1 + (state >> 33) as usize % 24;
        let end = rest.char_indices().map(|(at, _)| at).find(|&at| at >= wanted).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn every_row_is_shown_as_it_is_extracted() {
    for row in rows() {
        let whole = show([row.raw.as_str()], &row.grammar);
        assert_eq!(show(chars(&row.raw), &row.grammar), whole, "{} by character", row.id);
        for seed in 0..20 {
            assert_eq!(show(split(&row.raw, seed), &row.grammar), whole, "{} split {seed}", row.id);
        }
        if let Ok(extracted) = extract(&row.raw, row.finish, &row.grammar) {
            let fields: IndexMap<String, String> = extracted
                .params
                .iter()
                .map(|(key, value)| (format!("{}.{key}", extracted.action), text_of(value)))
                .collect();
            assert_eq!(whole.fields, fields, "{}", row.id);
            assert_eq!(whole.tags, extracted.tags, "{}", row.id);
        }
    }
}
