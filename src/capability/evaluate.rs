//! How good a search is: queries with the names that they should find, and the usual measures over them.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::search::{Ideas, Search, Text};

/// A line of a catalog. Other keys are left alone.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
}

/// A line of queries. Other keys are left alone.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    /// What somebody wants.
    pub query: String,
    /// The names that it should find.
    pub relevant: Vec<String>,
}

/// How many hits are looked at.
pub const DEPTH: usize = 10;

/// The measures over all queries, each the mean over queries, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// How many queries there were.
    pub queries: usize,
    /// The share of the relevant that is the first hit. Below 1 where a query has several.
    #[serde(rename = "recall@1")]
    pub recall_1: f64,
    /// The share of the relevant among the first five hits.
    #[serde(rename = "recall@5")]
    pub recall_5: f64,
    /// The share of the relevant among the first ten hits.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// 1 over the rank of the first relevant hit, 0 beyond ten.
    #[serde(rename = "mrr@10")]
    pub mrr_10: f64,
    /// Discounted gain over that of the best possible order, for relevance that is yes or no (Järvelin and Kekäläinen 2002).
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// The median time of a query, in microseconds.
    pub p50_us: u64,
    /// The time within which 99 of 100 queries are answered, in microseconds.
    pub p99_us: u64,
}

/// An evaluation: the scores, and how long reading the catalog took.
#[derive(Debug, Clone, Copy)]
pub struct Evaluation {
    /// The scores.
    pub scores: Scores,
    /// Reading the catalog, before the first query.
    pub indexing: Duration,
}

/// Searches for each query, by a ranking that may leave ideas out.
#[must_use]
pub fn evaluate(catalog: &[Entry], queries: &[Query], ideas: Ideas) -> Evaluation {
    let started = Instant::now();
    let texts = catalog.iter().map(|entry| Text { name: &entry.name, description: &entry.description });
    let search = Search::with(texts, ideas);
    let indexing = started.elapsed();
    let mut times = Vec::with_capacity(queries.len());
    let mut sums = [0.0; 5];
    for query in queries {
        let started = Instant::now();
        let hits = search.find(&[&query.query], DEPTH);
        times.push(started.elapsed());
        let names: Vec<&str> = hits.iter().map(|hit| catalog[hit.document].name.as_str()).collect();
        for (sum, value) in sums.iter_mut().zip(measure(&names, &query.relevant)) {
            *sum += value;
        }
    }
    times.sort_unstable();
    let [recall_1, recall_5, recall_10, mrr_10, ndcg_10] = sums.map(|sum| sum / queries.len().max(1) as f64);
    let scores = Scores {
        queries: queries.len(),
        recall_1,
        recall_5,
        recall_10,
        mrr_10,
        ndcg_10,
        p50_us: at(&times, 50),
        p99_us: at(&times, 99),
    };
    Evaluation { scores, indexing }
}

/// Recall at 1, 5 and 10, reciprocal rank and nDCG of one query. A name that was found twice counts once.
fn measure(found: &[&str], relevant: &[String]) -> [f64; 5] {
    let wanted: HashSet<&str> = relevant.iter().map(String::as_str).collect();
    let mut ranks: HashMap<&str, usize> = HashMap::new();
    for (rank, name) in found.iter().take(DEPTH).enumerate() {
        if wanted.contains(name) {
            ranks.entry(name).or_insert(rank);
        }
    }
    if wanted.is_empty() {
        return [0.0; 5];
    }
    let recall = |depth: usize| ranks.values().filter(|rank| **rank < depth).count() as f64 / wanted.len() as f64;
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let best: f64 = (0..wanted.len().min(DEPTH)).map(gain).sum();
    let gained: f64 = ranks.values().map(|rank| gain(*rank)).sum();
    let reciprocal = ranks.values().min().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0));
    [recall(1), recall(5), recall(10), reciprocal, gained / best]
}

fn at(sorted: &[Duration], percent: usize) -> u64 {
    let last = sorted.len().saturating_sub(1);
    let time = sorted.get((sorted.len() * percent / 100).min(last)).copied().unwrap_or_default();
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_textbook() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let close = |a: [f64; 5], b: [f64; 5]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        let log = |n: f64| 1.0 / n.log2();
        for (found, relevant, expected) in [
            ("a b c", "a", [1.0, 1.0, 1.0, 1.0, 1.0]),
            ("b a c", "a", [0.0, 1.0, 1.0, 0.5, log(3.0)]),
            ("x y a b", "a b", [0.0, 1.0, 1.0, 1.0 / 3.0, (log(4.0) + log(5.0)) / (1.0 + log(3.0))]),
            ("1 2 3 4 5 a", "a b", [0.0, 0.0, 0.5, 1.0 / 6.0, log(7.0) / (1.0 + log(3.0))]),
            ("a a", "a", [1.0, 1.0, 1.0, 1.0, 1.0]),
            ("x", "a", [0.0; 5]),
        ] {
            let found = names(found);
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            let measured = measure(&found, &names(relevant));
            assert!(close(measured, expected), "{found:?} {relevant}: {measured:?}");
        }
    }
}
