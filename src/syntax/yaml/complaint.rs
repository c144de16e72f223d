//! The parser's complaint in an author's words, at the place that the author must change.

use granit_parser::{ErrorKind, ScanError};

use crate::diag::{Code, Diagnostic, Diagnostics, SourceId, Span, codes};

const QUOTE: &str = "put the whole value in quotes";

/// Reports a syntax error, unless its line already has a finding that explains it.
///
/// `opener` is the innermost bracket that was open.
pub(super) fn report(
    source: SourceId,
    text: &str,
    error: &ScanError,
    opener: Option<Span>,
    diagnostics: &mut Diagnostics,
) {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let scene = Scene { source, text, at: text.floor_char_boundary(at), opener };
    if diagnostics.iter().any(|earlier| scene.explained_by(earlier)) {
        return;
    }
    if let Some(start) = scene.template_before() {
        unquoted_template(source, text, start, diagnostics);
        return;
    }
    diagnostics.push(scene.explain(error.kind()));
}

/// Reports a template that begins a value without quotes.
pub(super) fn unquoted_template(source: SourceId, text: &str, start: usize, diagnostics: &mut Diagnostics) {
    let line_start = line_start(text, start);
    let rest = line_at(text, start).trim_end();
    let in_brackets = text[line_start..start].contains(['[', '{']);
    let closing = rest.rfind("}}").or_else(|| rest.rfind("%}")).map(|at| at + 2);
    let value = match closing {
        Some(end) if in_brackets => rest.find("}}").map_or(&rest[..end], |at| &rest[..at + 2]),
        // A `#` after a space begins a comment here too.
        _ => rest.split_once(" #").map_or(rest, |(value, _)| value.trim_end()),
    };
    let quoted =
        if value.contains(['"', '\\']) { format!("'{}'", value.replace('\'', "''")) } else { format!("\"{value}\"") };
    let span = span(source, start, start + value.len());
    let finding = Diagnostic::error(
        codes::TEMPLATE_UNQUOTED,
        span,
        "a template at the start of a value needs quotes, because YAML reads `{` as a map",
    );
    diagnostics.push(finding.help(format!("put the value in quotes: {quoted}")).safe_fix(span, quoted));
}

/// A syntax error and what is around it.
struct Scene<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    opener: Option<Span>,
}

