//! What becomes of MCP servers during a run, as lines.

use super::figures;
use super::plain::{escape, one_line};
use super::screen::Look;
use crate::event::{Event, ToolServerStatus};

/// The most characters of a problem.
const WIDE: usize = 400;

/// The most problems that are shown; the event has all of them.
const MOST: usize = 5;

/// The lines of a `tool_server` event; none of any other.
pub(super) fn lines(event: &Event) -> Vec<(Look, String)> {
    let Event::ToolServer { server, status, tools, problems, duration_ms } = event else { return Vec::new() };
    let (server, time) = (escape(server), figures::time(*duration_ms));
    let count = match tools.len() {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let (look, head) = match status {
        ToolServerStatus::Started => (Look::Dim, format!("  MCP server {server} is there ({time}): {count}")),
        ToolServerStatus::Changed => (Look::Warning, format!("  MCP server {server} changed its tools: {count} now")),
        ToolServerStatus::Lost => (Look::Bad, format!("  MCP server {server} is gone after {time}")),
        ToolServerStatus::Failed => (Look::Bad, format!("  MCP server {server} did not start ({time})")),
    };
    let shown = problems.iter().take(MOST).map(|words| (Look::Warning, format!("    {}", one_line(words, WIDE))));
    let more = problems.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| (Look::Dim, format!("    and {more} more")));
    std::iter::once((look, head)).chain(shown).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_says_what_it_means() {
        let of = |status, tools: &[&str], problems: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let event = Event::ToolServer {
                server: "files".into(),
                status,
                tools: owned(tools),
                problems: owned(problems),
                duration_ms: 1200,
            };
            lines(&event).into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(of(ToolServerStatus::Started, &["a"], &[]), "  MCP server files is there (1.2 s): 1 tool");
        assert_eq!(
            of(ToolServerStatus::Changed, &["a", "b"], &[]),
            "  MCP server files changed its tools: 2 tools now"
        );
        assert_eq!(
            of(ToolServerStatus::Lost, &[], &["it ended with exit code 1"]),
            "  MCP server files is gone after 1.2 s\n    it ended with exit code 1"
        );
        let many = of(ToolServerStatus::Failed, &[], &["1", "2", "3", "4", "5", "6", "7"]);
        assert!(many.ends_with("    5\n    and 2 more") && many.contains("did not start"), "{many}");
    }
}
