//! Names of other things: tools, forges, loops, actions, state variables, files.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{code_of, each, lists, place_of};
use crate::diag::{Code, Diagnostic, Diagnostics, Span, codes, did_you_mean, list_words};
use crate::document::{BUILTIN_TOOLS, BUILTINS, Kind, LoopDoc, builtin, is_template};
use crate::load::{Library, Loaded};
use crate::mcp;
use crate::verb::{Reference, find};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    match subject {
        Subject::Loop(loaded) => of_loop(cx, loaded),
        Subject::Workspace(loaded) => {
            crate::load::exclude_faults(&loaded.doc, cx.found);
            for tool in &loaded.doc.tools {
                tool_exists(cx, tool, tool.span);
            }
        }
        Subject::Tool(_) | Subject::Forge(_) | Subject::Preset(_) => {}
    }
    for list in lists(subject.node()) {
        each(list.node, &mut |step| {
            for verb in step.verbs() {
                let Some(known) = find(&verb.key) else { continue };
                // What is wrong with the arguments is reported where the verb is decoded.
                let Some(decoded) = known.decode(&verb.value, &mut Diagnostics::new()) else { continue };
                for reference in decoded.references() {
                    let span = place_of(&verb.value, reference.name()).unwrap_or(verb.key_span);
                    of_step(cx, subject, &reference, span);
                }
            }
        });
    }
}

fn of_loop(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    for tool in &loaded.doc.tools {
        tool_exists(cx, tool, tool.span);
    }
    for skill in loaded.doc.skills.iter().flatten() {
        skill_exists(cx, skill, skill.span);
    }
    for forge in loaded.doc.forges.iter().flatten() {
        exists(cx, forge, forge.span, Kind::Forge, codes::UNKNOWN_FORGE);
    }
    for target in loaded.doc.focus_modes.iter().flatten() {
        exists(cx, target, target.span, Kind::Loop, codes::UNKNOWN_LOOP);
    }
    for action in loaded.doc.actions.values() {
        if let Some(tool) = &action.from_tool {
            tool_exists(cx, tool, tool.span);
        }
        if let Some(target) = &action.from_loop {
            exists(cx, target, target.span, Kind::Loop, codes::UNKNOWN_LOOP);
        }
    }
    if let Some(example) = &loaded.doc.example {
        for file in [&example.input, &example.script] {
            let there = cx.library.root.join(&file.value).is_file() || crate::load::shipped(&file.value).is_some();
            if !there && !loaded.shipped {
                let message = format!("the file `{}` does not exist", file.value);
                let help = match cx.library.files.near(&file.value, "") {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "paths are relative to the workspace".to_owned(),
                };
                cx.push(Diagnostic::error(codes::FILE_MISSING, file.span, message).help(help));
            }
        }
    }
}

fn of_step(cx: &mut Cx<'_>, subject: Subject<'_>, reference: &Reference, span: Span) {
    let code = code_of(reference);
    match reference {
        name if is_template(name.name()) => {}
        Reference::Tool(name) => tool_exists(cx, name, span),
        Reference::Skill(name) => skill_exists(cx, name, span),
        Reference::Forge(name) => exists(cx, name, span, Kind::Forge, code),
        Reference::Loop(name) => exists(cx, name, span, Kind::Loop, code),
        Reference::Action(name) => {
            // In a tool, the caller's actions are not known.
            let Subject::Loop(loaded) = subject else { return };
            let builtins = BUILTINS.iter().map(|action| action.name);
            let known: Vec<&str> = loaded.doc.actions.keys().map(String::as_str).chain(builtins).collect();
            if !known.contains(&name.as_str()) && builtin(name).is_none() {
                unknown(cx, "action", name, span, code, &known, "the actions are");
            }
        }
        Reference::State(name) => {
            let Subject::Loop(loaded) = subject else { return };
            let known: Vec<&str> = loaded.doc.state.keys().map(String::as_str).collect();
            if !known.contains(&name.as_str()) {
                unknown(cx, "state variable", name, span, code, &known, "the loop declares");
            }
        }
    }
}

