//! The crate `bm25` with its English defaults: reads a catalog, then prints a line of names for each query, then the times.
//!
//! bm25_crate CATALOG.jsonl QUERIES.jsonl

use std::time::Instant;

use bm25::{Document, Language, SearchEngineBuilder};
use serde_json::{Value, json};

fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let (catalog, queries) = (lines(&paths[0]), lines(&paths[1]));
    let names: Vec<&str> = catalog.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let started = Instant::now();
    let documents = catalog.iter().enumerate().map(|(id, entry)| {
        let contents = format!("{} {}", entry["name"].as_str().unwrap(), entry["description"].as_str().unwrap());
        Document { id, contents }
    });
    let documents: Vec<_> = documents.collect();
    let engine = SearchEngineBuilder::<usize>::with_documents(Language::English, documents).build();
    let indexing = started.elapsed().as_secs_f64();
    let mut times = Vec::new();
    let mut found = Vec::new();
    for query in &queries {
        let started = Instant::now();
        let hits = engine.search(query["query"].as_str().unwrap(), 10);
        times.push(started.elapsed().as_secs_f64());
        found.push(hits.iter().map(|hit| names[hit.document.id]).collect::<Vec<_>>());
    }
    println!("{}", json!({ "indexing": indexing, "times": times, "found": found }));
}
