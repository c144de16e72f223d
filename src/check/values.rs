//! What documents declare about values: the schemas of parameters and state variables, by the path in a template.

use serde_json::Value as Json;

use super::context::Subject;
use super::steps::Place;
use crate::diag::Diagnostics;
use crate::document::Params;
use crate::syntax::decode;
use crate::template::walk::{FOR_LOOP, Lead, Part};

/// The schemas of what the steps of a list see.
pub(super) struct Declared<'a> {
    params: Option<Json>,
    subject: Subject<'a>,
}

impl<'a> Declared<'a> {
    pub(super) fn of(subject: Subject<'a>, place: Place<'_>) -> Self {
        let document = subject.node();
        let node = match place {
            Place::Tool => document.get("params"),
            Place::Action(name) => document.get("actions").and_then(|actions| actions.get(name)?.get("params")),
            _ => None,
        };
        // What is wrong with them is reported where the document is decoded.
        let params = node.and_then(|node| decode::<Params>(node, &mut Diagnostics::new()));
        Self { params: params.map(|params| params.schema), subject }
    }

    /// The schema of the value that a path names.
    fn schema(&self, path: &[Part]) -> Option<&Json> {
        let (root, rest) = path.split_first()?;
        let (start, rest) = match root.name.as_deref()? {
            "params" => (self.params.as_ref()?, rest),
            "state" => {
                let Subject::Loop(loaded) = self.subject else { return None };
                let (first, rest) = rest.split_first()?;
                (&loaded.doc.state.get(first.name.as_deref()?)?.schema, rest)
            }
            _ => return None,
        };
        rest.iter().try_fold(start, |schema, part| match &part.name {
            Some(name) => schema.get("properties")?.get(name),
            None => schema.get("items"),
        })
    }

    /// Whether a value is a number, or one of a few.
    pub(super) fn is_choice(&self, path: &[Part]) -> bool {
        let Some(schema) = self.schema(path) else { return is_count(path) };
        let kind = schema.get("type").and_then(Json::as_str);
        matches!(kind, Some("integer" | "number" | "boolean"))
            || ["enum", "const"].iter().any(|key| schema.get(key).is_some())
    }

    /// Whether a value is a number, one of a few, or has a form.
    pub(super) fn is_confined(&self, path: &[Part]) -> bool {
        self.is_choice(path) || self.schema(path).is_some_and(|schema| schema.get("pattern").is_some())
    }

    /// Whether a template's text may begin with a `-` that nobody wrote out.
    pub(super) fn may_begin_with_dash(&self, leads: &[Lead]) -> bool {
        leads.iter().any(|lead| match lead {
            Lead::Unknown => true,
            Lead::Plain | Lead::Text(_) => false,
            Lead::Path(path) => match self.schema(path) {
                Some(schema) => !never_dashed(schema),
                None => !is_count(path),
            },
        })
    }
}

/// Whether a path names one of the engine's own figures, none of which is negative, or a folder, which begins with `/`.
fn is_count(path: &[Part]) -> bool {
    let name = |at: usize| path.get(at).and_then(|part| part.name.as_deref()).unwrap_or_default();
    match name(0) {
        "index" | "last_iteration" | "here" => true,
        FOR_LOOP | "loop" => !matches!(name(1), "previtem" | "nextitem"),
        "run" => !matches!(name(1), "id" | "loop"),
        _ => false,
    }
}

/// Whether no value that fits a schema begins with `-`.
fn never_dashed(schema: &Json) -> bool {
    let number = |key: &str| schema.get(key).and_then(Json::as_f64);
    let fits = |choice: &Json| match choice {
        Json::String(text) => !text.starts_with('-'),
        Json::Number(number) => number.as_f64().is_some_and(|number| number >= 0.0),
        _ => true,
    };
    if let Some(choices) = schema.get("enum").and_then(Json::as_array) {
        return choices.iter().all(fits);
    }
    if let Some(only) = schema.get("const") {
        return fits(only);
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("boolean" | "array" | "object") => true,
        Some("integer" | "number") => {
            number("minimum").or_else(|| number("exclusiveMinimum")).is_some_and(|least| least >= 0.0)
        }
        _ => schema.get("pattern").and_then(Json::as_str).is_some_and(excludes_dash),
    }
}

/// Whether an anchored pattern begins with something that is no `-`: a letter or digit, `/`, or a class without `-`.
fn excludes_dash(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix('^') else { return false };
    // A bar could offer another beginning, and a quantifier could leave the first part out.
    if rest.contains('|') {
        return false;
    }
    let Some(class) = rest.strip_prefix('[') else {
        let mut rest = rest.chars();
        let first = rest.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '/');
        return first && !matches!(rest.next(), Some('*' | '?' | '{'));
    };
    let Some((class, after)) = class.split_once(']') else { return false };
    let optional = after.starts_with(['*', '?']) || after.starts_with("{0") || after.starts_with("{,");
    let bytes = class.as_bytes();
    let has_dash = bytes.iter().enumerate().any(|(at, byte)| {
        // Between two others it is a range, and one that begins below `-` and ends above it holds it too.
        *byte == b'-' && (at == 0 || at + 1 == bytes.len() || bytes[at - 1] < b'-' && bytes[at + 1] >= b'-')
    });
    !optional && !class.starts_with('^') && !class.contains('\\') && !has_dash
}

#[cfg(test)]
mod tests {
    use super::excludes_dash;

    #[test]
    fn patterns_that_let_no_dash_stand_first_are_known() {
        for pattern in ["^[a-z0-9][a-z0-9.-]*$", "^[A-Za-z_]+$", "^v[0-9]+", "^/srv/.*"] {
            assert!(excludes_dash(pattern), "{pattern}");
        }
        for pattern in
            ["[a-z]", "^[a-z0-9.-]+$", "^[a-z]*-", "^[a-z]?x", "^a?-", "^a|-", "^[^a]", "^.", "^[+-9]", "^\\S", ""]
        {
            assert!(!excludes_dash(pattern), "{pattern}");
        }
    }
}
