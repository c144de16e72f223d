//! The documents and templates that are part of the program.

/// Path in the repository → text. A document's file name is its `name`.
pub const SHIPPED: &[(&str, &str)] = &[
    ("loops/default.yaml", include_str!("../../loops/default.yaml")),
    ("loops/fix_until_green.yaml", include_str!("../../loops/fix_until_green.yaml")),
    ("loops/forges/summarize_findings.yaml", include_str!("../../loops/forges/summarize_findings.yaml")),
    ("loops/intent.yaml", include_str!("../../loops/intent.yaml")),
    ("loops/log_analyze.yaml", include_str!("../../loops/log_analyze.yaml")),
    ("loops/presets/cost.yaml", include_str!("../../loops/presets/cost.yaml")),
    ("loops/presets/fast.yaml", include_str!("../../loops/presets/fast.yaml")),
    ("loops/presets/strict.yaml", include_str!("../../loops/presets/strict.yaml")),
    ("loops/small_talk.yaml", include_str!("../../loops/small_talk.yaml")),
    ("loops/tools/edit_file.yaml", include_str!("../../loops/tools/edit_file.yaml")),
    ("loops/tools/grep.yaml", include_str!("../../loops/tools/grep.yaml")),
    ("loops/tools/http_request.yaml", include_str!("../../loops/tools/http_request.yaml")),
    ("loops/tools/list_files.yaml", include_str!("../../loops/tools/list_files.yaml")),
    ("loops/tools/read_file.yaml", include_str!("../../loops/tools/read_file.yaml")),
    ("loops/tools/run_command.yaml", include_str!("../../loops/tools/run_command.yaml")),
    ("loops/tools/write_file.yaml", include_str!("../../loops/tools/write_file.yaml")),
    ("prompts/default/instruction.md.j2", include_str!("../../prompts/default/instruction.md.j2")),
    ("prompts/engine/catalog.md.j2", include_str!("../../prompts/engine/catalog.md.j2")),
    ("prompts/engine/evidence.md.j2", include_str!("../../prompts/engine/evidence.md.j2")),
    ("prompts/engine/extra_capabilities.md.j2", include_str!("../../prompts/engine/extra_capabilities.md.j2")),
    ("prompts/engine/focus_modes.md.j2", include_str!("../../prompts/engine/focus_modes.md.j2")),
    ("prompts/engine/forge.md.j2", include_str!("../../prompts/engine/forge.md.j2")),
    ("prompts/engine/forges.md.j2", include_str!("../../prompts/engine/forges.md.j2")),
    ("prompts/engine/parameters.md.j2", include_str!("../../prompts/engine/parameters.md.j2")),
    ("prompts/engine/protocol_json.md.j2", include_str!("../../prompts/engine/protocol_json.md.j2")),
    ("prompts/engine/protocol_tools.md.j2", include_str!("../../prompts/engine/protocol_tools.md.j2")),
    ("prompts/engine/schema.md.j2", include_str!("../../prompts/engine/schema.md.j2")),
    ("prompts/engine/skills.md.j2", include_str!("../../prompts/engine/skills.md.j2")),
    ("prompts/engine/skills_context.md.j2", include_str!("../../prompts/engine/skills_context.md.j2")),
    ("prompts/engine/summarise.md.j2", include_str!("../../prompts/engine/summarise.md.j2")),
    ("prompts/engine/todo.md.j2", include_str!("../../prompts/engine/todo.md.j2")),
    ("prompts/engine/tools.md.j2", include_str!("../../prompts/engine/tools.md.j2")),
    ("prompts/engine/traits.md.j2", include_str!("../../prompts/engine/traits.md.j2")),
    ("prompts/engine/turn.md.j2", include_str!("../../prompts/engine/turn.md.j2")),
    ("prompts/forges/summarize_findings.md.j2", include_str!("../../prompts/forges/summarize_findings.md.j2")),
    ("prompts/intent/instruction.md.j2", include_str!("../../prompts/intent/instruction.md.j2")),
    ("prompts/log_analyze/example.md.j2", include_str!("../../prompts/log_analyze/example.md.j2")),
    ("prompts/log_analyze/instruction.md.j2", include_str!("../../prompts/log_analyze/instruction.md.j2")),
    ("prompts/log_analyze/reactive.md.j2", include_str!("../../prompts/log_analyze/reactive.md.j2")),
    ("prompts/mechanisms/perception.md.j2", include_str!("../../prompts/mechanisms/perception.md.j2")),
    ("prompts/mechanisms/reflection.md.j2", include_str!("../../prompts/mechanisms/reflection.md.j2")),
    ("prompts/mechanisms/section.md.j2", include_str!("../../prompts/mechanisms/section.md.j2")),
    ("prompts/mechanisms/spin.md.j2", include_str!("../../prompts/mechanisms/spin.md.j2")),
    ("prompts/mechanisms/spin_warning.md.j2", include_str!("../../prompts/mechanisms/spin_warning.md.j2")),
    ("prompts/mechanisms/system.md.j2", include_str!("../../prompts/mechanisms/system.md.j2")),
    ("prompts/mechanisms/todo_checkpoint.md.j2", include_str!("../../prompts/mechanisms/todo_checkpoint.md.j2")),
    ("prompts/mechanisms/verification.md.j2", include_str!("../../prompts/mechanisms/verification.md.j2")),
    (
        "prompts/mechanisms/verification_section.md.j2",
        include_str!("../../prompts/mechanisms/verification_section.md.j2"),
    ),
    ("prompts/mechanisms/zh/perception.md.j2", include_str!("../../prompts/mechanisms/zh/perception.md.j2")),
    ("prompts/mechanisms/zh/reflection.md.j2", include_str!("../../prompts/mechanisms/zh/reflection.md.j2")),
    ("prompts/mechanisms/zh/section.md.j2", include_str!("../../prompts/mechanisms/zh/section.md.j2")),
    ("prompts/mechanisms/zh/spin.md.j2", include_str!("../../prompts/mechanisms/zh/spin.md.j2")),
    ("prompts/mechanisms/zh/spin_warning.md.j2", include_str!("../../prompts/mechanisms/zh/spin_warning.md.j2")),
    ("prompts/mechanisms/zh/system.md.j2", include_str!("../../prompts/mechanisms/zh/system.md.j2")),
    ("prompts/mechanisms/zh/todo_checkpoint.md.j2", include_str!("../../prompts/mechanisms/zh/todo_checkpoint.md.j2")),
    ("prompts/mechanisms/zh/verification.md.j2", include_str!("../../prompts/mechanisms/zh/verification.md.j2")),
    (
        "prompts/mechanisms/zh/verification_section.md.j2",
        include_str!("../../prompts/mechanisms/zh/verification_section.md.j2"),
    ),
];

