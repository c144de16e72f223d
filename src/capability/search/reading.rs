//! Reading a catalog: texts to numbered terms, and these to indexes.

use std::collections::HashMap;

use super::bm25::Builder;
use super::substring::Substrings;
use super::token::{Names, Token, tokens};
use super::words::{Stems, is_function_word};
use super::{GRAM, Idea, Ideas, Text};

/// A catalog that is being read.
pub(super) struct Reading<'a> {
    ideas: Ideas,
    stems: &'a Stems,
    /// What each word as it is written stands for, so that it is stemmed once.
    seen: HashMap<String, Option<u32>>,
    pub words: HashMap<String, u32>,
    pub word_index: Builder,
    pub grams: HashMap<u64, u32>,
    pub gram_index: Builder,
    pub substrings: Substrings,
    pub documents: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(ideas: Ideas, stems: &'a Stems) -> Self {
        Self {
            ideas,
            stems,
            seen: HashMap::new(),
            words: HashMap::new(),
            word_index: Builder::new(if ideas.has(Idea::Fields) { 2 } else { 1 }),
            grams: HashMap::new(),
            gram_index: Builder::new(1),
            substrings: Substrings::default(),
            documents: 0,
        }
    }

    pub(super) fn add(&mut self, text: Text<'_>) {
        let mut letters = Letters::default();
        let mut fields = vec![self.terms(text.name, &mut letters)];
        let description = self.terms(text.description, &mut letters);
        if self.ideas.has(Idea::Fields) {
            fields.push(description);
        } else {
            fields[0].extend(description);
        }
        self.word_index.add(&mut fields);
        if self.ideas.has(Idea::Grams) {
            let mut found = Vec::new();
            letters.grams(&mut |gram| found.push(numbered(&mut self.grams, gram)));
            self.gram_index.add(&mut [found]);
        }
        self.substrings.add(text);
        self.documents += 1;
    }

    fn terms(&mut self, text: &str, letters: &mut Letters) -> Vec<u32> {
        let mut found = Vec::new();
        tokens(text, names(self.ideas), &mut |token| {
            letters.push(token);
            if let Token::Word(word) = token
                && let Some(seen) = self.seen.get(word)
            {
                found.extend(*seen);
                return;
            }
            let number = term(token, self.ideas, self.stems).map(|word| numbered(&mut self.words, word));
            if let Token::Word(word) = token {
                self.seen.insert(word.to_owned(), number);
            }
            found.extend(number);
        });
        found
    }
}

/// The number of a term; a new one gets the next.
fn numbered<T: Eq + std::hash::Hash>(numbers: &mut HashMap<T, u32>, term: T) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(term).or_insert(next)
}

pub(super) fn names(ideas: Ideas) -> Names {
    if ideas.has(Idea::NameParts) { Names::Split } else { Names::Kept }
}

/// The term that a token stands for, unless it does not count.
pub(super) fn term(token: Token<'_>, ideas: Ideas, stems: &Stems) -> Option<String> {
    match token {
        Token::Whole(name) => Some(name.to_owned()),
        Token::Word(word) | Token::Pair(word) if ideas.has(Idea::StopWords) && is_function_word(word) => None,
        Token::Word(word) => Some(stemmed(word, ideas, stems)),
        Token::Pair(pair) => Some(pair.to_owned()),
    }
}

pub(super) fn stemmed(word: &str, ideas: Ideas, stems: &Stems) -> String {
    if ideas.has(Idea::Stemming) { stems.of(word).into_owned() } else { word.to_owned() }
}

/// The words of a text in a row, for its runs of letters. Function words stay, since a run spans words.
#[derive(Default)]
pub(super) struct Letters(String);

impl Letters {
    /// Pairs are runs already, and a whole name has the letters of its parts.
    pub(super) fn push(&mut self, token: Token<'_>) {
        if let Token::Word(word) = token {
            self.0.push(' ');
            self.0.push_str(word);
        }
    }

    /// Calls `take` with each run, packed: 16 bits a letter, so that letters beyond the basic plane may share a number.
    pub(super) fn grams(&self, take: &mut dyn FnMut(u64)) {
        let mut packed = 0u64;
        for (at, letter) in self.0.chars().chain([' ']).enumerate() {
            packed = packed << 16 | u64::from(letter as u32 & 0xffff);
            if at + 1 >= GRAM && self.0.len() > 1 {
                take(packed);
            }
        }
    }
}
