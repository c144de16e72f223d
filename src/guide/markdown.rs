//! Markdown around text that others wrote: whatever it holds, it stays text.

/// Text in a paragraph or a table's cell, on one line: no markup, no HTML, no links that nobody meant.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in one_line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '!' | '~' | '$' | '^' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // GitHub makes links of bare addresses; a letter that is spelled out keeps them text.
            ':' => out.push_str("&#58;"),
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    let out = out.replace("&#58; ", ": ");
    let out = out.strip_suffix("&#58;").map_or(out.clone(), |start| format!("{start}:"));
    out.replace("www.", "www&#46;")
}

/// Text as it is, in a code span.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(runs + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text on one line, without what does not print.
fn one_line(text: &str) -> String {
    let hidden =
        |c: char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}');
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(|c| if c.is_control() || hidden(c) { '\u{FFFD}' } else { c }).collect()
}

/// A table; the cells are Markdown already. Nothing when there are no rows.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| in_cell(cell)).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// A cell in which every `|` is escaped, in code spans too: a table is cut into cells before anything else is read.
fn in_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for c in text.chars() {
        if c == '|' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_leaves_its_cell(text in "[a|`<>&\\\\\n\r\\[\\]()!:/@w. *_#-]{0,24}|\\PC{0,12}") {
            for cell in [in_cell(&escape(&text)), in_cell(&code(&text))] {
                prop_assert!(!cell.contains(['\n', '\r']));
                let bare = cell.replace("\\\\", "").replace("\\|", "");
                prop_assert!(!bare.contains('|') , "{cell}");
            }
            let safe = escape(&text);
            prop_assert!(!safe.contains(['<', '>']) && !safe.contains("://") && !safe.contains("www."), "{safe}");
            prop_assert!(!safe.replace("\\\\", "").replace("\\[", "").contains('['), "{safe}");
            // A code span ends only where it should: its fence is longer than any run inside.
            let span = code(&text);
            let fence = span.len() - span.trim_start_matches('`').len();
            let inner = &span[fence..span.len() - fence];
            prop_assert!(inner.split(|c| c != '`').all(|run| run.len() != fence) || fence == 0, "{span}");
        }
    }

    #[test]
    fn plain_words_stay_readable() {
        assert_eq!(escape("Sort it: then answer (twice)."), "Sort it: then answer (twice).");
        assert_eq!(escape("see https://x.y and <b>"), "see https&#58;//x.y and &lt;b&gt;");
        assert_eq!(code("a | `b`"), "`` a | `b` ``");
    }
}
