//! Codes about skills: `SKILL.md` files in the workspace's folders of skills.

codes! {
    /// A skill has no usable description.
    ///
    /// The description says what the skill does and when to use it.
    /// It stands in every prompt, and the model chooses by it, so a skill without one is not loaded.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// ---
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// Count them.
    /// ```
    SKILL_DESCRIPTION = "skill-description", Error;

    /// A skill works here, and other tools may refuse it.
    ///
    /// The format wants a name of at most 64 lower-case letters, digits and single hyphens that is also the folder's, a
    /// description of at most 1024 characters, keys that it knows, and YAML without mistakes.
    /// Where a text has `: ` in it and no quotes around it, it is read as it was meant.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: Count_Apples
    /// description: Use this when: a crate arrives.
    /// ---
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: "Use this when: a crate arrives."
    /// ---
    /// Count them.
    /// ```
    SKILL_FORMAT = "skill-format", Warning;

    /// A skill has no front matter that can be read.
    ///
    /// A `SKILL.md` begins with a line `---`, then YAML with `name` and `description`, then another line `---`.
    /// The instructions follow.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// # Count apples
    ///
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// # Count apples
    ///
    /// Count them.
    /// ```
    SKILL_FRONT_MATTER = "skill-front-matter", Error;

    /// The executable part of a skill has a mistake.
    ///
    /// `invoke` is a step, a list of steps, or a map with `do`, as in a tool.
    /// `input_schema` is the JSON Schema of what it takes.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// invoke: python3 count.py
    /// ---
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// invoke: { run: [python3, count.py] }
    /// ---
    /// Count them.
    /// ```
    SKILL_INVOKE = "skill-invoke", Error;

    /// A skill's name deceives, or could be taken for a path.
    ///
    /// A name may not have slashes, and no characters that cannot be seen or that change the order of others.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: ../count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// Count them.
    /// ```
    SKILL_NAME = "skill-name", Error;

    /// Another skill of the same name comes first.
    ///
    /// Of two skills with one name, that of the folder is taken which `paths.skills` names first; in one folder, that whose
    /// path comes first.
    /// Rename one of them, or remove it.
    ///
    /// ## Bad
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// Count them.
    /// ```
    ///
    /// ```md .agents/skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples on a tree. Use in autumn.
    /// ---
    /// Count them.
    /// ```
    ///
    /// ## Good
    ///
    /// ```md skills/count-apples/SKILL.md
    /// ---
    /// name: count-apples
    /// description: Counts the apples in a crate. Use when a crate arrives.
    /// ---
    /// Count them.
    /// ```
    SKILL_SHADOWED = "skill-shadowed", Warning;
}
