//! A reply while it arrives: pieces go to the nodes that people watch.

use std::collections::HashMap;

use super::call::Watcher;
use super::mechanism::ChantWatch;
use super::program::ActionSet;
use crate::document::DEFAULT_CONTENT_TYPE;
use crate::event::{Event, EventStream};
use crate::model::Sink;
use crate::reply::{Grammar, Live, Piece};

/// The node for reasoning and thoughts.
pub(super) const THOUGHT_NODE: &str = "thought";

/// Where an action's streamed text goes: parameter or tag → node and media type.
type Routes<'a> = HashMap<(&'a str, &'a str), (&'a str, &'a str)>;

/// Shows a reply as it arrives.
pub(super) struct LiveView<'a> {
    events: &'a EventStream,
    grammar: &'a Grammar,
    live: Live,
    fields: Routes<'a>,
    tags: HashMap<&'a str, (&'a str, &'a str)>,
    /// Nodes that were shown something, with what.
    pub(super) shown: Shown,
    arguments: Option<usize>,
    /// Over what the model thinks aloud.
    chant: Option<ChantWatch<'a>>,
    /// Whether the text is still what stands before the action.
    before: bool,
}

/// What each node was shown in this turn.
#[derive(Debug, Default)]
pub(super) struct Shown {
    nodes: Vec<(String, String)>,
}

impl Shown {
    /// What a node was shown.
    pub(super) fn text(&self, node: &str) -> Option<&str> {
        self.nodes.iter().find(|(known, _)| known == node).map(|(_, text)| text.as_str())
    }

    /// Every node with what it was shown.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes.iter().map(|(node, text)| (node.as_str(), text.as_str()))
    }

    fn add(&mut self, node: &str, text: &str) {
        match self.nodes.iter_mut().find(|(known, _)| known == node) {
            Some((_, all)) => all.push_str(text),
            None => self.nodes.push((node.to_owned(), text.to_owned())),
        }
    }

    /// Takes back everything but reasoning, which was never a reply.
    pub(super) fn retract(&mut self, events: &EventStream) {
        for (node, _) in self.nodes.drain(..).filter(|(node, _)| node != THOUGHT_NODE) {
            events.emit(Event::Correction { node, text: String::new() });
        }
    }
}

impl<'a> LiveView<'a> {
    /// A view of one reply to a turn.
    pub(super) fn new(
        events: &'a EventStream,
        grammar: &'a Grammar,
        set: &'a ActionSet,
        chant: Option<ChantWatch<'a>>,
    ) -> Self {
        let mut fields = Routes::new();
        let mut tags = HashMap::new();
        for action in &set.actions {
            for (key, to) in &action.stream {
                fields.insert((action.name.as_str(), key.as_str()), (to.node.as_str(), to.content_type.as_str()));
            }
            for (name, tag) in &action.tags {
                if let Some(node) = &tag.node {
                    let content_type = tag.content_type.as_deref().unwrap_or(DEFAULT_CONTENT_TYPE);
                    tags.entry(name.as_str()).or_insert((node.as_str(), content_type));
                }
            }
        }
        let (live, shown) = (Live::new(grammar), Shown::default());
        Self { events, grammar, live, fields, tags, shown, arguments: None, chant, before: true }
    }

    /// Hands out what was held back.
    pub(super) fn finish(&mut self) {
        if self.arguments.is_some() {
            self.feed("}");
        }
        let Self { events, live, fields, tags, shown, .. } = self;
        live.finish(&mut |piece| show(events, fields, tags, shown, &piece));
    }

    /// Takes back what this reply showed.
    pub(super) fn retract_all(&mut self) {
        self.shown.retract(self.events);
    }

    fn feed(&mut self, text: &str) {
        let Self { events, live, fields, tags, shown, .. } = self;
        live.feed(text, &mut |piece| show(events, fields, tags, shown, &piece));
    }
}

fn show(
    events: &EventStream,
    fields: &Routes<'_>,
    tags: &HashMap<&str, (&str, &str)>,
    shown: &mut Shown,
    piece: &Piece<'_>,
) {
    let (node, content_type, text) = match *piece {
        Piece::Field { action, key, text } => match fields.get(&(action, key)) {
            Some((node, content_type)) => (*node, *content_type, text),
            None => return,
        },
        Piece::Tag { name, text } => match tags.get(name) {
            Some((node, content_type)) => (*node, *content_type, text),
            None => return,
        },
        Piece::Thought(text) => (THOUGHT_NODE, "text/plain", text),
        Piece::Retract => return shown.retract(events),
        Piece::FieldEnd { .. } | Piece::TagEnd { .. } => return,
    };
    if text.is_empty() {
        return;
    }
    shown.add(node, text);
    events.emit(Event::Delta { node: node.to_owned(), content_type: content_type.to_owned(), text: text.to_owned() });
}

impl Sink for LiveView<'_> {
    fn text(&mut self, piece: &str) {
        // An object or a tag begins the action; what stands in one may repeat itself.
        self.before &= !piece.contains('{') && !piece.contains("<|");
        if self.before
            && let Some(chant) = &mut self.chant
        {
            chant.feed(piece);
        }
        self.feed(piece);
    }

    fn reasoning(&mut self, piece: &str) {
        if let Some(chant) = &mut self.chant {
            chant.feed(piece);
        }
        self.shown.add(THOUGHT_NODE, piece);
        self.events.emit(Event::Delta {
            node: THOUGHT_NODE.to_owned(),
            content_type: "text/plain".to_owned(),
            text: piece.to_owned(),
        });
    }

    fn arguments(&mut self, index: usize, name: &str, piece: &str) {
        // Only one action a turn is shown: the first. To the reader it is the object that the text protocols have.
        match self.arguments {
            Some(first) if first == index => {}
            Some(_) => return,
            None if name.is_empty() => return,
            None => {
                self.arguments = Some(index);
                let name = serde_json::Value::from(name);
                self.feed(&format!("{{\"@action\":{name},\"params\":"));
            }
        }
        self.feed(piece);
    }
}

impl Watcher for LiveView<'_> {
    fn retract(&mut self) {
        self.shown.retract(self.events);
        self.live = Live::new(self.grammar);
        self.arguments = None;
        self.before = true;
        self.chant = self.chant.take().map(ChantWatch::afresh);
    }

    fn repeats(&self) -> Option<&str> {
        self.chant.as_ref()?.found()
    }
}
