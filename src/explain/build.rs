//! From a merged document and its layers to items with origins.

use serde_json::Value as Json;

use super::defaults::{Absent, Schemas};
use super::{Explained, Former, Item, Origin, Place, Shown};
use crate::diag::Span;
use crate::document::Kind;
use crate::load::{Layer, Library, Loaded, with_model_map};
use crate::schema::{SchemaKind, generate};
use crate::syntax::{Entry, Node, Style, Value};

/// How deep keys that nobody wrote are followed. The deepest settings lie three below the root.
const MAX_DEPTH: usize = 8;

/// Which of the engine's defaults are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Defaults {
    /// None.
    None,
    /// Those of settings: keys that every document of the kind has.
    #[default]
    Settings,
    /// Also those inside actions, steps, sections and other things that authors add.
    All,
}

/// The effective document of a kind and name.
#[must_use]
pub fn explain(library: &Library, kind: Kind, name: &str, defaults: Defaults) -> Option<Explained> {
    match kind {
        Kind::Loop => library.loops.get(name).map(|loaded| of(library, kind, Some(name), loaded, defaults)),
        Kind::Tool => library.tools.get(name).map(|loaded| of(library, kind, Some(name), loaded, defaults)),
        Kind::Forge => library.forges.get(name).map(|loaded| of(library, kind, Some(name), loaded, defaults)),
        Kind::Preset => library.presets.get(name).map(|loaded| of(library, kind, Some(name), loaded, defaults)),
        Kind::Workspace => None,
    }
}

/// The effective workspace.
#[must_use]
pub fn explain_workspace(library: &Library, defaults: Defaults) -> Explained {
    of(library, Kind::Workspace, None, &library.workspace, defaults)
}

fn of<T>(library: &Library, kind: Kind, name: Option<&str>, loaded: &Loaded<T>, defaults: Defaults) -> Explained {
    let normal = |node: &Node| if kind == Kind::Workspace { node.clone() } else { with_model_map(node) };
    let mut node = normal(&loaded.node);
    if kind == Kind::Loop {
        node = with_workspace(&node, &library.workspace.node);
    }
    let mut layers = library.layers(loaded.source);
    layers.iter_mut().for_each(|layer| layer.node = normal(&layer.node));
    let schema = generate(SchemaKind::Document(kind));
    let builder = Builder { library, layers, schemas: Schemas::of(&schema), defaults };
    let items = builder.map(Some(&node), builder.schemas.root(), "", true);
    Explained { kind, name: name.map(str::to_owned), path: loaded.path.clone(), items }
}

/// A loop with what the workspace gives to all loops: tiers, tools, environment variables, the language.
fn with_workspace(node: &Node, workspace: &Node) -> Node {
    let mut entries = node.entries().to_vec();
    let mut put = |key: &str, from: Option<&Entry>, join: &dyn Fn(Option<&Node>, &Node) -> Node| {
        let Some(from) = from else { return };
        match entries.iter_mut().find(|entry| &*entry.key == key) {
            Some(entry) => entry.value = join(Some(&entry.value), &from.value),
            None => entries.push(Entry { key: key.into(), key_span: from.key_span, value: join(None, &from.value) }),
        }
    };
    put("model", workspace.entry("tiers"), &|own, tiers| {
        let taken = |key: &str| own.is_some_and(|own| own.get(key).is_some());
        let more = tiers.entries().iter().filter(|entry| &*entry.key != "fallback" && !taken(&entry.key)).cloned();
        let own_entries = own.into_iter().flat_map(Node::entries).cloned();
        own.unwrap_or(tiers).with_entries(own_entries.chain(more).collect())
    });
    for key in ["tools", "env"] {
        put(key, workspace.entry(key), &|own, shared| {
            let mine: Vec<Node> = own.into_iter().flat_map(Node::items).cloned().collect();
            let known = |item: &Node| mine.iter().any(|one| one.value == item.value);
            let more: Vec<Node> = shared.items().iter().filter(|item| !known(item)).cloned().collect();
            let place = own.unwrap_or(shared);
            Node::new(Value::Seq(mine.iter().cloned().chain(more).collect()), place.span, Style::Flow)
        });
    }
    put("language", workspace.entry("language"), &|own, shared| own.unwrap_or(shared).clone());
    put("mechanisms", workspace.entry("mechanisms"), &|own, switches| {
        let mut all: Vec<Entry> = own.into_iter().flat_map(Node::entries).cloned().collect();
        let off = switches.entries().iter().filter(|switch| matches!(switch.value.value, Value::Bool(false)));
        off.for_each(|switch| switch_off(&mut all, switch));
        own.unwrap_or(switches).with_entries(all)
    });
    node.with_entries(entries)
}

