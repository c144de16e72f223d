//! Loops that are actions of each other in a circle.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};
use crate::load::Library;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let own = &loaded.doc.name.value;
    for action in loaded.doc.actions.values() {
        let Some(target) = &action.from_loop else { continue };
        if let Some(chain) = way_back(cx.library, target, own) {
            let names = std::iter::once(own.as_str()).chain(chain.iter().map(String::as_str));
            let message = format!("loops call each other in a circle: {}", names.collect::<Vec<_>>().join(" → "));
            cx.push(
                Diagnostic::error(codes::LOOP_CYCLE, target.span, message).help("remove one `from_loop` of this chain"),
            );
        }
    }
}

/// The names from `from` to `goal`, both included, if `from_loop` leads there.
fn way_back(library: &Library, from: &str, goal: &str) -> Option<Vec<String>> {
    let mut open = vec![vec![from.to_owned()]];
    let mut seen = std::collections::HashSet::new();
    while let Some(chain) = open.pop() {
        let name = chain.last()?;
        if name == goal {
            return Some(chain);
        }
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(next) = library.loops.get(name) else { continue };
        for target in next.doc.actions.values().filter_map(|action| action.from_loop.as_ref()) {
            open.push(chain.iter().cloned().chain([target.value.clone()]).collect());
        }
    }
    None
}
