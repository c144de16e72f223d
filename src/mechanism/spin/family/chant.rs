//! `chant`: one text says a piece of itself over and over.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::super::lane::Lane;
use super::super::settings::{Chant, Settings};
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family { name: "chant", about: "a piece of one text over and over", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.chant;
    let current = lane.texts.back().filter(|text| set.enabled && lane.last == Some(text.kind))?;
    let count = current.chant?;
    let text = format!("a piece of {} characters comes {count} times and more in one text", set.chunk);
    Judged::hard(vec![current.step], count, set.n, text)
}

/// Characters at the end of a text that are looked at, as a stream would see them.
const MOST: usize = 5000;
/// The longest way from one piece to the next on average, in pieces.
const FARTHEST: usize = 5;

/// How often a piece of a text comes in short succession, when it is often enough.
///
/// The rule of gemini-cli's detector of chants: pieces of prose only, close together, with few kinds of text between.
pub(in super::super) fn repeats(text: &str, set: &Chant) -> Option<usize> {
    if text.len() < set.chunk.saturating_mul(set.n).max(1) {
        return None;
    }
    prose(text).iter().filter_map(|part| in_prose(part, set)).max()
}

/// The stretches of plain prose in a text: no fenced code, and nothing across headings, lists, tables, quotes and rules.
fn prose(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if fence {
            fenced = !fenced;
        }
        if fence || fenced || is_structure(trimmed) {
            if parts.last().is_some_and(|part| !part.is_empty()) {
                parts.push(String::new());
            }
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts
}

fn is_structure(line: &str) -> bool {
    let numbered =
        line.find(['.', ')']).is_some_and(|at| at > 0 && at <= 4 && line[..at].bytes().all(|b| b.is_ascii_digit()));
    numbered || ["#", ">", "|", "* ", "- ", "+ ", "---", "***", "===", "___"].iter().any(|mark| line.starts_with(mark))
}

fn in_prose(text: &str, set: &Chant) -> Option<usize> {
    let chars: Vec<char> = text.chars().collect();
    let chars = chars.get(chars.len().saturating_sub(MOST)..)?;
    if set.chunk == 0 || set.n < 2 || chars.len() < set.chunk.saturating_add(set.n) {
        return None;
    }
    let hashes = Hashes::of(chars);
    let farthest = (set.n - 1).saturating_mul(set.chunk.saturating_mul(FARTHEST));
    // Of each piece how often it came and where last; of each place where its piece came before.
    let mut seen: HashMap<u64, (usize, usize), Plain> = HashMap::default();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(chars.len());
    for at in 0..=chars.len() - set.chunk {
        let entry = seen.entry(hashes.span(at, at + set.chunk)).or_insert((0, at));
        before.push((entry.0 > 0).then_some(entry.1));
        *entry = (entry.0 + 1, at);
        if entry.0 < set.n {
            continue;
        }
        let places: Vec<usize> =
            std::iter::successors(Some(at), |at| before.get(*at).copied().flatten()).take(set.n).collect();
        let near = places.last().is_some_and(|first| at - first <= farthest);
        let between: HashSet<u64> =
            places.iter().zip(places.iter().skip(1)).map(|(end, start)| hashes.span(*start, *end)).collect();
        if near && between.len() <= set.max_periods {
            return Some(entry.0);
        }
    }
    None
}

/// Hashes of all prefixes, from which that of any span follows in one step (Karp and Rabin, 1987).
struct Hashes {
    prefixes: Vec<u64>,
    powers: Vec<u64>,
}

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hashes {
    fn of(chars: &[char]) -> Self {
        let (mut prefixes, mut powers) = (vec![0u64], vec![1u64]);
        let (mut hash, mut power) = (0u64, 1u64);
        for c in chars {
            hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(u32::from(*c)) + 1);
            power = power.wrapping_mul(BASE);
            prefixes.push(hash);
            powers.push(power);
        }
        Self { prefixes, powers }
    }

    fn span(&self, start: usize, end: usize) -> u64 {
        let prefix = |at: usize| self.prefixes.get(at).copied().unwrap_or_default();
        let power = self.powers.get(end - start).copied().unwrap_or_default();
        prefix(end).wrapping_sub(prefix(start).wrapping_mul(power))
    }
}

/// The keys are hashes already.
type Plain = BuildHasherDefault<AsItIs>;

#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `write_u64` is called, as the keys are `u64`.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        // The table looks at the highest bits, which a product fills from all.
        self.0 = hash ^ hash.rotate_left(32);
    }
}
