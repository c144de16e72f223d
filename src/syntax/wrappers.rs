//! Types for document fields that keep more than the value: [`Raw`] and [`Spanned`].
//!
//! Both ask the deserializer for a newtype with a reserved name. Ours answers by laying the node or
//! the span aside for them to pick up; any other deserializer just hands over the value, and
//! the place is empty.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::Node;
use super::decode::context as slots;
use crate::diag::Span;

/// A part of a document that is kept as it is, with all places, to be decoded later by its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw(pub Node);

impl Raw {
    /// The node.
    pub fn node(&self) -> &Node {
        &self.0
    }
}

impl Default for Raw {
    fn default() -> Self {
        Raw(Node::synthetic(&serde_json::Value::Null))
    }
}

impl Deref for Raw {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}

impl From<Node> for Raw {
    fn from(node: Node) -> Self {
        Raw(node)
    }
}

impl From<serde_json::Value> for Raw {
    fn from(json: serde_json::Value) -> Self {
        Raw(Node::synthetic(&json))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any value")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Raw, D::Error> {
                match slots::take_node() {
                    Some(node) => Ok(Raw(node)),
                    None => serde_json::Value::deserialize(inner).map(Raw::from),
                }
            }
        }

        deserializer.deserialize_newtype_struct(slots::RAW, RawVisitor)
    }
}

impl JsonSchema for Raw {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

/// A value with the place where it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place; [`Span::NONE`] if it was not read from a file.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value with a place.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// The value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Spanned::new(value, Span::NONE)
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Spanned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Two values are equal wherever they were written.
impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: std::hash::Hash> std::hash::Hash for Spanned<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T: std::fmt::Display> std::fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SpannedVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
            type Value = Spanned<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Spanned<T>, D::Error> {
                let span = slots::take_span().unwrap_or(Span::NONE);
                T::deserialize(inner).map(|value| Spanned { value, span })
            }
        }

        deserializer.deserialize_newtype_struct(slots::SPANNED, SpannedVisitor(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
