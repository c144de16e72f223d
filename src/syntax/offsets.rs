//! From a byte offset in a decoded string to the byte offset in the file.

use std::sync::Arc;

/// How the bytes of a decoded string lie in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Offsets {
    /// Not known: everything is at the start of the value.
    #[default]
    Start,
    /// Byte for byte, beginning at this offset in the file.
    Linear(u32),
    /// Pieces, each byte for byte: (offset in the string, offset in the file), both rising.
    Pieces(Arc<[(u32, u32)]>),
}

impl Offsets {
    /// The place in the file of an offset in the string.
    pub fn locate(&self, decoded: usize, start: u32) -> u32 {
        let decoded = u32::try_from(decoded).unwrap_or(u32::MAX);
        match self {
            Offsets::Start => start,
            Offsets::Linear(base) => base.saturating_add(decoded),
            Offsets::Pieces(pieces) => {
                let after = pieces.partition_point(|(from, _)| *from <= decoded);
                let Some((from, to)) = after.checked_sub(1).and_then(|at| pieces.get(at)) else {
                    return start;
                };
                let place = to.saturating_add(decoded - from);
                // A piece ends where the next one begins, also when what lies between is longer in the string.
                pieces.get(after).map_or(place, |(_, next)| place.min(*next))
            }
        }
    }
}
