//! YAML by its indentation, line by line, up to the cursor.

use super::flow::{Flow, quoted_end, read};
use super::{Place, Role, Step, word_start};

/// Reads the lines before the cursor.
struct Reader<'t> {
    text: &'t str,
    /// The cursor.
    end: usize,
    /// Steps with the column where each begins.
    stack: Vec<(usize, Step)>,
}

/// What follows a key or a dash.
enum After {
    /// Go on at this byte, on a line of its own.
    Line(usize),
    Found(Place),
}

pub(super) fn place(text: &str, offset: usize) -> Place {
    let mut reader = Reader { text, end: offset, stack: Vec::new() };
    let mut at = 0;
    loop {
        match reader.line(at) {
            After::Line(next) => at = next,
            After::Found(place) => return place,
        }
    }
}

impl<'t> Reader<'t> {
    /// Reads one line, and what belongs to it when that goes over several.
    fn line(&mut self, start: usize) -> After {
        let stop = self.line_end(start);
        let line = &self.text[start..stop];
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_last = stop >= self.end;
        let content = line[indent..].trim_end();
        if content.is_empty() {
            return if is_last { self.key(self.end - start, self.end) } else { After::Line(stop + 1) };
        }
        if content.starts_with('#') {
            return if is_last { self.text_at(self.end) } else { After::Line(stop + 1) };
        }
        self.item(start, start + indent, stop)
    }

    /// Reads what stands at `at` of the line that begins at `start`: dashes, a key, a value.
    fn item(&mut self, start: usize, at: usize, stop: usize) -> After {
        let column = at - start;
        let content = &self.text[at..stop];
        if content == "-" || content.starts_with("- ") {
            // A list may begin at the column of its key.
            while self.stack.last().is_some_and(|(c, step)| *c > column || (*c == column && *step == Step::Item)) {
                self.stack.pop();
            }
            self.stack.push((column, Step::Item));
            let rest = content[1..].trim_start_matches(' ');
            let next = stop - rest.len();
            if rest.trim_end().is_empty() {
                let is_last = stop >= self.end;
                return if is_last { self.found(Role::KeyOrValue, self.end) } else { After::Line(stop + 1) };
            }
            return self.item(start, next, stop);
        }
        let Some((key, value)) = self.key_of(at, stop) else {
            // Neither key nor item: the rest of a text of several lines, or what is being written.
            if content.starts_with(['{', '[', '"', '\'']) {
                return self.value(column, at, stop);
            }
            if stop < self.end {
                return After::Line(stop + 1);
            }
            let is_item = self.stack.last().is_some_and(|(c, step)| *step == Step::Item && *c < column)
                && self.text[start..at].trim_start().starts_with('-');
            if is_item {
                return self.found(Role::KeyOrValue, word_start(self.text, self.end));
            }
            return self.key(column, word_start(self.text, self.end).max(at));
        };
        while self.stack.last().is_some_and(|(c, _)| *c >= column) {
            self.stack.pop();
        }
        self.stack.push((column, Step::Key(key)));
        self.value(column, value, stop)
    }

    /// The key at the start of a line and where its value begins.
    fn key_of(&self, at: usize, stop: usize) -> Option<(String, usize)> {
        let content = &self.text[at..stop];
        let colon = match content.chars().next()? {
            '"' | '\'' => quoted_end(self.text, at, stop)? - at,
            '{' | '[' => return None,
            _ => content.match_indices(':').map(|(colon, _)| colon).find(|colon| {
                let rest = &content[colon + 1..];
                rest.is_empty() || rest.starts_with([' ', '\t', '\r'])
            })?,
        };
        let rest = content[colon..].trim_start().strip_prefix(':')?;
        let key = content[..colon].trim().trim_matches(['"', '\'']).to_owned();
        Some((key, stop - rest.len()))
    }

    /// Reads the value that begins at or after `at`.
    fn value(&mut self, column: usize, at: usize, stop: usize) -> After {
        let blank = self.text[at..stop].len() - self.text[at..stop].trim_start().len();
        let at = at + blank;
        let path = self.path();
        let rest = self.text[at..stop].trim_end();
        match rest.chars().next() {
            Some('{' | '[') => match read(self.text, at, self.end, &path, ':') {
                Flow::Closed(next) => self.after(next),
                Flow::Inside(place) => After::Found(place),
            },
            Some('"' | '\'') => match quoted_end(self.text, at, self.end) {
                Some(next) => self.after(next),
                None => After::Found(Place { path, role: Role::Value, start: at + 1 }),
            },
            Some('|' | '>') if stop < self.end => self.block(column, stop + 1),
            _ if stop < self.end => After::Line(stop + 1),
            _ if rest.contains(" #") || rest.starts_with('#') => self.text_at(self.end),
            _ => self.found(Role::Value, at.min(self.end)),
        }
    }

