//! Codes about names that lead nowhere.

codes! {
    /// An action that does not exist.
    ///
    /// The loop neither declares nor offers an action of this name.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look at a ticket.
    ///     do: [{ next_actions: [clos] }]
    ///   close: { description: Close a ticket. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look at a ticket.
    ///     do: [{ next_actions: [close] }]
    ///   close: { description: Close a ticket. }
    /// ```
    UNKNOWN_ACTION = "unknown-action", Error;

    /// A built-in action that does not exist.
    ///
    /// The message lists the built-in actions.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// builtins: [finish, directly_anser]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// builtins: [finish, directly_answer]
    /// ```
    UNKNOWN_BUILTIN = "unknown-builtin", Error;

    /// A forge that does not exist.
    ///
    /// No forge document of this name lies in the folders under `paths.loops`, and none is shipped.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   sum:
    ///     description: Add up.
    ///     do: [{ forge: { use: totals } }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/triage.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   sum:
    ///     description: Add up.
    ///     do: [{ forge: { use: totals } }]
    /// ```
    ///
    /// ```yaml loops/forges/totals.yaml
    /// kind: forge
    /// name: totals
    /// description: Adds up.
    /// prompt: Add up.
    /// output: { total: number! }
    /// ```
    UNKNOWN_FORGE = "unknown-forge", Error;

    /// A language without prompts.
    ///
    /// The prompts of the mechanisms are shipped in English (`en`) and Chinese (`zh`).
    /// A workspace adds a language with files `prompts/mechanisms/LANGUAGE/NAME.md.j2`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// language: zh-CN
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// language: zh
    /// ```
    UNKNOWN_LANGUAGE = "unknown-language", Error;

    /// A prompt that a workspace's own language lacks.
    ///
    /// The folder of the language holds some of the mechanisms' prompts.
    /// The others are used in English, so that a model gets both languages.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// language: de
    /// ```
    ///
    /// ```jinja prompts/mechanisms/de/section.md.j2
    /// {{ perception.summary }}
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// language: en
    /// ```
    UNTRANSLATED_PROMPT = "untranslated-prompt", Info;

    /// A loop that does not exist.
    ///
    /// No loop document of this name lies in the folders under `paths.loops`, and none is shipped.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions: { study: { from_loop: study } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/triage.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions: { study: { from_loop: study } }
    /// ```
    ///
    /// ```yaml loops/study.yaml
    /// name: study
    /// description: Studies one ticket.
    /// prompt: { instruction: Study a ticket. }
    /// ```
    UNKNOWN_LOOP = "unknown-loop", Error;

    /// A model or tier that does not exist.
    ///
    /// Models and tiers are declared in the workspace, under `models` and `tiers`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// model: { main: m-smal }
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// model: { main: m-small }
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    UNKNOWN_MODEL = "unknown-model", Error;

    /// A preset that does not exist.
    ///
    /// No preset document of this name lies in the folders under `paths.loops`, and none is shipped.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// extends: preset/strct
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// extends: preset/strict
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    UNKNOWN_PRESET = "unknown-preset", Error;

    /// A provider that does not exist.
    ///
    /// The message lists the providers.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// models:
    ///   big: { provider: opnai, model: big, base_url: "http://127.0.0.1:8080/v1" }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// models:
    ///   big: { provider: openai, model: big, base_url: "http://127.0.0.1:8080/v1" }
    /// ```
    UNKNOWN_PROVIDER = "unknown-provider", Error;

    /// A loop or a step names a skill that does not exist.
    ///
    /// Skills are folders with a `SKILL.md` below the folders of `paths.skills`; `loopwright skills list` shows them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// skills: [house-style]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// skills: [house-style]
    /// ```
    ///
    /// ```md skills/house-style/SKILL.md
    /// ---
    /// name: house-style
    /// description: How answers are written here. Use for every answer.
    /// ---
    /// Write short sentences.
    /// ```
    UNKNOWN_SKILL = "unknown-skill", Error;

    /// A state variable that the loop does not declare.
    ///
    /// Declare it under `state`, with a type or a default.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { tickets: [] }
    /// actions:
    ///   clear:
    ///     description: Forget all tickets.
    ///     do: [{ set: { ticket: [] } }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { tickets: [] }
    /// actions:
    ///   clear:
    ///     description: Forget all tickets.
    ///     do: [{ set: { tickets: [] } }]
    /// ```
    UNKNOWN_STATE = "unknown-state", Error;

    /// A tool that does not exist.
    ///
    /// No built-in tool has this name, no tool document of this name lies in the folders under `paths.loops`, and none is shipped.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// tools: [read_fil]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// tools: [read_file]
    /// ```
    UNKNOWN_TOOL = "unknown-tool", Error;
}
