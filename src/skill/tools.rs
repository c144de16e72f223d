//! `allowed-tools`: a list of patterns in one text.

/// The patterns of a text: blanks and commas stand between them, except inside of parentheses.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            found.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    found.push(word);
    found.retain(|word| !word.trim().is_empty());
    found.into_iter().map(|word| word.trim().to_owned()).collect()
}