    /// Passes over the lines of a block scalar, which are indented more than its key.
    fn block(&self, column: usize, first: usize) -> After {
        let mut at = first;
        loop {
            let stop = self.line_end(at);
            let line = &self.text[at..stop];
            let indent = line.len() - line.trim_start_matches(' ').len();
            let is_blank = line.trim().is_empty();
            if !is_blank && indent <= column {
                return After::Line(at);
            }
            if stop >= self.end {
                // On a blank line the cursor's column says whether it is still the text.
                let is_inside = !is_blank || self.end - at > column;
                return if is_inside { self.text_at(self.end) } else { After::Line(at) };
            }
            at = stop + 1;
        }
    }

    /// What follows a closed value on its line.
    fn after(&self, next: usize) -> After {
        let stop = self.line_end(next);
        if stop >= self.end { self.text_at(self.end) } else { After::Line(stop + 1) }
    }

    /// A key of the map whose keys stand at `column`.
    fn key(&mut self, column: usize, start: usize) -> After {
        while self.stack.last().is_some_and(|(c, _)| *c >= column) {
            self.stack.pop();
        }
        self.found(Role::Key, start)
    }

    fn found(&self, role: Role, start: usize) -> After {
        After::Found(Place { path: self.path(), role, start })
    }

    fn text_at(&self, start: usize) -> After {
        self.found(Role::Text, start)
    }

    fn path(&self) -> Vec<Step> {
        self.stack.iter().map(|(_, step)| step.clone()).collect()
    }

    /// The end of the line, or the cursor when that comes first.
    fn line_end(&self, start: usize) -> usize {
        self.text[start..self.end].find('\n').map_or(self.end, |at| start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path, the role and the word at `|` in a text.
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
            ("name: x\nli|", " Key \"li\""),
            ("limits:\n  |", "/limits Key \"\""),
            ("limits:\n  max_it|\nstate: {}\n", "/limits Key \"max_it\""),
            ("limits:\n  max_iterations: 3\n  ti|", "/limits Key \"ti\""),
            ("limits:\n  max_iterations: 3\n|", " Key \"\""),
            ("limits: { max_iterations: 3, ti|", "/limits Key \"ti\""),
            ("limits: {\n  max_iterations: 3,\n  ti| }\n", "/limits Key \"ti\""),
            ("allow: { tool: t| }", "/allow/tool Value \"t\""),
            ("tools: [read_file, g|]", "/tools/- Value \"g\""),
            ("extends: pre|", "/extends Value \"pre\""),
            ("a:\n  b:\n    do:\n      - se|", "/a/b/do/- KeyOrValue \"se\""),
            ("do:\n- set: { x: 1 }\n- |", "/do/- KeyOrValue \"\""),
            ("do:\n  - set: { x: 1 }\n    wh|", "/do/- Key \"wh\""),
            ("do:\n  - set: { x: 1 }\nname: |", "/name Value \"\""),
            ("do:\n  - run:\n      ar|", "/do/-/run Key \"ar\""),
            ("prompt:\n  instruction: >-\n    text: he|\n", "/prompt/instruction Text \"\""),
            ("prompt:\n  instruction: >-\n    text: here\n\n    more\n  re|", "/prompt Key \"re\""),
            ("a: \"x: y\"\nb: \"it|", "/b Value \"it\""),
            ("# a comm|", " Text \"\""),
            ("a: b # comm|", "/a Text \"\""),
            ("\"quoted\": 'v|'", "/quoted Value \"v\""),
            ("a: {b: [c, {d: e}], \"f\": |}", "/a/f Value \"\""),
            ("a:\r\n  b: c\r\n  d|", "/a Key \"d\""),
            ("a: &x {b: 1}\nc|", " Key \"c\""),
        ];
        for (text, expected) in rows {
            assert_eq!(at(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-a:{}\\[\\],#'\"|> \r\n\té]{0,60}", cut in 0usize..80) {
            let cut = text.floor_char_boundary(cut);
            let found = place(&text, cut);
            proptest::prop_assert!(found.start <= cut && text.is_char_boundary(found.start));
        }
    }
}
