//! YAML events to the tree, with every duplicate key found and the limits kept.

mod alias;
mod complaint;
mod doubt;
mod leaf;
mod scalar;

pub(crate) use scalar::is_old_boolean;

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, StructureStyle};

use super::{Entry, MAX_DEPTH, Node, Style, Value};
use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes};
use alias::Anchor;

/// Reads the one document of a text.
pub(super) fn parse(source: SourceId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let mut builder = Builder {
        source,
        text,
        diagnostics,
        stack: Vec::new(),
        anchors: HashMap::new(),
        count: 0,
        root: None,
        documents: 0,
    };
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_comments: false,
        emit_unresolved_aliases: true,
        // Our own limit counts both together and speaks first, unless the scanner looks far ahead.
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => {
                if builder.event(event, span).is_err() {
                    return None;
                }
            }
            Err(error) => {
                let opener = builder.open_bracket();
                complaint::report(source, text, &error, opener, builder.diagnostics);
                return None;
            }
        }
        if builder.documents > 1 {
            break;
        }
    }
    builder.finish()
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(codes::TOO_DEEP, span, format!("values are nested more than {MAX_DEPTH} levels deep"))
        .help("flatten the document")
}

/// Reading cannot go on; the reason has been reported.
struct Stop;

struct Builder<'a> {
    source: SourceId,
    text: &'a str,
    diagnostics: &'a mut Diagnostics,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    /// Values so far, with aliases counted at their full size.
    count: usize,
    root: Option<Node>,
    documents: usize,
}

/// A list or map that is not complete yet.
struct Frame {
    start: Span,
    anchor: usize,
    flow: bool,
    /// Values so far in here, to know what an alias to it weighs.
    count: usize,
    kind: Kind,
}

enum Kind {
    Seq(Vec<Node>),
    Map(MapFrame),
}

#[derive(Default)]
struct MapFrame {
    entries: Vec<Entry>,
    /// Where the keys of a large map are written; behind the entries, and filled up when it is asked.
    seen: HashMap<Arc<str>, Span>,
    key: Key,
    /// It began with `{{`: a template without quotes, which is kept as the text that it was meant to be.
    template: bool,
}

/// What the next value in a map is.
#[derive(Default)]
enum Key {
    /// A key.
    #[default]
    Awaited,
    /// The value of this key.
    Given(Arc<str>, Span),
    /// The value of a key that has been complained about, to be dropped.
    Refused(Span),
}

