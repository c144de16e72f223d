//! The TOML parser's complaints in an author's words.

use toml::de::Error;

use super::offset;
use crate::diag::{Code, Diagnostic, Diagnostics, SourceId, Span, codes};
use crate::syntax::{Node, Value};

/// Reports the errors, at most one a line, since the parser stumbles on after each. Whether the tree can be used.
pub(super) fn report(
    source: SourceId,
    text: &str,
    errors: &[Error],
    root: &Node,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut places: Vec<(usize, &str)> = errors
        .iter()
        .map(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            (text.floor_char_boundary(at), error.message())
        })
        .collect();
    places.sort_by_key(|(at, _)| *at);
    let mut readable = true;
    // Up to where the last finding explains everything.
    let mut explained = 0;
    for (at, message) in &places {
        if *at < explained {
            continue;
        }
        let scene = Scene { source, text, at: *at };
        let unclosed = places
            .iter()
            .filter(|(end, m)| end >= at && m.starts_with("unclosed"))
            .find_map(|(end, _)| open_bracket(root, *at).map(|start| (start, *end)));
        let finding = match unclosed {
            Some((start, end)) => {
                explained = end + 1;
                scene.never_closed(start)
            }
            None => {
                explained = at + scene.rest().len() + 1;
                scene.explain(message, root)
            }
        };
        readable &= finding.code == codes::DUPLICATE_KEY;
        diagnostics.push(finding);
    }
    readable
}

/// Where the innermost array or inline table around a place begins.
fn open_bracket(node: &Node, at: usize) -> Option<usize> {
    innermost(node, at, |node| matches!(node.value, Value::Seq(_) | Value::Map(_)) && !node.span.is_none())
        .filter(|node| node.style == crate::syntax::Style::Flow)
        .map(|node| node.span.start as usize)
}

/// The innermost node around a place that satisfies a condition.
fn innermost(node: &Node, at: usize, wanted: fn(&Node) -> bool) -> Option<&Node> {
    let children: Vec<&Node> = match &node.value {
        Value::Seq(items) => items.iter().collect(),
        Value::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
        _ => Vec::new(),
    };
    let inner = children.into_iter().find_map(|child| innermost(child, at, wanted));
    let around = (node.span.start as usize) < at && at <= node.span.end as usize;
    inner.or_else(|| (around && wanted(node)).then_some(node))
}

struct Scene<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
}

