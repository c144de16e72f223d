//! The cases in tests/cases/caps/search.

use std::path::Path;

use indexmap::IndexMap;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    catalog: IndexMap<String, String>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    query: Option<String>,
    #[serde(default)]
    queries: Vec<String>,
    #[serde(default = "ten")]
    limit: usize,
    first: Option<String>,
    #[serde(default)]
    among: Vec<String>,
    within: Option<usize>,
    #[serde(default)]
    none: bool,
    count: Option<usize>,
}

fn ten() -> usize {
    10
}

/// What is wrong with the hits of a case, if anything.
fn fault(case: &Case, hits: &[&str]) -> Option<String> {
    let seen = &hits[..case.within.unwrap_or(hits.len()).min(hits.len())];
    if let Some(first) = &case.first
        && hits.first() != Some(&first.as_str())
    {
        return Some(format!("`{first}` is not first"));
    }
    if let Some(missing) = case.among.iter().find(|name| !seen.contains(&name.as_str())) {
        return Some(format!("`{missing}` is not among them"));
    }
    match (case.none && !hits.is_empty(), case.count) {
        (true, _) => Some("nothing was to be found".to_owned()),
        (false, Some(count)) if count != hits.len() => Some(format!("{count} were to be found")),
        _ => None,
    }
}

#[test]
fn every_case_of_a_search_finds_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/caps/search");
    let (mut faults, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: File = serde_yaml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let names: Vec<&str> = file.catalog.keys().map(String::as_str).collect();
        let search = Search::new(file.catalog.iter().map(|(name, description)| Text { name, description }));
        for case in &file.cases {
            let queries: Vec<&str> = case.query.iter().chain(&case.queries).map(String::as_str).collect();
            let found = search.find(&queries, case.limit);
            assert!(found.iter().all(|hit| hit.score > 0.0 && (0.0..=1.0).contains(&hit.coverage)), "{found:?}");
            assert!(found.windows(2).all(|two| two[0].score >= two[1].score), "{found:?}");
            let hits: Vec<&str> = found.iter().map(|hit| names[hit.document]).collect();
            count += 1;
            if let Some(fault) = fault(case, &hits) {
                faults.push(format!("{}: {queries:?}: {fault}: {hits:?}", path.display()));
            }
        }
    }
    assert!(count > 0);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn an_empty_catalog_finds_nothing() {
    assert!(Search::new([]).find(&["anything"], 10).is_empty());
}

#[test]
fn ideas_that_are_left_out_are_left_out() {
    let catalog = [Text { name: "translateText", description: "" }];
    let finds = |left_out: &[Idea], query| {
        let all = [left_out, &[Idea::Grams, Idea::Synonyms]].concat();
        Search::with(catalog, Ideas::without(&all)).find(&[query], 1).first().is_some_and(|hit| hit.coverage > 0.0)
    };
    assert!(finds(&[], "translate") && !finds(&[Idea::NameParts], "translate"));
    assert!(finds(&[], "translation") && !finds(&[Idea::Stemming], "translation"));
}
