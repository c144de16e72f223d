//! A request as what is new in it since the one before: most of its lines were sent already.

use std::collections::HashMap;

use serde::Deserialize;

// A shorter run is easier to read where it stands than to look up.
const LEAST_LINES: usize = 4;
const LEAST_BYTES: usize = 120;
// Blank lines and closing braces stand everywhere; looking at the first few is enough.
const MOST_CANDIDATES: usize = 32;

/// A request's text, whole or in parts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum RequestText {
    /// The whole text.
    Whole(String),
    /// Parts that make it up.
    Parts(Vec<Part>),
}

/// A part of a request's text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Part {
    /// Lines of the request before, counted from 1.
    Same {
        /// The first and the last line, such as `12-40`.
        same: String,
    },
    /// New text.
    New(String),
}

/// The parts that turn `old` into `new`.
pub(super) fn describe(old: &str, new: &str) -> RequestText {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    let run = |from: usize, at: usize| old[from..].iter().zip(&new[at..]).take_while(|(a, b)| a == b).count();

    let mut parts = Vec::new();
    let mut fresh = String::new();
    // Where the last run ended: text usually goes on there.
    let mut next = 0;
    let mut at = 0;
    while at < new.len() {
        let known = places.get(new[at]).map_or(&[][..], Vec::as_slice);
        let here = known.binary_search(&next).map_or(0, |_| run(next, at));
        let best = known
            .iter()
            .take(MOST_CANDIDATES)
            .map(|&from| (run(from, at), from))
            .chain([(here, next)])
            .max_by_key(|(length, from)| (*length, *from == next));
        match best {
            Some((length, from)) if is_worth_it(&new[at..at + length]) => {
                if !fresh.is_empty() {
                    parts.push(Part::New(std::mem::take(&mut fresh)));
                }
                parts.push(Part::Same { same: format!("{}-{}", from + 1, from + length) });
                next = from + length;
                at += length;
            }
            _ => {
                fresh.push_str(new[at]);
                at += 1;
            }
        }
    }
    if !fresh.is_empty() {
        parts.push(Part::New(fresh));
    }
    match &mut parts[..] {
        [] => RequestText::Whole(String::new()),
        [Part::New(text)] => RequestText::Whole(std::mem::take(text)),
        _ => RequestText::Parts(parts),
    }
}

fn is_worth_it(lines: &[&str]) -> bool {
    lines.len() >= LEAST_LINES || lines.iter().map(|line| line.len()).sum::<usize>() >= LEAST_BYTES
}

impl RequestText {
    /// The whole text, given the one before.
    ///
    /// # Errors
    /// Lines that the text before does not have.
    pub(super) fn resolve(&self, old: &str) -> Result<String, String> {
        let parts = match self {
            Self::Whole(text) => return Ok(text.clone()),
            Self::Parts(parts) => parts,
        };
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let mut out = String::new();
        for part in parts {
            match part {
                Part::New(text) => out.push_str(text),
                Part::Same { same } => {
                    let found = range(same).and_then(|(first, last)| lines.get(first.checked_sub(1)?..last));
                    let found = found.ok_or_else(|| {
                        format!("`same: {same}` names no lines of the request before, which has {}", lines.len())
                    })?;
                    out.extend(found.iter().copied());
                }
            }
        }
        Ok(out)
    }
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_that_was_sent_before_is_named_and_not_repeated() {
        let log: String = (0..300).map(|at| format!("line {at} of the log\n")).collect();
        let old = format!("--- system\nyou\n--- now\n{log}state 1\n");
        let new = format!("--- system\nyou\n--- user\nfound one\n--- now\n{log}state 2\n");
        let parts = describe(&old, &new);
        assert_eq!(parts.resolve(&old).unwrap(), new);
        assert_eq!(
            parts,
            RequestText::Parts(vec![
                Part::New("--- system\nyou\n--- user\nfound one\n".into()),
                Part::Same { same: "3-303".into() },
                Part::New("state 2\n".into()),
            ])
        );
    }

    #[test]
    fn lines_that_are_not_there_are_an_error() {
        for same in ["3-4", "0-1", "2-1x", "", "2-1"] {
            let text = RequestText::Parts(vec![Part::Same { same: same.into() }]);
            let result = text.resolve("a\nb\n");
            assert!(result.is_err() || result == Ok(String::new()), "{same}: {result:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(old in "([ab]{0,2}\n){0,30}[ab]?", new in "([ab]{0,2}\n){0,30}[ab]?") {
            prop_assert_eq!(describe(&old, &new).resolve(&old).unwrap(), new);
        }
    }
}
