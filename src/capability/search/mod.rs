//! The best documents of a catalog for a query, without a model: BM25 over words and over runs of letters.

mod bm25;
mod idea;
mod reading;
mod substring;
#[cfg(test)]
mod tests;
mod token;
mod words;

use std::collections::HashMap;

pub use idea::{Idea, Ideas};

use bm25::Index;
use reading::{Letters, Reading, names, stemmed, term};
use substring::Substrings;
use token::Token;
use words::{Stems, Synonyms};

/// What is searched: a name and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The name as a program has it: `get_water_quality`.
    pub name: &'a str,
    /// What it does, and whatever else should be found.
    pub description: &'a str,
}

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place in the catalog.
    pub document: usize,
    /// How well it fits, to compare with other hits of the same search; above 0.
    pub score: f32,
    /// How much of what the query says is in it, by its words: 0 nothing, 1 everything.
    pub coverage: f32,
}

/// The weight of runs of letters beside words, where the best of each kind has 1. From 0.5 to 1 the three sets of tools in
/// docs/capabilities.md stay within 0.002 nDCG.
const GRAM_WEIGHT: f32 = 0.7;

/// The length of a run of letters. Three letters are too common: 0.003 nDCG less, and twice the time.
const GRAM: usize = 4;

/// Runs of letters in more documents than this say too little for the time that they take: without them a query over 100,000
/// tools takes a quarter to two thirds, and the ranking is as good.
const MOST_OF_A_GRAM: usize = 5000;

/// A document without any word of the query is a hit if it has one in so many runs of letters of a word: `internet` has five of
/// the eight of `interrnet`, but `other` has two of the six of `weather`.
const ENOUGH_LETTERS: usize = 2;

/// The weight of a word that only means nearly the same. From 0.3 to 0.5 makes no difference.
const SYNONYM_WEIGHT: f32 = 0.4;

/// The weight of the best sentence beside the whole query. At 1 long queries gain as much as short ones lose.
const SENTENCE_WEIGHT: f32 = 0.5;

/// Sentences that are ranked alone; what follows them counts as one.
const MOST_SENTENCES: usize = 8;

/// A catalog that was read, ready for searches.
#[derive(Debug)]
pub struct Search {
    ideas: Ideas,
    stems: Stems,
    synonyms: Synonyms,
    words: HashMap<String, u32>,
    word_index: Index,
    grams: HashMap<u64, u32>,
    gram_index: Index,
    substrings: Substrings,
    documents: usize,
}

