//! Every template and expression of a document, each with the names that are visible where it stands.

use crate::check::context::{Cx, StateReads, Subject};
use crate::check::names::shape_of;
use crate::check::results::{either, of_step};
use crate::check::scope::{Maybe, Scope, params};
use crate::check::shape::Shape;
use crate::check::steps::StepView;
use crate::check::template::{Purpose, check_expr, check_text};
use crate::check::text::Text;
use crate::document::LoopDoc;
use crate::load::Loaded;
use crate::syntax::{Node, Value};
use crate::template::walk::walk_expr;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    match subject {
        Subject::Loop(loaded) => of_loop(cx, loaded),
        Subject::Tool(loaded) => {
            let scope = Scope::of_tool(&loaded.doc, cx.workspace());
            steps(cx, loaded.node.get("do"), scope);
        }
        Subject::Forge(loaded) => {
            let scope = Scope::of_forge(loaded.doc.input.as_ref(), cx.workspace());
            source(cx, loaded.node.get("prompt"), &loaded.folder, &scope);
        }
        Subject::Preset(_) | Subject::Workspace(_) => {}
    }
}

fn of_loop(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    cx.state_reads = StateReads::default();
    let base = Scope::of_loop(&loaded.doc, cx.workspace());
    let prompt = loaded.node.get("prompt");
    let in_prompt = ["nonce", "actions", "last_iteration"]
        .into_iter()
        .fold(base.clone(), |scope, name| scope.with(name, shape_of(name)))
        // In prompts these are the names of the tags that the model may write.
        .with("tags", Shape::list());
    for key in ["instruction", "output_example", "reactive"] {
        source(cx, prompt.and_then(|prompt| prompt.get(key)), &loaded.folder, &in_prompt);
    }
    for section in prompt.and_then(|prompt| prompt.get("sections")).into_iter().flat_map(Node::items) {
        text(cx, section.get("text"), &in_prompt);
        file(cx, section.get("file"), &loaded.folder, &in_prompt);
        expression(cx, section.get("when"), Purpose::Condition, &in_prompt);
    }
    for entry in loaded.node.get("actions").into_iter().flat_map(Node::entries) {
        action(cx, loaded, &entry.key, &entry.value, &base);
    }
    let hooks = loaded.node.get("hooks");
    let hook = |key| hooks.and_then(|hooks| hooks.get(key));
    steps(cx, hook("init"), base.clone());
    steps(cx, hook("after_iteration"), base.clone());
    let finish = base.clone().with("reason", shape_of("reason")).with("error", shape_of("error"));
    steps(cx, hook("finish"), finish);
    mechanisms(cx, loaded, &base);
    mechanism_files(cx, loaded, &base, &in_prompt);
}

/// Files of the workspace that stand in the place of the mechanisms' prompts. Each loop reads them, whether it names a
/// mechanism or not.
fn mechanism_files(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>, base: &Scope, in_prompt: &Scope) {
    const ASKED: &[&str] = &["schema"];
    let of_asked = |more: &[&str]| ASKED.iter().chain(more).fold(base.clone(), |s, name| s.with(name, Shape::Any));
    let files = [
        ("system", of_asked(&[])),
        ("perception", of_asked(&["trigger", "reason"])),
        ("spin", of_asked(&["action"])),
        ("reflection", of_asked(&["level", "rule", "action"])),
        ("spin_warning", base.clone().with("failed", Shape::Any).with("brought", Shape::Any)),
        ("section", in_prompt.clone()),
        ("todo_checkpoint", in_prompt.clone()),
        ("verification", of_asked(&["trigger", "reason"])),
        ("verification_section", in_prompt.clone()),
    ];
    for (name, scope) in files {
        let path = cx.library.mechanism_file(loaded, name);
        let own = cx.library.files.of_document(&path, &loaded.folder).is_ok_and(|file| !file.shipped);
        if own && let Some(text) = cx.document_file(&path, &loaded.folder, loaded.node.span) {
            check_text(cx, &text, &scope);
        }
    }
}

fn mechanisms(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>, base: &Scope) {
    let Some(all) = loaded.node.get("mechanisms") else { return };
    expression(cx, all.get("progress").and_then(|one| one.get("metric")), Purpose::Number, base);
    let with = |names: &[&str]| names.iter().fold(base.clone(), |scope, name| scope.with(name, Shape::Any));
    let prompt = |name: &str| all.get(name).and_then(|one| one.get("prompt"));
    source(cx, prompt("perception"), &loaded.folder, &with(&["schema", "trigger", "reason"]));
    source(cx, prompt("spin"), &loaded.folder, &with(&["schema", "action"]));
    source(cx, prompt("verification"), &loaded.folder, &with(&["schema", "trigger", "reason"]));
    for check in all.get("verification").and_then(|one| one.get("checks")).into_iter().flat_map(Node::items) {
        expression(cx, check.get("that"), Purpose::Condition, base);
        text(cx, check.get("message"), base);
        if let Some(run) = check.get("run") {
            strings(cx, run, base);
        }
    }
    let levels = all.get("reflection").and_then(|one| one.get("levels"));
    for level in levels.into_iter().flat_map(Node::entries) {
        source(cx, Some(&level.value), &loaded.folder, &with(&["schema", "level", "rule", "action"]));
    }
}

