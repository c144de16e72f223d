//! Values from outside that choose a program, a host or a file.

use crate::check::context::{Cx, Subject};
use crate::check::origin::{Origins, carried, walk_steps};
use crate::diag::{Diagnostic, Severity, codes};
use crate::document::{BUILTIN_TOOLS, is_template};
use crate::syntax::{Entry, Node};
use crate::template::walk::walk;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    // The built-in tools are judged by the policy when the model calls them.
    if let Subject::Tool(loaded) = subject
        && BUILTIN_TOOLS.contains(&loaded.doc.name.value.as_str())
    {
        return;
    }
    let carried = carried(subject);
    walk_steps(subject, &carried, &mut |step, origins| {
        for verb in step.verbs() {
            of_verb(cx, verb, origins);
        }
    });
}

/// What a value would choose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Program,
    Host,
    /// A file or a folder, in words.
    Place(&'static str, Severity),
}

fn of_verb(cx: &mut Cx<'_>, verb: &Entry, origins: &Origins<'_>) {
    let args = &verb.value;
    let short = |key: &str| if args.as_str().is_some() { Some(args) } else { args.get(key) };
    // Reading is kept inside the workspace's roots.
    let (written, read) = (Severity::Warning, Severity::Info);
    match &*verb.key {
        "run" => {
            let argv = args.get("argv").unwrap_or(args);
            target(cx, argv.items().first().or(Some(argv)), Target::Program, origins);
            target(cx, args.get("cwd"), Target::Place("the folder that the program runs in", written), origins);
        }
        "http" => target(cx, short("url"), Target::Host, origins),
        "write" => target(cx, short("path"), Target::Place("the file that is written", written), origins),
        "artifact" => target(cx, args.get("path"), Target::Place("the file that is written", written), origins),
        "read" => target(cx, short("path"), Target::Place("the file that is read", read), origins),
        "list" => target(cx, short("path"), Target::Place("the folder that is listed", read), origins),
        "grep" => target(cx, args.get("path"), Target::Place("where is searched", read), origins),
        _ => {}
    }
}

fn target(cx: &mut Cx<'_>, node: Option<&Node>, target: Target, origins: &Origins<'_>) {
    let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) else { return };
    if !is_template(text) {
        return;
    }
    let deciding = match target {
        Target::Host if has_host(text) => return,
        Target::Host => up_to_first_value(text),
        Target::Program | Target::Place(..) => text,
    };
    // A part of a template need not be one.
    let deciding = if walk(deciding).is_ok() { deciding } else { text };
    let Some(outside) = origins.first_outside(deciding) else { return };
    if matches!(target, Target::Place(..)) && is_below_a_folder(before_value(text, outside.at)) {
        return;
    }
    let (what, severity, help) = match target {
        Target::Program => {
            ("the program", Severity::Warning, "write the program out, and put the value into an argument")
        }
        Target::Host => ("the host", Severity::Warning, "write the host out, and put the value into `query`"),
        Target::Place(what, severity) => (what, severity, "put it below a fixed folder, such as `notes/{{ … }}`"),
    };
    let from = outside.from.map(|from| format!(" (set from `{from}`)")).unwrap_or_default();
    let message = format!("`{}`{from} chooses {what}", outside.name);
    let finding = Diagnostic::new(severity, codes::UNTRUSTED_TARGET, node.span, message);
    cx.push(finding.help(format!("{help}, or give the parameter an `enum` or a `pattern`")));
}

/// Whether the host is written out before the first template.
fn has_host(url: &str) -> bool {
    let start = url.split("{{").next().unwrap_or_default();
    start.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']))
}

/// A URL up to the end of its first value, which decides about the host.
fn up_to_first_value(url: &str) -> &str {
    url.find("}}").map_or(url, |end| &url[..end + 2])
}

/// What stands before the braces around a byte of a template.
fn before_value(text: &str, at: usize) -> &str {
    let start = text.get(..at).and_then(|before| before.rfind("{{").max(before.rfind("{%")));
    &text[..start.unwrap_or(0)]
}

/// Whether what stands before a value names a folder inside the workspace that the value cannot leave by a name alone.
fn is_below_a_folder(start: &str) -> bool {
    let Some((folders, _)) = start.rsplit_once('/') else { return false };
    let mut depth = 0i32;
    for part in folders.split('/').map(str::trim) {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return false;
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::{has_host, is_below_a_folder};

    #[test]
    fn a_host_is_written_out_up_to_the_path() {
        for url in ["https://a.example/{{ x }}", "https://a.example?q={{ x }}", "http://127.0.0.1:80/x"] {
            assert!(has_host(url), "{url}");
        }
        for url in ["{{ x }}", "https://{{ x }}/a", "https://a.example.{{ x }}/", "https://a.example{{ x }}"] {
            assert!(!has_host(url), "{url}");
        }
    }

    #[test]
    fn a_folder_is_fixed_when_something_of_it_is_left() {
        for start in ["notes/", "a/b/x-", "./notes/", "a/../b/", "{{ workspace.root }}/"] {
            assert!(is_below_a_folder(start), "{start}");
        }
        for start in ["", "notes-", "./", "../", "a/../", "/", "../../x/"] {
            assert!(!is_below_a_folder(start), "{start}");
        }
    }
}
