//! What is known of a value before it exists: enough to tell that an attribute cannot be there.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

/// What is known of a value. Cheap to clone: parts are shared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Nothing.
    Any,
    /// A text, number or boolean: it has no attributes.
    Scalar(&'static str),
    /// One of these texts.
    Words(Arc<[String]>),
    /// A list of such elements.
    List(Arc<Shape>),
    /// A map with these keys; an open one may have others.
    Map {
        /// The keys that are known.
        keys: Arc<IndexMap<String, Shape>>,
        /// Whether there may be others.
        open: bool,
    },
}

impl Shape {
    /// A map with exactly these keys.
    pub(super) fn map<K: Into<String>>(keys: impl IntoIterator<Item = (K, Shape)>) -> Self {
        let keys: IndexMap<String, Shape> = keys.into_iter().map(|(key, shape)| (key.into(), shape)).collect();
        Self::Map { keys: keys.into(), open: false }
    }

    /// A list of elements of which nothing is known.
    pub(super) fn list() -> Self {
        Self::List(Arc::new(Self::Any))
    }

    /// What a JSON Schema says about its values.
    pub(super) fn of_schema(schema: &Json) -> Self {
        let Some(map) = schema.as_object() else { return Self::Any };
        let combined = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties", "unevaluatedProperties"];
        if combined.iter().any(|key| map.contains_key(*key)) {
            return Self::Any;
        }
        if let Some(words) = map.get("enum").and_then(Json::as_array) {
            let words: Option<Arc<[String]>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            return words.map_or(Self::Any, Self::Words);
        }
        let kind = map.get("type").and_then(Json::as_str);
        match kind {
            Some("string") => Self::Scalar("a string"),
            Some("integer") => Self::Scalar("an integer"),
            Some("number") => Self::Scalar("a number"),
            Some("boolean") => Self::Scalar("a boolean"),
            Some("array") => Self::List(Arc::new(map.get("items").map_or(Self::Any, Self::of_schema))),
            Some("object") | None if map.contains_key("properties") => {
                let properties = map["properties"].as_object().into_iter().flatten();
                let keys: IndexMap<_, _> =
                    properties.map(|(name, schema)| (name.clone(), Self::of_schema(schema))).collect();
                let open = map.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
                Self::Map { keys: keys.into(), open }
            }
            _ => Self::Any,
        }
    }

    /// What a value says about itself.
    pub(super) fn of_value(value: &Json) -> Self {
        match value {
            Json::Null => Self::Any,
            Json::Bool(_) => Self::Scalar("a boolean"),
            Json::Number(_) => Self::Scalar("a number"),
            Json::String(_) => Self::Scalar("a string"),
            Json::Array(_) => Self::list(),
            Json::Object(map) => Self::map(map.iter().map(|(key, value)| (key.clone(), Self::of_value(value)))),
        }
    }

    /// The value under an attribute. An error says which keys there are; none for a value without keys.
    pub(super) fn attribute(&self, name: &str) -> Result<&Shape, Option<Vec<&str>>> {
        match self {
            Self::Any => Ok(&Self::Any),
            Self::Scalar(_) | Self::Words(_) => Err(None),
            // `list.0` is an element.
            Self::List(element) if name.bytes().all(|b| b.is_ascii_digit()) => Ok(element),
            Self::List(_) => Err(None),
            Self::Map { keys, open } => match keys.get(name) {
                Some(shape) => Ok(shape),
                None if *open => Ok(&Self::Any),
                None => Err(Some(keys.keys().map(String::as_str).collect())),
            },
        }
    }

    /// An element, whichever it is.
    pub(super) fn element(&self) -> &Shape {
        match self {
            Self::List(element) => element,
            _ => &Self::Any,
        }
    }

    /// The kind of value, as a noun with an article.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Scalar(noun) => noun,
            Self::Words(_) => "a string",
            Self::List(_) => "a list",
            Self::Map { .. } => "a map",
        }
    }
}