fn action(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>, name: &str, node: &Node, base: &Scope) {
    expression(cx, node.get("when"), Purpose::Offer, base);
    let declared = loaded.doc.actions.get(name);
    let params = match declared {
        // The parameters of a tool or a loop are its own.
        Some(action) if action.from_tool.is_some() || action.from_loop.is_some() => Shape::Any,
        // A replaced built-in without parameters of its own may get those of the built-in.
        Some(action) if action.replaces && action.params.is_none() => Shape::Any,
        Some(action) => params(action.params.as_ref()),
        None => Shape::Any,
    };
    let tags = match declared {
        Some(action) => Shape::map(action.tags.keys().map(|tag| (tag.clone(), Shape::Scalar("a string")))),
        None => Shape::Any,
    };
    let mut scope = base.clone().with("params", params).with("tags", tags);
    if let Some(action) = declared {
        scope.optional_params(action.params.as_ref());
        for (tag, _) in action.tags.iter().filter(|(_, rules)| !rules.required) {
            scope.maybe("tags", tag, Maybe::Tag);
        }
    }
    for condition in node.get("verify").into_iter().flat_map(Node::items) {
        expression(cx, condition.get("that"), Purpose::Condition, &scope);
        text(cx, condition.get("message"), &scope);
        // What follows is reached only when the condition holds.
        if let Some(that) = condition.get("that").and_then(Node::as_str) {
            scope.learn(that, true);
        }
    }
    steps(cx, node.get("do"), scope);
}

/// A list of steps; each sees the results of those before it.
fn steps(cx: &mut Cx<'_>, list: Option<&Node>, mut scope: Scope) {
    scope.later_steps = StepView::list(list).filter_map(StepView::id).map(str::to_owned).collect();
    run_list(cx, list, &mut scope);
}

fn run_list(cx: &mut Cx<'_>, list: Option<&Node>, scope: &mut Scope) {
    for step in StepView::list(list) {
        // Both are decided once, before there is an item.
        expression(cx, step.key("when"), Purpose::Condition, scope);
        let when = step.key("when").and_then(Node::as_str);
        let mut inner = scope.clone();
        inner.guarded |= step.key("when").is_some();
        expression(cx, step.key("for_each"), Purpose::List, &inner);
        if let Some(list) = step.key("for_each") {
            let item = list.as_str().map_or(Shape::Any, |list| item_of(list, &inner));
            inner = inner.with("item", item).with("index", shape_of("index"));
        }
        text(cx, step.key("timeout"), &inner);
        for verb in step.verbs() {
            strings(cx, &verb.value, &inner);
        }
        if let Some(handler) = step.on_error() {
            let mut handling = scope.clone().with("error", shape_of("error"));
            handling.guarded |= step.key("when").is_some();
            run_list(cx, Some(handler), &mut handling);
            for inner in StepView::list(Some(handler)) {
                scope.step_ran(inner.id(), of_step(cx.library, inner));
                if let Some(id) = inner.id() {
                    scope.maybe("steps", id, Maybe::Step);
                }
            }
        }
        if step.verbs().next().is_some() {
            // After a step that may not have run, `result` may be that of the step before.
            let maybe = step.key("when").is_some() || !step.ends_on_failure();
            let before = scope.get("result").filter(|_| maybe).cloned();
            let result = of_step(cx.library, step);
            scope.step_ran(step.id(), result.clone());
            scope.set("result", either(result, before.as_ref()));
            if let Some(id) = step.id().filter(|_| maybe) {
                scope.maybe_step(id, when.filter(|_| step.ends_on_failure()));
            }
        }
        if let Some(when) = when.filter(|_| step.ends_if_reached()) {
            scope.ended_under(when);
        }
    }
}

/// What is known of the elements of a list that an expression gives.
fn item_of(list: &str, scope: &Scope) -> Shape {
    let path = walk_expr(list).ok().and_then(|walk| walk.elements);
    path.and_then(|path| scope.at(&path)).unwrap_or(Shape::Any)
}

/// Every string of a verb's arguments; keys too, where they are templates.
fn strings(cx: &mut Cx<'_>, node: &Node, scope: &Scope) {
    match &node.value {
        Value::String(_) => check_text(cx, &Text::Value(node), scope),
        Value::Seq(items) => items.iter().for_each(|item| strings(cx, item, scope)),
        Value::Map(entries) => {
            for entry in entries.iter() {
                check_text(cx, &Text::Key(&entry.key, entry.key_span), scope);
                strings(cx, &entry.value, scope);
            }
        }
        _ => {}
    }
}

/// Text in place, or `{ file: path }`.
fn source(cx: &mut Cx<'_>, node: Option<&Node>, folder: &str, scope: &Scope) {
    match node.map(|node| &node.value) {
        Some(Value::Map(_)) => file(cx, node.and_then(|node| node.get("file")), folder, scope),
        _ => text(cx, node, scope),
    }
}

fn file(cx: &mut Cx<'_>, node: Option<&Node>, folder: &str, scope: &Scope) {
    let Some((name, span)) = node.and_then(|node| Some((node.as_str()?, node.span))) else { return };
    if let Some(text) = cx.document_file(name, folder, span) {
        check_text(cx, &text, scope);
    }
}

fn text(cx: &mut Cx<'_>, node: Option<&Node>, scope: &Scope) {
    if let Some(node) = node.filter(|node| node.as_str().is_some()) {
        check_text(cx, &Text::Value(node), scope);
    }
}

fn expression(cx: &mut Cx<'_>, node: Option<&Node>, purpose: Purpose, scope: &Scope) {
    if let Some(node) = node.filter(|node| node.as_str().is_some()) {
        check_expr(cx, &Text::Value(node), purpose, scope);
    }
}
