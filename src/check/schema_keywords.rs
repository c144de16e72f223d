//! Keywords of JSON Schemas that have no effect: misspelt ones, and names under `required` that no property has.

use super::context::Cx;
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::syntax::{Node, Value};

/// What stands under a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A value that is no schema.
    Data,
    /// A schema, or a list of schemas.
    Schema,
    /// A map from names to schemas.
    Named,
}

use Holds::{Data, Named, Schema};

/// Keywords of JSON Schema 2020-12, and those of earlier drafts and of OpenAPI that models know.
const KEYWORDS: &[(&str, Holds)] = &[
    ("$anchor", Data),
    ("$comment", Data),
    ("$defs", Named),
    ("$dynamicAnchor", Data),
    ("$dynamicRef", Data),
    ("$id", Data),
    ("$ref", Data),
    ("$schema", Data),
    ("$vocabulary", Data),
    ("additionalItems", Schema),
    ("additionalProperties", Schema),
    ("allOf", Schema),
    ("anyOf", Schema),
    ("const", Data),
    ("contains", Schema),
    ("contentEncoding", Data),
    ("contentMediaType", Data),
    ("contentSchema", Schema),
    ("default", Data),
    ("definitions", Named),
    ("dependencies", Data),
    ("dependentRequired", Data),
    ("dependentSchemas", Named),
    ("deprecated", Data),
    ("description", Data),
    ("discriminator", Data),
    ("else", Schema),
    ("enum", Data),
    ("example", Data),
    ("examples", Data),
    ("exclusiveMaximum", Data),
    ("exclusiveMinimum", Data),
    ("externalDocs", Data),
    ("format", Data),
    ("if", Schema),
    ("items", Schema),
    ("maxContains", Data),
    ("maxItems", Data),
    ("maxLength", Data),
    ("maxProperties", Data),
    ("maximum", Data),
    ("minContains", Data),
    ("minItems", Data),
    ("minLength", Data),
    ("minProperties", Data),
    ("minimum", Data),
    ("multipleOf", Data),
    ("not", Schema),
    ("nullable", Data),
    ("oneOf", Schema),
    ("pattern", Data),
    ("patternProperties", Named),
    ("prefixItems", Schema),
    ("properties", Named),
    ("propertyNames", Schema),
    ("readOnly", Data),
    ("required", Data),
    ("then", Schema),
    ("title", Data),
    ("type", Data),
    ("unevaluatedItems", Schema),
    ("unevaluatedProperties", Schema),
    ("uniqueItems", Data),
    ("writeOnly", Data),
    ("xml", Data),
];

/// Words of other languages for schemas.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("choices", "enum"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("one_of", "enum"),
    ("options", "enum"),
    ("regex", "pattern"),
    ("values", "enum"),
];

/// The keyword that a word is probably meant to be.
pub(super) fn near_keyword(word: &str) -> Option<&'static str> {
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, keyword)| *keyword);
    other.or_else(|| did_you_mean(word, KEYWORDS.iter().map(|(keyword, _)| *keyword)))
}

/// Looks through a schema at any depth.
pub(super) fn check(cx: &mut Cx<'_>, node: &Node) {
    if let Value::Seq(items) = &node.value {
        return items.iter().for_each(|item| check(cx, item));
    }
    for entry in node.entries() {
        match KEYWORDS.iter().find(|(keyword, _)| *keyword == &*entry.key).map(|(_, holds)| holds) {
            Some(Data) => {}
            Some(Schema) => check(cx, &entry.value),
            Some(Named) => entry.value.entries().iter().for_each(|named| check(cx, &named.value)),
            // Keywords of one's own are allowed.
            None => {
                let Some(near) = near_keyword(&entry.key) else { continue };
                let message = format!("`{}` is no keyword of JSON Schema, and has no effect", entry.key);
                let finding = Diagnostic::warning(codes::SUSPICIOUS_SCHEMA, entry.key_span, message);
                cx.push(finding.help(format!("did you mean `{near}`?")).fix(entry.key_span, near));
            }
        }
    }
    required(cx, node);
}

/// Names under `required` that are no properties.
fn required(cx: &mut Cx<'_>, node: &Node) {
    let open = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].iter().any(|key| node.get(key).is_some())
        || node.get("additionalProperties").is_some_and(|more| !matches!(more.value, Value::Bool(false)));
    let properties: Vec<&str> =
        node.get("properties").into_iter().flat_map(Node::entries).map(|entry| &*entry.key).collect();
    if open || properties.is_empty() {
        return;
    }
    for item in node.get("required").into_iter().flat_map(Node::items) {
        let Some(name) = item.as_str().filter(|name| !properties.contains(name)) else { continue };
        let help = match did_you_mean(name, &properties) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the properties are {}", list_words(&properties)),
        };
        let message = format!("`{name}` is required, and `properties` does not have it");
        cx.push(Diagnostic::warning(codes::SUSPICIOUS_SCHEMA, item.span, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_words_are_keywords() {
        assert!(KEYWORDS.is_sorted_by_key(|(keyword, _)| *keyword));
        assert!(OTHER_WORDS.iter().all(|(_, word)| KEYWORDS.iter().any(|(keyword, _)| keyword == word)));
        assert_eq!((near_keyword("minLenght"), near_keyword("x-mine")), (Some("minLength"), None));
    }
}