/// Mechanisms that are on as soon as a loop names them, and do less, but not nothing, in a loop that does not.
const WHEN_NAMED: [&str; 3] = ["perception", "reflection", "spin"];
const NAMED: &str = "true in a loop that names it; in this one only what costs no model call";

/// Puts a mechanism that the workspace switches off into the loop's settings: a loop says so with `enabled`. One without
/// this key does nothing unless it is written, so then it is as if it were not.
fn switch_off(all: &mut Vec<Entry>, switch: &Entry) {
    let key = "enabled";
    let enabled = Entry { key: key.into(), key_span: switch.key_span, value: switch.value.clone() };
    match all.iter_mut().find(|entry| entry.key == switch.key) {
        Some(_) if &*switch.key == "progress" => all.retain(|entry| entry.key != switch.key),
        Some(entry) => {
            let others = entry.value.entries().iter().filter(|inner| &*inner.key != key).cloned();
            entry.value = entry.value.with_entries(std::iter::once(enabled).chain(others).collect());
        }
        None if WHEN_NAMED.contains(&&*switch.key) => {
            let value = switch.value.with_entries(vec![enabled]);
            all.push(Entry { key: switch.key.clone(), key_span: switch.key_span, value });
        }
        None => {}
    }
}

struct Builder<'a> {
    library: &'a Library,
    layers: Vec<Layer>,
    schemas: Schemas<'a>,
    defaults: Defaults,
}

impl<'a> Builder<'a> {
    /// The items of a map: what is written, then what holds all the same. `fixed` while only keys of the schema led here.
    fn map(&self, node: Option<&Node>, schema: &'a Json, pointer: &str, fixed: bool) -> Vec<Item> {
        let written = node.into_iter().flat_map(Node::entries).filter(|entry| &*entry.key != "$schema");
        let mut items: Vec<Item> = written
            .map(|entry| {
                let pointer = format!("{pointer}/{}", escaped(&entry.key));
                let is_fixed = fixed && schema["properties"].get(&*entry.key).is_some();
                let inner = Schemas::property(schema, &entry.key);
                self.item(Some(&entry.key), &entry.value, inner, pointer, is_fixed)
            })
            .collect();
        let shown = match self.defaults {
            Defaults::None => false,
            Defaults::Settings => fixed,
            Defaults::All => true,
        };
        if shown && pointer.matches('/').count() < MAX_DEPTH {
            let absent = |key: &str| node.is_none_or(|node| node.get(key).is_none());
            let missing = Schemas::properties(schema).filter(|(key, _)| *key != "kind" && absent(key));
            let unnamed = node.is_none();
            items.extend(missing.filter_map(|(key, inner)| self.missing(key, inner, pointer, unnamed)));
        }
        items
    }

