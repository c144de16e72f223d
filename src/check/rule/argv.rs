//! Arguments of programs: a value at the beginning of an argument may begin with `-` and be taken for an option.

use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, judging_programs, lists};
use crate::check::values::Declared;
use crate::diag::{Diagnostic, codes};
use crate::document::is_template;
use crate::syntax::Node;
use crate::template::walk::walk;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    for run in judging_programs(subject.node()) {
        options(cx, run, &Declared::of(subject, Place::AfterIteration));
    }
    for list in lists(subject.node()) {
        let declared = Declared::of(subject, list.place);
        each(list.node, &mut |step| {
            if let Some(run) = step.node.get("run") {
                options(cx, run, &declared);
            }
        });
    }
}

fn options(cx: &mut Cx<'_>, run: &Node, declared: &Declared<'_>) {
    if run.get("allow_dash").is_some_and(|node| node.to_json() == Json::Bool(true)) {
        return;
    }
    let items = run.get("argv").unwrap_or(run).items();
    for item in items.iter().skip(1).take_while(|item| item.as_str() != Some("--")) {
        let Some(text) = item.as_str().filter(|text| is_template(text)) else { continue };
        let Ok(walked) = walk(text) else { continue };
        if declared.may_begin_with_dash(&walked.leads) {
            let message = format!("`{}` may begin with `-`, and the program would take it for an option", text.trim());
            cx.push(Diagnostic::warning(codes::OPTION_INJECTION, item.span, message).help(
                "put an item `--` before it, give the parameter a `pattern`, or write `allow_dash: true` if options are meant",
            ));
        }
    }
}
