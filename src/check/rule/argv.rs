//! Arguments of programs: a value at the beginning of an argument may begin with `-` and be taken for an option.

use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, lists};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::document::{Params, is_template};
use crate::syntax::{Node, decode};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    for list in lists(document) {
        let params = match list.place {
            Place::Tool => document.get("params"),
            Place::Action(name) => document.get("actions").and_then(|actions| actions.get(name)?.get("params")),
            _ => None,
        };
        let mut ignored = Diagnostics::new();
        let params = params.and_then(|node| decode::<Params>(node, &mut ignored)).map(|params| params.schema);
        each(list.node, &mut |step| {
            if let Some(run) = step.node.get("run") {
                options(cx, run, params.as_ref());
                script(cx, run);
            }
        });
    }
}

fn options(cx: &mut Cx<'_>, run: &Node, params: Option<&Json>) {
    if run.get("allow_dash").is_some_and(|node| node.to_json() == Json::Bool(true)) {
        return;
    }
    let items = run.get("argv").unwrap_or(run).items();
    for item in items.iter().skip(1).take_while(|item| item.as_str() != Some("--")) {
        let Some(text) = item.as_str() else { continue };
        if is_template(text) && text.trim_start().starts_with('{') && !never_dashed(text, params) {
            let message = format!("`{}` may begin with `-`, and the program would take it for an option", text.trim());
            cx.push(Diagnostic::warning(codes::OPTION_INJECTION, item.span, message).help(
                "put an item `--` before it, give the parameter a `pattern`, or write `allow_dash: true` if options are meant",
            ));
        }
    }
}

/// Programs that run a text as a script, and the letter of the option before it.
const INTERPRETERS: [(&str, char); 14] = [
    ("sh", 'c'),
    ("bash", 'c'),
    ("dash", 'c'),
    ("ash", 'c'),
    ("zsh", 'c'),
    ("ksh", 'c'),
    ("fish", 'c'),
    ("python", 'c'),
    ("python3", 'c'),
    ("perl", 'e'),
    ("ruby", 'e'),
    ("node", 'e'),
    ("php", 'r'),
    ("osascript", 'e'),
];

/// A value inside a script writes the script.
fn script(cx: &mut Cx<'_>, run: &Node) {
    let items = run.get("argv").unwrap_or(run).items();
    let words = || items.iter().filter_map(Node::as_str);
    let program = words().next().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    let Some((_, letter)) = INTERPRETERS.iter().find(|(name, _)| *name == program) else { return };
    // `-c`, and several letters together as in `-ec`.
    let is_option = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(*letter))
    };
    let script = items.iter().skip_while(|item| !item.as_str().is_some_and(is_option)).nth(1);
    if let Some(item) = script.filter(|item| item.as_str().is_some_and(is_template)) {
        let message = format!("a value would become a part of the script that `{program}` runs");
        cx.push(Diagnostic::warning(codes::SCRIPT_INJECTION, item.span, message).help(
            "write the script without templates, and hand the values over as further items: in `sh -c` they are `$0`, `$1`, …",
        ));
    }
}

/// Whether the argument is one parameter whose schema lets no `-` stand at the beginning.
fn never_dashed(text: &str, params: Option<&Json>) -> bool {
    let name = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let Some(name) = name.and_then(|path| path.trim().strip_prefix("params.")) else { return false };
    let Some(schema) = params.and_then(|schema| schema.get("properties")?.get(name)) else { return false };
    let words = |key: &str| schema.get(key).and_then(Json::as_str);
    if words("type") == Some("boolean") {
        return true;
    }
    if let Some(choices) = schema.get("enum").and_then(Json::as_array) {
        return choices.iter().all(|choice| !choice.as_str().is_some_and(|choice| choice.starts_with('-')));
    }
    words("pattern").is_some_and(excludes_dash)
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
