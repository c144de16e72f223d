//! TOML by its headers and lines, up to the cursor.

use super::flow::{Flow, quoted_end, read};
use super::{Place, Role, Step, word_start};

pub(super) fn place(text: &str, offset: usize) -> Place {
    let mut header: Vec<Step> = Vec::new();
    let mut at = 0;
    loop {
        let stop = text[at..offset].find('\n').map_or(offset, |end| at + end);
        let is_last = stop >= offset;
        let line = text[at..stop].trim_start();
        let start = stop - line.len();
        let line = line.trim_end();
        if line.starts_with('#') {
            if is_last {
                return Place { path: header, role: Role::Text, start: offset };
            }
        } else if let Some(inside) = line.strip_prefix('[') {
            let inside = inside.trim_start_matches('[');
            let names = inside.trim_end_matches(']');
            if is_last && names.len() == inside.len() {
                let (around, _) = names.rsplit_once('.').unwrap_or_default();
                let word = text[..offset].rfind(['[', '.', ' ']).map_or(offset, |before| before + 1);
                return Place { path: steps(around), role: Role::Key, start: word };
            }
            header = steps(names);
            if line.starts_with("[[") {
                header.push(Step::Item);
            }
        } else if let Some((key, value)) = assignment(text, start, stop) {
            let mut path = header.clone();
            path.extend(steps(key));
            match value_at(text, value, offset, path) {
                Flow::Closed(next) if next < offset => {
                    at = text[next..offset].find('\n').map_or(offset, |end| next + end + 1);
                    if at >= offset && !text[..offset].ends_with('\n') {
                        return Place { path: header, role: Role::Text, start: offset };
                    }
                    continue;
                }
                Flow::Closed(_) => return Place { path: header, role: Role::Text, start: offset },
                Flow::Inside(place) => return place,
            }
        } else if is_last {
            let word = word_start(text, offset).max(start);
            let (around, part) = text[word..offset].rsplit_once('.').unwrap_or(("", &text[word..offset]));
            header.extend(steps(around));
            return Place { path: header, role: Role::Key, start: offset - part.len() };
        }
        if is_last {
            return Place { path: header, role: Role::Key, start: offset };
        }
        at = stop + 1;
    }
}

/// The key of a line, and where its value begins.
fn assignment(text: &str, start: usize, stop: usize) -> Option<(&str, usize)> {
    let equals = text[start..stop].find('=')?;
    let after = &text[start + equals + 1..];
    let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
    Some((&text[start..start + equals], start + equals + 1 + blank))
}

/// Reads a value up to the cursor.
fn value_at(text: &str, start: usize, end: usize, path: Vec<Step>) -> Flow {
    let inside = |role, start| Flow::Inside(Place { path: path.clone(), role, start });
    if start >= end {
        return inside(Role::Value, end);
    }
    let rest = &text[start..end];
    for quotes in ["\"\"\"", "'''"] {
        if let Some(body) = rest.strip_prefix(quotes) {
            return match body.find(quotes) {
                Some(close) => Flow::Closed(start + 3 + close + 3),
                None => inside(Role::Text, end),
            };
        }
    }
    match rest.chars().next() {
        Some('{' | '[') => read(text, start, end, &path, '='),
        Some('"' | '\'') => {
            let stop = rest.find('\n').map_or(end, |line| start + line);
            match quoted_end(text, start, stop) {
                Some(next) => Flow::Closed(next),
                None if stop < end => Flow::Closed(stop),
                None => inside(Role::Value, start + 1),
            }
        }
        _ => match rest.find('\n') {
            Some(line) => Flow::Closed(start + line),
            None => inside(Role::Value, start),
        },
    }
}

/// The steps of a dotted key.
fn steps(key: &str) -> Vec<Step> {
    let parts = key.split('.').map(|part| part.trim().trim_matches(['"', '\'']));
    parts.filter(|part| !part.is_empty()).map(|part| Step::Key(part.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> String {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let place = place(&text, offset);
        let path = place.path.iter().map(|step| match step {
            Step::Key(key) => format!("/{key}"),
            Step::Item => "/-".to_owned(),
        });
        format!("{} {:?} {:?}", path.collect::<String>(), place.role, &text[place.start..offset])
    }

    #[test]
    fn the_place_is_told_from_the_text_before_it() {
        let rows = [
            ("|", " Key \"\""),
            ("na|", " Key \"na\""),
            ("name = \"x\"\nde|", " Key \"de\""),
            ("[lim|", " Key \"lim\""),
            ("[actions.|", "/actions Key \"\""),
            ("[limits]\nmax_iterations = 3\nti|\n", "/limits Key \"ti\""),
            ("[limits]\n|", "/limits Key \"\""),
            ("limits.ti|", "/limits Key \"ti\""),
            ("extends = \"pre|\"", "/extends Value \"pre\""),
            ("allow = { tool = t| }", "/allow/tool Value \"t\""),
            ("tools = [\"a\", |]", "/tools/- Value \"\""),
            ("[[hooks.init]]\nsta|", "/hooks/init/- Key \"sta\""),
            ("[prompt]\ninstruction = \"\"\"\nx = |\n\"\"\"\n", "/prompt/instruction Text \"\""),
            ("[prompt]\ninstruction = '''\nx = y\n'''\nre|", "/prompt Key \"re\""),
            ("# x|", " Text \"\""),
        ];
        for (text, expected) in rows {
            assert_eq!(at(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-a.={}\\[\\],#'\" \r\n\té]{0,60}", cut in 0usize..80) {
            let cut = text.floor_char_boundary(cut);
            let found = place(&text, cut);
            proptest::prop_assert!(found.start <= cut && text.is_char_boundary(found.start));
        }
    }
}
