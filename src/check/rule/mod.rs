//! The rules: one file each, one line each in [`RULES`].

mod actions;
mod allow;
mod ambiguous;
mod argv;
mod budget;
mod calls;
mod ending;
mod flow;
mod forced;
mod frozen;
mod in_force;
mod judge;
mod language;
mod limits;
mod loop_cycle;
mod mcp;
mod middleware;
mod models;
mod names;
mod offered;
mod param_clash;
mod policy;
mod references;
mod schema_comment;
mod script;
pub(super) mod secrets;
mod sections;
mod state;
mod templates;
mod thresholds;
mod untrusted;
mod unused_state;
pub(super) mod verbs;

use super::context::{Cx, Subject};

/// A rule.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Its name, which is its file's.
    pub(super) name: &'static str,
    /// What it looks for.
    pub(super) run: fn(&mut Cx<'_>, Subject<'_>),
}

/// Every rule, alphabetical.
pub(super) const RULES: &[Rule] = &[
    Rule { name: "actions", run: actions::check },
    Rule { name: "allow", run: allow::check },
    Rule { name: "ambiguous", run: ambiguous::check },
    Rule { name: "argv", run: argv::check },
    Rule { name: "budget", run: budget::check },
    Rule { name: "calls", run: calls::check },
    Rule { name: "ending", run: ending::check },
    Rule { name: "flow", run: flow::check },
    Rule { name: "forced", run: forced::check },
    Rule { name: "frozen", run: frozen::check },
    Rule { name: "in_force", run: in_force::check },
    Rule { name: "judge", run: judge::check },
    Rule { name: "language", run: language::check },
    Rule { name: "limits", run: limits::check },
    Rule { name: "loop_cycle", run: loop_cycle::check },
    Rule { name: "mcp", run: mcp::check },
    Rule { name: "middleware", run: middleware::check },
    Rule { name: "models", run: models::check },
    Rule { name: "names", run: names::check },
    Rule { name: "offered", run: offered::check },
    Rule { name: "param_clash", run: param_clash::check },
    Rule { name: "policy", run: policy::check },
    Rule { name: "references", run: references::check },
    Rule { name: "schema_comment", run: schema_comment::check },
    Rule { name: "script", run: script::check },
    Rule { name: "secrets", run: secrets::check },
    Rule { name: "sections", run: sections::check },
    Rule { name: "severity", run: crate::check::severity::check },
    Rule { name: "state", run: state::check },
    Rule { name: "templates", run: templates::check },
    Rule { name: "thresholds", run: thresholds::check },
    Rule { name: "untrusted", run: untrusted::check },
    Rule { name: "unused_state", run: unused_state::check },
    Rule { name: "verbs", run: verbs::check },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by_key(|rule| rule.name));
    }
}
