//! Where each thing with a name is declared and used, in every document and template of a workspace.

use std::path::PathBuf;

use super::uri;
use crate::check::{TemplatePlace, step_references};
use crate::diag::{SourceId, Span};
use crate::document::Kind;
use crate::load::{Library, Written};
use crate::syntax::{Entry, Node, Value};
use crate::verb::Reference;

/// A thing with a name. What belongs to a document is told apart by the document's source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Symbol {
    Loop(String),
    Tool(String),
    Forge(String),
    Preset(String),
    Model(String),
    Tier(String),
    /// A file of the workspace, by its real path.
    File(PathBuf),
    Action(SourceId, String),
    State(SourceId, String),
    Step(SourceId, String),
    /// A parameter of an action; of the tool when there is no action.
    Param(SourceId, Option<String>, String),
    /// A tag of an action.
    Tag(SourceId, String, String),
}

impl Symbol {
    /// The symbol of a document of this name.
    pub(super) fn document(kind: Kind, name: &str) -> Option<Self> {
        let name = name.to_owned();
        match kind {
            Kind::Loop => Some(Self::Loop(name)),
            Kind::Tool => Some(Self::Tool(name)),
            Kind::Forge => Some(Self::Forge(name)),
            Kind::Preset => Some(Self::Preset(name)),
            Kind::Workspace => None,
        }
    }

    /// The name, when it is one that may be changed everywhere at once: it lies in one document and its templates.
    pub(super) fn local_name(&self) -> Option<&str> {
        match self {
            Self::Action(_, name)
            | Self::State(_, name)
            | Self::Step(_, name)
            | Self::Param(_, _, name)
            | Self::Tag(_, _, name) => Some(name),
            _ => None,
        }
    }
}

/// One place of a symbol.
#[derive(Debug, Clone)]
pub(super) struct Occurrence {
    pub(super) span: Span,
    pub(super) symbol: Symbol,
    pub(super) is_declaration: bool,
}

/// All places of all symbols.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) all: Vec<Occurrence>,
}

impl Index {
    pub(super) fn new(library: &Library, places: &[TemplatePlace]) -> Self {
        let mut index = Self::default();
        for document in library.all_written().filter(|document| !document.shipped) {
            if let Some(node) = document.node {
                Collect { library, document, index: &mut index }.document(node);
            }
        }
        for place in places {
            index.template(library, place);
        }
        index
    }

    fn add(&mut self, span: Span, symbol: Symbol, is_declaration: bool) {
        if !span.is_none() {
            self.all.push(Occurrence { span, symbol, is_declaration });
        }
    }

    fn template(&mut self, library: &Library, place: &TemplatePlace) {
        let Some(walk) = &place.walk else { return };
        let document = place.document;
        for used in &walk.variables {
            let [root, part, ..] = used.path.as_slice() else { continue };
            let (Some(root), Some(name)) = (root.name.as_deref(), part.name.clone()) else { continue };
            let span = place.span(part.range.clone());
            // A part that another name stands for, or a place that is not exact, is nothing that can be pointed at.
            let written = library.sources.slice(span);
            let inside = written.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_suffix(['"', '\'']));
            if written != name && inside != Some(&*name) {
                continue;
            }
            let action = || action_around(library, place);
            let symbol = match root {
                "state" => Symbol::State(document, name),
                "steps" => Symbol::Step(document, name),
                "params" => Symbol::Param(document, action(), name),
                "tags" => match action() {
                    Some(action) => Symbol::Tag(document, action, name),
                    None => continue,
                },
                _ => continue,
            };
            self.add(span, symbol, false);
        }
        for include in &walk.includes {
            let found = include.names.iter().find_map(|name| library.files.of_template(name, place.file_name()).ok());
            if let Some(file) = found.filter(|file| !file.shipped) {
                self.add(place.span(include.range.clone()), Symbol::File(uri::real(&file.path)), false);
            }
        }
    }
}

/// The name of the action that a template stands in.
fn action_around(library: &Library, place: &TemplatePlace) -> Option<String> {
    let whole = place.whole();
    let actions = library.written(place.document)?.node?.get("actions")?;
    actions.entries().iter().find(|entry| holds(&entry.value, whole)).map(|entry| entry.key.to_string())
}

/// Whether a value at this place is somewhere in a tree.
fn holds(node: &Node, place: Span) -> bool {
    let own = node.origin.unwrap_or(node.span);
    own == place
        || node.items().iter().any(|item| holds(item, place))
        || node.entries().iter().any(|entry| entry.key_span == place || holds(&entry.value, place))
}

/// One document on its way into the index.
struct Collect<'a> {
    library: &'a Library,
    document: Written<'a>,
    index: &'a mut Index,
}

