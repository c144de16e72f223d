//! Names: from a server and one of its tools to the name that models and loops use, and back to the server.

use sha2::{Digest, Sha256};

/// What the name of every tool of a server begins with.
const PREFIX: &str = "mcp_";

/// Providers refuse longer names of tools (OpenAI's and Anthropic's pattern is `^[a-zA-Z0-9_-]{1,64}$`).
const LONGEST: usize = 64;

/// The longest name of a server, which leaves room for the tool's.
pub const LONGEST_SERVER: usize = 32;

/// Hexadecimal digits that tell apart names that would be the same.
const DIGEST: usize = 8;

/// What is wrong with a server's name; none when tools can be named after it.
#[must_use]
pub fn server_name_problem(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        return Some("a server needs a name, which its tools are named after".to_owned());
    }
    if let Some(c) = name.chars().find(|c| !fits(*c)) {
        return Some(format!("`{name}` has `{c}` in it, which providers do not take in the name of a tool"));
    }
    (name.len() > LONGEST_SERVER).then(|| {
        format!("`{name}` has {} characters, and names of tools have at most {LONGEST} with the server's", name.len())
    })
}

/// The server that a tool's name or pattern belongs to, of those that exist. `mcp_files_*` belongs to `files`.
#[must_use]
pub fn server_of<'a>(name: &str, servers: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let rest = name.strip_prefix(PREFIX)?;
    // The longest: with `a` and `a_b`, which `check` refuses, at least every run sees the same.
    servers
        .into_iter()
        .filter(|server| rest.strip_prefix(server).is_some_and(|tool| tool.starts_with('_')))
        .max_by_key(|server| server.len())
}

/// Whether a name looks like that of a server's tool.
#[must_use]
pub fn is_server_tool(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Whether tools of two servers could get the same name: `a` and `a_b` both make `mcp_a_b_c`.
#[must_use]
pub fn clash(one: &str, other: &str) -> bool {
    let begins = |short: &str, long: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('_'));
    begins(one, other) || begins(other, one)
}

/// The tools' names for models, in the same order. Each depends on its own tool only, except where two would be the
/// same: then all of those end in a digest of the server's own name, so that no tool can take the place of another.
pub(super) fn tool_names(server: &str, tools: &[String]) -> Vec<String> {
    let plain: Vec<(String, bool)> = tools.iter().map(|tool| plain_name(server, tool)).collect();
    plain
        .iter()
        .zip(tools)
        .map(|((name, exact), tool)| {
            let alone = plain.iter().filter(|(other, _)| other == name).count() == 1;
            if *exact && alone { name.clone() } else { with_digest(name, tool) }
        })
        .collect()
}

/// The name with other characters replaced; whether nothing but separators was, and all of it fits.
fn plain_name(server: &str, tool: &str) -> (String, bool) {
    let mut exact = true;
    let tool: String = tool
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
            '.' | '/' | ' ' | ':' => '_',
            _ => {
                exact = false;
                '_'
            }
        })
        .collect();
    let name = format!("{PREFIX}{server}_{tool}");
    let fits = name.len() <= LONGEST;
    (name, exact && fits && !tool.is_empty())
}

fn with_digest(name: &str, tool: &str) -> String {
    let digest = Sha256::digest(tool.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    // Only ASCII is left, so any cut is at a character.
    let kept = name.len().min(LONGEST - DIGEST - 1);
    format!("{}_{}", &name[..kept], &digest[..DIGEST])
}

/// Whether a name fits a pattern in which `*` stands for any characters.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[&str]) -> Vec<String> {
        tool_names("s", &tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_what_every_provider_takes() {
        let long = "x".repeat(200);
        let odd = ["read_file", "repo.get/issue", "Zeit für Tee", "", "工具", "a\nb", &long];
        let named = names(&odd);
        assert_eq!(named[..2], ["mcp_s_read_file", "mcp_s_repo_get_issue"]);
        for (name, tool) in named.iter().zip(odd) {
            let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            assert!(fits && name.len() <= LONGEST && server_of(name, ["s"]) == Some("s"), "{tool:?}: {name}");
        }
        assert_eq!(named.iter().collect::<std::collections::HashSet<_>>().len(), odd.len());
    }

    #[test]
    fn no_tool_takes_the_name_of_another() {
        let named = names(&["a.b", "a_b", "c"]);
        assert!(named[0].starts_with("mcp_s_a_b_") && named[1].starts_with("mcp_s_a_b_"), "{named:?}");
        assert_ne!(named[0], named[1]);
        assert_eq!(named[2], "mcp_s_c");
        // The names do not depend on the order in which the server lists its tools.
        let turned = names(&["c", "a_b", "a.b"]);
        assert_eq!([&turned[2], &turned[1], &turned[0]], [&named[0], &named[1], &named[2]]);
    }

    #[test]
    fn a_name_belongs_to_one_server() {
        let servers = ["files", "web", "web-2"];
        let cases = [
            ("mcp_files_read", Some("files")),
            ("mcp_files_*", Some("files")),
            ("mcp_web-2_get", Some("web-2")),
            ("mcp_files", None),
            ("mcp_filesystem_read", None),
            ("files_read", None),
        ];
        for (name, server) in cases {
            assert_eq!(server_of(name, servers), server, "{name}");
        }
        assert!(clash("a", "a_b") && clash("a_b", "a") && !clash("a", "ab") && !clash("a", "b"));
    }

    #[test]
    fn names_of_servers_are_judged() {
        for good in ["files", "web-2", "my_server", "A"] {
            assert_eq!(server_name_problem(good), None);
        }
        for bad in ["", "a.b", "a b", "dienst-ä", &"x".repeat(33)] {
            assert!(server_name_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        let cases = [
            ("*", "a", true),
            ("read_*", "read_file", true),
            ("read_*", "bread_file", false),
            ("*_file", "x_file", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("a", "ab", false),
        ];
        for (pattern, name, matches) in cases {
            assert_eq!(fits(pattern, name), matches, "{pattern} {name}");
        }
    }
}
