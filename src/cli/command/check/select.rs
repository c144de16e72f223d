//! What the paths on the command line stand for: files, folders, patterns, standard input.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::cli::error::CliError;

/// One thing to check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Standard input.
    Stdin,
    /// A file or folder that exists.
    Path(PathBuf),
}

/// What the arguments name, each once, in their order; what a pattern names is sorted.
pub(super) fn choose(paths: &[PathBuf]) -> Result<Vec<Chosen>, CliError> {
    let mut all = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            all.push(Chosen::Stdin);
        } else if path.exists() {
            all.push(Chosen::Path(path.clone()));
        } else if is_pattern(path) {
            all.extend(matches(path)?.into_iter().map(Chosen::Path));
        } else {
            let what = "there is no such file or folder";
            return Err(CliError::usage(format!("Cannot check {}: {what}", path.display())));
        }
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    for one in all {
        if !chosen.contains(&one) {
            chosen.push(one);
        }
    }
    Ok(chosen)
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
}

/// The files that a pattern matches, sorted. The part before the first wildcard is where the search begins.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>, CliError> {
    let bad = |problem: &dyn std::fmt::Display| {
        CliError::usage(format!("Cannot read the pattern {}: {problem}", pattern.display()))
    };
    let fixed: PathBuf = pattern.components().take_while(|part| !is_pattern(Path::new(part.as_os_str()))).collect();
    let rest = pattern.strip_prefix(&fixed).unwrap_or(pattern);
    let start = if fixed.as_os_str().is_empty() { Path::new(".") } else { &fixed };
    // A leading `/` ties the pattern to the folder where the search begins.
    let only = OverrideBuilder::new(start)
        .add(&format!("/{}", rest.to_string_lossy().trim_start_matches("./")))
        .and_then(|builder| builder.build())
        .map_err(|error| bad(&error))?;
    let walk = WalkBuilder::new(start).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let mut found: Vec<PathBuf> = walk
        .flatten()
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.is_file() && only.matched(path, false).is_whitelist())
        .map(|path| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path))
        .collect();
    found.sort();
    if found.is_empty() {
        let error = CliError::usage(format!("No file matches the pattern {}", pattern.display()));
        return Err(error.hint("`*` stays in one folder and `**` goes through all; check the folder and the ending"));
    }
    Ok(found)
}

/// Whether a path is a template by its ending.
pub(super) fn is_template(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|end| ["j2", "jinja", "jinja2"].iter().any(|known| end == *known))
}

/// The path itself, or the templates below a folder.
pub(super) fn templates(path: &Path) -> Vec<PathBuf> {
    if is_template(path) {
        return vec![path.to_owned()];
    }
    if !path.is_dir() {
        return Vec::new();
    }
    let walk = WalkBuilder::new(path).sort_by_file_path(Path::cmp).require_git(false).build();
    walk.flatten().map(ignore::DirEntry::into_path).filter(|path| is_template(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_below_the_folder_where_they_begin() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["loops/a.yaml", "loops/deep/er/b.yaml", "loops/c.toml", "other/loops/d.yaml"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| {
            let chosen = choose(&[folder.path().join(pattern)]);
            chosen.map(|chosen| {
                let path = |one: Chosen| match one {
                    Chosen::Stdin => String::new(),
                    Chosen::Path(path) => path.strip_prefix(folder.path()).unwrap().display().to_string(),
                };
                chosen.into_iter().map(path).collect::<Vec<_>>()
            })
        };
        assert_eq!(found("loops/**/*.yaml").unwrap(), ["loops/a.yaml", "loops/deep/er/b.yaml"]);
        assert_eq!(found("loops/*.yaml").unwrap(), ["loops/a.yaml"]);
        assert_eq!(found("loops/*.{yaml,toml}").unwrap(), ["loops/a.yaml", "loops/c.toml"]);
        assert_eq!(found("*/a.yaml").unwrap(), ["loops/a.yaml"]);
        assert_eq!(found("loops/?.toml").unwrap(), ["loops/c.toml"]);
        for (pattern, words) in
            [("loops/*.yml", "No file matches"), ("nowhere/*.yaml", "No file matches"), ("loops/[", "pattern")]
        {
            let error = found(pattern).unwrap_err();
            assert!(error.message.contains(words) && error.exit_code() == 2, "{error:?}");
        }
    }
}
