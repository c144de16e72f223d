//! The comments of a document: real ones, and not text that looks like one.

use std::ops::Range;

use granit_parser::{Event, Parser};

use super::Format;

/// The bytes of each comment, its `#` included. After a mistake of the notation there may be more.
pub fn comments(text: &str, format: Format) -> Vec<Range<usize>> {
    if !text.contains('#') {
        return Vec::new();
    }
    match format {
        Format::Yaml => in_yaml(text),
        Format::Toml => in_toml(text),
    }
}

fn in_yaml(text: &str) -> Vec<Range<usize>> {
    let options = granit_parser::options! { emit_comments: true, emit_unresolved_aliases: true };
    let mut found = Vec::new();
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((Event::Comment(..), span)) => found.extend(span.byte_range()),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    found
}

/// TOML has four kinds of strings; everything else holds no `#` that is not a comment's.
fn in_toml(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(['#', '"', '\'']) {
        let start = at + next;
        let rest = &text[start..];
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| rest.starts_with(quotes));
        at = match quotes {
            Some(quotes) => start + quotes.len() + string_end(&rest[quotes.len()..], quotes),
            None => {
                let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
                found.push(start..end);
                end
            }
        };
    }
    found
}

/// How long a string is whose opening quotes have been read, its closing ones included.
fn string_end(text: &str, quotes: &str) -> usize {
    let escapes = quotes.starts_with('"');
    let single = quotes.len() == 1;
    let mut at = 0;
    while let Some(next) = text[at..].find(['\\', '\n', '"', '\'']) {
        let here = at + next;
        let rest = &text[here..];
        if rest.starts_with(quotes) {
            return here + quotes.len();
        }
        // A string of one line that is not closed is a mistake, and ends with its line.
        if single && rest.starts_with('\n') {
            return here;
        }
        let skipped = if escapes && rest.starts_with('\\') { 1 } else { 0 };
        at = here + 1;
        if skipped == 1 {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, format: Format) -> Vec<&str> {
        comments(text, format).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn text_that_looks_like_a_comment_is_none() {
        let yaml = "# é\na: x # one\nb: |\n  # text\n  more # text\nc: 'a # b'\nd: \"# c\"\ne: a#b\nf: # two\n  - 1\n";
        assert_eq!(of(yaml, Format::Yaml), ["# é", "# one", "# two"]);
        let toml = "# é\na = 'x # y' # one\nb = \"\\\" # c\" # two\nc = \"\"\"\n# text \\\"\"\"\" # three\nd = '''\n# ' text''' # four\n[e] # five";
        assert_eq!(of(toml, Format::Toml), ["# é", "# one", "# two", "# three", "# four", "# five"]);
        assert_eq!(of("a = \"open # text\nb = 1 # one\n", Format::Toml), ["# one"]);
    }

    #[test]
    fn no_text_makes_it_panic() {
        use proptest::test_runner::{Config, TestRunner};
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
        let run = |text: String| {
            for format in [Format::Yaml, Format::Toml] {
                for range in comments(&text, format) {
                    assert!(text[range].starts_with('#'), "{text:?}");
                }
            }
            Ok(())
        };
        runner.run(&"[#\"'\\\\\na: é|\\[\\]\\t-]{0,40}", run).unwrap();
        runner.run(&proptest::prelude::any::<String>(), run).unwrap();
    }
}
