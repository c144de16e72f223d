//! The same findings in every output.

use super::{Color, concise, full, github, json};
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
