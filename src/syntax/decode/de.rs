//! The deserializer itself: each serde request against what the node holds.

use serde::de::{DeserializeSeed, Deserializer, Visitor};

use super::access::{EnumOf, MapOf, SeqOf};
use super::context::{self, Enclosing};
use super::{DecodeError, words};
use crate::diag::{Diagnostic, Span, codes, only_near};
use crate::syntax::{Entry, Node, Style, Value};

/// Whole numbers up to here are exact as decimals.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A node that is being decoded, and the key that it stands under.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'a> {
    node: &'a Node,
    key: Option<(&'a str, Span)>,
}

impl<'a> NodeDeserializer<'a> {
    pub(super) fn root(node: &'a Node) -> Self {
        NodeDeserializer { node, key: None }
    }

    pub(super) fn under(key: &'a str, key_span: Span, node: &'a Node) -> Self {
        NodeDeserializer { node, key: Some((key, key_span)) }
    }

    /// Decodes a child and gives its errors this place.
    pub(super) fn run<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, DecodeError> {
        self.placed(seed.deserialize(self))
    }

    /// Gives an error that has no place yet the place of this node.
    pub(super) fn placed<T>(self, result: Result<T, DecodeError>) -> Result<T, DecodeError> {
        let key_span = self.key.map(|(_, span)| span);
        result.map_err(|error| error.at(self.node, key_span))
    }

    fn wrong(self, expected: &str) -> DecodeError {
        let mut message = format!("expected {expected}, found {}", words::found_node(self.node));
        if let Some((key, _)) = self.key {
            message = format!("`{}`: {message}", words::shorten(key));
        }
        let help = words::help_for_null(expected).filter(|_| self.node.is_null());
        DecodeError::new(codes::WRONG_TYPE, message).help(help)
    }

    fn wrong_number(self, expected: &str) -> DecodeError {
        let error = self.wrong(expected);
        let Some(number) = words::numeral(self.node) else {
            return error;
        };
        let written = number.written;
        if number.ambiguous {
            let text = self.node.as_str().unwrap_or_default();
            let message = format!("the number `{}` has leading zeros", words::shorten(text));
            let octal =
                format!("write `{written}`; some readers of YAML take leading zeros for octal, which is written `0o…`");
            return DecodeError::new(codes::AMBIGUOUS_NUMBER, message).help(Some(octal)).rewrite(self.node, written);
        }
        let help = match self.node.style {
            Style::Quoted => format!("write `{written}` without quotes"),
            _ => format!("write `{written}`"),
        };
        error.help(Some(help)).rewrite(self.node, written)
    }

