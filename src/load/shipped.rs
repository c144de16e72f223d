//! The documents and templates that are part of the program.

/// Path in the repository → text. A document's file name is its `name`.
pub const SHIPPED: &[(&str, &str)] = &[
    ("loops/presets/cost.yaml", include_str!("../../loops/presets/cost.yaml")),
    ("loops/presets/fast.yaml", include_str!("../../loops/presets/fast.yaml")),
    ("loops/presets/strict.yaml", include_str!("../../loops/presets/strict.yaml")),
];

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
