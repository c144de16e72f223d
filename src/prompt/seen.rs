//! What texts hold that could be a nonce, so that a fresh nonce is checked without reading the texts again.

use std::collections::HashSet;

use super::nonce::NONCE_LEN;
use crate::template::guard;

/// The runs of nonce characters, at least as long as a nonce, in the canonical form of texts. A text holds a nonce
/// exactly when one of its runs does; ordinary prose has no runs.
#[derive(Debug, Default, Clone)]
pub(super) struct Seen {
    exact: HashSet<Box<str>>,
    longer: Vec<Box<str>>,
}

impl Seen {
    pub(super) fn of(text: &str) -> Self {
        let mut seen = Self::default();
        seen.add(text);
        seen
    }

    pub(super) fn add(&mut self, text: &str) {
        for run in guard::canonical(text).split(|c: char| !matches!(c, 'a'..='z' | '2'..='7')) {
            if run.len() == NONCE_LEN {
                self.exact.insert(run.into());
            } else if run.len() > NONCE_LEN {
                self.longer.push(run.into());
            }
        }
    }

    pub(super) fn holds(&self, nonce: &str) -> bool {
        self.exact.contains(nonce) || self.longer.iter().any(|run| run.contains(nonce))
    }

    /// Takes everything out of `other`.
    pub(super) fn absorb(&mut self, other: &mut Self) {
        self.exact.extend(other.exact.drain());
        self.longer.append(&mut other.longer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "abcdefghijklmnopqrstuvwx23";

    #[test]
    fn finds_a_nonce_however_it_is_dressed() {
        for text in [
            "abcdefghijklmnopqrstuvwx23",
            "<|X_abcdefghijklmnopqrstuvwx23|>",
            "<|X_END_ABCDEFGHIJKLMNOPQRSTUVWX23|>",
            "zzzabcdefghijklmnopqrstuvwx23zzz",
            "abcdefghij\u{200B}klmnopq\u{AD}rstuvwx23",
            "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘ２３",
            "abcdefghij\u{212A}lmnopqr\u{17F}tuvwx23",
            "\u{1D41A}bcdefghijklmnopqrstuvwx23",
        ] {
            assert!(Seen::of(text).holds(NONCE), "{text:?}");
        }
    }

    #[test]
    fn does_not_find_what_is_not_there() {
        for text in ["", "abcdefghijklmnopqrstuvwx2", "abcdefghijklm nopqrstuvwx23", "abcdefghijklmnopqrstuvwx24"] {
            assert!(!Seen::of(text).holds(NONCE), "{text:?}");
        }
    }
}
