//! Reading an assembled prompt back into its sections.

use super::nonce::NONCE_LEN;

/// One section of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedSection<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its nonce.
    pub nonce: &'a str,
    /// What stands between its delimiters, as the model sees it.
    pub body: &'a str,
}

/// The sections of a prompt's text, in order. Text outside of sections is skipped.
#[must_use]
pub fn parse_sections(prompt: &str) -> Vec<ParsedSection<'_>> {
    let mut sections = Vec::new();
    let mut rest = prompt;
    while let Some((section, after)) = next_section(rest) {
        sections.push(section);
        rest = after;
    }
    sections
}

fn next_section(text: &str) -> Option<(ParsedSection<'_>, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find("<|")?;
        from = open + 2;
        if open > 0 && !text[..open].ends_with('\n') {
            continue;
        }
        let (label, after) = text[from..].split_once("|>\n")?;
        let Some((name, nonce)) = label.rsplit_once('_') else { continue };
        if !is_nonce(nonce) || name.contains(['\n', '|']) {
            continue;
        }
        let close = format!("\n<|{name}_END_{nonce}|>");
        let Some((body, rest)) = after.split_once(&close) else { continue };
        return Some((ParsedSection { name, nonce, body }, rest));
    }
}

fn is_nonce(text: &str) -> bool {
    text.len() == NONCE_LEN && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'))
}
