//! Labels of any text leave every output as it is.

use proptest::prelude::*;

use super::*;

/// A small loop whose texts are all `words`.
fn with_text(words: &str) -> Graph {
    let node = |kind, column, leads_to| Node {
        kind,
        label: words.to_owned(),
        details: vec![words.to_owned()],
        column,
        leads_to,
    };
    let nodes = vec![
        node(NodeKind::Start, 0, None),
        node(NodeKind::Turn, 2, None),
        node(NodeKind::Action, 3, None),
        node(NodeKind::Loop, 4, Some(0)),
        node(NodeKind::Success, 5, None),
    ];
    let edge = |from, to, kind| Edge { from, to, kind };
    let edges = vec![
        edge(0, 1, EdgeKind::Flow),
        edge(1, 2, EdgeKind::Flow),
        edge(2, 3, EdgeKind::Uses),
        edge(2, 4, EdgeKind::Flow),
        edge(4, 1, EdgeKind::Back),
    ];
    let one = LoopGraph { name: words.to_owned(), description: words.to_owned(), nodes, edges };
    Graph { loops: vec![one.clone(), one] }
}

/// The text without what stands in double quotes, where `\` takes the next character with it.
fn outside_quotes(text: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if inside => drop(chars.next()),
            '"' => inside = !inside,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    assert!(!inside, "a quote is open: {text}");
    out
}

/// Every tag of an XML text with the names of its attributes; panics where one is not well formed.
fn tags(text: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag is closed");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "{text}");
        } else if !tag.ends_with('/') {
            open.push(name.clone());
        }
        let attributes: Vec<&str> = tag.split('"').step_by(2).collect();
        tags.push(format!("{name} {}", attributes.join("")));
    }
    assert!(open.is_empty());
    let entities =
        text.split('&').skip(1).all(|rest| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|e| rest.starts_with(e)));
    assert!(entities, "a bare ampersand: {text}");
    tags
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_label_breaks_out(words in "[\"\\\\<>&'`;#%{}()\\[\\]|\n\r\t a-z\u{202e}\u{0}-]{1,12}|\\PC{1,16}|.{1,9}|(end|%%\\{init\\}%%|--|</text>|\\]\\]>|\"\\]|&lt;)") {
        let (plain, hostile) = (with_text("plain words"), with_text(&words));
        prop_assert_eq!(outside_quotes(&mermaid(&plain)), outside_quotes(&mermaid(&hostile)));
        prop_assert!(!mermaid(&hostile).contains(['`', '%', ';']) || mermaid(&hostile).split(';').all(|part| !part.contains('`')));
        prop_assert_eq!(outside_quotes(&dot(&plain)), outside_quotes(&dot(&hostile)));
        prop_assert_eq!(tags(&svg(&plain)), tags(&svg(&hostile)));
        for text in [mermaid(&hostile), dot(&hostile), svg(&hostile)] {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
    }
}

#[test]
fn long_labels_are_cut_and_told_whole() {
    let long = "word ".repeat(100);
    let picture = svg(&with_text(&long));
    assert!(picture.contains("…</text>") && picture.contains(long.trim()));
    assert!(mermaid(&with_text(&long)).lines().all(|line| line.chars().count() < 220));
}
