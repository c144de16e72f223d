//! Maps, lists and enums as serde walks through them, leaving out what was found broken before.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::DecodeError;
use super::context;
use super::de::NodeDeserializer;
use crate::diag::codes;
use crate::syntax::{Entry, Node};

/// The entries of a map. With `known`, other keys are skipped: they have been reported.
pub(super) struct MapOf<'a> {
    entries: std::slice::Iter<'a, Entry>,
    known: Option<&'static [&'static str]>,
    current: Option<&'a Entry>,
}

impl<'a> MapOf<'a> {
    pub(super) fn new(entries: &'a [Entry], known: Option<&'static [&'static str]>) -> Self {
        MapOf { entries: entries.iter(), known, current: None }
    }

    fn wants(&self, entry: &Entry) -> bool {
        self.known.is_none_or(|known| known.contains(&&*entry.key)) && !context::is_broken(&entry.value)
    }
}

impl<'de> MapAccess<'de> for MapOf<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        self.current = loop {
            match self.entries.next() {
                Some(entry) if !self.wants(entry) => {}
                other => break other,
            }
        };
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key =
            Node::new(crate::syntax::Value::String(entry.key.clone()), entry.key_span, crate::syntax::Style::Plain);
        seed.deserialize(NodeDeserializer::root(&key))
            .map(Some)
            .map_err(|error| error.at_key(entry.key_span, &entry.value))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.current.take() {
            Some(entry) => NodeDeserializer::under(&entry.key, entry.key_span, &entry.value).run(seed),
            None => Err(DecodeError::new(codes::INVALID_VALUE, "a value was asked for before its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The items of a list.
pub(super) struct SeqOf<'a> {
    items: std::slice::Iter<'a, Node>,
}

impl<'a> SeqOf<'a> {
    pub(super) fn new(items: &'a [Node]) -> Self {
        SeqOf { items: items.iter() }
    }
}

impl<'de> SeqAccess<'de> for SeqOf<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        let item = self.items.find(|item| !context::is_broken(item));
        item.map(|item| NodeDeserializer::root(item).run(seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// An enum: a word, or a map with one key.
pub(super) struct EnumOf<'a> {
    name: &'a str,
    entry: Option<&'a Entry>,
}

impl<'a> EnumOf<'a> {
    pub(super) fn word(name: &'a str) -> Self {
        EnumOf { name, entry: None }
    }

    pub(super) fn entry(entry: &'a Entry) -> Self {
        EnumOf { name: &entry.key, entry: Some(entry) }
    }

    fn content(&self) -> Result<NodeDeserializer<'a>, DecodeError> {
        self.entry.map(|entry| NodeDeserializer::under(&entry.key, entry.key_span, &entry.value)).ok_or_else(|| {
            DecodeError::new(codes::WRONG_TYPE, format!("`{}` needs a value", self.name))
                .help(Some(format!("write `{}: …`", self.name)))
        })
    }
}

impl<'de, 'a> EnumAccess<'de> for EnumOf<'a> {
    type Error = DecodeError;
    type Variant = EnumOf<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, EnumOf<'a>), DecodeError> {
        if self.entry.is_some_and(|entry| context::is_broken(&entry.value)) {
            // Its value was left out, so the whole is: it gets no place here, and so becomes the next culprit.
            return Err(DecodeError::new(codes::INVALID_VALUE, "the value was left out"));
        }
        let name: StrDeserializer<'_, DecodeError> = self.name.into_deserializer();
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, self)),
            Err(error) => Err(match self.entry {
                Some(entry) => error.at_key(entry.key_span, &entry.value),
                None => error,
            }),
        }
    }
}

impl<'de> VariantAccess<'de> for EnumOf<'_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.entry {
            None => Ok(()),
            Some(entry) if entry.value.is_null() => Ok(()),
            Some(entry) => Err(DecodeError::new(codes::WRONG_TYPE, format!("`{}` takes no value", self.name))
                .at(&entry.value, Some(entry.key_span))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        self.content()?.run(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        let content = self.content()?;
        content.placed(content.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let content = self.content()?;
        content.placed(content.deserialize_struct("", fields, visitor))
    }
}
