//! The plain way: names that are the query, and documents that hold the letters of its words anywhere.

use std::collections::{HashMap, HashSet};

use memchr::memmem::Finder;

use super::{Hit, Text};

/// Shorter words of Latin letters are in half of all texts.
const SHORTEST: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Substrings {
    names: HashMap<String, Vec<usize>>,
    /// Name and description of each document in lower case.
    texts: Vec<(Box<str>, Box<str>)>,
}

impl Substrings {
    pub(super) fn add(&mut self, text: Text<'_>) {
        self.names.entry(letters(text.name)).or_default().push(self.texts.len());
        self.texts.push((text.name.to_lowercase().into(), text.description.to_lowercase().into()));
    }

    /// The documents whose name is the query, whatever the case and what separates its parts.
    pub(super) fn named(&self, query: &str) -> &[usize] {
        self.names.get(&letters(query)).map_or(&[], Vec::as_slice)
    }

    /// Documents beside those of `found` that hold some of the words, in a name twice as good as in a description; all of them
    /// below the last one of `found`.
    pub(super) fn find(
        &self,
        words: &[String],
        limit: usize,
        found: &[Hit],
        allowed: &dyn Fn(usize) -> bool,
    ) -> Vec<Hit> {
        let long = |word: &&String| !word.is_ascii() || word.len() >= SHORTEST;
        let finders: Vec<Finder<'_>> = words.iter().filter(long).map(|word| Finder::new(word.as_bytes())).collect();
        let known: HashSet<usize> = found.iter().map(|hit| hit.document).collect();
        let count = |text: &str| finders.iter().filter(|finder| finder.find(text.as_bytes()).is_some()).count();
        let mut counted: Vec<(usize, usize)> = Vec::new();
        for (document, (name, description)) in self.texts.iter().enumerate() {
            let count = 2 * count(name) + count(description);
            if count > 0 && !known.contains(&document) && allowed(document) {
                counted.push((count, document));
            }
        }
        counted.sort_by_key(|(count, document)| (std::cmp::Reverse(*count), *document));
        counted.truncate(limit.saturating_sub(found.len()));
        let last = found.last().map_or(1.0, |hit| hit.score);
        let most = 3.0 * finders.len() as f32 + 1.0;
        let hit = |(count, document)| Hit { document, score: last * count as f32 / most, coverage: 0.0 };
        counted.into_iter().map(hit).collect()
    }
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
