//! The workspace's word about severities: `checks: { CODE: off | info | warning | error }`.

use crate::diag::codes::{self, all, find};
use crate::diag::{Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::document::{CheckLevel, WorkspaceDoc};
use crate::syntax::Node;

use super::context::{Cx, Subject};

/// Gives each finding the severity that the workspace wants, or takes it away.
pub(super) fn apply(workspace: &WorkspaceDoc, found: &mut Diagnostics) {
    if workspace.checks.is_empty() {
        return;
    }
    let wanted = |finding: &Diagnostic| {
        let level = *workspace.checks.get(finding.code.as_str())?;
        finding.code.info().is_some_and(|info| info.adjustable || level == CheckLevel::Error).then_some(level)
    };
    found.retain(|finding| wanted(finding) != Some(CheckLevel::Off));
    for finding in found.iter_mut() {
        match wanted(finding) {
            Some(CheckLevel::Error) => finding.severity = Severity::Error,
            Some(CheckLevel::Warning) => finding.severity = Severity::Warning,
            Some(CheckLevel::Info) => finding.severity = Severity::Info,
            Some(CheckLevel::Off) | None => {}
        }
    }
}

/// The rule: each code exists, and may have another severity.
pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Workspace(loaded) = subject else { return };
    for entry in loaded.node.get("checks").into_iter().flat_map(Node::entries) {
        let name = &*entry.key;
        let Some(info) = find(name) else {
            let names: Vec<&str> = all().iter().map(|info| info.code.as_str()).collect();
            let finding = Diagnostic::error(codes::UNKNOWN_CODE, entry.key_span, format!("there is no code `{name}`"));
            cx.push(match did_you_mean(name, &names) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help("`loopwright check --list-codes` lists the codes"),
            });
            continue;
        };
        let is_error = entry.value.as_str() == Some("error");
        if !info.adjustable && !is_error {
            let message = format!("`{name}` keeps a document from being used and stays an error");
            cx.push(Diagnostic::error(codes::FIXED_SEVERITY, entry.key_span, message).help("remove this line"));
        }
    }
}