impl<'a> Scene<'a> {
    /// From the error to the end of its line.
    fn rest(&self) -> &'a str {
        self.text[self.at..].split('\n').next().unwrap_or_default()
    }

    /// The line of the error, up to it.
    fn before(&self) -> &'a str {
        let start = self.text[..self.at].rfind('\n').map_or(0, |newline| newline + 1);
        &self.text[start..self.at]
    }

    /// The word or number at the error.
    fn token(&self) -> &'a str {
        let end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | '#');
        self.rest().split(end).next().unwrap_or_default()
    }

    fn finding(&self, code: Code, length: usize, message: impl Into<String>) -> Diagnostic {
        let end = self.at + length;
        Diagnostic::error(code, Span::new(self.source, offset(self.at), offset(end)), message)
    }

    fn syntax(&self, message: impl Into<String>) -> Diagnostic {
        self.finding(codes::TOML_SYNTAX, self.token().len(), message)
    }

    fn explain(&self, message: &str, root: &Node) -> Diagnostic {
        if message.starts_with("duplicate key") {
            return self.duplicate();
        }
        if message.starts_with("unclosed table") {
            let start = self.text[..self.at].rfind('[').unwrap_or(self.at);
            return self.never_closed(start);
        }
        if message.starts_with("cannot recurse") || message == "recursion limit" {
            return self.finding(codes::TOO_DEEP, 1, "values are nested too deeply").help("flatten the document");
        }
        if let Some(template) = self.template() {
            return template;
        }
        if message.contains("leading zero") {
            let token = self.token();
            let written = token.trim_start_matches('0');
            return self
                .syntax(format!("the number `{token}` has leading zeros"))
                .help(format!("write `{written}`; an octal number is written `0o{written}`"));
        }
        if message.starts_with("missing escaped value") {
            return self.bad_escape();
        }
        if message.contains("string") && !message.starts_with("string values must be quoted") {
            return self.open_quote(message, root);
        }
        if message.starts_with("key with no value") || message.starts_with("invalid unquoted key") {
            return self.no_value();
        }
        if message.starts_with("unexpected key or value") {
            return self.after_value();
        }
        if message.starts_with("missing comma") {
            return self.syntax("two values without a comma between them").help("separate items with `, `");
        }
        if self.before().trim_end().ends_with('=') {
            return self.bad_value(message);
        }
        self.syntax(message)
    }

    fn duplicate(&self) -> Diagnostic {
        let key: String =
            self.rest().chars().take_while(|c| !matches!(c, '=' | ']' | '.' | ' ' | '\t' | '\r')).collect();
        let name = key.trim_matches(['"', '\'']);
        let finding = self
            .finding(codes::DUPLICATE_KEY, key.len(), format!("key `{name}` is written twice"))
            .help(self.duplicate_help(name));
        match self.first_written(name) {
            Some(start) => {
                let span = Span::new(self.source, offset(start), offset(start + name.len()));
                finding.label(span, "first written here")
            }
            None => finding,
        }
    }

    fn duplicate_help(&self, name: &str) -> String {
        if self.before().trim_start().starts_with('[') {
            format!("keep all keys of `{name}` together under one `[{name}]`")
        } else {
            format!("remove one of the two `{name}`")
        }
    }

    /// Text after a value that was complete, often because a quote inside it ended it.
    fn after_value(&self) -> Diagnostic {
        let value = self.before().split_once('=').map_or("", |(_, value)| value.trim_start());
        let help = match value.chars().next() {
            Some('"') => "write `\\\"` for a quote inside double quotes, or put the whole value in single quotes",
            Some('\'') => "put the whole value in double quotes if an apostrophe belongs to it",
            _ => "write one `key = value` on a line; put a text in quotes",
        };
        self.syntax("text after a complete value").help(help)
    }

    /// Where the same key stands above, as far as can be told from the lines alone.
    fn first_written(&self, name: &str) -> Option<usize> {
        let header = self.before().trim_start().starts_with('[');
        let begins = |line: &str, prefix: &str| {
            line.strip_prefix(prefix).is_some_and(|rest| {
                rest.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.', ']']))
            })
        };
        let mut found = None;
        let mut start = 0;
        for line in self.text[..self.at].split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            if header && begins(trimmed, "[") {
                found = found.or(Some(start + indent + 1));
            } else if begins(trimmed, "") {
                found = found.or(Some(start + indent));
            } else if !header && trimmed.starts_with('[') {
                found = None;
            }
            start += line.len();
        }
        found
    }

    /// `{{` at the start of a value.
    fn template(&self) -> Option<Diagnostic> {
        let line_start = self.at - self.before().len();
        let line = self.text[line_start..].split('\n').next().unwrap_or_default();
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        if !value.starts_with("{{") && !value.starts_with("{%") {
            return None;
        }
        let start = line_start + line.find(value).unwrap_or(key.len());
        let quoted = if value.contains(['"', '\\']) { format!("'{value}'") } else { format!("\"{value}\"") };
        let span = Span::new(self.source, offset(start), offset(start + value.len()));
        Some(
            Diagnostic::error(codes::TEMPLATE_UNQUOTED, span, "a template needs quotes")
                .help(format!("put the value in quotes: {quoted}"))
                .safe_fix(span, quoted),
        )
    }

    fn bad_escape(&self) -> Diagnostic {
        let character = self.rest().chars().next().unwrap_or(' ');
        self.finding(
            codes::TOML_SYNTAX,
            character.len_utf8(),
            format!("`\\{character}` is not an escape that double quotes know"),
        )
        .help("use single quotes ('…'), in which a backslash is just a backslash, or double the backslash")
    }

    fn open_quote(&self, message: &str, root: &Node) -> Diagnostic {
        let inside = innermost(root, self.at, |node| node.as_str().is_some());
        let Some(start) = inside.map(|node| node.span.start) else {
            return self.syntax(message);
        };
        let quote: String =
            self.text[start as usize..].chars().take_while(|c| matches!(c, '"' | '\'')).take(3).collect();
        let quote = if quote.len() == 2 { &quote[..1] } else { &quote };
        Diagnostic::error(
            codes::TOML_SYNTAX,
            Span::new(self.source, start, start + offset(quote.len())),
            "this quote is never closed",
        )
        .help(format!("add {quote} at the end of the text; a text of several lines needs three quotes on each side"))
    }

    /// An array or inline table whose end is missing.
    fn never_closed(&self, start: usize) -> Diagnostic {
        let (open, close) = if self.text[start..].starts_with('{') { ('{', '}') } else { ('[', ']') };
        Diagnostic::error(
            codes::TOML_SYNTAX,
            Span::new(self.source, offset(start), offset(self.text.len().min(start + 1))),
            format!("`{open}` is never closed"),
        )
        .help(format!("add `{close}`"))
    }

    fn no_value(&self) -> Diagnostic {
        let start = self.before().len();
        let line_start = self.at - start;
        let line = self.text[line_start..].split('\n').next().unwrap_or_default().trim_end();
        match line.split_once(':') {
            Some((key, value)) if !key.contains(' ') => {
                let value = value.trim();
                let plain = value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
                let value = if plain { format!("\"{value}\"") } else { value.to_owned() };
                self.syntax("TOML has no `key: value`").help(format!("write `{} = {value}`", key.trim()))
            }
            _ => self
                .syntax("this line is not `key = value`")
                .help("write `key = value`; put a key with spaces or signs in quotes"),
        }
    }

    /// Something after `=` that is no value.
    fn bad_value(&self, message: &str) -> Diagnostic {
        let token = self.token();
        let folded = token.to_ascii_lowercase();
        let boolean = match folded.as_str() {
            "yes" | "on" | "true" => Some("true"),
            "no" | "off" | "false" => Some("false"),
            _ => None,
        };
        if let Some(boolean) = boolean {
            return self.syntax(format!("`{token}` is not a value")).help(format!("write `{boolean}`"));
        }
        if matches!(folded.as_str(), "null" | "nil" | "none" | "~") {
            return self.syntax("TOML has no null").help("leave the key out, or write `\"\"`");
        }
        if token.is_empty() {
            return self.syntax("the key has no value").help("write a value after `=`, or delete the key");
        }
        let fraction = token.strip_prefix('.').filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if let Some(fraction) = fraction {
            return self
                .syntax(format!("the number `{token}` needs a digit before its point"))
                .help(format!("write `0.{fraction}`"));
        }
        if token.starts_with(|c: char| c.is_alphabetic()) {
            let text = self.rest().split(" #").next().unwrap_or_default().trim_end();
            return self
                .syntax(format!("`{token}` is not a value"))
                .help(format!("put a text in quotes: `\"{text}\"`"));
        }
        self.syntax(message)
    }
}