fn skill_exists(cx: &mut Cx<'_>, name: &str, span: Span) {
    let skills = &cx.library.skills;
    if skills.get(name).is_some() {
        return;
    }
    if let Some(broken) = skills.entries().iter().find(|entry| entry.name.as_deref() == Some(name)) {
        let message = format!("the skill `{name}` has mistakes that keep it from being used");
        let place = Span::new(broken.source, 0, 0);
        cx.push(Diagnostic::error(codes::UNKNOWN_SKILL, span, message).label(place, "it is declared here"));
        return;
    }
    let known = skills.names();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    unknown(cx, "skill", name, span, codes::UNKNOWN_SKILL, &known, "known ones are");
}

fn tool_exists(cx: &mut Cx<'_>, name: &str, span: Span) {
    if !BUILTIN_TOOLS.contains(&name) && !is_of_server(cx, name, span) {
        exists(cx, name, span, Kind::Tool, codes::UNKNOWN_TOOL);
    }
}

/// Whether a tool is an MCP server's. Which tools a server has is not known before it runs, and a check starts nothing.
fn is_of_server(cx: &mut Cx<'_>, name: &str, span: Span) -> bool {
    let servers: Vec<&str> = cx.workspace().mcp.keys().map(String::as_str).collect();
    if cx.library.tools.contains_key(name) || !mcp::is_server_tool(name) {
        return false;
    }
    if mcp::server_of(name, servers.iter().copied()).is_some() {
        return true;
    }
    let message = format!("`{name}` is named as a tool of an MCP server, and there is no such server");
    let near = name.strip_prefix("mcp_").and_then(|rest| did_you_mean(rest.split('_').next()?, &servers));
    let help = match near {
        Some(near) => format!("tools of the server `{near}` begin with `mcp_{near}_`"),
        None if servers.is_empty() => "declare one under `mcp` in the workspace".to_owned(),
        None => format!("the servers are {}", list_words(&servers)),
    };
    cx.push(Diagnostic::error(codes::UNKNOWN_TOOL, span, message).help(help));
    true
}

fn exists(cx: &mut Cx<'_>, name: &str, span: Span, kind: Kind, code: Code) {
    let known = documents(cx.library, kind);
    if known.contains(&name) {
        return;
    }
    if let Some(broken) = cx.library.unusable.iter().find(|doc| doc.kind == kind && doc.name.as_deref() == Some(name)) {
        let message = format!("the {} `{name}` has mistakes that keep it from being used", kind.name());
        cx.push(Diagnostic::error(code, span, message).label(Span::new(broken.source, 0, 0), "it is declared here"));
        return;
    }
    let tools = if kind == Kind::Tool { &BUILTIN_TOOLS[..] } else { &[] };
    let known: Vec<&str> = known.into_iter().chain(tools.iter().copied()).collect();
    unknown(cx, kind.name(), name, span, code, &known, "known ones are");
}

fn documents(library: &Library, kind: Kind) -> Vec<&str> {
    match kind {
        Kind::Loop => library.loops.keys().map(String::as_str).collect(),
        Kind::Tool => library.tools.keys().map(String::as_str).collect(),
        Kind::Forge => library.forges.keys().map(String::as_str).collect(),
        Kind::Preset => library.presets.keys().map(String::as_str).collect(),
        Kind::Workspace => Vec::new(),
    }
}

fn unknown(cx: &mut Cx<'_>, what: &str, name: &str, span: Span, code: Code, known: &[&str], lead: &str) {
    let help = match did_you_mean(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("there is no {what}"),
        None => format!("{lead} {}", list_words(known)),
    };
    cx.push(Diagnostic::error(code, span, format!("unknown {what} `{name}`")).help(help));
}
