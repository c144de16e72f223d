//! Settings that are read and validated, and have no effect in this version.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    let keys: &[&str] = match subject {
        Subject::Loop(_) | Subject::Preset(_) => &["mechanisms"],
        Subject::Workspace(_) => &["mcp", "store"],
        Subject::Tool(_) | Subject::Forge(_) => &[],
    };
    for entry in keys.iter().filter_map(|key| document.entry(key)) {
        // What a preset brought is the preset's to report.
        if entry.key_span.source != subject.source() {
            continue;
        }
        let message = format!("`{}` is read and validated; it is not yet in force", entry.key);
        cx.push(Diagnostic::info(codes::NOT_IN_FORCE, entry.key_span, message));
    }
    for entry in document.get("actions").into_iter().flat_map(crate::syntax::Node::entries) {
        if let Some(key) = entry.value.entry("key") {
            let message = "`key` is read and validated; it is not yet in force";
            cx.push(Diagnostic::info(codes::NOT_IN_FORCE, key.key_span, message));
        }
    }
}
