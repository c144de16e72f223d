//! The built-in actions: names that are always known, whether or not a loop offers them.

/// A built-in action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltinAction {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// Its parameters, in words, for the reference.
    pub params: &'static str,
    /// Whether the loop ends when it was taken.
    pub ends_loop: bool,
}

/// Every built-in action, in the order of the reference.
pub const BUILTINS: &[BuiltinAction] = &[
    BuiltinAction {
        name: "finish",
        description: "End the task. Take it only when nothing is left to do.",
        params: "none",
        ends_loop: true,
    },
    BuiltinAction {
        name: "directly_answer",
        description: "Give the user the final answer and end the task. Put a short answer into `answer_payload`, \
                      or a long one into the FINAL_ANSWER tag; use exactly one of them.",
        params: "`answer_payload`, or the FINAL_ANSWER tag: exactly one of them",
        ends_loop: true,
    },
    BuiltinAction {
        name: "ask_for_clarification",
        description: "Ask the user a question when the task cannot be done without the answer.",
        params: "`question`, optional `options`",
        ends_loop: false,
    },
    BuiltinAction {
        name: "directly_call_tool",
        description: "Call a tool with its parameters, or 2 to 8 independent calls at once under `calls`.",
        params: "`tool_name`, `params`; or `calls: [{tool_name, params, identifier?}, ...]`, 2 to 8, run concurrently",
        ends_loop: false,
    },
    BuiltinAction {
        name: "require_tool",
        description: "Name a tool that is needed next; its parameters are asked for in a second step.",
        params: "`tool_name`, optional `reason`; or `calls: [{tool_name, reason?, identifier?}, ...]`",
        ends_loop: false,
    },
    BuiltinAction {
        name: "request_verification",
        description: "Ask for a check of whether the goal is reached. When it is, the task ends.",
        params: "optional `reason`",
        ends_loop: false,
    },
    BuiltinAction {
        name: "search_capabilities",
        description: "Look for a tool, forge, skill or focus mode that you do not have, by what it should do. \
                      What is found stands in EXTRA_CAPABILITIES from the next turn on.",
        params: "`query`, optional `queries`; only where `builtins` lists it",
        ends_loop: false,
    },
    BuiltinAction {
        name: "load_capability",
        description: "Use something by its name, whatever it is: a tool is called, a forge is run, a skill is loaded, a focus mode \
                      is entered.",
        params: "`identifier`; only where `builtins` lists it",
        ends_loop: false,
    },
    BuiltinAction {
        name: "enter_focus_mode",
        description: "Let a focus mode, a loop made for such work, do a part of the task. You get its answer.",
        params: "`name`, optional `task`; only where `focus_modes` or `builtins` says so",
        ends_loop: false,
    },
    BuiltinAction {
        name: "loading_skills",
        description: "Load skills by name, before you begin what they are about. Their instructions stand in SKILLS_CONTEXT \
                      from the next turn on.",
        params: "`names`",
        ends_loop: false,
    },
    BuiltinAction {
        name: "load_skill_resources",
        description: "Read files of a skill that its instructions mention.",
        params: "`skill`, `paths`; only where a skill has files",
        ends_loop: false,
    },
    BuiltinAction {
        name: "change_skill_view_offset",
        description: "Show a loaded skill from another line on, when only a part of it is shown.",
        params: "`skill`, `offset`; only where the skills together exceed `limits.max_skill_tokens`",
        ends_loop: false,
    },
    BuiltinAction {
        name: "require_ai_blueprint",
        description: "Run a forge, which makes one structured result from its input. Most take the work over: then this task ends \
                      with what the forge makes.",
        params: "`name`, optional `params`; only where `forges` or `builtins` says so",
        ends_loop: false,
    },
];

/// The built-in action of this name.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static BuiltinAction> {
    BUILTINS.iter().find(|action| action.name == name)
}

/// The built-in tools, each a thin face of a step's verb.
pub const BUILTIN_TOOLS: [&str; 7] =
    ["edit_file", "grep", "http_request", "list_files", "read_file", "run_command", "write_file"];
