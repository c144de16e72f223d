//! May this call happen? The workspace's rules in order, the first that matches decides; then what holds without rules.

use ignore::overrides::OverrideBuilder;
use reqwest::Url;
use serde_json::Value;

use super::Access;
use crate::document::{Decision, Effect, PolicyRule};

/// Tools that work on files, with the parameter that names the file.
const FILE_TOOLS: [&str; 5] = ["read_file", "write_file", "edit_file", "list_files", "grep"];
/// Those of them that change files.
const WRITING: [&str; 2] = ["write_file", "edit_file"];
/// Tools that reach out of the workspace: denied until a rule names what they may reach.
const CLOSED: [&str; 3] = ["run_command", "http_request", "shell"];

impl Access {
    /// What the policy says to a call, with the words for who made it.
    ///
    /// `params` are the call's: `argv` of a command, `url` of a request, `path` of a file tool are looked at.
    #[must_use]
    pub fn decide(&self, tool: &str, params: &Value, effect: Effect) -> (Decision, String) {
        let path = match self.path_of(tool, params) {
            Ok(path) => path,
            Err(words) => return (Decision::Deny, words),
        };
        let steers = WRITING.contains(&tool) && path.as_deref().is_some_and(|path| self.steers(path));
        let call = Call { tool, argv: argv_of(params), url: url_of(params), path: path.as_deref(), effect, steers };
        for (number, rule) in (1..).zip(self.rules.iter()) {
            if call.matches(rule) {
                return (rule.decision, call.words(rule.decision, number));
            }
        }
        if CLOSED.contains(&tool) {
            return (Decision::Deny, call.closed());
        }
        if steers {
            return (Decision::Deny, call.kept());
        }
        (Decision::Allow, format!("`{tool}` is allowed unless the workspace's policy says otherwise"))
    }

    /// Whether the rule that decides about requests to this URL allows them and names the host, no `*` in it.
    pub(super) fn names_host(&self, url: &Url) -> bool {
        let call = Call {
            tool: "http_request",
            argv: None,
            url: Some(url.clone()),
            path: None,
            effect: Effect::AtMostOnce,
            steers: false,
        };
        let rule = self.rules.iter().find(|rule| call.matches(rule));
        rule.is_some_and(|rule| {
            let mut exact = rule.hosts.iter().flatten().filter(|pattern| !pattern.contains('*'));
            rule.decision != Decision::Deny && exact.any(|pattern| host_matches(pattern, url))
        })
    }

    /// Whether a file decides what runs do, this one's policy included: the workspace's file, documents, hooks of git.
    fn steers(&self, path: &str) -> bool {
        // Some file systems take `Loopwright.YAML` for the same name.
        let path = path.to_lowercase();
        let path = std::path::Path::new(&path);
        let ends = |ends: &[&str]| path.extension().is_some_and(|end| ends.iter().any(|known| end == *known));
        let documents = ends(&["yaml", "yml", "toml", "j2"]);
        let own = path.file_stem().is_some_and(|name| name == "loopwright") && documents;
        let inside = |folder: &std::path::PathBuf| match folder.to_string_lossy().to_lowercase().as_str() {
            "" => documents,
            folder => path.starts_with(folder),
        };
        own || path.components().any(|part| part.as_os_str() == ".git" || part.as_os_str() == ".loopwright")
            || self.steering.iter().any(inside)
    }

    /// The file that a call is about, links resolved and relative to the workspace, so that a rule cannot be walked around.
    fn path_of(&self, tool: &str, params: &Value) -> Result<Option<String>, String> {
        let path = match (params.get("path").and_then(Value::as_str), FILE_TOOLS.contains(&tool)) {
            (Some(path), true) => path,
            (None, true) => ".",
            // Where another tool's `path` leads is not known: it is looked at only when a rule for this tool asks.
            (Some(path), false) if self.rules.iter().any(|rule| rule.paths.is_some() && like(&rule.tool, tool)) => path,
            (_, false) => return Ok(None),
        };
        self.resolve(path).map(|inside| Some(inside.shown().to_owned())).map_err(|error| error.to_string())
    }
}

/// What is asked for.
struct Call<'a> {
    tool: &'a str,
    argv: Option<Vec<&'a str>>,
    url: Option<Url>,
    path: Option<&'a str>,
    effect: Effect,
    /// Whether it writes a file that decides what runs do.
    steers: bool,
}