impl Search {
    /// Reads a catalog.
    #[must_use]
    pub fn new<'a>(catalog: impl IntoIterator<Item = Text<'a>>) -> Self {
        Self::with(catalog, Ideas::default())
    }

    /// Reads a catalog for a ranking that leaves some ideas out.
    #[must_use]
    pub fn with<'a>(catalog: impl IntoIterator<Item = Text<'a>>, ideas: Ideas) -> Self {
        let stems = Stems::new();
        let mut reading = Reading::new(ideas, &stems);
        for text in catalog {
            reading.add(text);
        }
        let Reading { words, word_index, grams, gram_index, substrings, documents, .. } = reading;
        let synonyms = Synonyms::new(|word| stemmed(word, ideas, &stems));
        Self {
            ideas,
            stems,
            synonyms,
            words,
            word_index: word_index.finish(usize::MAX),
            grams,
            gram_index: gram_index.finish(MOST_OF_A_GRAM),
            substrings,
            documents,
        }
    }

    /// The documents that fit best, at most `limit`, the best first; ties in the order of the catalog.
    ///
    /// Several queries are several sides of one search: a document is as good as it is for all of them together and for the
    /// one that it fits best. A query that is a name finds it first, whatever its case.
    #[must_use]
    pub fn find(&self, queries: &[&str], limit: usize) -> Vec<Hit> {
        self.find_where(queries, limit, &|_| true)
    }

    /// The same among the documents that are allowed.
    #[must_use]
    pub fn find_where(&self, queries: &[&str], limit: usize, allowed: &dyn Fn(usize) -> bool) -> Vec<Hit> {
        let asked: Vec<Asked> = self.parts(queries).iter().map(|part| self.read(part)).collect();
        let whole = Asked::all(&asked, self.ideas);
        let mut scores = self.scores(&whole);
        if self.ideas.has(Idea::Sentences) && asked.len() > 1 {
            let mut best = vec![0.0; self.documents];
            for part in &asked {
                for (best, score) in best.iter_mut().zip(self.scores(part)) {
                    *best = f32::max(*best, score);
                }
            }
            normalise(&mut scores);
            normalise(&mut best);
            add(&mut scores, &best, SENTENCE_WEIGHT);
        }
        for document in queries.iter().flat_map(|query| self.substrings.named(query)) {
            // Above what any other document can have: at most 1 for words and sentences, and the weight of runs.
            scores[*document] += 4.0;
        }
        for (document, score) in scores.iter_mut().enumerate().filter(|(_, score)| **score > 0.0) {
            if !allowed(document) {
                *score = 0.0;
            }
        }
        let mut hits = best(&scores, limit);
        hits.retain(|hit| self.is_meant(&whole, hit.document));
        if hits.len() < limit {
            hits.extend(self.substrings.find(&whole.typed, limit, &hits, allowed));
        }
        for hit in &mut hits {
            let parts = asked.iter().map(|part| self.coverage(part, hit.document));
            hit.coverage = parts.fold(0.0, f32::max);
        }
        hits
    }

    /// Whether a document has a word of the query, or enough letters of one: among many documents some have a few by chance.
    fn is_meant(&self, asked: &Asked, document: usize) -> bool {
        let Ok(document) = u32::try_from(document) else { return false };
        asked.words.iter().any(|(term, _)| self.word_index.holds(*term, document))
            || asked.letters.iter().any(|word| {
                let held = word.known.iter().filter(|gram| self.gram_index.holds(**gram, document)).count();
                held > 0 && held * ENOUGH_LETTERS >= word.count
            })
    }

    fn parts<'a>(&self, queries: &[&'a str]) -> Vec<&'a str> {
        let most = if self.ideas.has(Idea::Sentences) { MOST_SENTENCES } else { 1 };
        queries.iter().flat_map(|query| token::sentences(query, most)).collect()
    }

    /// What a text asks for, in the terms of the catalog.
    fn read(&self, text: &str) -> Asked {
        let mut asked = Asked::default();
        let mut letters = Letters::default();
        token::tokens(text, names(self.ideas), &mut |token| {
            if self.ideas.has(Idea::RequestWords) && words::is_request_word(token.text()) {
                return;
            }
            letters.push(token);
            let Some(word) = term(token, self.ideas, &self.stems) else { return };
            if !matches!(token, Token::Whole(_)) {
                asked.typed.push(token.text().to_owned());
                asked.letters.push(self.letters_of(token));
            }
            match self.words.get(&word) {
                Some(term) => asked.words.push((*term, 1.0)),
                None if matches!(token, Token::Whole(_)) => {}
                None => asked.unknown += 1,
            }
            if self.ideas.has(Idea::Synonyms) {
                let near = self.synonyms.of(&word).iter().filter_map(|word| self.words.get(word));
                asked.words.extend(near.map(|term| (*term, SYNONYM_WEIGHT)));
            }
        });
        // Without a word that counts, the letters are those of words that do not.
        if self.ideas.has(Idea::Grams) && !asked.typed.is_empty() {
            letters.grams(&mut |gram| asked.grams.extend(self.grams.get(&gram)));
        }
        asked.unite(self.ideas);
        asked
    }

    fn letters_of(&self, token: Token<'_>) -> WordLetters {
        let mut letters = Letters::default();
        letters.push(token);
        let mut word = WordLetters::default();
        letters.grams(&mut |gram| {
            word.count += 1;
            word.known.extend(self.grams.get(&gram));
        });
        word
    }

    fn scores(&self, asked: &Asked) -> Vec<f32> {
        let mut scores = vec![0.0; self.documents];
        for (term, weight) in &asked.words {
            self.word_index.add(*term, *weight, &mut scores);
        }
        if !asked.grams.is_empty() {
            let mut by_grams = vec![0.0; self.documents];
            for gram in &asked.grams {
                self.gram_index.add(*gram, 1.0, &mut by_grams);
            }
            normalise(&mut scores);
            normalise(&mut by_grams);
            add(&mut scores, &by_grams, GRAM_WEIGHT);
        }
        scores
    }

    /// The share of the query's words that the document has, each weighed by how much it says.
    fn coverage(&self, asked: &Asked, document: usize) -> f32 {
        let Ok(document) = u32::try_from(document) else { return 0.0 };
        let (mut all, mut held) = (self.word_index.rarest() * asked.unknown as f32, 0.0);
        for (term, weight) in &asked.words {
            let says = self.word_index.idf(*term);
            // A synonym is not asked for, but it counts where it is found.
            if *weight >= 1.0 {
                all += says;
            }
            if self.word_index.holds(*term, document) {
                held += weight * says;
            }
        }
        if all > 0.0 { (held / all).min(1.0) } else { 0.0 }
    }
}

