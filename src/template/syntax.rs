//! Words for a text that is not a template: what is wrong, on which bytes, what to write.
//!
//! The template language blames the end of the text for a block that is never closed, and knows nothing of what people
//! bring along from other languages. A small scanner over the tags finds the opener; tables know the habits.

use std::ops::Range;

use super::TemplateErrorKind;
use crate::diag::did_you_mean;

/// What is wrong with a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: TemplateErrorKind,
    pub(super) message: String,
    pub(super) range: Range<usize>,
    pub(super) help: Option<String>,
}

/// Statements, to find what a misspelt one was meant to be.
const STATEMENTS: &[&str] = &[
    "autoescape",
    "block",
    "call",
    "do",
    "elif",
    "else",
    "endautoescape",
    "endblock",
    "endcall",
    "endfilter",
    "endfor",
    "endif",
    "endmacro",
    "endraw",
    "endset",
    "endwith",
    "extends",
    "filter",
    "for",
    "from",
    "if",
    "import",
    "include",
    "macro",
    "raw",
    "set",
    "with",
];

/// Statements of other template languages, and what is written here.
const FOREIGN_STATEMENTS: &[(&str, &str)] = &[
    ("assign", "write `{% set name = value %}`"),
    ("break", "loops run to their end: leave items out with `{% for x in xs if condition %}`"),
    ("case", "write `{% if x == … %}` and `{% elif x == … %}`"),
    ("comment", "write comments as `{# … #}`"),
    ("continue", "leave items out with `{% for x in xs if condition %}`"),
    ("each", "write `{% for x in xs %}`"),
    ("elseif", "write `{% elif condition %}`"),
    ("elsif", "write `{% elif condition %}`"),
    ("end", "write `{% endif %}`, `{% endfor %}`, … : the end names what it closes"),
    ("endforeach", "write `{% endfor %}`"),
    ("foreach", "write `{% for x in xs %}`"),
    ("let", "write `{% set name = value %}`"),
    ("switch", "write `{% if x == … %}` and `{% elif x == … %}`"),
    ("unless", "write `{% if not condition %}`"),
    ("var", "write `{% set name = value %}`"),
    ("verbatim", "write `{% raw %}`"),
    ("while", "there are only `{% for x in xs %}` loops"),
];

/// Operators of other languages at the place of an error, and what is written here.
const FOREIGN_OPERATORS: &[(&str, &str)] = &[
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("===", "write `==`"),
    ("!", "write `not x`"),
    ("?", "write `a if condition else b`"),
    ("=>", "there are no functions in templates"),
    ("->", "attributes are written with a dot: `a.b`"),
    ("=", "compare with `==`"),
    ("$", "names have no `$`"),
    ("`", "quote strings with `'` or `\"`"),
    (";", "an expression ends with the tag: leave the `;` out"),
];

const RAW: &str = "text with literal braces goes between `{% raw %}` and `{% endraw %}`";

pub(super) fn fault(error: &minijinja::Error, source: &str) -> Fault {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_string);
    let range = error.range().unwrap_or(source.len()..source.len());
    let range = range.start.min(source.len())..range.end.min(source.len());
    let tags = scan(source);
    let syntax = |message: String, range: Range<usize>, help: Option<String>| Fault {
        kind: TemplateErrorKind::Syntax,
        message,
        range,
        help,
    };
    if let Some(word) = detail.strip_prefix("unknown statement ") {
        return unknown_statement(word, range, &tags);
    }
    match detail.as_str() {
        "unexpected end of raw block" => {
            let opener = tags.iter().rev().find(|tag| tag.keyword == "raw").map_or(range, |tag| tag.range.clone());
            return unclosed("raw", opener);
        }
        "unexpected end of comment" => {
            let opener = tags.last().map_or(range, |tag| tag.range.start..tag.range.start + 2);
            let help = format!("close the comment with `#}}`; {RAW}");
            return syntax("Comment is never closed".into(), opener, Some(help));
        }
        "unexpected end of string" => {
            let quote = tags.last().and_then(|tag| tag.open_quote).unwrap_or_else(|| last_quote(source));
            let help = "close the string with the quote that opens it".to_string();
            return syntax("String is never closed".into(), quote..source.len().min(quote + 1), Some(help));
        }
        "unexpected end of input, expected end of block" if tags.last().is_none_or(|tag| tag.closed) => {
            if let Some(opener) = open_blocks(&tags).pop() {
                return unclosed(opener.keyword, opener.range.clone());
            }
        }
        _ => {}
    }
    let tag = tags.iter().rev().find(|tag| tag.range.start <= range.start);
    let help = operator_help(source, &range).or_else(|| tag.and_then(|tag| tag_help(source, tag, &detail)));
    syntax(in_words(&detail, source.get(range.clone()).unwrap_or_default()), range, help)
}

