//! `SKILL.md`: text to a skill, with everything that is wrong with it.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::fault::{Fault, Finding};
use super::fences::{self, NoFrontMatter, unix_lines};
use super::invoke::{self, Invoke};
use super::name::{deceives, folder_name, is_too_long, normal_name, not_conforming, suggestion};
use super::repair::repair;
use super::style::{odd_style, without_blank_lines};
use super::tools;
use crate::diag::{Diagnostics, SourceId, Span, codes, did_you_mean};
use crate::document::Params;
use crate::syntax::{Entry, Format, Node, Style, Value, decode, parse};

/// The longest description and compatibility, in characters.
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// The keys of the public format, and then this engine's own.
const KEYS: [&str; 9] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "version",
    "input_schema",
    "invoke",
];
const OWN_KEYS: [&str; 3] = ["version", "input_schema", "invoke"];

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its name, in normal form.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The license, as it was written.
    pub license: Option<String>,
    /// What it needs to work.
    pub compatibility: Option<String>,
    /// Data for other tools. Scalars are texts, as they were written.
    pub metadata: Map<String, Json>,
    /// Tools that its author would allow without asking. Kept and shown; a workspace's policy decides.
    pub allowed_tools: Option<Vec<String>>,
    /// The version, as it was written.
    pub version: Option<String>,
    /// What it takes when it is invoked.
    pub input_schema: Option<Params>,
    /// What it does when it is invoked.
    pub invoke: Option<Invoke>,
    /// Keys that the format does not have.
    pub extra: Vec<String>,
    /// The Markdown behind the front matter.
    pub instructions: Arc<str>,
}

/// What a file gives.
#[derive(Debug, Default)]
pub struct Reading {
    /// The skill, if it can be used.
    pub skill: Option<Skill>,
    /// Its name as far as it is known.
    pub name: Option<String>,
    /// Its description as far as it is known.
    pub description: Option<String>,
    /// What is wrong with it, errors first, then warnings in the order of [`Fault`].
    pub findings: Vec<Finding>,
}

/// Reads a file's text, which has no byte order mark any more. `folder` is the name of the folder that it lies in.
#[must_use]
pub fn read(source: SourceId, text: &str, folder: &str) -> Reading {
    let mut reader = Reader { source, text, folder, reading: Reading::default() };
    reader.reading.skill = reader.skill();
    let mut reading = reader.reading;
    reading.findings.sort_by_key(|finding| (finding.level, finding.fault));
    if reading.findings.iter().any(|finding| finding.level == super::Level::Error) {
        reading.skill = None;
    }
    reading
}

struct Reader<'a> {
    source: SourceId,
    text: &'a str,
    folder: &'a str,
    reading: Reading,
}

/// The front matter's map, and how its places are found.
struct Front {
    node: Node,
    repaired: bool,
}

