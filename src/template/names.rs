//! The catalogue of names that templates and expressions see: the checker's and the reference's.

/// Where a name is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In every template and expression of a loop.
    Loop,
    /// In the text of prompts.
    Prompt,
    /// In an action's `verify` and `do`.
    Action,
    /// In a tool's steps, and in a skill's `invoke`.
    Tool,
    /// After a step.
    AfterStep,
    /// In the steps of `for_each`.
    ForEach,
    /// In the steps of `on_error`.
    OnError,
    /// In `finish` hooks.
    Finish,
}

impl Where {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Loop => "everywhere in a loop",
            Self::Prompt => "in prompts",
            Self::Action => "in an action's `verify` and `do`, and in tools",
            Self::Tool => "in the steps of tools and executable skills",
            Self::AfterStep => "after a step of the same list",
            Self::ForEach => "in the arguments of a step with `for_each`",
            Self::OnError => "in the steps of `on_error`, and in `finish` hooks",
            Self::Finish => "in `finish` hooks",
        }
    }
}

/// A name that templates see.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    /// The name.
    pub name: &'static str,
    /// Its type, in words.
    pub kind: &'static str,
    /// Where it is visible.
    pub place: Where,
    /// What it is.
    pub about: &'static str,
}

const fn name(name: &'static str, kind: &'static str, place: Where, about: &'static str) -> Name {
    Name { name, kind, place, about }
}

/// Every name, in the order of the reference.
pub const NAMES: &[Name] = &[
    name(
        "input",
        "string",
        Where::Loop,
        "The run's input. In a forge's prompt: the forge's input, of the type that it declares.",
    ),
    name("params", "map", Where::Action, "The parameters of the chosen action, or of the tool."),
    name(
        "tags",
        "map",
        Where::Action,
        "The bodies of the reply's tags: tag → text. In prompts: the names of the tags that the model may write.",
    ),
    name("state", "map", Where::Loop, "The loop's variables."),
    name("result", "any", Where::AfterStep, "The result of the step before."),
    name("steps", "map", Where::Loop, "Results of earlier steps of the same list: `steps.<id>`."),
    name("item", "any", Where::ForEach, "The element that the step runs for."),
    name("index", "integer", Where::ForEach, "Its place, from 0."),
    name("feedback", "list of strings", Where::Loop, "What the last iteration said to the model."),
    name("timeline", "list", Where::Loop, "What happened, in order."),
    name("history", "list of maps", Where::Loop, "The last actions."),
    name("evidence", "map", Where::Loop, "Evidence by id."),
    name("todo", "list of maps", Where::Loop, "The plan: `id`, `text`, `status`."),
    name("tools", "list of maps", Where::Loop, "The tools that the loop offers: `name`, `description`."),
    name(
        "run",
        "map",
        Where::Loop,
        "The run: `id`, `loop`, `iteration`, `max_iterations`, `elapsed` (seconds), `usage`, `cost_usd`, `model_calls`, `tool_calls`.",
    ),
    name(
        "workspace",
        "map",
        Where::Loop,
        "The workspace: `name`, `root`, and `vars`, the data under `vars` in its document.",
    ),
    name("now", "string", Where::Loop, "The time, in UTC."),
    name("os", "string", Where::Loop, "The operating system."),
    name("env", "map", Where::Loop, "The environment variables that `env` lists."),
    name("nonce", "string", Where::Prompt, "The nonce of this turn, with which the model writes tags."),
    name(
        "actions",
        "list of maps",
        Where::Prompt,
        "The actions of this turn: `name`, `description`, `params`, `tags`.",
    ),
    name("last_iteration", "boolean", Where::Prompt, "Whether this is the last turn that the limit allows."),
    name("reason", "string", Where::Finish, "Why the loop ended."),
    name("error", "string", Where::OnError, "What went wrong."),
    name(
        "perception",
        "map",
        Where::Loop,
        "What the loop is doing: `topics`, `keywords`, `summary`, `confidence`, `changed`, `epoch` (0 before the first time), `last_trigger`, `last_update_at`, `prev_topics_hash`.",
    ),
    name(
        "reflection",
        "map",
        Where::Loop,
        "The last reflection: `level`, `iteration`, `action`, `assessment`, `cause`, `suggestions`, `data`.",
    ),
    name(
        "spin",
        "map",
        Where::Loop,
        "What spin detection found: `is_spinning`, `reason`, `family`, `action`, `count`, `warnings`, `suggestions`, `next_actions`.",
    ),
    name(
        "verification",
        "map",
        Where::Loop,
        "The last verdict: `satisfied`, `outcome`, `reasoning`, `missing`, `impossible`, `confidence`, `next_movements`, `output_files` (`path`, `bytes`, `excerpt`), `completed_task_index`, `checks` (`name`, `passed`, `passes`, `tries`, `exit_code`, `output`), `iteration`, `at`, `count` (0 before the first one), `failures`.",
    ),
    name(
        "progress",
        "map",
        Where::Loop,
        "How the figure of `mechanisms.progress` moves: `figure`, `best`, `stalled` (figures in a row that were no better).",
    ),
    name(
        "checkpoint",
        "map",
        Where::Loop,
        "The todo checkpoint of this turn: `rule` (`finish`, `stale`, or empty when there is none), `action`, `current`, `open`, `iterations`.",
    ),
    name(
        "skills",
        "list of maps",
        Where::Loop,
        "The skills that the loop offers: `name`, `description`, `loaded`, and of loaded ones what the prompt shows: `text`, `first_line`, `last_line`, `lines`, `files`.",
    ),
    name("here", "string", Where::Tool, "The folder of the tool's document or the skill's file, as an absolute path."),
    name(
        "capabilities",
        "map",
        Where::Loop,
        "Capabilities that were found: the result record of the last search (`search_results_markdown`, `context_enrichment`, `matched_tool_names`, `matched_forge_names`, `matched_skill_names`, `matched_focus_mode_names`, `recommended`, `catalog_matched`, `details`), and `extra`, what the model may use of all searches.",
    ),
];

/// The catalogue's row of a name.
#[must_use]
pub fn catalogued(name: &str) -> Option<&'static Name> {
    NAMES.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_templates_lists_every_name() {
        let page = include_str!("../../docs/templates.md");
        let rows: String = page.lines().filter(|line| line.starts_with("| `")).collect();
        for row in NAMES {
            assert!(rows.contains(&format!("`{}`", row.name)), "docs/templates.md has no row for `{}`", row.name);
        }
    }
}
