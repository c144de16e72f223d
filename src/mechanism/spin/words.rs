//! Texts as sets of words, and how alike two of them are.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a text as sorted hashes without doubles. A character of a script without spaces between words is a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<u64>);

/// Words beyond this many of one text are not looked at: a text that long differs in its first thousands or not at all.
const MOST: usize = 2048;

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Vec::new();
        add(text, &mut words);
        Self::from_hashes(words)
    }

    fn from_hashes(mut words: Vec<u64>) -> Self {
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    /// The share of words that both have of the words that either has: 1 for the same set, and for two empty ones.
    ///
    /// The index of Jaccard, 1901.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let (mut left, mut right, mut both) = (0, 0, 0usize);
        while let (Some(a), Some(b)) = (self.0.get(left), other.0.get(right)) {
            left += usize::from(a <= b);
            right += usize::from(b <= a);
            both += usize::from(a == b);
        }
        let either = self.0.len() + other.0.len() - both;
        if either == 0 { 1.0 } else { ratio(both, either) }
    }

    /// Whether each of these words is in one of the others.
    pub(super) fn within(&self, others: &[&Self]) -> bool {
        self.0.iter().all(|word| others.iter().any(|other| other.0.binary_search(word).is_ok()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A share of two counts, which are far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "counts of a bounded window")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// How many words a text has, up to a few.
pub(super) fn count_up_to(text: &str, most: usize) -> usize {
    text.split_whitespace().take(most).count()
}

fn add(text: &str, words: &mut Vec<u64>) {
    let mut word = DefaultHasher::new();
    let mut open = false;
    for c in text.chars() {
        let inside = c.is_alphanumeric() && !stands_alone(c);
        if inside {
            c.to_lowercase().for_each(|c| c.hash(&mut word));
            open = true;
            continue;
        }
        if open {
            words.push(std::mem::take(&mut word).finish());
            open = false;
        }
        // An apostrophe between letters would split a word in two; that does no harm here.
        if stands_alone(c) {
            let mut single = DefaultHasher::new();
            c.hash(&mut single);
            words.push(single.finish());
        }
        if words.len() >= MOST {
            return;
        }
    }
    if open {
        words.push(word.finish());
    }
}

/// Han, kana: written without spaces.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}
