//! `extends`: presets under a document, merged at the level of nodes, so that every value keeps the place it came from.

use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes, did_you_mean, list_words};
use crate::document::Kind;
use crate::syntax::{Entry, Node, Style, Value};

use super::library::is_path;
use super::read::ReadDoc;

/// Keys of a preset that say what it is and are not handed on.
const OWN_KEYS: [&str; 5] = ["$schema", "kind", "name", "description", "extends"];

/// The keys that a preset may hand on to a document of this kind. Tools and forges extend nothing.
fn may_extend(kind: Kind) -> bool {
    matches!(kind, Kind::Loop | Kind::Preset)
}

/// One of the documents that a document consists of, with only what it hands on.
#[derive(Debug, Clone)]
pub struct Layer {
    /// The preset's name; none for the document itself.
    pub preset: Option<String>,
    /// What it says.
    pub node: Node,
    /// Its file.
    pub source: SourceId,
}

/// All presets that were read, by which `extends` is resolved.
pub(super) struct Presets<'a> {
    pub(super) docs: &'a [ReadDoc],
}

impl Presets<'_> {
    /// The document with everything that it extends merged under it. What does not resolve is left out.
    pub(super) fn merged(&self, doc: &ReadDoc, findings: &mut Diagnostics) -> Option<Node> {
        let layers = self.layers(doc, findings);
        layers.into_iter().map(|layer| layer.node).reduce(|base, over| merge_documents(&base, &over))
    }

    /// What the document consists of, the lowest first and the document itself last. What does not resolve is left out.
    pub(super) fn layers(&self, doc: &ReadDoc, findings: &mut Diagnostics) -> Vec<Layer> {
        let Some(node) = &doc.node else { return Vec::new() };
        let mut layers = Vec::new();
        if may_extend(doc.kind) {
            self.under(node, &mut vec![doc], findings, &mut layers);
        }
        layers.push(Layer { preset: None, node: node.clone(), source: doc.source });
        layers
    }

    /// Adds what a document extends.
    fn under<'s>(
        &'s self,
        node: &Node,
        chain: &mut Vec<&'s ReadDoc>,
        findings: &mut Diagnostics,
        layers: &mut Vec<Layer>,
    ) {
        for (wanted, span) in extended(node) {
            let folder = chain.last().map_or("", |doc| doc.folder.as_str()).to_owned();
            let Some(preset) = self.find(wanted, span, &folder, findings) else { continue };
            if let Some(at) = chain.iter().position(|doc| doc.source == preset.source) {
                let mut names: Vec<_> = chain[at..].iter().map(|doc| label(doc)).collect();
                names.push(label(preset));
                let message = format!("`extends` goes in a circle: {}", names.join(" → "));
                findings
                    .push(Diagnostic::error(codes::EXTENDS_CYCLE, span, message).help("remove one of these `extends`"));
                continue;
            }
            let Some(own) = preset.node.as_ref() else { continue };
            chain.push(preset);
            self.under(own, chain, findings, layers);
            chain.pop();
            let handed = own.entries().iter().filter(|entry| !OWN_KEYS.contains(&&*entry.key)).cloned().collect();
            let name = preset.name().map(|(name, _)| name.to_owned()).unwrap_or_default();
            layers.push(Layer { preset: Some(name), node: own.with_entries(handed), source: preset.source });
        }
    }

    /// `preset/NAME`, `NAME`, or a path from the workspace or beside the document.
    fn find(&self, wanted: &str, span: Span, folder: &str, findings: &mut Diagnostics) -> Option<&ReadDoc> {
        let name = wanted.strip_prefix("preset/").unwrap_or(wanted);
        let is_preset = |doc: &&ReadDoc| doc.kind == Kind::Preset;
        let named = |doc: &&ReadDoc| doc.name().is_some_and(|(known, _)| known == name);
        let at_path = |doc: &&ReadDoc| {
            let file = doc.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let path = if doc.folder.is_empty() { file.to_string() } else { format!("{}/{file}", doc.folder) };
            path == wanted.trim_start_matches("./") || path == format!("{folder}/{wanted}")
        };
        // The workspace's own documents come first in the list, so they win over shipped ones.
        if let Some(found) = self.docs.iter().filter(is_preset).find(named).or_else(|| self.docs.iter().find(at_path)) {
            if found.kind != Kind::Preset {
                let message = format!("`{wanted}` is a {}, and only presets can be extended", found.kind.name());
                findings.push(Diagnostic::error(codes::UNKNOWN_PRESET, span, message));
                return None;
            }
            return Some(found);
        }
        let known: Vec<&str> = self.docs.iter().filter(is_preset).filter_map(|doc| Some(doc.name()?.0)).collect();
        let help = match did_you_mean(name, &known) {
            _ if is_path(wanted) => "paths are relative to the workspace, or to the folder of this document".to_owned(),
            Some(near) => format!("did you mean `preset/{near}`?"),
            None => format!("the presets are {}", list_words(&known)),
        };
        findings.push(Diagnostic::error(codes::UNKNOWN_PRESET, span, format!("unknown preset `{wanted}`")).help(help));
        None
    }
}

fn label(doc: &ReadDoc) -> String {
    match doc.name() {
        Some((name, _)) if doc.kind == Kind::Preset => format!("preset/{name}"),
        Some((name, _)) => name.to_owned(),
        None => doc.path.display().to_string(),
    }
}

/// The names under `extends`; anything that is no string is reported when the document is decoded.
fn extended(node: &Node) -> Vec<(&str, Span)> {
    let Some(extends) = node.get("extends") else { return Vec::new() };
    match &extends.value {
        Value::Seq(items) => items.iter().filter_map(|item| Some((item.as_str()?, item.span))).collect(),
        _ => extends.as_str().map(|name| (name, extends.span)).into_iter().collect(),
    }
}

/// Merges whole documents: `model: NAME` counts as `model: { main: NAME }`, so that it does not hide a preset's tiers.
fn merge_documents(base: &Node, over: &Node) -> Node {
    let (base, over) = match (base.get("model"), over.get("model")) {
        (Some(_), Some(_)) => (with_model_map(base), with_model_map(over)),
        _ => (base.clone(), over.clone()),
    };
    merge(&base, &over)
}

/// The document with `model: NAME` written as `model: { main: NAME }`.
#[must_use]
pub fn with_model_map(node: &Node) -> Node {
    let entries = node.entries().iter().map(|entry| match &entry.value.value {
        Value::String(_) if &*entry.key == "model" => wrapped(entry),
        Value::Map(_) if &*entry.key == "model" && entry.value.get("provider").is_some() => wrapped(entry),
        _ => entry.clone(),
    });
    node.with_entries(entries.collect())
}

fn wrapped(entry: &Entry) -> Entry {
    let main = Entry { key: "main".into(), key_span: entry.key_span, value: entry.value.clone() };
    let map = Node::new(Value::Map([main].into()), entry.value.span, Style::Flow);
    Entry { value: map, ..entry.clone() }
}

/// `over` on top of `base`: maps are merged key by key, everything else is replaced.
pub(super) fn merge(base: &Node, over: &Node) -> Node {
    let (Value::Map(below), Value::Map(above)) = (&base.value, &over.value) else { return over.clone() };
    let mut entries: Vec<Entry> = above
        .iter()
        .map(|entry| match base.get(&entry.key) {
            Some(under) => Entry { value: merge(under, &entry.value), ..entry.clone() },
            None => entry.clone(),
        })
        .collect();
    entries.extend(below.iter().filter(|entry| over.get(&entry.key).is_none()).cloned());
    over.with_entries(entries)
}
