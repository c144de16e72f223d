//! Values from outside that choose a program, a host or a file.

use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, lists};
use crate::diag::{Diagnostic, Diagnostics, Severity, codes};
use crate::document::{BUILTIN_TOOLS, Params, is_template};
use crate::syntax::{Entry, decode};
use crate::template::walk::walk;

/// Names whose values people, models, programs or web pages may have written.
const OUTSIDE: [&str; 7] = ["input", "params", "tags", "result", "steps", "item", "feedback"];

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    // The built-in tools are judged by the policy when the model calls them.
    if let Subject::Tool(loaded) = subject
        && BUILTIN_TOOLS.contains(&loaded.doc.name.value.as_str())
    {
        return;
    }
    let document = subject.node();
    for list in lists(document) {
        let params = match list.place {
            Place::Tool => document.get("params"),
            Place::Action(name) => document.get("actions").and_then(|actions| actions.get(name)?.get("params")),
            _ => None,
        };
        let params =
            params.and_then(|node| decode::<Params>(node, &mut Diagnostics::new())).map(|params| params.schema);
        each(list.node, &mut |step| {
            for verb in step.verbs() {
                of_verb(cx, verb, params.as_ref());
            }
        });
    }
}

fn of_verb(cx: &mut Cx<'_>, verb: &Entry, params: Option<&Json>) {
    let args = &verb.value;
    let path = || if args.as_str().is_some() { Some(args) } else { args.get("path") };
    let (node, what, severity) = match &*verb.key {
        "run" => {
            let argv = args.get("argv").unwrap_or(args);
            (argv.items().first().or(Some(argv)), "the program", Severity::Warning)
        }
        "http" => (if args.as_str().is_some() { Some(args) } else { args.get("url") }, "the host", Severity::Warning),
        "write" => (path(), "the file that is written", Severity::Warning),
        // Reading is kept inside the workspace's roots.
        "read" => (path(), "the file that is read", Severity::Info),
        _ => return,
    };
    let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) else { return };
    let fixed = match &*verb.key {
        "run" => false,
        "http" => has_host(text),
        _ => text.split("{{").next().is_some_and(|start| start.contains('/')),
    };
    if fixed || !is_template(text) || restricted(text, params) {
        return;
    }
    let Some(name) = from_outside(text, &verb.key) else { return };
    let help = match &*verb.key {
        "run" => "write the program out, and put the value into an argument",
        "http" => "write the host out, and put the value into `query`",
        _ => "put it below a fixed folder, such as `notes/{{ … }}`",
    };
    let message = format!("`{name}` chooses {what}");
    let finding = Diagnostic::new(severity, codes::UNTRUSTED_TARGET, node.span, message);
    cx.push(finding.help(format!("{help}, or give the parameter an `enum` or a `pattern`")));
}

/// Whether the host is written out before the first template.
fn has_host(url: &str) -> bool {
    let start = url.split("{{").next().unwrap_or_default();
    start.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']))
}

/// The first value from outside that decides: of a URL only up to its path.
fn from_outside(text: &str, verb: &str) -> Option<String> {
    let deciding = match text.match_indices("}}").next() {
        Some((end, _)) if verb != "run" => &text[..end + 2],
        _ => text,
    };
    let walked = walk(deciding).or_else(|_| walk(text)).ok()?;
    let used = walked.variables.iter().find(|used| OUTSIDE.contains(&used.root()))?;
    let parts: Vec<&str> = used.path.iter().filter_map(|part| part.name.as_deref()).collect();
    Some(parts.join("."))
}

/// Whether the text is one parameter that may only be one of a few, or has a form.
fn restricted(text: &str, params: Option<&Json>) -> bool {
    let Some(start) = text.find("params.") else { return false };
    let name: String =
        text[start + "params.".len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let schema = params.and_then(|schema| schema.get("properties")?.get(&name));
    schema.is_some_and(|schema| ["enum", "const", "pattern"].iter().any(|key| schema.get(*key).is_some()))
}

#[cfg(test)]
mod tests {
    use super::has_host;

    #[test]
    fn a_host_is_written_out_up_to_the_path() {
        for url in ["https://a.example/{{ x }}", "https://a.example?q={{ x }}", "http://127.0.0.1:80/x"] {
            assert!(has_host(url), "{url}");
        }
        for url in ["{{ x }}", "https://{{ x }}/a", "https://a.example.{{ x }}/", "https://a.example{{ x }}"] {
            assert!(!has_host(url), "{url}");
        }
    }
}