impl Call<'_> {
    fn matches(&self, rule: &PolicyRule) -> bool {
        if !like(&rule.tool, self.tool) || rule.effect.is_some_and(|effect| effect != self.effect) {
            return false;
        }
        // A rule for every tool says nothing about what this one may reach.
        let names_reach = *rule.tool == self.tool || rule.argv.is_some() || rule.hosts.is_some();
        if rule.decision == Decision::Allow && CLOSED.contains(&self.tool) && !names_reach {
            return false;
        }
        if rule.decision == Decision::Allow && self.steers && rule.paths.is_none() {
            return false;
        }
        let argv = rule
            .argv
            .as_ref()
            .is_none_or(|patterns| self.argv.as_ref().is_some_and(|argv| argv_matches(patterns, argv)));
        let hosts = rule.hosts.as_ref().is_none_or(|patterns| {
            self.url.as_ref().is_some_and(|url| patterns.iter().any(|pattern| host_matches(pattern, url)))
        });
        let paths =
            rule.paths.as_ref().is_none_or(|patterns| self.path.is_some_and(|path| path_matches(patterns, path)));
        argv && hosts && paths
    }

    fn words(&self, decision: Decision, rule: usize) -> String {
        let what = self.what();
        match decision {
            Decision::Allow => format!("rule {rule} of the workspace's policy allows {what}"),
            Decision::Ask => format!("rule {rule} of the workspace's policy asks the user about {what}"),
            Decision::Deny => format!("rule {rule} of the workspace's policy denies {what}"),
        }
    }

    fn closed(&self) -> String {
        let example = match (self.tool, &self.argv, &self.url) {
            ("http_request", _, Some(url)) => format!("hosts: [{}]", url.host_str().unwrap_or_default()),
            ("http_request", ..) => "hosts: [api.example.com]".to_owned(),
            (_, Some(argv), _) if !argv.is_empty() => format!("argv: [{}, \"*\"]", shown(argv[0])),
            _ => "argv: [git, \"*\"]".to_owned(),
        };
        format!(
            "no rule of the workspace's policy allows {}; it would need one such as {{ tool: {}, {example}, decision: allow }}",
            self.what(),
            self.tool
        )
    }

    fn kept(&self) -> String {
        let path = self.path.map(shown).unwrap_or_default();
        format!(
            "`{path}` decides what runs do, so no model writes it unless a rule of the workspace's policy names it, such as \
             {{ tool: {}, paths: [\"{path}\"], decision: allow }}",
            self.tool
        )
    }

    fn what(&self) -> String {
        let tool = self.tool;
        match (&self.argv, &self.url, self.path) {
            (Some(argv), ..) => format!("`{tool}` with `{}`", shown(&argv.join(" "))),
            (_, Some(url), _) => format!("`{tool}` to `{}`", url.host_str().unwrap_or_default()),
            (.., Some(path)) => format!("`{tool}` on `{path}`"),
            _ => format!("`{tool}`"),
        }
    }
}

fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(120).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

fn argv_of(params: &Value) -> Option<Vec<&str>> {
    params.get("argv")?.as_array()?.iter().map(Value::as_str).collect()
}

fn url_of(params: &Value) -> Option<Url> {
    let url = Url::parse(params.get("url")?.as_str()?).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Whether a text fits a pattern in which `*` stands for any characters.
fn like(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// One pattern an argument; a last `*` stands for any number of them.
fn argv_matches(patterns: &[String], argv: &[&str]) -> bool {
    let (patterns, open) = match patterns.split_last() {
        Some((last, first)) if last == "*" => (first, true),
        _ => (patterns, false),
    };
    let fits = if open { argv.len() >= patterns.len() } else { argv.len() == patterns.len() };
    fits && patterns.iter().zip(argv).all(|(pattern, argument)| like(pattern, argument))
}

/// `api.example.com`, `*.example.com` (what lies below it), either with a port when another than the scheme's is meant.
fn host_matches(pattern: &str, url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let (pattern, port) = match pattern.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && (!name.contains(':') || name.ends_with(']')) => {
            (name, port.parse::<u16>().ok())
        }
        _ => (pattern, None),
    };
    let (pattern, host) = (pattern.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port_fits = port.is_none() || port == url.port_or_known_default();
    port_fits && like(pattern.trim_end_matches('.'), host.trim_end_matches('.'))
}

/// Whether a path fits one of the patterns, in which `**` stands for any folders; one without `/` fits at any depth.
fn path_matches(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| {
        let mut globs = OverrideBuilder::new("/");
        // `!` would turn the pattern round.
        let pattern = pattern.trim_start_matches(['!', '#']);
        let built = globs.add(pattern).and_then(|globs| globs.build());
        built.is_ok_and(|globs| {
            let below = std::path::Path::new(path);
            below
                .ancestors()
                .any(|folder| !folder.as_os_str().is_empty() && globs.matched(folder, folder != below).is_whitelist())
        })
    })
}