impl Reader<'_> {
    fn skill(&mut self) -> Option<Skill> {
        let parts = match fences::split(self.text) {
            Ok(parts) => parts,
            Err(problem) => return self.no_front_matter(&problem),
        };
        let front = self.front(parts.front, parts.end)?;
        self.note_style(&front);
        let name = self.name(&front);
        let description = self.description(&front);
        self.reading.name.clone_from(&name);
        self.reading.description.clone_from(&description);
        let extra = self.unknown_keys(&front);
        let license = self.optional_text(&front, "license", Fault::LicenseIgnored);
        let compatibility = self.compatibility(&front);
        let metadata = self.metadata(&front);
        let allowed_tools = self.allowed_tools(&front);
        let version = self.optional_text(&front, "version", Fault::VersionIgnored);
        let input_schema = self.input_schema(&front);
        let (name, description) = (name?, description?);
        let invoke = front.node.get("invoke").and_then(|node| {
            let mut found = Diagnostics::new();
            let invoke = invoke::decode_invoke(
                (&name, front.node.get("name")),
                &description,
                front.node.get("input_schema"),
                node,
                &mut found,
            );
            self.reading.findings.extend(found.into_iter().map(|found| Finding::of(Fault::InvalidInvoke, found)));
            invoke
        });
        let instructions = unix_lines(&self.text[parts.body..]);
        Some(Skill {
            name,
            description,
            license,
            compatibility,
            metadata,
            allowed_tools,
            version,
            input_schema,
            invoke,
            extra,
            instructions: without_blank_lines(&instructions).into(),
        })
    }

    fn find(&mut self, finding: Finding) {
        self.reading.findings.push(finding);
    }

    fn place(&self, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.source, offset(start), offset(end))
    }

    fn no_front_matter(&mut self, problem: &NoFrontMatter) -> Option<Skill> {
        const HELP: &str =
            "begin the file with `---`, then `name:` and `description:`, then `---` and the instructions";
        let finding = match *problem {
            NoFrontMatter::Missing { later: Some(at) } => {
                let message = "the front matter does not begin on the first line";
                let help = "move `---` to the first line: most tools look only there";
                Finding::new(Fault::MissingFrontmatter, self.place(at, at + 3), message).help(help)
            }
            NoFrontMatter::Missing { later: None } => {
                let end = self.text.find(['\n', '\r']).unwrap_or(self.text.len());
                let message = match self.text.starts_with("---") {
                    true => "the first line begins with `---` and goes on, so it begins no front matter",
                    false => "the skill has no front matter",
                };
                Finding::new(Fault::MissingFrontmatter, self.place(0, end), message).help(HELP)
            }
            NoFrontMatter::Unclosed => {
                let message = "the front matter has no end: a second line `---` is missing";
                Finding::new(Fault::UnclosedFrontmatter, self.place(0, 3), message)
                    .help("write `---` on a line of its own behind the last key")
            }
        };
        self.find(finding);
        None
    }

    /// Reads the front matter, with its texts put in quotes where that is what it lacks.
    fn front(&mut self, start: usize, end: usize) -> Option<Front> {
        let nothing = Node::new(Value::Map([].into()), self.place(0, 3), Style::Indented);
        let lines = self.text[start..end].lines();
        if lines.map(str::trim).all(|line| line.is_empty() || line.starts_with('#')) {
            return Some(Front { node: nothing, repaired: false });
        }
        let mut found = Diagnostics::new();
        // The fence stays: it begins a document in YAML too, and so every offset is one in the file.
        let node = parse(self.source, &self.text[..end], Format::Yaml, &mut found);
        if !found.has_errors()
            && let Some(node) = node
        {
            return self.map(node, false);
        }
        let mended = (!found.iter().any(|finding| finding.code == codes::DUPLICATE_KEY))
            .then(|| repair(&self.text[start..end]))
            .flatten()
            .and_then(|text| parse_sound(&text));
        let Some(node) = mended else {
            for finding in found.into_iter().filter(|finding| finding.severity == crate::diag::Severity::Error) {
                self.find(Finding::of(Fault::InvalidYaml, finding));
            }
            return None;
        };
        for finding in found.into_iter().filter(|finding| finding.severity == crate::diag::Severity::Error) {
            let message = format!("the front matter is no YAML, and was read as it was meant: {}", finding.message);
            let place = finding.span.unwrap_or_else(|| self.place(0, 3));
            self.find(Finding::new(Fault::YamlRepaired, place, message).help(
                "put the text in quotes: a colon with a blank behind it, a quote or a bracket has a meaning in YAML",
            ));
        }
        self.map(node, true)
    }

    fn map(&mut self, node: Node, repaired: bool) -> Option<Front> {
        if matches!(node.value, Value::Map(_)) {
            return Some(Front { node, repaired });
        }
        let place = if repaired { self.place(0, 3) } else { node.span };
        let message = format!("the front matter is a map, found {}", node.value.kind());
        self.find(Finding::new(Fault::NotAMapping, place, message).help("write `name:` and `description:`"));
        None
    }

    /// Where a key was written. In mended text the places are those of its lines.
    fn key_place(&self, front: &Front, entry: &Entry) -> Span {
        if !front.repaired {
            return entry.key_span;
        }
        let mut lines = fences::Lines { text: self.text, at: 0 };
        let line = lines
            .find(|(_, line)| line.strip_prefix(&*entry.key).is_some_and(|rest| rest.trim_start().starts_with(':')));
        line.map_or_else(|| self.place(0, 3), |(at, _)| self.place(at, at + entry.key.len()))
    }

    fn value_place(&self, front: &Front, entry: &Entry) -> Span {
        if front.repaired || entry.value.is_null() { self.key_place(front, entry) } else { entry.value.span }
    }

    /// A scalar as it was written: `1.10`, `007` and `yes` are texts here. None for no value, an error for a list or map.
    fn text(&self, front: &Front, node: &Node) -> Result<Option<String>, ()> {
        match &node.value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.trim().to_owned())),
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => {
                let home = node.origin.unwrap_or(node.span);
                let written = self.text.get(home.start as usize..home.end as usize).filter(|_| !front.repaired);
                Ok(Some(written.map_or_else(|| node.to_json().to_string(), |text| text.trim().to_owned())))
            }
            Value::Seq(_) | Value::Map(_) => Err(()),
        }
    }

    fn name(&mut self, front: &Front) -> Option<String> {
        let folder = folder_name(self.folder);
        let entry = front.node.entry("name");
        let given = entry.map(|entry| (entry, self.text(front, &entry.value)));
        let (name, place) = match given {
            Some((entry, Ok(Some(text)))) if !text.is_empty() => (normal_name(&text), self.value_place(front, entry)),
            Some((entry, Err(()))) => {
                let place = self.value_place(front, entry);
                let message = format!("a name is a text, found {}", entry.value.value.kind());
                self.find(Finding::new(Fault::InvalidName, place, message).help(format!("write `name: {folder}`")));
                return None;
            }
            other => {
                let place = other.map_or_else(|| self.place(0, 3), |(entry, _)| self.value_place(front, entry));
                let message = format!("the skill has no name; its folder's stands for it: {folder}");
                self.find(Finding::new(Fault::NameMissing, place, message).help(format!("write `name: {folder}`")));
                (folder.clone(), place)
            }
        };
        if let Some(why) = deceives(&name).or_else(|| name.is_empty().then_some("it is empty")) {
            let message = format!("`{}` cannot be a skill's name: {why}", name.escape_debug());
            let help = suggestion(&name).map(|good| format!("write `name: {good}`"));
            self.find(Finding::new(Fault::InvalidName, place, message).maybe_help(help));
            return None;
        }
        if name != folder {
            let message = format!("the skill is named `{name}` and its folder `{folder}`");
            let help = "give both the same name: some tools do not load the skill otherwise";
            self.find(Finding::new(Fault::NameDirMismatch, place, message).help(help));
        }
        if let Some(why) = not_conforming(&name) {
            let help = suggestion(&name).map(|good| format!("write `name: {good}`, and rename the folder"));
            let message = format!("the format does not allow the name `{name}`: {why}");
            self.find(Finding::new(Fault::NameNotConforming, place, message).maybe_help(help));
        }
        if is_too_long(&name) {
            let message = format!("the name has {} characters; the format allows 64", name.chars().count());
            self.find(Finding::new(Fault::NameTooLong, place, message));
        }
        Some(name)
    }

    fn description(&mut self, front: &Front) -> Option<String> {
        const HELP: &str = "write `description:` with what the skill does and when to use it";
        let Some(entry) = front.node.entry("description") else {
            let finding = Finding::new(Fault::MissingDescription, self.place(0, 3), "the skill has no description");
            self.find(finding.help(HELP));
            return None;
        };
        let place = self.value_place(front, entry);
        match self.text(front, &entry.value) {
            Err(()) => {
                let message = format!("a description is a text, found {}", entry.value.value.kind());
                let finding = Finding::new(Fault::InvalidDescription, place, message);
                self.find(finding.help("put it in quotes, or behind `|` with the text indented on the next lines"));
                None
            }
            Ok(Some(text)) if !text.is_empty() => {
                let text = unix_lines(&text);
                let length = text.chars().count();
                if length > MAX_DESCRIPTION {
                    let message =
                        format!("the description has {length} characters; the format allows {MAX_DESCRIPTION}");
                    let help = "move details into the instructions: every prompt carries the description";
                    self.find(Finding::new(Fault::DescriptionTooLong, place, message).help(help));
                }
                Some(text)
            }
            Ok(_) => {
                let message = "the description is empty";
                self.find(Finding::new(Fault::MissingDescription, place, message).help(HELP));
                None
            }
        }
    }

    fn unknown_keys(&mut self, front: &Front) -> Vec<String> {
        let mut extra = Vec::new();
        for entry in front.node.entries().iter().filter(|entry| !KEYS.contains(&&*entry.key)) {
            let key = &*entry.key;
            let near = did_you_mean(&key.to_lowercase().replace('_', "-"), &KEYS);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "put data of your own under `metadata`".to_owned(),
            };
            let message = format!("the format has no key `{key}`; it is kept and means nothing here");
            self.find(Finding::new(Fault::UnknownField, self.key_place(front, entry), message).help(help));
            extra.push(key.to_owned());
        }
        extra
    }

    /// A text that may be missing.
    fn optional_text(&mut self, front: &Front, key: &str, ignored: Fault) -> Option<String> {
        let entry = front.node.entry(key)?;
        match self.text(front, &entry.value) {
            Ok(text) => text.map(|text| unix_lines(&text)),
            Err(()) => {
                let message = format!("`{key}` is a text, found {}; it is left out", entry.value.value.kind());
                self.find(Finding::new(ignored, self.value_place(front, entry), message));
                None
            }
        }
    }

    fn compatibility(&mut self, front: &Front) -> Option<String> {
        let text = self.optional_text(front, "compatibility", Fault::CompatibilityIgnored)?;
        let length = text.chars().count();
        if length > MAX_COMPATIBILITY
            && let Some(entry) = front.node.entry("compatibility")
        {
            let message = format!("`compatibility` has {length} characters; the format allows {MAX_COMPATIBILITY}");
            self.find(Finding::new(Fault::CompatibilityTooLong, self.value_place(front, entry), message));
        }
        Some(text)
    }

    fn metadata(&mut self, front: &Front) -> Map<String, Json> {
        let Some(entry) = front.node.entry("metadata") else { return Map::new() };
        match &entry.value.value {
            Value::Map(_) => match self.texts(front, &entry.value) {
                Json::Object(map) => map,
                _ => Map::new(),
            },
            Value::Null => Map::new(),
            other => {
                let message = format!("`metadata` is a map, found {}; it is left out", other.kind());
                self.find(Finding::new(Fault::MetadataIgnored, self.value_place(front, entry), message));
                Map::new()
            }
        }
    }

    /// A tree in which every scalar is a text.
    fn texts(&self, front: &Front, node: &Node) -> Json {
        match &node.value {
            Value::Map(entries) => {
                entries.iter().map(|entry| (entry.key.to_string(), self.texts(front, &entry.value))).collect()
            }
            Value::Seq(items) => items.iter().map(|item| self.texts(front, item)).collect(),
            _ => Json::String(self.text(front, node).ok().flatten().unwrap_or_default()),
        }
    }

    fn allowed_tools(&mut self, front: &Front) -> Option<Vec<String>> {
        let entry = front.node.entry("allowed-tools")?;
        let items: Option<Vec<String>> = match &entry.value.value {
            Value::Map(_) => None,
            Value::Seq(items) => items.iter().map(|item| self.text(front, item).ok().flatten()).collect(),
            _ => self.text(front, &entry.value).ok().map(|text| tools::split(&text.unwrap_or_default())),
        };
        if items.is_none() {
            let message = "`allowed-tools` is a text with blanks between the tools; as it is, it allows none";
            let finding = Finding::new(Fault::AllowedToolsIgnored, self.value_place(front, entry), message);
            self.find(finding.help("write it as in `allowed-tools: Read Bash(git:*)`"));
        }
        // What cannot be read allows nothing, which is not the same as not being there.
        Some(items.unwrap_or_default())
    }

    fn input_schema(&mut self, front: &Front) -> Option<Params> {
        let node = front.node.get("input_schema")?;
        let mut found = Diagnostics::new();
        let schema = decode::<Params>(node, &mut found);
        self.reading.findings.extend(found.into_iter().map(|found| Finding::of(Fault::InvalidInputSchema, found)));
        schema
    }

    /// The format's own reader takes no brackets, anchors and tags.
    fn note_style(&mut self, front: &Front) {
        let entries = front.node.entries().iter().filter(|entry| !OWN_KEYS.contains(&&*entry.key));
        let odd = entries.filter_map(|entry| odd_style(&entry.value).map(|what| (entry, what)));
        for (entry, what) in odd.collect::<Vec<_>>() {
            let message = format!("`{}` has {what}, which the format's own reader refuses", entry.key);
            let finding = Finding::new(Fault::YamlStyle, self.value_place(front, entry), message);
            self.find(finding.help("write lists and maps line by line, and texts in quotes"));
        }
    }
}

fn parse_sound(text: &str) -> Option<Node> {
    let mut findings = Diagnostics::new();
    let node = parse(SourceId::NONE, text, Format::Yaml, &mut findings);
    node.filter(|_| !findings.has_errors())
}
