//! Text of others inside Markdown: it must not become structure there.

/// Text in a code span, whatever is in it.
pub(super) fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text as a paragraph of itself.
pub(super) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// At most so many characters of a text on one line.
pub(super) fn short(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let is_cut = line.chars().count() > most || text.trim().lines().count() > 1;
    let start: String = line.chars().take(most).collect();
    if is_cut { format!("{start}…") } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(code("a`b``c\nd"), "```a`b``c d```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(plain("[x](y) <b>"), "\\[x\\](y) \\<b\\>");
        assert_eq!(short("one two\nthree", 99), "one two…");
    }
}