impl Scene<'_> {
    /// Whether an earlier finding on the same line is the cause.
    fn explained_by(&self, earlier: &Diagnostic) -> bool {
        let causes = [codes::YAML_SYNTAX, codes::TEMPLATE_UNQUOTED, codes::UNKNOWN_TAG];
        let Some(span) = earlier.span.filter(|_| causes.contains(&earlier.code)) else {
            return false;
        };
        let start = span.start as usize;
        start <= self.at && (!self.text[start..self.at].contains('\n') || self.opens_at(start))
    }

    /// Whether the bracket that is still open is the one at this offset or right after it.
    fn opens_at(&self, start: usize) -> bool {
        self.opener.is_some_and(|opener| opener.start as usize == start || opener.start as usize == start + 1)
    }

    /// A `{{` or `{%` that begins a value on this line, before the error.
    fn template_before(&self) -> Option<usize> {
        let start = line_start(self.text, self.at);
        let line = line_at(self.text, start);
        let found = [line.find("{{"), line.find("{%")].into_iter().flatten().min()?;
        let before = line[..found].trim_end();
        let begins_value = before.is_empty() || before.ends_with([':', '-', '[', ',']);
        let offset = start + found;
        (begins_value && !before.contains(['"', '\'']) && offset <= self.at).then_some(offset)
    }

    fn explain(&self, kind: &ErrorKind) -> Diagnostic {
        use ErrorKind as K;
        if let Some(tab) = self.tab(kind) {
            return tab;
        }
        match kind {
            K::RecursionLimitExceeded => super::too_deep(self.here()),
            K::UnexpectedCharacter { character } => self.unexpected_character(*character),
            K::UnknownQuotedScalarEscape
            | K::InvalidQuotedScalarHexEscape
            | K::InvalidLowSurrogateHexEscape
            | K::InvalidLowSurrogate
            | K::MissingLowSurrogate
            | K::UnpairedLowSurrogate
            | K::InvalidUnicodeEscape => self.bad_escape(),
            K::InvalidTrailingSingleQuotedScalar => self
                .syntax("text after the closing quote")
                .help("write `''` for an apostrophe inside single quotes, or put the whole value in double quotes"),
            K::InvalidTrailingDoubleQuotedScalar => self
                .syntax("text after the closing quote")
                .help("write `\\\"` for a quote inside double quotes, or put the whole value in single quotes"),
            K::UnclosedQuotedScalar => self
                .syntax("this quote is never closed")
                .help("close it, or leave it out if it does not belong to the text"),
            K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => self
                .syntax("a quoted text goes on in the wrong column")
                .help("close the quotes, or indent the lines that go on more than the key"),
            K::MappingValueNotAllowed => self.second_colon(),
            K::SimpleKeyExpected | K::InvalidSimpleKey if self.under_block_text() => self.block_text(),
            K::SimpleKeyExpected | K::InvalidSimpleKey => self.not_a_key(self.at),
            K::ExpectedBlockMappingKey if self.is_first_on_line() && self.under_block_text() => self.block_text(),
            K::ExpectedBlockMappingKey if self.is_first_on_line() => self
                .syntax("this line does not fit the map above it")
                .help("keys of one map begin in the same column; check the indentation"),
            K::ExpectedBlockMappingKey => self.syntax("text after a complete value").help(QUOTE),
            K::ExpectedBlockSequenceEntry => self
                .syntax("this line does not fit the list above it")
                .help("items of one list begin with `- ` in the same column; check the indentation"),
            K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => self
                .syntax("text on the line of `|` or `>`")
                .help("begin the text on the next line, or put the whole value in quotes if the sign belongs to it"),
            K::InvalidBlockScalarIndent => self
                .syntax("a line of the text is indented less than its first line")
                .help("indent all lines of the text at least as much as the first"),
            K::BlockSequenceEntryNotAllowed => self
                .syntax("a list cannot begin here")
                .help("begin the list on the next line, or put the whole value in quotes if its text begins with `-`"),
            K::MissingAnchorOrAliasName => self.syntax(format!("`{}` is not a value", self.character())).help(QUOTE),
            K::MismatchedFlowCollectionEnd { open, close } => self
                .syntax(format!("`{open}` is closed with `{close}`"))
                .help(format!("close it with `{}`", closing(*open))),
            K::MisplacedFlowCollectionEnd if !self.begins_value() => {
                self.syntax(format!("`{}` closes nothing", self.character())).help(format!("remove it, or {QUOTE}"))
            }
            K::BomInsideDocument => {
                self.syntax("a byte order mark inside the document").help("delete the invisible character U+FEFF here")
            }
            _ => self.other(kind),
        }
    }

    /// A bracket that was left open, a sign that cannot begin a value, or the parser's own words.
    fn other(&self, kind: &ErrorKind) -> Diagnostic {
        if let Some(opener) = self.opener {
            return self.bracket(opener);
        }
        if let ErrorKind::UnclosedFlowCollection { open } = kind {
            return self.syntax(format!("`{open}` is never closed")).help(format!("add `{}`", closing(*open)));
        }
        let character = self.character();
        if self.begins_value() && ",[]{}#&*!|>'\"%@`?-".contains(character) {
            return self.syntax(format!("a value cannot begin with `{character}`")).help(QUOTE);
        }
        self.syntax(kind.to_string())
    }

    fn bracket(&self, opener: Span) -> Diagnostic {
        let start = opener.start as usize;
        let open = self.text[start..].chars().next().unwrap_or('[');
        let close = closing(open);
        if self.at == start {
            return self.syntax(format!("`{open}` is never closed")).help(format!("add `{close}`, or {QUOTE}"));
        }
        if self.text[start..self.at].contains('\n') {
            let here = self.here();
            return Diagnostic::error(
                codes::YAML_SYNTAX,
                span(self.source, start, start + 1),
                format!("`{open}` is never closed"),
            )
            .label(here, "this does not belong inside the brackets")
            .help(format!("add `{close}`, or {QUOTE}"));
        }
        self.syntax(format!("expected `,` or `{close}`")).help(format!("separate items with `, `, or {QUOTE}"))
    }

    fn unexpected_character(&self, character: char) -> Diagnostic {
        if character.is_control() {
            return self
                .syntax(format!("the control character U+{:04X} is not allowed", character as u32))
                .help(format!("delete it, or write `\"\\x{:02x}\"`", character as u32));
        }
        self.syntax(format!("a value cannot begin with `{character}`")).help(QUOTE)
    }

    /// A backslash in double quotes. The parser points to the quote; the message names the escape.
    fn bad_escape(&self) -> Diagnostic {
        let written = line_at(self.text, self.at);
        let escape = first_bad_escape(written).unwrap_or("\\");
        self.finding(codes::YAML_SYNTAX, format!("`{escape}` is not an escape that double quotes know"))
            .help("use single quotes, in which a backslash is just a backslash, or double the backslash")
    }

    /// `key: a: b`, or a key under a value.
    fn second_colon(&self) -> Diagnostic {
        let start = line_start(self.text, self.at);
        let before = &self.text[start..self.at];
        if before.contains(": ") {
            return self
                .syntax("`: ` inside a value without quotes")
                .help("put the whole value in quotes, or begin the map on the next line");
        }
        let above = self.text[..start].trim_end();
        let above = line_start(self.text, above.len());
        if colon_without_space(line_at(self.text, above)).is_some() {
            return self.not_a_key(above);
        }
        self.syntax("a key cannot stand here")
            .help("the line above already has a value; check the indentation of this key")
    }

    /// Whether the line of the error was meant to belong to a text after `|` or `>`.
    fn under_block_text(&self) -> bool {
        let start = line_start(self.text, self.at);
        let indent = |line: &str| line.len() - line.trim_start().len();
        let here = indent(line_at(self.text, start));
        let mut above = self.text[..start].lines().rev().filter(|line| !line.trim().is_empty()).peekable();
        above.peek().is_some_and(|line| opens_block(line))
            || above.find(|line| indent(line) < here).is_some_and(opens_block)
    }

    fn block_text(&self) -> Diagnostic {
        self.syntax("this line is not indented enough to belong to the text above it")
            .help("indent all lines of the text more than its key, and none less than the first")
    }

    /// A line that is neither `key: value` nor an item.
    fn not_a_key(&self, at: usize) -> Diagnostic {
        let line = line_at(self.text, at);
        let indent = line.len() - line.trim_start().len();
        let start = at + indent;
        let place = span(self.source, start, start + line.trim().len());
        let finding = |message: &str| Diagnostic::error(codes::YAML_SYNTAX, place, message);
        match colon_without_space(line) {
            Some(key) => finding("a key needs a space after its colon").help(format!("write `{key}: …`")),
            None => finding("this line is not `key: value`")
                .help("add a colon and a space after the key, or indent the line if it goes on with the text above"),
        }
    }

    /// A tab where an indentation should be, on this line or, since the parser may stop before it, the next.
    fn tab(&self, kind: &ErrorKind) -> Option<Diagnostic> {
        use ErrorKind as K;
        let start = line_start(self.text, self.at);
        let about_tabs = matches!(
            kind,
            K::TabNotAllowed
                | K::TabInBlockIndentation
                | K::TabInIndentation
                | K::TabAtBlockScalarStart
                | K::TabInPlainScalar
        );
        let next = self.text[start..].find('\n').map(|end| start + end + 1);
        let lines = [Some(start), next.filter(|_| about_tabs)];
        let place = lines.into_iter().flatten().find_map(|line_start| {
            let line = line_at(self.text, line_start);
            let indent = &line[..line.len() - line.trim_start().len()];
            let first = indent.find('\t')?;
            let count = indent[first..].bytes().take_while(|b| *b == b'\t').count();
            Some(span(self.source, line_start + first, line_start + first + count))
        });
        if place.is_none() && !about_tabs {
            return None;
        }
        let finding = |place| Diagnostic::error(codes::YAML_TAB, place, "a tab is used for indentation");
        let finding = match place {
            Some(place) => finding(place).safe_fix(place, "  ".repeat((place.end - place.start) as usize)),
            None => finding(self.here()),
        };
        Some(finding.help("indent with spaces"))
    }

    fn syntax(&self, message: impl Into<String>) -> Diagnostic {
        self.finding(codes::YAML_SYNTAX, message)
    }

    fn finding(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.here(), message)
    }

    /// The character at the error.
    fn here(&self) -> Span {
        let length = self.text[self.at..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
        span(self.source, self.at, self.at + length)
    }

    fn character(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or(' ')
    }

    fn is_first_on_line(&self) -> bool {
        let start = line_start(self.text, self.at);
        self.text[start..self.at].trim().is_empty()
    }

    fn begins_value(&self) -> bool {
        let start = line_start(self.text, self.at);
        let before = self.text[start..self.at].trim_end();
        before.is_empty() || before.ends_with([':', '-'])
    }
}

