//! Templates and expressions, as far as the cursor: a path, a filter, or the name of a file.

/// What is being written inside `{{ }}`, `{% %}`, or an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lsp) struct Inside {
    pub(in crate::lsp) wants: Wants,
    /// Where the word begins that the cursor is in or behind.
    pub(in crate::lsp) start: usize,
}

/// What fits there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lsp) enum Wants {
    /// A variable or a function.
    Name,
    /// An attribute of the value at this path.
    Attribute(Vec<String>),
    /// A filter, after `|`.
    Filter,
    /// A test, after `is`.
    Test,
    /// A statement, after `{%`.
    Statement,
    /// The name of a template.
    File,
    /// Nothing: a number, a text, a comment.
    Nothing,
}

const STATEMENTS_WITH_FILES: [&str; 4] = ["include", "extends", "import", "from"];

/// What the end of `before` stands in; none outside of braces. `offset` is where `before` begins in its file.
pub(in crate::lsp) fn inside_template(before: &str, offset: usize) -> Option<Inside> {
    let open = ["{{", "{%", "{#"].iter().filter_map(|marker| before.rfind(marker)).max()?;
    let marker = &before[open..open + 2];
    let close = match marker {
        "{{" => "}}",
        "{%" => "%}",
        _ => "#}",
    };
    let code = &before[open + 2..];
    if code.contains(close) {
        return None;
    }
    if marker == "{#" {
        return Some(Inside { wants: Wants::Nothing, start: offset + before.len() });
    }
    let start = offset + open + 2;
    let mut inside = inside_expression(code, start);
    if marker == "{%" {
        let statement = code.trim_start_matches(['-', '+']).trim_start();
        let word: String = statement.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if word.len() == statement.len() {
            inside.wants = Wants::Statement;
        } else if STATEMENTS_WITH_FILES.contains(&word.as_str())
            && let Some(quote) = open_quote(code)
        {
            inside = Inside { wants: Wants::File, start: start + quote + 1 };
        }
    }
    Some(inside)
}

/// What the end of an expression stands in. `offset` is where it begins in its file.
pub(in crate::lsp) fn inside_expression(code: &str, offset: usize) -> Inside {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let head = code.trim_end_matches(is_word);
    let start = offset + head.len();
    let word = &code[head.len()..];
    if open_quote(code).is_some() || word.starts_with(|c: char| c.is_ascii_digit()) {
        return Inside { wants: Wants::Nothing, start };
    }
    if let Some(path) = head.strip_suffix('.') {
        return Inside { wants: path_before(path).map_or(Wants::Nothing, Wants::Attribute), start };
    }
    let head = head.trim_end();
    let last = head.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
    let before_last = head[..head.len() - last.len()].trim_end();
    let is_test = last == "is" || (last == "not" && before_last.ends_with("is"));
    let wants = match head.chars().next_back() {
        Some('|') => Wants::Filter,
        _ if is_test => Wants::Test,
        _ => Wants::Name,
    };
    Inside { wants, start }
}

/// Where the quote is that is still open at the end.
fn open_quote(code: &str) -> Option<usize> {
    let mut open: Option<(usize, char)> = None;
    let mut escaped = false;
    for (at, c) in code.char_indices() {
        match open {
            Some((_, quote)) if c == quote && !escaped => open = None,
            None if matches!(c, '"' | '\'') => open = Some((at, c)),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    open.map(|(at, _)| at)
}

/// The path that ends a text, such as `state.notes` or `steps['a'].b`; none when something else ends it.
fn path_before(code: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = code;
    loop {
        if let Some(inside) = rest.strip_suffix("']").or_else(|| rest.strip_suffix("\"]")) {
            let open = inside.rfind('[')?;
            parts.push(inside[open + 1..].trim_start_matches(['"', '\'']).to_owned());
            rest = &rest[..open];
            continue;
        }
        let head = rest.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        let name = &rest[head.len()..];
        if name.is_empty() {
            return None;
        }
        parts.push(name.to_owned());
        match head.strip_suffix('.') {
            Some(before) => rest = before,
            None => break,
        }
    }
    parts.reverse();
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(parts: &[&str]) -> Wants {
        Wants::Attribute(parts.iter().map(|part| (*part).to_owned()).collect())
    }

    #[test]
    fn what_fits_is_told_from_the_text_before() {
        let rows = [
            ("text", None),
            ("{{ a }} text", None),
            ("{{ ", Some((Wants::Name, ""))),
            ("{{ sta", Some((Wants::Name, "sta"))),
            ("{{ state.", Some((path(&["state"]), ""))),
            ("{{ x + run.usage.in", Some((path(&["run", "usage"]), "in"))),
            ("{{ steps['a'].b", Some((path(&["steps", "a"]), "b"))),
            ("{{ f().b", Some((Wants::Nothing, "b"))),
            ("{{ x | le", Some((Wants::Filter, "le"))),
            ("{{ x |", Some((Wants::Filter, ""))),
            ("{% if x is def", Some((Wants::Test, "def"))),
            ("{% if x is not ", Some((Wants::Test, ""))),
            ("{%- fo", Some((Wants::Statement, "fo"))),
            ("{% include 'a/b", Some((Wants::File, "a/b"))),
            ("{{ 'te", Some((Wants::Nothing, "te"))),
            ("{# note", Some((Wants::Nothing, ""))),
            ("{{ 12", Some((Wants::Nothing, "12"))),
        ];
        for (text, expected) in rows {
            let found = inside_template(text, 0).map(|inside| (inside.wants, text[inside.start..].to_owned()));
            assert_eq!(found, expected.map(|(wants, word)| (wants, word.to_owned())), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[{}%#.|'\"\\[\\] aé1is\\\\]{0,40}") {
            inside_template(&text, 0);
            inside_expression(&text, 0);
        }
    }
}