/// What a query asks for: terms of the catalog with their weights.
#[derive(Debug, Default)]
struct Asked {
    words: Vec<(u32, f32)>,
    grams: Vec<u32>,
    /// How many words no document has.
    unknown: usize,
    /// The words as they were written, but for case.
    typed: Vec<String>,
    /// The runs of letters of each of these words.
    letters: Vec<WordLetters>,
}

/// The runs of letters of one word.
#[derive(Debug, Default, Clone)]
struct WordLetters {
    count: usize,
    /// Those that the catalog has.
    known: Vec<u32>,
}

impl Asked {
    /// All parts of a query together.
    fn all(parts: &[Asked], ideas: Ideas) -> Self {
        let mut whole = Self::default();
        for part in parts {
            whole.words.extend(&part.words);
            whole.grams.extend(&part.grams);
            whole.unknown += part.unknown;
            whole.typed.extend(part.typed.iter().cloned());
            whole.letters.extend(part.letters.iter().cloned());
        }
        whole.unite(ideas);
        whole
    }

    /// Each term once, with its highest weight; each run of letters once.
    fn unite(&mut self, ideas: Ideas) {
        if ideas.has(Idea::UniqueTerms) {
            self.words.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            self.words.dedup_by_key(|(term, _)| *term);
        }
        self.grams.sort_unstable();
        self.grams.dedup();
        self.typed.sort_unstable();
        self.typed.dedup();
    }
}

/// Divides by the highest score.
fn normalise(scores: &mut [f32]) {
    let highest = scores.iter().copied().fold(0.0, f32::max);
    if highest > 0.0 {
        scores.iter_mut().for_each(|score| *score /= highest);
    }
}

fn add(scores: &mut [f32], more: &[f32], weight: f32) {
    scores.iter_mut().zip(more).for_each(|(score, more)| *score += weight * more);
}

/// The documents of the highest scores above 0, the best first, ties in order.
fn best(scores: &[f32], limit: usize) -> Vec<Hit> {
    let hit = |(document, score): (usize, &f32)| Hit { document, score: *score, coverage: 0.0 };
    let mut hits: Vec<Hit> = scores.iter().enumerate().filter(|(_, score)| **score > 0.0).map(hit).collect();
    let order = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document));
    if limit > 0 && limit < hits.len() {
        hits.select_nth_unstable_by(limit - 1, order);
    }
    hits.truncate(limit);
    hits.sort_by(order);
    hits
}