/// Whether a line ends with the `|` or `>` of a block scalar.
fn opens_block(line: &str) -> bool {
    let sign = line.trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    sign.ends_with(['|', '>']) && sign.trim_end_matches(['|', '>']).ends_with([' ', '\t'])
}

/// The first escape in a double-quoted text that YAML does not know.
fn first_bad_escape(written: &str) -> Option<&str> {
    let mut rest = written;
    loop {
        let at = rest.find('\\')?;
        let escape = rest[at + 1..].chars().next()?;
        let end = at + 1 + escape.len_utf8();
        let digits = match escape {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ if "0abt\tnvfre \"/\\N_LP".contains(escape) => 0,
            _ => return Some(&rest[at..end]),
        };
        let code = rest.get(end..end + digits).filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        if code.is_none() || code.is_some_and(|code| code.starts_with(['d', 'D']) && digits == 4) {
            return Some(&rest[at..end]);
        }
        rest = &rest[end + digits..];
    }
}

/// The key of `key:value`.
fn colon_without_space(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches("- ");
    let (key, value) = line.split_once(':')?;
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (plain && !value.is_empty() && !value.starts_with([' ', '\t', '/'])).then_some(key)
}

fn closing(open: char) -> char {
    if open == '{' { '}' } else { ']' }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// From an offset to the end of its line.
fn line_at(text: &str, at: usize) -> &str {
    text[at..].split('\n').next().unwrap_or_default()
}

fn span(source: SourceId, start: usize, end: usize) -> Span {
    // Documents are at most 1 MiB, so offsets fit.
    let offset = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Span::new(source, offset(start), offset(end))
}