fn unclosed(keyword: &str, opener: Range<usize>) -> Fault {
    Fault {
        kind: TemplateErrorKind::UnclosedBlock,
        message: format!("`{{% {keyword} %}}` is never closed"),
        range: opener,
        help: Some(format!("add `{{% end{keyword} %}}`")),
    }
}

fn unknown_statement(word: &str, range: Range<usize>, tags: &[Tag<'_>]) -> Fault {
    let before: Vec<Tag<'_>> = tags.iter().take_while(|tag| tag.range.start < range.start).cloned().collect();
    // Leave out the tag at fault itself.
    let open = open_blocks(&before[..before.len().saturating_sub(1)]);
    let (message, help) = match (word.strip_prefix("end"), open.last()) {
        (Some(closes), Some(inner)) if open.iter().any(|tag| tag.keyword == closes) => {
            return unclosed(inner.keyword, inner.range.clone());
        }
        (Some(closes), Some(inner)) if is_opener(closes) => (
            format!("`{word}` closes no block: the open one is `{}`", inner.keyword),
            Some(format!("close it with `{{% end{} %}}`", inner.keyword)),
        ),
        (Some(closes), None) if is_opener(closes) => (
            format!("`{word}` closes no block: none is open"),
            Some(format!("remove it, or open a `{{% {closes} %}}`")),
        ),
        _ if matches!(word, "else" | "elif") => {
            (format!("`{word}` belongs to no open `if`"), Some("an `if` has one `else`, as its last part".to_string()))
        }
        _ => (format!("Unknown statement `{word}`"), Some(statement_help(word))),
    };
    Fault { kind: TemplateErrorKind::Syntax, message, range, help }
}

fn statement_help(word: &str) -> String {
    if let Some((_, help)) = FOREIGN_STATEMENTS.iter().find(|(name, _)| *name == word) {
        return (*help).to_string();
    }
    match did_you_mean(word, STATEMENTS) {
        Some(name) => format!("did you mean `{name}`? {RAW}"),
        None => RAW.to_string(),
    }
}

fn operator_help(source: &str, range: &Range<usize>) -> Option<String> {
    let at = range.start;
    let here = source.get(at..)?;
    let before = source.get(..at)?;
    if before.ends_with("{{") {
        return match here.chars().next()? {
            '#' | '/' | '^' => {
                Some("blocks are written `{% if x %} … {% endif %}` and `{% for x in xs %} … {% endfor %}`".into())
            }
            '>' => Some("another file is included with `{% include 'name' %}`".into()),
            '%' => Some(RAW.into()),
            _ => None,
        };
    }
    // The second of two bars, or of an arrow, is where the language stumbles.
    let here = ["|", "-", "="]
        .iter()
        .find(|first| before.ends_with(**first) && matches!(here.chars().next(), Some('|' | '>' | '=')))
        .and_then(|first| source.get(at - first.len()..))
        .unwrap_or(here);
    let (_, help) = FOREIGN_OPERATORS.iter().find(|(sign, _)| here.starts_with(sign))?;
    Some((*help).to_string())
}

fn tag_help(source: &str, tag: &Tag<'_>, detail: &str) -> Option<String> {
    let inside = source.get(tag.range.start + 2..)?;
    match tag.kind {
        // `{{"a": 1}}`: JSON that was meant to be text.
        Kind::Output if inside.starts_with(['"', '{', '\n']) || detail.contains("`:`") => {
            Some(format!("`{{{{` opens an output; {RAW}"))
        }
        Kind::Output if !tag.closed => Some(format!("close the output with `}}}}`; {RAW}")),
        Kind::Output if detail.ends_with("expected end of variable block") => {
            Some("close the output with `}}`; join two values with `~`".into())
        }
        Kind::Block if !tag.closed => Some(format!("close the tag with `%}}`; {RAW}")),
        Kind::Output | Kind::Block | Kind::Comment => None,
    }
}

/// The language's words, with the signs that it means and the text that it found.
fn in_words(detail: &str, found: &str) -> String {
    let signs = |text: &str| {
        text.replace("end of variable block", "`}}`")
            .replace("end of block", "`%}`")
            .replace("end of input", "the end of the text")
            .replace("identifier", "a name")
            .replace("unexpected character", "character")
    };
    let (unexpected, expected) = match detail.strip_prefix("unexpected ").map(|rest| rest.split_once(", expected ")) {
        Some(Some((unexpected, expected))) => (unexpected, Some(expected)),
        Some(None) => (detail.strip_prefix("unexpected ").unwrap_or(detail), None),
        None => return super::error::capitalised(detail),
    };
    let quotable = !found.trim().is_empty() && found.len() <= 40 && !found.contains(['\n', '`']);
    let found = match unexpected {
        "identifier" | "character" | "string" | "integer" | "float" if quotable => format!("`{found}`"),
        "input after expression" if quotable => format!("`{found}` after the expression"),
        other => signs(other),
    };
    match expected {
        Some(expected) => format!("Expected {}, found {found}", signs(expected)),
        None => format!("Unexpected {found}"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Output,
    Block,
    Comment,
}

#[derive(Debug, Clone)]
struct Tag<'s> {
    kind: Kind,
    range: Range<usize>,
    closed: bool,
    /// The first word of a block's tag.
    keyword: &'s str,
    /// Whether a `set` has its value in the tag, so that nothing is to be closed.
    assigns: bool,
    /// Where a string starts that is not closed.
    open_quote: Option<usize>,
}

/// All tags of a text, whether they make sense or not.
fn scan(source: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(open) = source[at..].find('{').map(|i| at + i) {
        let (kind, close) = match source[open + 1..].chars().next() {
            Some('{') => (Kind::Output, "}}"),
            Some('%') => (Kind::Block, "%}"),
            Some('#') => (Kind::Comment, "#}"),
            _ => {
                at = open + 1;
                continue;
            }
        };
        let inside = open + 2;
        let (end, open_quote) = match kind {
            Kind::Comment => (source[inside..].find(close).map(|i| inside + i), None),
            Kind::Output | Kind::Block => tag_end(source, inside, close),
        };
        let text = source.get(inside..end.unwrap_or(source.len())).unwrap_or_default();
        let words = text.trim_start_matches(['-', '+']).trim_start();
        let keyword = words.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        at = end.map_or(source.len(), |end| end + 2);
        let keyword = if kind == Kind::Block { keyword } else { "" };
        let assigns = text.contains('=');
        tags.push(Tag { kind, range: open..at, closed: end.is_some(), keyword, assigns, open_quote });
        if keyword == "raw" && end.is_some() {
            at = raw_end(source, at);
        }
    }
    tags
}

/// Where a tag's closing sign is, outside of strings and of braces that it opened; and the quote that is still open.
fn tag_end(source: &str, from: usize, close: &str) -> (Option<usize>, Option<usize>) {
    let bytes = source.as_bytes();
    let mut quote: Option<(u8, usize)> = None;
    let mut braces = 0_usize;
    let mut i = from;
    while i < bytes.len() {
        match (bytes[i], quote) {
            (b'\\', Some(_)) => i += 1,
            (b, Some((open, _))) if b == open => quote = None,
            (_, Some(_)) => {}
            (b @ (b'"' | b'\''), None) => quote = Some((b, i)),
            (b'{', None) => braces += 1,
            (b'}', None) if braces > 0 => braces -= 1,
            _ if bytes[i..].starts_with(close.as_bytes()) => return (Some(i), None),
            _ => {}
        }
        i += 1;
    }
    (None, quote.map(|(_, at)| at))
}

/// Where the `endraw` tag begins.
fn raw_end(source: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(open) = source[at..].find("{%").map(|i| at + i) {
        if source[open + 2..].trim_start_matches(['-', '+']).trim_start().starts_with("endraw") {
            return open;
        }
        at = open + 2;
    }
    source.len()
}

fn is_opener(keyword: &str) -> bool {
    matches!(keyword, "autoescape" | "block" | "call" | "filter" | "for" | "if" | "macro" | "raw" | "set" | "with")
}

/// The blocks that are open after these tags, outermost first.
fn open_blocks<'t, 's>(tags: &'t [Tag<'s>]) -> Vec<&'t Tag<'s>> {
    let mut open: Vec<&Tag<'_>> = Vec::new();
    for tag in tags {
        if let Some(closes) = tag.keyword.strip_prefix("end") {
            if open.last().is_some_and(|last| last.keyword == closes) {
                open.pop();
            }
        } else if is_opener(tag.keyword) && !(tag.keyword == "set" && tag.assigns) {
            open.push(tag);
        }
    }
    open
}

fn last_quote(source: &str) -> usize {
    source.rfind(['"', '\'']).unwrap_or(source.len())
}