/// The folders of the engine's own prompts.
pub const ENGINE_PROMPTS: [&str; 2] = ["prompts/engine/", "prompts/mechanisms/"];

/// The names of the shipped files in a folder, which is written with `/` at its end.
pub fn shipped_in(folder: &str) -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name).filter(move |name| name.starts_with(folder))
}

/// The folder of the mechanisms' prompts. Those in English stand in it, others in a folder of their language's name.
const MECHANISM_PROMPTS: &str = "prompts/mechanisms/";

/// The names of the mechanisms' prompts, such as `perception`.
pub fn mechanism_prompts() -> impl Iterator<Item = &'static str> {
    let names = shipped_in(MECHANISM_PROMPTS).filter_map(|path| path.strip_prefix(MECHANISM_PROMPTS));
    names.filter(|name| !name.contains('/')).filter_map(|name| name.strip_suffix(".md.j2"))
}

/// The file of a mechanism's prompt in a language.
#[must_use]
pub fn mechanism_prompt(language: &str, name: &str) -> String {
    let folder = if language == SHIPPED_LANGUAGES[0] { String::new() } else { format!("{language}/") };
    format!("{MECHANISM_PROMPTS}{folder}{name}.md.j2")
}

/// The languages of which the mechanisms' prompts are shipped; the first is that of prompts without a translation.
pub const SHIPPED_LANGUAGES: [&str; 2] = ["en", "zh"];

/// The text of a shipped file.
#[must_use]
pub fn shipped(path: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_file_of_the_shipped_folders_is_in_the_table_and_nothing_else() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = ["loops", "prompts"]
            .iter()
            .flat_map(|folder| files_below(&root.join(folder)))
            .map(|path| path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        files.sort();
        let table: Vec<&str> = SHIPPED.iter().map(|(path, _)| *path).collect();
        assert_eq!(table, files, "add or remove lines of SHIPPED in src/load/shipped.rs, in alphabetical order");
    }
}