    /// What holds for a key that nobody wrote. `unnamed` says that the map around it is not there either.
    fn missing(&self, key: &str, schema: &'a Json, around: &str, unnamed: bool) -> Option<Item> {
        let pointer = format!("{around}/{}", escaped(key));
        let inner = if self.schemas.has_inner(schema) { self.inner(schema, &pointer) } else { Vec::new() };
        let mechanism = around.strip_prefix("/mechanisms/");
        let shown = match self.schemas.absent(schema) {
            _ if key == "enabled" && unnamed && mechanism.is_some_and(|name| WHEN_NAMED.contains(&name)) => {
                Shown::Words(NAMED.to_owned())
            }
            _ if !inner.is_empty() => Shown::Map(inner),
            Some(Absent::Value(value)) => Shown::Leaf(value),
            Some(Absent::Words(words)) => Shown::Words(words),
            None => return None,
        };
        Some(Item { key: Some(key.to_owned()), pointer, shown, origin: Origin::Default, overrides: Vec::new() })
    }

    /// What holds below a key that nobody wrote. A default beside a map is that of its only number.
    fn inner(&self, schema: &'a Json, pointer: &str) -> Vec<Item> {
        let target = self.schemas.resolved(schema, None);
        let mut items = self.map(None, target, pointer, true);
        let known = |key: &str| items.iter().any(|item| item.key.as_deref() == Some(key));
        let bare: Vec<&str> = Schemas::properties(target).map(|(key, _)| key).filter(|key| !known(key)).collect();
        if let ([key], Some(number)) = (bare.as_slice(), Schemas::number(schema)) {
            let (shown, pointer) = (Shown::Leaf(number.into()), format!("{pointer}/{}", escaped(key)));
            let key = Some((*key).to_owned());
            items.push(Item { key, pointer, shown, origin: Origin::Default, overrides: Vec::new() });
        }
        items
    }

    fn item(&self, key: Option<&str>, node: &Node, schema: &'a Json, pointer: String, fixed: bool) -> Item {
        let schema = self.schemas.resolved(schema, Some(node));
        let shown = match &node.value {
            Value::Map(_) => match self.map(Some(node), schema, &pointer, fixed) {
                none if none.is_empty() => Shown::Leaf(node.to_json()),
                items => Shown::Map(items),
            },
            Value::Seq(items) if !items.is_empty() => {
                let inner = &schema["items"];
                let items = items.iter().enumerate();
                Shown::List(
                    items.map(|(at, item)| self.item(None, item, inner, format!("{pointer}/{at}"), false)).collect(),
                )
            }
            _ => Shown::Leaf(node.to_json()),
        };
        let overrides = match &node.value {
            Value::Map(_) => Vec::new(),
            _ => self.former(&pointer, node.span),
        };
        Item { key: key.map(str::to_owned), pointer, shown, origin: self.origin(node.span), overrides }
    }

    /// The values that lower layers have at a place, the nearest first.
    fn former(&self, pointer: &str, winner: Span) -> Vec<Former> {
        let Some(top) = self.layers.iter().rposition(|layer| layer.source == winner.source) else { return Vec::new() };
        // Lists are replaced as a whole: what is inside one stands in front of nothing by itself.
        let in_list = |node: &Node| {
            let ends = pointer.match_indices('/').map(|(at, _)| at).skip(1);
            ends.into_iter()
                .any(|end| node.at_pointer(&pointer[..end]).is_some_and(|node| matches!(node.value, Value::Seq(_))))
        };
        let below = self.layers[..top].iter().rev().filter(|layer| !in_list(&layer.node));
        let found = below.filter_map(|layer| layer.node.at_pointer(pointer));
        found.map(|node| Former { value: node.to_json(), origin: self.origin(node.span) }).collect()
    }

    fn origin(&self, span: Span) -> Origin {
        if span.is_none() {
            return Origin::Default;
        }
        let at = self.library.sources.position(span.source, span.start);
        let file = self.library.sources.path(span.source).to_owned();
        let place = Place { file, line: at.line, column: at.column };
        let preset =
            self.layers.iter().find(|layer| layer.source == span.source).and_then(|layer| layer.preset.clone());
        match preset {
            Some(name) => Origin::Preset { name, place },
            None if span.source == self.library.workspace.source => Origin::Workspace(place),
            None => Origin::Document(place),
        }
    }
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
