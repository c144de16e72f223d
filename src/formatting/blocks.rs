//! Block scalars that the formatter cannot write anew: with blanks at the ends of lines, with `+`, with an indentation
//! of their own. They are set aside before and put back after it, with their lines as they are.

use crate::syntax::{Node, Style, Value};

/// How far the formatter indents the text of a block scalar below what it belongs to.
const INDENT: usize = 2;

/// A block scalar that was set aside.
#[derive(Debug)]
pub(super) struct Block {
    /// The line that stands for its text.
    token: String,
    /// `|` or `>`.
    sign: char,
    /// `+`, `-` or nothing.
    chomping: &'static str,
    /// Whether its indentation is given as a number.
    indented: bool,
    /// Its lines without their indentation; line ends are those of the document.
    lines: Vec<String>,
}

/// The text with a line in place of each such scalar, and what was set aside.
pub(super) fn set_aside(text: &str, tree: &Node) -> (String, Vec<Block>) {
    let mut starts = Vec::new();
    headers(tree, &mut starts);
    starts.sort_unstable();
    starts.dedup();
    let (mut out, mut blocks, mut done) = (String::new(), Vec::new(), 0);
    for start in starts {
        if start < done {
            continue;
        }
        let Some((block, header, indent, end)) = odd(text, start, blocks.len()) else { continue };
        out.push_str(&text[done..start]);
        out.push_str(&format!("{}{header}{}{}", block.sign, " ".repeat(indent), block.token));
        // The line end of the last line, if it has one, ends the token's.
        out.push_str(if header.ends_with("\r\n") { "\r\n" } else { "\n" });
        done = end;
        blocks.push(block);
    }
    out.push_str(&text[done..]);
    (out, blocks)
}

/// The offsets of the signs of all block scalars.
fn headers(node: &Node, starts: &mut Vec<usize>) {
    match &node.value {
        Value::String(_) if node.style == Style::Block => starts.push(node.span.start as usize),
        Value::Seq(items) => items.iter().for_each(|item| headers(item, starts)),
        Value::Map(entries) => entries.iter().for_each(|entry| headers(&entry.value, starts)),
        _ => {}
    }
}

/// The scalar at an offset, when it is one of those: with the rest of its first line, the indentation of its text, and
/// where it ends.
fn odd(text: &str, start: usize, number: usize) -> Option<(Block, String, usize, usize)> {
    let sign = text[start..].chars().next().filter(|sign| matches!(sign, '|' | '>'))?;
    let line_end = text[start..].find('\n').map(|at| start + at + 1)?;
    let rest = &text[start + 1..line_end];
    let options = &rest[..rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '+' | '-')).unwrap_or(rest.len())];
    let digit = options.chars().find_map(|c| c.to_digit(10)).map(|digit| digit as usize);
    let chomping = if options.contains('+') {
        "+"
    } else if options.contains('-') {
        "-"
    } else {
        ""
    };
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let parent = parent_column(&text[line_start..start]);
    // Its text: the lines that are empty or stand further in than what it belongs to.
    let (mut end, mut lines): (usize, Vec<&str>) = (line_end, Vec::new());
    for line in text[line_end..].split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if !is_blank && indentation(line) <= parent.unwrap_or(0) && parent.is_some() {
            break;
        }
        lines.push(line);
        end += line.len();
    }
    // Empty lines behind it belong to it only with `+`.
    while chomping != "+" && lines.last().is_some_and(|line| line.trim().is_empty()) {
        end -= lines.pop().map_or(0, str::len);
    }
    let bare = |line: &&str| line.trim_end_matches(['\n', '\r']).ends_with([' ', '\t']);
    if digit.is_none() && chomping != "+" && !lines.iter().any(bare) {
        return None;
    }
    let first = lines.iter().find(|line| !line.trim().is_empty()).map(|line| indentation(line));
    let content = match digit {
        Some(digit) => parent.unwrap_or(0) + digit,
        None => first.unwrap_or_else(|| parent.map_or(0, |parent| parent + INDENT)),
    };
    let cut = |line: &&str| line.get(content.min(indentation(line))..).unwrap_or_default().to_owned();
    let block = Block {
        token: format!("loopwright-block-{number}"),
        sign,
        chomping,
        indented: digit.is_some(),
        lines: lines.iter().map(cut).collect(),
    };
    Some((block, rest[options.len()..].to_owned(), parent.map_or(0, |parent| parent + INDENT), end))
}

/// The column of the key or the dash that a scalar belongs to, given what stands before it on its line; none for a whole
/// document.
fn parent_column(before: &str) -> Option<usize> {
    let mut at = indentation(before);
    loop {
        let rest = before[at..].trim_end();
        if rest.is_empty() {
            return None;
        }
        let Some(after) = rest.strip_prefix('-') else { return Some(at) };
        // `- |`: it belongs to the dash.
        if after.trim().is_empty() {
            return Some(at);
        }
        if !after.starts_with(' ') {
            return Some(at);
        }
        let next = at + 1 + (after.len() - after.trim_start().len());
        if !after.trim_start().starts_with('-') {
            return Some(next);
        }
        at = next;
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Puts the scalars back where their lines stand now.
pub(super) fn put_back(formatted: String, blocks: &[Block]) -> String {
    let mut text = formatted;
    for block in blocks {
        let Some(at) = text.find(&block.token) else { continue };
        let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        let indent = " ".repeat(at - line_start);
        let body: String = block
            .lines
            .iter()
            .map(
                |line| {
                    if line.trim_matches(['\n', '\r']).is_empty() { line.clone() } else { format!("{indent}{line}") }
                },
            )
            .collect();
        text.replace_range(line_start..line_end, &body);
        let header = text[..line_start].trim_end_matches(['\n', '\r']);
        let header_start = header.rfind('\n').map_or(0, |at| at + 1);
        // A comment may follow the sign; what stands before it is a key or a dash.
        let sign = header[header_start..].match_indices(block.sign).map(|(at, _)| header_start + at + 1);
        let sign = sign.into_iter().find(|at| {
            let rest = header[*at..].trim_start();
            rest.is_empty() || (rest.starts_with('#') && header[*at..].starts_with(' '))
        });
        if let Some(at) = sign {
            let digit = if block.indented { INDENT.to_string() } else { String::new() };
            text.insert_str(at, &format!("{digit}{}", block.chomping));
        }
    }
    text
}
