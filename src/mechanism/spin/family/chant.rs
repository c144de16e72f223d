//! `chant`: one text says a piece of itself over and over.

use std::collections::{HashMap, HashSet};

use super::super::lane::Lane;
use super::super::settings::{Chant, Settings};
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family { name: "chant", about: "a piece of one text over and over", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.chant;
    let current = lane.texts.back().filter(|text| set.enabled && lane.last == Some(text.kind))?;
    let count = current.chant?;
    let text = format!("a piece of {} characters comes {count} times in one text", set.chunk);
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
    let mut seen: HashMap<&[char], Vec<usize>> = HashMap::new();
    let mut most = None;
    for (at, piece) in chars.windows(set.chunk).enumerate() {
        let places = seen.entry(piece).or_default();
        places.push(at);
        let Some(&first) = places.len().checked_sub(set.n).and_then(|from| places.get(from)) else { continue };
        let near = at - first <= (set.n - 1).saturating_mul(set.chunk.saturating_mul(FARTHEST));
        let recent = places.get(places.len() - set.n..).unwrap_or_default();
        let between: HashSet<&[char]> =
            recent.iter().zip(recent.iter().skip(1)).filter_map(|(a, b)| chars.get(*a..*b)).collect();
        if near && between.len() <= set.max_periods {
            most = most.max(Some(places.len()));
        }
    }
    most
}
