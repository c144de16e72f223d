//! A request as text that is the same in every run of the same input, and the first place where two of them differ.

use std::fmt::Write as _;

use crate::model::{Request, SECRET, Turn};

// A value this short stands in ordinary text by chance.
const SHORTEST_VOLATILE: usize = 4;

/// What stands for a secret in a file that others may read.
const MASK: &str = "[secret]";

/// The name of two braces that a reply really has.
const BRACES: &str = "'{{'";

/// The names and values that differ between runs, longest value first.
pub(super) struct Volatile<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Volatile<'a> {
    pub(super) fn new(pairs: &'a [(&'a str, String)]) -> Self {
        let mut pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.retain(|(_, value)| value.len() >= SHORTEST_VOLATILE);
        pairs.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(pairs)
    }

    /// The text with every value replaced by its name. A secret has none: nothing puts it back.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.0 {
            if text.contains(value) {
                let name = if *name == SECRET { MASK.to_owned() } else { format!("{{{{ {name} }}}}") };
                text = text.replace(value, &name);
            }
        }
        text
    }

    /// A reply's text as [`Self::fill`] reads it: masked, and what looks like a name in it kept from being one.
    pub(super) fn write(&self, text: &str) -> String {
        self.mask(&self.names(text, |out, _, inside| {
            out.push_str("{{ ");
            out.push_str(BRACES);
            out.push_str(" }}");
            inside
        }))
    }

    /// The text with every name, written `{{ name }}`, replaced by its value. Other braces stay.
    pub(super) fn fill(&self, text: &str) -> String {
        self.names(text, |out, value, inside| {
            out.push_str(value);
            inside.find("}}").map_or("", |end| &inside[end + 2..])
        })
    }

    /// Copies a text; `edit` is told the value of each name in it and what follows its two braces, and says what is left.
    fn names<'t>(&self, text: &'t str, mut edit: impl FnMut(&mut String, &str, &'t str) -> &'t str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let inside = &rest[start + 2..];
            match inside.find("}}").and_then(|end| self.value(inside[..end].trim())) {
                Some(value) => {
                    out.push_str(&rest[..start]);
                    rest = edit(&mut out, value, inside);
                }
                None => {
                    out.push_str(&rest[..start + 1]);
                    rest = &rest[start + 1..];
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> Option<&str> {
        match name {
            BRACES => Some("{{"),
            SECRET => None,
            name => self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
        }
    }
}

/// The request's text in the order that the model sees it, under headings. Ids of calls are left out: providers make
/// them up anew every time.
pub(super) fn canonical(request: &Request<'_>, volatile: &Volatile<'_>) -> String {
    let mut out = String::new();
    for block in request.system {
        part(&mut out, "system", &block.text);
    }
    if let Some(tools) = request.tools {
        for tool in &tools.specs {
            part(&mut out, &format!("tool {}", tool.name), &format!("{}\n{}", tool.description, tool.params));
        }
    }
    if let Some(name) = request.force_tool {
        part(&mut out, &format!("must call {name}"), "");
    }
    if let Some(schema) = request.schema {
        part(&mut out, "schema", &schema.to_string());
    }
    for turn in request.transcript.turns() {
        write_turn(&mut out, turn);
    }
    part(&mut out, "now", request.last);
    for turn in request.retry {
        write_turn(&mut out, turn);
    }
    volatile.mask(&out)
}

fn write_turn(out: &mut String, turn: &Turn) {
    match turn {
        Turn::User(text) => part(out, "user", text),
        Turn::Assistant(text) => part(out, "assistant", text),
        Turn::Calls { text, calls } => {
            part(out, "assistant", text);
            for call in calls {
                part(out, &format!("call {}", call.name), &call.arguments);
            }
        }
        Turn::Results(results) => {
            for result in results {
                part(out, if result.is_error { "error" } else { "result" }, &result.content);
            }
        }
    }
}

fn part(out: &mut String, heading: &str, text: &str) {
    let _ = writeln!(out, "--- {heading}");
    out.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
}

/// Where two texts first differ, in words.
pub(super) fn first_difference(expected: &str, got: &str) -> String {
    let mut at = 0;
    let mut place = String::new();
    let (mut left, mut right) = (expected.lines(), got.lines());
    loop {
        at += 1;
        let (want, have) = (left.next(), right.next());
        if want != have || want.is_none() {
            let (want, have) = around(want, have);
            return format!("line {at}{place}\n  expected: {want}\n  got:      {have}");
        }
        let line = want.unwrap_or_default();
        if let Some(name) = line.strip_prefix("--- ") {
            place = format!(", under `{name}`");
        } else if let Some(name) = section_name(line) {
            place = format!(", in section {name}");
        }
    }
}

/// The name in `<|NAME_{{ nonce }}|>`, the line that opens a section.
fn section_name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("<|")?.split_once("_{{")?;
    (!name.ends_with("_END")).then_some(name)
}

/// The two lines from a little before where they part.
fn around(want: Option<&str>, have: Option<&str>) -> (String, String) {
    let (want_text, have_text) = (want.unwrap_or_default(), have.unwrap_or_default());
    let same = want_text.chars().zip(have_text.chars()).take_while(|(a, b)| a == b).count();
    let skip = same.saturating_sub(40);
    let show = |line: Option<&str>| match line {
        None => "(the end)".to_owned(),
        Some(line) => {
            let shown: String = line.chars().skip(skip).take(160).collect();
            let before = if skip > 0 { "…" } else { "" };
            let after = if line.chars().count() > skip + 160 { "…" } else { "" };
            format!("{before}{shown}{after}")
        }
    };
    (show(want), show(have))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_fills_only_what_is_volatile() {
        let pairs = [("nonce", "abcdefgh".to_owned()), ("nonce:LOG", "abcdefghij".to_owned()), ("n", "1".to_owned())];
        let volatile = Volatile::new(&pairs);
        let text = "<|A_abcdefgh|> 1 <|LOG_abcdefghij|>";
        let masked = volatile.mask(text);
        assert_eq!(masked, "<|A_{{ nonce }}|> 1 <|LOG_{{ nonce:LOG }}|>");
        assert_eq!(volatile.fill(&masked), text);
        assert_eq!(
            volatile.fill("{{nonce}} {{ other }} {{{nonce}} {{ }} {{"),
            "abcdefgh {{ other }} {abcdefgh {{ }} {{"
        );
    }

    #[test]
    fn a_reply_with_braces_of_its_own_comes_back_as_it_was() {
        let pairs = [("nonce", "abcdefgh".to_owned())];
        let volatile = Volatile::new(&pairs);
        for text in [
            "{{ nonce }} abcdefgh",
            "{{nonce}}{{ other }} {{",
            "{{ '{{' }} nonce }}",
            "{{{{ nonce }}}}",
            "{{ {{ nonce }}",
        ] {
            assert_eq!(volatile.fill(&volatile.write(text)), text);
        }
        let next = [("nonce", "zyxwvuts".to_owned())];
        assert_eq!(Volatile::new(&next).fill(&volatile.write("{{ nonce }} abcdefgh")), "{{ nonce }} zyxwvuts");
    }

    /// A script from elsewhere must not be able to write a key into an action.
    #[test]
    fn secrets_are_masked_and_never_put_back() {
        let pairs = [(SECRET, "sk-0123456789".to_owned())];
        let volatile = Volatile::new(&pairs);
        assert_eq!(volatile.write("my sk-0123456789"), "my [secret]");
        let text = "[secret] {{ secret }} {{secret}}";
        assert_eq!(volatile.fill(text), text);
    }

    #[test]
    fn the_difference_is_placed() {
        let expected = "--- system\nyou\n--- now\n<|MY_LOG_{{ nonce.MY_LOG }}|>\nfirst\nsecond line\n";
        let got = expected.replace("second", "sekond");
        assert_eq!(
            first_difference(expected, &got),
            "line 6, in section MY_LOG\n  expected: second line\n  got:      sekond line"
        );
        assert_eq!(first_difference("a\nb\n", "a\n"), "line 2\n  expected: b\n  got:      (the end)");
        let long = format!("{}X{}", "é".repeat(300), "y".repeat(300));
        let words = first_difference(&long, &long.replace('X', "Z"));
        assert!(words.contains("éX") && words.contains("éZ") && words.len() < 900, "{words}");
    }
}