impl Collect<'_> {
    fn document(&mut self, node: &Node) {
        let source = self.document.source;
        if let Some(name) = node.get("name")
            && let Some(symbol) = name.as_str().and_then(|text| Symbol::document(self.document.kind, text))
        {
            self.index.add(name.span, symbol, true);
        }
        self.keys(node.get("state"), |name| Symbol::State(source, name));
        self.keys(node.get("models"), Symbol::Model);
        self.keys(node.get("tiers"), Symbol::Tier);
        for action in node.get("actions").into_iter().flat_map(Node::entries) {
            self.action(action);
        }
        if self.document.kind == Kind::Tool {
            self.keys(parameters(node), |name| Symbol::Param(source, None, name));
        }
        for key in ["init", "after_iteration", "finish"] {
            self.steps(node.get("hooks").and_then(|hooks| hooks.get(key)));
        }
        self.steps(node.get("do"));
        self.names(node.get("tools"), Symbol::Tool);
        self.extended(node.get("extends"));
        self.models(node);
        self.files(node);
        for (reference, span) in step_references(node) {
            let symbol = match reference {
                Reference::Action(name) => Symbol::Action(source, name),
                Reference::State(name) => Symbol::State(source, name),
                Reference::Tool(name) => Symbol::Tool(name),
                Reference::Forge(name) => Symbol::Forge(name),
                Reference::Loop(name) => Symbol::Loop(name),
                // A skill's name stands in Markdown, which is no document here.
                Reference::Skill(_) => continue,
            };
            self.index.add(span, symbol, false);
        }
    }

    fn action(&mut self, action: &Entry) {
        let (source, name) = (self.document.source, action.key.to_string());
        self.index.add(action.key_span, Symbol::Action(source, name.clone()), true);
        self.keys(parameters(&action.value), |param| Symbol::Param(source, Some(name.clone()), param));
        self.keys(action.value.get("tags"), |tag| Symbol::Tag(source, name.clone(), tag));
        self.names(action.value.get("from_tool"), Symbol::Tool);
        self.names(action.value.get("from_loop"), Symbol::Loop);
        self.steps(action.value.get("do"));
    }

    /// Every key of a map is declared by it.
    fn keys(&mut self, map: Option<&Node>, symbol: impl Fn(String) -> Symbol) {
        for entry in map.into_iter().flat_map(Node::entries) {
            self.index.add(entry.key_span, symbol(entry.key.to_string()), true);
        }
    }

    /// A text, or each of a list of texts, is the name of something.
    fn names(&mut self, node: Option<&Node>, symbol: impl Fn(String) -> Symbol) {
        for name in node.into_iter().flat_map(|node| node.items().iter().chain(std::iter::once(node))) {
            if let Some(text) = name.as_str() {
                self.index.add(name.span, symbol(text.to_owned()), false);
            }
        }
    }

    fn steps(&mut self, list: Option<&Node>) {
        for step in list.into_iter().flat_map(Node::items) {
            if let Some(id) = step.get("id")
                && let Some(name) = id.as_str()
            {
                self.index.add(id.span, Symbol::Step(self.document.source, name.to_owned()), true);
            }
            self.steps(step.get("on_error").filter(|node| matches!(node.value, Value::Seq(_))));
        }
    }

    fn extended(&mut self, extends: Option<&Node>) {
        let (library, folder) = (self.library, self.document.folder);
        self.names(extends, |name| {
            let paths = [library.root.join(&name), library.root.join(folder).join(&name)];
            match paths.into_iter().find(|path| path.is_file()) {
                Some(path) => Symbol::File(uri::real(&path)),
                None => Symbol::Preset(name.strip_prefix("preset/").unwrap_or(&name).to_owned()),
            }
        });
    }

    /// `model`, and the tiers that mechanisms and forges name. A word is a model, or else a tier.
    fn models(&mut self, node: &Node) {
        let library = self.library;
        let named = |name: String| {
            if library.workspace.doc.models.contains_key(&name) { Symbol::Model(name) } else { Symbol::Tier(name) }
        };
        for map in [node.get("model"), node.get("tiers")].into_iter().flatten() {
            let is_settings = map.get("provider").is_some();
            let values = map.entries().iter().filter(|_| !is_settings).map(|entry| &entry.value);
            for value in values.chain(std::iter::once(map)) {
                self.names(Some(value), named);
            }
        }
        let mechanisms = node.get("mechanisms").into_iter().flat_map(Node::entries);
        for part in mechanisms.map(|entry| &entry.value).chain(std::iter::once(node)) {
            self.names(part.get("tier"), named);
        }
    }

    fn files(&mut self, node: &Node) {
        let prompt = node.get("prompt");
        let part = |key: &str| prompt.and_then(|prompt| prompt.get(key));
        let sources = [prompt, part("instruction"), part("output_example"), part("reactive")];
        let sections = part("sections").into_iter().flat_map(Node::items);
        for source in sources.into_iter().flatten().chain(sections) {
            let Some(file) = source.get("file") else { continue };
            let found = file.as_str().map(|name| self.library.files.of_document(name, self.document.folder));
            if let Some(Ok(found)) = found
                && !found.shipped
            {
                self.index.add(file.span, Symbol::File(uri::real(&found.path)), false);
            }
        }
        for file in node.get("example").into_iter().flat_map(Node::entries).map(|entry| &entry.value) {
            if let Some(name) = file.as_str() {
                self.index.add(file.span, Symbol::File(uri::real(&self.library.root.join(name))), false);
            }
        }
    }
}

/// The map whose keys are the parameters: those of a JSON Schema, or of its short form.
fn parameters(node: &Node) -> Option<&Node> {
    let params = node.get("params")?;
    params
        .get("properties")
        .or(Some(params).filter(|params| params.get("type").is_none_or(|kind| kind.as_str() != Some("object"))))
}
