//! The workspace's policy: rules that can never decide anything.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes, did_you_mean};
use crate::document::{BUILTIN_TOOLS, PolicyRule};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Workspace(loaded) = subject else { return };
    let mut all: Option<Span> = None;
    for rule in &loaded.doc.policy {
        let span = rule.tool.span;
        if let Some(earlier) = all {
            cx.push(
                Diagnostic::warning(codes::POLICY, span, "this rule never decides: an earlier one matches every call")
                    .label(earlier, "this rule matches every call")
                    .help("the first rule that matches decides; put this one before it"),
            );
            continue;
        }
        if rule.tool.value == "*" && is_unconditional(rule) {
            all = Some(span);
        }
        unknown_tool(cx, rule);
        misplaced_condition(cx, rule);
    }
}

fn is_unconditional(rule: &PolicyRule) -> bool {
    rule.argv.is_none() && rule.hosts.is_none() && rule.paths.is_none() && rule.effect.is_none()
}

fn unknown_tool(cx: &mut Cx<'_>, rule: &PolicyRule) {
    let name = rule.tool.value.as_str();
    let servers = cx.workspace().mcp.keys().map(String::as_str);
    if crate::mcp::server_of(name, servers).is_some() {
        return;
    }
    if name.contains('*') || BUILTIN_TOOLS.contains(&name) || cx.library.tools.contains_key(name) {
        return;
    }
    let known = BUILTIN_TOOLS.iter().copied().chain(cx.library.tools.keys().map(String::as_str));
    let known: Vec<&str> = known.collect();
    // A program that embeds the engine may bring tools that no document names.
    let finding = Diagnostic::warning(
        codes::POLICY,
        rule.tool.span,
        format!("no tool is named `{name}`, so this rule decides nothing"),
    );
    cx.push(finding.maybe_help(did_you_mean(name, &known).map(|near| format!("did you mean `{near}`?"))));
}

/// Conditions on something that the tool's calls do not have.
fn misplaced_condition(cx: &mut Cx<'_>, rule: &PolicyRule) {
    let name = rule.tool.value.as_str();
    let conditions = [
        ("argv", rule.argv.is_some(), ["run_command"].as_slice()),
        ("hosts", rule.hosts.is_some(), ["http_request"].as_slice()),
        ("paths", rule.paths.is_some(), ["read_file", "write_file", "edit_file", "list_files", "grep"].as_slice()),
    ];
    for (key, is_set, tools) in conditions {
        if is_set && BUILTIN_TOOLS.contains(&name) && !tools.contains(&name) {
            let message = format!("`{name}` has no `{key}`, so this rule matches no call of it");
            cx.push(
                Diagnostic::warning(codes::POLICY, rule.tool.span, message)
                    .help(format!("`{key}` is for {}", crate::diag::list_words(tools))),
            );
        }
    }
}
