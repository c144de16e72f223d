//! Settings that are read and validated, and have no effect in this version.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    match subject {
        Subject::Workspace(_) => report(cx, subject, Some(document), &["store"]),
        Subject::Loop(_) | Subject::Preset(_) | Subject::Tool(_) | Subject::Forge(_) => {}
    }
}

fn report(cx: &mut Cx<'_>, subject: Subject<'_>, map: Option<&Node>, keys: &[&str]) {
    for entry in keys.iter().filter_map(|key| map?.entry(key)) {
        // What a preset brought is the preset's to report.
        if entry.key_span.source != subject.source() {
            continue;
        }
        let message = format!("`{}` is read and validated; it is not yet in force", entry.key);
        cx.push(Diagnostic::info(codes::NOT_IN_FORCE, entry.key_span, message));
    }
}
