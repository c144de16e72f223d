//! From the events of an object to what is shown of it.

use serde_json::Value;

use super::super::ActionGrammar;
use super::super::chars::is_blank;
use super::super::lenient::Event;
use super::super::object::{Builder, read_value};
use super::super::params::{Declared, PARAMS};
use super::{Piece, Show};

/// Waits for the object's own `@action`.
#[derive(Debug, Default)]
pub(super) struct Seeker {
    depth: usize,
    next: bool,
    text: String,
    /// What `@action` says.
    pub(super) found: Option<String>,
    /// `@action` is there and is no string.
    pub(super) odd: bool,
}

impl Seeker {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        if self.found.is_some() {
            return;
        }
        match event {
            Event::OpenObject | Event::OpenArray => {
                self.odd |= self.next;
                self.depth += 1;
                self.next = false;
            }
            Event::Close => self.depth = self.depth.saturating_sub(1),
            Event::Key(key) => self.next = self.depth == 1 && key.trim_matches(is_blank) == "@action",
            Event::Text(text) if self.next => self.text.push_str(text),
            Event::TextEnd if self.next => self.found = Some(std::mem::take(&mut self.text)),
            Event::Scalar(Value::String(word)) if self.next => self.found = Some(word.clone()),
            Event::Scalar(_) => self.odd |= std::mem::take(&mut self.next),
            Event::Text(_) | Event::TextEnd => self.next = false,
        }
    }
}

/// What the next value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Nobody.
    Ignore,
    /// A parameter of the name in `key`.
    Field,
    /// A tag's body, where decoding is constrained to JSON.
    Tag,
    Thought,
    /// `params`, which holds parameters.
    Wrapper,
}

/// Shows one action's parameters.
#[derive(Debug)]
pub(super) struct Shower {
    action: String,
    declared: Declared,
    tags: Vec<String>,
    depth: usize,
    /// Inside `params`, so that keys one level deeper are parameters.
    wrapped: bool,
    role: Role,
    key: String,
    /// Collects a value that is shown whole.
    whole: Option<(Builder, usize)>,
    /// Collects a string that holds the parameters as JSON.
    text: String,
}

impl Shower {
    pub(super) fn new(name: &str, action: &ActionGrammar) -> Self {
        Self {
            action: name.to_owned(),
            declared: Declared::of(&action.params),
            tags: action.tags.keys().cloned().collect(),
            depth: 0,
            wrapped: false,
            role: Role::Ignore,
            key: String::new(),
            whole: None,
            text: String::new(),
        }
    }

    pub(super) fn take(&mut self, event: Event<'_>, show: Show<'_>) {
        if let Some((builder, depth)) = &mut self.whole {
            match &event {
                Event::OpenObject | Event::OpenArray => *depth += 1,
                Event::Close => *depth -= 1,
                _ => {}
            }
            builder.take(event);
            if *depth == 0
                && let Some((builder, _)) = self.whole.take()
                && let Some(value) = builder.whole()
            {
                self.show_whole(&value, show);
            }
            return;
        }
        match event {
            Event::OpenObject | Event::OpenArray => self.open(event),
            Event::Close => {
                self.depth = self.depth.saturating_sub(1);
                self.wrapped &= self.depth > 1;
            }
            Event::Key(key) => {
                let key = key.trim_matches(is_blank);
                let top = self.depth == 1;
                self.role =
                    if top || (self.depth == 2 && self.wrapped) { self.role_of(key, top) } else { Role::Ignore };
                self.key.clear();
                self.key.push_str(key);
            }
            Event::Text(text) => self.part(text, show),
            Event::TextEnd => self.part_end(show),
            Event::Scalar(Value::String(text)) => {
                self.part(&text, show);
                self.part_end(show);
            }
            Event::Scalar(value) => {
                if self.role == Role::Field {
                    self.show_whole(&value, show);
                }
                self.role = Role::Ignore;
            }
        }
    }

    fn role_of(&self, key: &str, top: bool) -> Role {
        if self.declared.has(key) {
            return Role::Field;
        }
        match key {
            "human_readable_thought" if top => Role::Thought,
            PARAMS if top => Role::Wrapper,
            _ if self.tags.iter().any(|tag| tag == key) => Role::Tag,
            _ if self.declared.keeps(key) => Role::Field,
            _ => Role::Ignore,
        }
    }

    fn open(&mut self, event: Event<'_>) {
        match self.role {
            Role::Field => {
                let mut builder = Builder::default();
                builder.take(event);
                self.whole = Some((builder, 1));
            }
            role => {
                self.wrapped |= role == Role::Wrapper && self.depth == 1 && matches!(event, Event::OpenObject);
                self.depth += 1;
                self.role = Role::Ignore;
            }
        }
    }

    fn part(&mut self, text: &str, show: Show<'_>) {
        match self.role {
            Role::Ignore => {}
            Role::Field => show(Piece::Field { action: &self.action, key: &self.key, text }),
            Role::Tag => show(Piece::Tag { name: &self.key, text }),
            Role::Thought => show(Piece::Thought(text)),
            Role::Wrapper => self.text.push_str(text),
        }
    }

    fn part_end(&mut self, show: Show<'_>) {
        match self.role {
            Role::Ignore | Role::Thought => {}
            Role::Field => show(Piece::FieldEnd { action: &self.action, key: &self.key }),
            Role::Tag => show(Piece::TagEnd { name: &self.key }),
            Role::Wrapper => {
                if let Some(Value::Object(inner)) = read_value(&std::mem::take(&mut self.text)) {
                    for (key, value) in inner {
                        key.trim_matches(is_blank).clone_into(&mut self.key);
                        if self.role_of(&self.key, false) == Role::Field {
                            self.show_whole(&value, show);
                        }
                    }
                }
            }
        }
        self.role = Role::Ignore;
    }

    /// Shows a value that is complete. Null is no value.
    fn show_whole(&mut self, value: &Value, show: Show<'_>) {
        self.role = Role::Ignore;
        let (action, key) = (self.action.as_str(), self.key.as_str());
        match value {
            Value::Null => return,
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => show(Piece::Field { action, key, text }),
            other => show(Piece::Field { action, key, text: &other.to_string() }),
        }
        show(Piece::FieldEnd { action, key });
    }
}
