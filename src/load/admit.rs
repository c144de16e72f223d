//! A document on its way into the library: extended, decoded, and put under its name unless another has it.

use std::sync::Arc;

use indexmap::IndexMap;

use super::extends::Presets;
use super::library::Loaded;
use super::read::ReadDoc;
use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes};
use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::syntax::{Node, decode_partial};

/// What was decoded; nothing where that was not possible. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Loop(Option<Arc<LoopDoc>>),
    Tool(Option<Arc<ToolDoc>>),
    Forge(Option<Arc<ForgeDoc>>),
    Preset(Option<Arc<PresetDoc>>),
    /// A workspace, which is no document of the library.
    None,
}

/// A document, extended and decoded.
#[derive(Debug)]
pub(super) struct Decoded {
    /// With everything that it extends; none when nothing usable was read.
    pub(super) node: Option<Node>,
    pub(super) content: Content,
    /// What is wrong with what it extends.
    pub(super) extending: Diagnostics,
    /// What is wrong with itself.
    pub(super) decoding: Diagnostics,
    /// How many documents there were to extend.
    pub(super) among: usize,
}

impl Decoded {
    /// Extends and decodes a document.
    pub(super) fn of(doc: &ReadDoc, docs: &[ReadDoc]) -> Self {
        let (mut extending, mut decoding) = (Diagnostics::new(), Diagnostics::new());
        let node = Presets { docs }.merged(doc, &mut extending);
        let content = match (&node, doc.kind) {
            (None, _) => Content::None,
            (Some(node), Kind::Loop) => Content::Loop(decode_partial(node, &mut decoding).map(Arc::new)),
            (Some(node), Kind::Tool) => Content::Tool(decode_partial(node, &mut decoding).map(Arc::new)),
            (Some(node), Kind::Forge) => Content::Forge(decode_partial(node, &mut decoding).map(Arc::new)),
            (Some(node), Kind::Preset) => Content::Preset(decode_partial(node, &mut decoding).map(Arc::new)),
            (Some(node), Kind::Workspace) => {
                let _ = decode_partial::<WorkspaceDoc>(node, &mut decoding);
                Content::None
            }
        };
        Self { node, content, extending, decoding, among: docs.len() }
    }
}

/// One document at the door.
pub(super) struct Admission<'a> {
    pub(super) doc: &'a ReadDoc,
    pub(super) node: &'a Node,
    /// Documents from here on were read together; two of one name among them are a mistake.
    pub(super) since: SourceId,
    /// What is wrong with it.
    pub(super) decoding: &'a Diagnostics,
    pub(super) findings: &'a mut Diagnostics,
}

impl Admission<'_> {
    /// Puts the document under its name. False when that was not possible.
    pub(super) fn keep<T>(self, doc: Option<Arc<T>>, map: &mut IndexMap<String, Loaded<T>>) -> bool {
        let name = self.doc.name();
        let known = name.and_then(|(name, _)| map.get(name));
        if self.doc.shipped && known.is_some() {
            return true;
        }
        let clash = known.filter(|known| known.source >= self.since).map(|known| (known.source, known.path.clone()));
        self.findings.extend(self.decoding.iter().cloned());
        let (Some(doc), Some((name, span))) = (doc, name) else { return false };
        if let Some((other, path)) = clash {
            let message = format!("another {} is named `{name}`: {}", self.doc.kind.name(), path.display());
            let other =
                map.get(name).and_then(|known| known.node.get("name")).map_or(Span::new(other, 0, 0), |name| name.span);
            self.findings.push(
                Diagnostic::error(codes::DUPLICATE_NAME, span, message)
                    .label(other, "the other one")
                    .help("give one of them another name"),
            );
            return false;
        }
        let loaded = Loaded {
            doc,
            node: self.node.clone(),
            path: self.doc.path.clone(),
            folder: self.doc.folder.clone(),
            source: self.doc.source,
            shipped: self.doc.shipped,
        };
        map.insert(name.to_owned(), loaded);
        true
    }
}