impl Builder<'_> {
    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or_default();
        // Documents are at most 1 MiB, so offsets fit.
        let at = |offset: usize| u32::try_from(offset.min(self.text.len())).unwrap_or(u32::MAX);
        Span::new(self.source, at(range.start), at(range.end))
    }

    /// The innermost `[` or `{` that is open. A pair in a list, `[a: b]`, is a map without a bracket.
    fn open_bracket(&self) -> Option<Span> {
        let starts = self.stack.iter().rev().filter(|frame| frame.flow).map(|frame| frame.start);
        starts.into_iter().find(|start| self.text[start.start as usize..].starts_with(['[', '{']))
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn event(&mut self, event: Event<'_>, place: granit_parser::Span) -> Result<(), Stop> {
        let span = self.span(place);
        match event {
            Event::DocumentStart(..) => self.document(span),
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), span, place);
                self.add(node, anchor, 1)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", place);
                let span = if style == StructureStyle::Flow { span } else { self.with_dash(span) };
                self.open(span, anchor, style, Kind::Seq(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", place);
                self.open(span, anchor, style, Kind::Map(MapFrame::default()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            Event::Anchor(id, name) => self.anchor(id, &name, span),
            Event::Alias(id) => self.alias(id, span)?,
            Event::UnresolvedAlias(name) => self.unresolved(&name, span)?,
            _ => {}
        }
        Ok(())
    }

    /// The place of a list from its first dash on: the parser begins one that is not indented behind the dash.
    fn with_dash(&self, start: Span) -> Span {
        let at = start.start as usize;
        let (before, rest) = (self.text.get(..at).unwrap_or_default(), self.text.get(at..).unwrap_or_default());
        let is_dash =
            rest.strip_prefix('-').is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n']) || rest.is_empty());
        let dash = before.trim_end_matches([' ', '\t']).strip_suffix('-').map(str::len);
        match dash.filter(|_| !is_dash).and_then(|dash| u32::try_from(dash).ok()) {
            Some(dash) => Span::new(self.source, dash, start.end),
            None => start,
        }
    }

    /// Complains about a tab before the key of a map that is not in brackets. Readers of YAML disagree about one that
    /// follows spaces.
    fn tab_before(&mut self, key: Span) {
        let before = self.text.get(..key.start as usize).unwrap_or_default();
        let line = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let indentation = &before[line..];
        if let Some(tab) = indentation.find('\t').filter(|_| indentation.trim().is_empty()) {
            let at = |offset: usize| u32::try_from(line + offset).unwrap_or(u32::MAX);
            let place = Span::new(self.source, at(tab), at(tab + 1));
            self.diagnostics.push(
                Diagnostic::error(codes::YAML_TAB, place, "a tab is used for indentation")
                    .help("indent with spaces")
                    .safe_fix(place, "  "),
            );
        }
    }

    fn document(&mut self, span: Span) {
        self.documents += 1;
        if self.documents > 1 {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::MULTI_DOCUMENT,
                    span,
                    "a second document begins here; a file holds one document",
                )
                .help("move what follows into a file of its own"),
            );
        }
    }

    fn open(&mut self, start: Span, anchor: usize, style: StructureStyle, kind: Kind) -> Result<(), Stop> {
        if self.stack.len() >= MAX_DEPTH {
            self.diagnostics.push(too_deep(start.at_start()));
            return Err(Stop);
        }
        let flow = style == StructureStyle::Flow;
        if flow && matches!(kind, Kind::Map(_)) {
            self.notice_template(start);
        }
        self.stack.push(Frame { start, anchor, flow, count: 1, kind });
        Ok(())
    }

    /// `{{` at the start of a value is a map with a map for a key; nobody means that.
    fn notice_template(&mut self, start: Span) {
        let Some(Frame { start: outer, flow: true, kind: Kind::Map(map), .. }) = self.stack.last_mut() else {
            return;
        };
        if outer.start + 1 != start.start || map.template || !map.entries.is_empty() {
            return;
        }
        map.template = true;
        let outer = *outer;
        complaint::unquoted_template(self.source, self.text, outer.start as usize, self.diagnostics);
    }

    fn close(&mut self, end: Span) -> Result<(), Stop> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let style = if frame.flow { Style::Flow } else { Style::Indented };
        let last = match &frame.kind {
            _ if frame.flow => end.end,
            Kind::Seq(items) => items.last().map_or(frame.start.end, |item| item.span.end),
            Kind::Map(map) => map.end().unwrap_or(frame.start.end),
        };
        let span = Span::new(self.source, frame.start.start, last);
        let node = match frame.kind {
            Kind::Seq(items) => Node::new(Value::Seq(items.into()), span, style),
            Kind::Map(map) if map.template => Node::new(Value::String(self.slice(span).into()), span, Style::Plain),
            Kind::Map(map) => Node::new(Value::Map(map.entries.into()), span, style),
        };
        self.add(node, frame.anchor, frame.count)
    }

    /// Puts a complete value where it belongs. `weight` is how many values it stands for.
    fn add(&mut self, mut node: Node, anchor: usize, weight: usize) -> Result<(), Stop> {
        if let Some(anchor) = self.anchors.get_mut(&anchor) {
            anchor.node = Some((node.clone(), weight));
        } else if anchor > 0 {
            // A scalar's anchor event comes after it.
            let named =
                Anchor { name: String::new(), span: node.span, node: Some((node.clone(), weight)), used: false };
            self.anchors.insert(anchor, named);
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        frame.count += weight;
        match &mut frame.kind {
            Kind::Seq(items) => items.push(node),
            Kind::Map(map) => match std::mem::take(&mut map.key) {
                Key::Awaited => self.key(&node),
                Key::Given(key, key_span) => {
                    let empty = node.is_null() && node.span.start == node.span.end;
                    if empty {
                        // Nothing was written: the parser's place would be the next token.
                        node.span = key_span;
                    }
                    map.entries.push(Entry { key, key_span, value: node });
                    if empty {
                        self.cut("", key_span.end);
                    }
                }
                Key::Refused(_) => {}
            },
        }
        Ok(())
    }

    /// Takes a value as the next key of the innermost map.
    fn key(&mut self, node: &Node) {
        let span = node.span;
        if self.stack.last().is_some_and(|frame| !frame.flow) {
            self.tab_before(span);
        }
        let Some(Frame { kind: Kind::Map(map), .. }) = self.stack.last_mut() else {
            return;
        };
        map.key = Key::Refused(span);
        if map.template {
            return;
        }
        let Value::String(key) = &node.value else {
            let found = node.value.kind();
            let finding =
                Diagnostic::error(codes::NON_STRING_KEY, span, format!("a key must be a string; this is {found}"));
            self.diagnostics.push(finding.help("put the key in quotes"));
            return;
        };
        if &**key == "<<" && node.style == Style::Plain {
            let finding = Diagnostic::error(codes::MERGE_KEY, span, "the merge key `<<` is not part of YAML 1.2");
            self.diagnostics.push(finding.help("write the keys out, or use an alias for the whole value: `b: *a`"));
            return;
        }
        if let Some(first) = map.place_of(key) {
            let finding = Diagnostic::error(codes::DUPLICATE_KEY, span, format!("key `{key}` is written twice"));
            self.diagnostics
                .push(finding.label(first, "first written here").help(format!("remove one of the two `{key}`")));
            return;
        }
        map.key = Key::Given(key.clone(), span);
    }

    fn finish(mut self) -> Option<Node> {
        self.report_unused_anchors();
        let empty = self.root.as_ref().is_none_or(Node::is_null);
        if empty {
            self.diagnostics.push(
                Diagnostic::error(codes::EMPTY_FILE, Span::new(self.source, 0, 0), "the file holds no document")
                    .help("a document is a map; the shortest loop has `name` and `prompt`"),
            );
            return None;
        }
        self.root
    }
}

impl MapFrame {
    /// Maps with fewer keys are searched one by one.
    const LARGE: usize = 16;

    /// Where a key is written in here already.
    fn place_of(&mut self, key: &str) -> Option<Span> {
        if self.entries.len() < Self::LARGE {
            return self.entries.iter().find(|entry| &*entry.key == key).map(|entry| entry.key_span);
        }
        let unseen = self.seen.len();
        self.seen.extend(self.entries[unseen..].iter().map(|entry| (entry.key.clone(), entry.key_span)));
        self.seen.get(key).copied()
    }

    /// Where the last thing in here ends.
    fn end(&self) -> Option<u32> {
        let entry = self.entries.last().map(|e| e.value.span.end.max(e.key_span.end));
        match self.key {
            Key::Awaited => entry,
            Key::Given(_, span) | Key::Refused(span) => entry.max(Some(span.end)),
        }
    }
}

#[cfg(test)]
mod tests;
