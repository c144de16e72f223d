//! The same findings in every output.

use super::{Color, Report, concise, full, github, gitlab, json, junit, sarif};
use crate::diag::{Diagnostic, SourceMap, Span, codes};

fn findings() -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let text = "limits:\n\tmax: 3\nname: \"日本\" # é\nstate:\n  - a\n  - b\n";
    let file = sources.add("loops/a,b.yaml", text);
    let at = |words: &str| {
        let start = text.find(words).unwrap();
        Span::new(file, start as u32, (start + words.len()) as u32)
    };
    let found = vec![
        Diagnostic::error(codes::YAML_TAB, at("\t"), "a tab is used for indentation").help("indent with spaces"),
        Diagnostic::error(codes::DUPLICATE_KEY, at("name"), "key `name` is written twice")
            .label(at("limits"), "first written here")
            .help("remove one of the two `name`"),
        Diagnostic::warning(codes::AMBIGUOUS_NUMBER, at("\"日本\""), "100% odd\nreally").fix(at("\"日本\""), "\"x\""),
        Diagnostic::info(codes::WRONG_TYPE, at("- a\n  - b"), "expected a map, found a list"),
        Diagnostic::error(codes::EMPTY_FILE, None, "no place at all"),
    ];
    (sources, found)
}

#[test]
fn full_shows_the_exact_place() {
    let (sources, found) = findings();
    insta::assert_snapshot!(full(&found, &sources, Color::Plain));
    let coloured = full(&found, &sources, Color::Ansi);
    assert!(coloured.contains("\u{1b}["));
}

#[test]
fn concise_is_one_line_each() {
    let (sources, found) = findings();
    insta::assert_snapshot!(concise(&found, &sources));
}

#[test]
fn github_escapes_what_would_end_a_command() {
    let (sources, found) = findings();
    insta::assert_snapshot!(github(&found, &sources));
}

#[test]
fn json_has_every_field_of_every_finding() {
    let (sources, found) = findings();
    insta::assert_snapshot!(json(&found, &sources));
}

fn report<'a>(sources: &'a SourceMap, found: &'a [Diagnostic], files: &'a [std::path::PathBuf]) -> Report<'a> {
    Report { findings: found, sources, files, base: std::path::Path::new("/work"), deny_warnings: false }
}

#[test]
fn gitlab_has_a_place_and_a_fingerprint_for_each() {
    let (sources, found) = findings();
    insta::assert_snapshot!(gitlab(&report(&sources, &found, &[])));
}

#[test]
fn junit_has_a_case_a_file() {
    let (sources, found) = findings();
    let files = ["loops/a,b.yaml", "/work/loops/fine.yaml"].map(std::path::PathBuf::from);
    insta::assert_snapshot!(junit(&report(&sources, &found, &files)));
}

/// Whatever a message holds, the document stays well-formed: no control characters, no markup.
#[test]
fn junit_is_well_formed_for_any_message() {
    use proptest::test_runner::{Config, TestRunner};
    let (sources, _) = findings();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let run = |text: String| {
        let found = [Diagnostic::error(codes::EMPTY_FILE, None, text.clone()).help(text)];
        let out = junit(&report(&sources, &found, &[]));
        assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
        assert_eq!(out.matches('<').count(), 9, "{out}");
        assert_eq!(out.matches('>').count(), 9, "{out}");
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#9;", "&#10;", "&#13;"];
        let all = known.iter().map(|entity| out.matches(entity).count()).sum::<usize>();
        assert_eq!(out.matches('&').count(), all, "{out}");
        Ok(())
    };
    runner.run(&proptest::prelude::any::<String>(), run).unwrap();
    runner.run(&"[\\x00-\\x20&<>\"';#]{0,20}", run).unwrap();
}

/// What readers of SARIF insist on: <https://docs.github.com/en/code-security/code-scanning> and the 2.1.0 schema.
#[test]
fn sarif_has_the_form_that_readers_want() {
    let (sources, found) = findings();
    let log: serde_json::Value = serde_json::from_str(&sarif(&report(&sources, &found, &[]))).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        }
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), found.len());
    for (result, finding) in results.iter().zip(&found) {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!((&rule["id"], result["ruleId"].as_str()), (&result["ruleId"], Some(finding.code.as_str())));
        assert!(result["message"]["text"].as_str().unwrap().contains(&finding.message));
        assert_eq!(result["locations"].is_array(), finding.span.is_some());
        for place in result["locations"].as_array().into_iter().flatten() {
            let place = &place["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "loops/a%2Cb.yaml");
            for number in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(place["region"][number].as_u64().unwrap() >= 1, "{place}");
            }
        }
    }
    let replacement = &results[2]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "\"x\"");
    assert_eq!(
        (&replacement["deletedRegion"]["startLine"], &replacement["deletedRegion"]["startColumn"]),
        (&3.into(), &7.into())
    );
    let related = &results[1]["relatedLocations"][0];
    assert_eq!((&related["message"]["text"], &related["id"]), (&"first written here".into(), &1.into()));
}

/// A report of yesterday and one of today agree about a finding whose line has moved.
#[test]
fn fingerprints_do_not_know_lines() {
    let of = |text: &str| {
        let mut sources = SourceMap::new();
        let file = sources.add("a.yaml", text);
        let places = text.match_indices("zebra").map(|(at, _)| Span::new(file, at as u32, at as u32 + 5));
        let found: Vec<Diagnostic> =
            places.map(|place| Diagnostic::error(codes::UNKNOWN_KEY, place, "unknown key `zebra`")).collect();
        let rows: Vec<serde_json::Value> = serde_json::from_str(&gitlab(&report(&sources, &found, &[]))).unwrap();
        rows.iter().map(|row| row["fingerprint"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (before, after) = (of("zebra: 1\nx: { zebra: 2 }\n"), of("# moved\n\n  zebra: 1\nx:\n  zebra: 3\n"));
    assert_eq!(before, after);
    assert_ne!(before[0], before[1], "two findings that say the same are two");
}