    fn integer<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.value {
            Value::Int(n) => visitor.visit_i64(n),
            Value::UInt(n) => visitor.visit_u64(n),
            Value::Float(f) if f.fract() == 0.0 && f.abs() <= EXACT => {
                #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                let whole = f as i64;
                self.notice_float(whole);
                visitor.visit_i64(whole)
            }
            _ => Err(self.wrong_number("an integer")),
        }
    }

    fn notice_float(self, whole: i64) {
        if self.node.span.is_none() {
            return;
        }
        context::notice(
            Diagnostic::warning(codes::FLOAT_FOR_INTEGER, self.node.span, "an integer is written as a decimal")
                .help(format!("write `{whole}`"))
                .safe_fix(self.node.span, whole.to_string()),
        );
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.value {
            Value::Int(n) => visitor.visit_i64(n),
            Value::UInt(n) => visitor.visit_u64(n),
            Value::Float(f) => visitor.visit_f64(f),
            _ => Err(self.wrong_number("a number")),
        }
    }

    /// A text, in the visitor's own words for what it wants, such as "a duration like `10m`".
    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if let Value::String(text) = &self.node.value {
            return visitor.visit_str(text);
        }
        let wanted = words::wanted(&visitor);
        let error = self.wrong(&wanted);
        let unquoted = matches!(&self.node.value, Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_));
        let help = (unquoted && wanted == "a string").then(|| "put the value in quotes".to_owned());
        Err(error.help(help))
    }

    fn boolean<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if let Value::Bool(b) = self.node.value {
            return visitor.visit_bool(b);
        }
        let error = self.wrong("true or false");
        Err(match words::boolean_word(self.node) {
            Some(meant) => {
                error.help(Some(format!("write `{meant}`, without quotes"))).rewrite(self.node, meant.to_string())
            }
            None => error,
        })
    }

    fn list<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Seq(items) => visitor.visit_seq(SeqOf::new(items)),
            Value::String(_) | Value::Map(_) => Err(self.wrong("a list").help(Some(words::list_help(self.node)))),
            _ => Err(self.wrong("a list")),
        }
    }

    fn map<'de, V: Visitor<'de>>(
        self,
        known: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let Value::Map(entries) = &self.node.value else {
            return Err(self.wrong("a map").help(words::map_help(self.node, known.unwrap_or_default())));
        };
        let fields = known.unwrap_or_default();
        context::inside(Enclosing { fields }, || {
            if known.is_some() {
                self.report_unknown(fields);
            }
            visitor.visit_map(MapOf::new(entries, known))
        })
    }

    /// Reports every key that the type does not know; the access then skips them.
    fn report_unknown(self, fields: &[&str]) {
        let unknown = self
            .node
            .entries()
            .iter()
            .filter(|entry| !fields.contains(&&*entry.key) && !context::is_broken(&entry.value));
        for entry in unknown {
            let mut message = format!("unknown key `{}`", words::shorten(&entry.key));
            let mut help = words::unknown_key_help(&entry.key, fields);
            if let Some((table, _)) = self.key {
                message.push_str(&format!(" in `{}`", words::shorten(table)));
                if context::known_outside(&entry.key) {
                    help = self.outside_help(&entry.key, table);
                }
            }
            let mut finding = Diagnostic::error(codes::UNKNOWN_KEY, entry.key_span, message);
            if let Some(meant) = self.surely_meant(entry, fields).filter(|meant| help.contains(meant)) {
                finding = finding.safe_fix(entry.key_span, meant);
            }
            context::notice(finding.help(help));
        }
    }

    /// The key that was meant, if no other is near, it is not there already, and the wrong one is written without quotes.
    fn surely_meant<'f>(self, entry: &Entry, fields: &[&'f str]) -> Option<&'f str> {
        let meant = only_near(&entry.key, fields.iter().copied())?;
        let is_bare = (entry.key_span.end - entry.key_span.start) as usize == entry.key.len();
        (is_bare && !entry.key_span.is_none() && self.node.get(meant).is_none()).then_some(meant)
    }

    /// The key belongs to a map around this one: in YAML its indentation is wrong, in TOML its order.
    fn outside_help(self, key: &str, table: &str) -> String {
        if self.node.style == Style::Table {
            format!("`{key}` stands after `[{table}]` and so belongs to that table; move it above the first `[table]`")
        } else {
            format!("`{key}` belongs outside `{table}`; indent it less")
        }
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Int(n) if *n >= 0 => visitor.visit_u64(n.unsigned_abs()),
            Value::Int(n) => visitor.visit_i64(*n),
            Value::UInt(n) => visitor.visit_u64(*n),
            Value::Float(f) => visitor.visit_f64(*f),
            Value::String(text) => visitor.visit_str(text),
            Value::Seq(items) => visitor.visit_seq(SeqOf::new(items)),
            Value::Map(entries) => visitor.visit_map(MapOf::new(entries, None)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.boolean(visitor)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.integer(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.number(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    /// An absent key is the only way to say nothing: the schemas have no null either. Values that were
    /// built in Rust may have it, since serde writes `None` so.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.node.is_null() && self.node.style == Style::Synthetic {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.node.is_null() { visitor.visit_unit() } else { Err(self.wrong("null")) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            context::RAW => context::offer_node(self.node),
            context::SPANNED => context::offer_span(self.node.span),
            _ => {}
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.map(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.map(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::String(name) => visitor.visit_enum(EnumOf::word(name)),
            Value::Map(entries) => match &entries[..] {
                [entry] => visitor.visit_enum(EnumOf::entry(entry)),
                _ => Err(self
                    .wrong("one of its forms")
                    .help(Some(format!("write exactly one of the keys {}", crate::diag::list_words(variants))))),
            },
            _ => {
                Err(self.wrong("a string").help(Some(format!("expected one of {}", crate::diag::list_words(variants)))))
            }
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}
