//! Types for JSON that servers write loosely: a member of the wrong kind counts as absent instead of failing the frame.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string; anything else is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    /// The string, if there is one that is not empty.
    pub(super) fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// A struct from an object; anything else is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The elements of an array; anything else is an empty list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A whole number that is not negative, also as text or float; anything else is none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub(super) Option<u64>);

/// Content: a string, or parts of several kinds; anything else is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) enum Rich<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Object<Part<'a>>>),
}

/// A part of content.
#[derive(Debug, Default, Clone, PartialEq, serde::Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    text: Rich<'a>,
    #[serde(borrow)]
    thinking: Rich<'a>,
    #[serde(borrow)]
    reasoning: Rich<'a>,
}

impl Rich<'_> {
    /// Whether there is no text in it.
    pub(super) fn is_empty(&self) -> bool {
        let mut empty = true;
        self.pieces(&mut |_, _| empty = false);
        empty
    }

    /// Every text in it that is not empty, and whether it is reasoning.
    pub(super) fn pieces(&self, take: &mut dyn FnMut(&str, bool)) {
        match self {
            Self::Nothing => {}
            Self::Text(text) if text.is_empty() => {}
            Self::Text(text) => take(text, false),
            Self::Parts(parts) => {
                for part in parts.iter().filter_map(|part| part.0.as_ref()) {
                    part.text.pieces(take);
                    part.thinking.pieces(&mut |text, _| take(text, true));
                    part.reasoning.pieces(&mut |text, _| take(text, true));
                }
            }
        }
    }
}

/// The arguments of a call: JSON text in a string, or the object itself.
pub(super) fn arguments_text(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw.map_or("", RawValue::get) {
        raw if raw.starts_with('{') => Cow::Borrowed(raw),
        raw if raw.starts_with('"') => {
            serde_json::from_str::<Text<'_>>(raw).ok().and_then(|text| text.0).unwrap_or_default()
        }
        _ => Cow::Borrowed(""),
    }
}

/// Writes the visitor methods that drop what is not wanted.
macro_rules! drop_rest {
    ($($kind:ident)*) => { $(drop_rest!(@ $kind);)* };
    (@ scalars) => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    (@ numbers) => {
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    (@ string) => {
        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    (@ array) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;
    drop_rest!(scalars numbers array object);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;
    drop_rest!(scalars numbers string array);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;
    drop_rest!(scalars numbers string object);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(List(items))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct RichVisitor;

impl<'de> Visitor<'de> for RichVisitor {
    type Value = Rich<'de>;
    drop_rest!(scalars numbers);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Rich<'de>, E> {
        Ok(Rich::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Rich<'de>, E> {
        Ok(Rich::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rich<'de>, A::Error> {
        ListVisitor(PhantomData).visit_seq(seq).map(|list| Rich::Parts(list.0))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rich<'de>, A::Error> {
        ObjectVisitor(PhantomData).visit_map(map).map(|part| Rich::Parts(vec![part]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Rich<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RichVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;
    drop_rest!(scalars array object);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        Ok(Count(Some(number)))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
        Ok(Count(u64::try_from(number).ok()))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Count, E> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        let whole = (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
        Ok(Count(whole))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Count, E> {
        Ok(Count(text.trim().parse().ok()))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        list: List<Count>,
        object: Object<Inner>,
        count: Count,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Inner {
        n: Count,
    }

    #[test]
    fn takes_what_fits_and_drops_the_rest() {
        let full: Sample<'_> =
            serde_json::from_str(r#"{"text":"a","list":[1,"2",null],"object":{"n":3.0},"count":-1}"#).unwrap();
        assert!(matches!(full.text.0, Some(Cow::Borrowed("a"))));
        assert_eq!(full.list.0, [Count(Some(1)), Count(Some(2)), Count(None)]);
        assert_eq!(full.object.0, Some(Inner { n: Count(Some(3)) }));
        assert_eq!(full.count, Count(None));
        for odd in ["null", "true", "1", "-1", "1.5", r#""x""#, "[[1]]", r#"{"a":{"b":1}}"#] {
            let text = format!(r#"{{"text":{odd},"list":{odd},"object":{odd},"count":{odd}}}"#);
            serde_json::from_str::<Sample<'_>>(&text).unwrap_or_else(|error| panic!("{odd}: {error}"));
        }
    }
}
