//! The workspace's MCP servers: what is wrong with them can mostly be told without starting one.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes};
use crate::document::{McpServerDoc, McpValue};
use crate::mcp::{NOT_SUPPORTED, SUPPORTED, clash, server_name_problem};
use crate::syntax::{Entry, Node};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Workspace(loaded) = subject else { return };
    let Some(section) = loaded.node.entry("mcp") else { return };
    if !SUPPORTED && !loaded.doc.mcp.is_empty() {
        cx.push(Diagnostic::error(codes::MCP_SERVER, section.key_span, NOT_SUPPORTED));
    }
    let entries = section.value.entries();
    for (at, entry) in entries.iter().enumerate() {
        let Some(doc) = loaded.doc.mcp.get(&*entry.key) else { continue };
        name(cx, entry, &entries[..at]);
        reach(cx, entry, doc);
        misplaced(cx, entry, doc);
        patterns(cx, entry, doc);
        clear_text(cx, doc);
    }
    shadows(cx);
}

fn error(cx: &mut Cx<'_>, span: Span, message: String, help: impl Into<String>) {
    cx.push(Diagnostic::error(codes::MCP_SERVER, span, message).help(help));
}

/// The name becomes a part of the tools' names.
fn name(cx: &mut Cx<'_>, entry: &Entry, earlier: &[Entry]) {
    if let Some(problem) = server_name_problem(&entry.key) {
        error(cx, entry.key_span, problem, "use letters, digits, `-` and `_`, 32 at most");
    }
    if let Some(other) = earlier.iter().find(|other| clash(&other.key, &entry.key)) {
        let message = format!("the servers `{}` and `{}` can give two tools the same name", other.key, entry.key);
        cx.push(
            Diagnostic::error(codes::MCP_SERVER, entry.key_span, message)
                .label(other.key_span, "this one is the beginning of the other, or the other way round")
                .help("tools are named mcp_SERVER_TOOL, so no server's name may go on another's after a `_`"),
        );
    }
}

/// A server is a program or an address.
fn reach(cx: &mut Cx<'_>, entry: &Entry, doc: &McpServerDoc) {
    let name = &entry.key;
    match (&doc.command, &doc.url) {
        // What is there and cannot be read is reported where it is read.
        (None, None) if ["command", "url"].iter().any(|key| entry.value.entry(key).is_some()) => {}
        (None, None) => {
            let help =
                "write `command: [PROGRAM, ARGUMENT]` for one that is started, or `url: https://…` for one that runs";
            error(cx, entry.key_span, format!("the server `{name}` has neither `command` nor `url`"), help);
        }
        (Some(_), Some(url)) => {
            let message = format!("the server `{name}` has both `command` and `url`");
            error(cx, url.span, message, "keep one: `command` starts a program, `url` reaches one that runs");
        }
        (Some(command), None) if command.is_empty() => {
            error(cx, command.span, "the command is empty".to_owned(), "name the program first: [npx, -y, PACKAGE]");
        }
        (Some(command), None) if command.len() == 1 && command[0].trim().contains(' ') => {
            let words: Vec<&str> = command[0].split_whitespace().collect();
            let message = format!("`{}` is one word to the system: no shell takes it apart", command[0]);
            error(cx, command.span, message, format!("write one item a word: [{}]", words.join(", ")));
        }
        (None, Some(url)) => address(cx, url, url.span),
        (Some(_), None) => {}
    }
}

fn address(cx: &mut Cx<'_>, url: &str, span: Span) {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if host.is_none_or(|host| host.trim_start_matches('/').is_empty()) {
        let help = "it begins with http:// or https:// and names a host, such as https://mcp.example.com/mcp";
        error(cx, span, format!("`{url}` is no address of a server"), help);
    }
}

/// Keys of the other kind of server.
fn misplaced(cx: &mut Cx<'_>, entry: &Entry, doc: &McpServerDoc) {
    let (keys, kind): (&[&str], _) = match (&doc.command, &doc.url) {
        (Some(_), None) => (&["headers"], "url"),
        (None, Some(_)) => (&["env", "cwd"], "command"),
        _ => return,
    };
    for found in keys.iter().filter_map(|key| entry.value.entry(key)) {
        let message = format!("`{}` does nothing here: it is for servers with `{kind}`", found.key);
        error(cx, found.key_span, message, "take it out");
    }
}

/// Patterns are for the server's own names.
fn patterns(cx: &mut Cx<'_>, entry: &Entry, doc: &McpServerDoc) {
    for pattern in doc.tools.iter().flatten().chain(&doc.exclude) {
        if let Some(rest) = pattern.strip_prefix("mcp_") {
            let own = rest.strip_prefix(&*entry.key).and_then(|rest| rest.strip_prefix('_')).unwrap_or(rest);
            let message =
                format!("`{pattern}` is compared with the server's own names, which do not begin with `mcp_`");
            error(cx, pattern.span, message, format!("write the tool as the server calls it: `{own}`"));
        }
    }
}

/// A secret that travels where anybody on the way can read it.
fn clear_text(cx: &mut Cx<'_>, doc: &McpServerDoc) {
    let Some(url) = &doc.url else { return };
    let secret = doc.headers.values().any(|value| matches!(value, McpValue::Secret { .. }));
    let host = url.strip_prefix("http://").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let near = |host: &str| {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    if secret && host.is_some_and(|host| !near(host)) {
        let message = format!("a secret goes to `{}` in clear text", url.value);
        cx.push(Diagnostic::warning(codes::MCP_SERVER, url.span, message).help("use https://"));
    }
}

/// Documents that take the place of a server's tools.
fn shadows(cx: &mut Cx<'_>) {
    let servers: Vec<&str> = cx.workspace().mcp.keys().map(String::as_str).collect();
    let found: Vec<(Span, String)> = cx
        .library
        .tools
        .values()
        .filter_map(|tool| {
            let name = &tool.doc.name;
            let server = crate::mcp::server_of(name, servers.iter().copied())?;
            let place = tool.node.get("name").map_or(name.span, |node: &Node| node.span);
            Some((place, format!("the tool `{}` takes the place of a tool of MCP server `{server}`", name.value)))
        })
        .collect();
    for (span, message) in found {
        cx.push(Diagnostic::warning(codes::MCP_SERVER, span, message).help("give it another name"));
    }
}
