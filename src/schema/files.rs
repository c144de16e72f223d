//! Generated files: write them, or say how a folder differs from what would be written.

use std::io;
use std::path::Path;

use serde_json::Value as Json;

use super::reference::pages;
use super::{SchemaKind, generate};

/// What is generated into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generated {
    /// `schemas/*.schema.json`.
    Schemas,
    /// `docs/reference/*.md`.
    Reference,
}

impl Generated {
    fn files(self) -> Vec<(String, String)> {
        match self {
            Self::Schemas => {
                SchemaKind::ALL.into_iter().map(|kind| (kind.file_name(), text(&generate(kind)))).collect()
            }
            Self::Reference => pages(),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Schemas => ".schema.json",
            Self::Reference => ".md",
        }
    }
}

/// Writes every schema into a folder and names those that changed.
///
/// # Errors
/// When the folder cannot be made or a file cannot be written.
pub fn write(folder: &Path) -> io::Result<Vec<String>> {
    write_all(folder, Generated::Schemas)
}

/// How a folder's schemas differ from the generated ones; empty when they do not.
#[must_use]
pub fn check_drift(folder: &Path) -> Vec<String> {
    drift(folder, Generated::Schemas)
}

/// Writes every reference page into a folder and names those that changed.
///
/// # Errors
/// As [`write`].
pub fn write_reference(folder: &Path) -> io::Result<Vec<String>> {
    write_all(folder, Generated::Reference)
}

/// How a folder's reference pages differ from the generated ones; empty when they do not.
#[must_use]
pub fn check_reference_drift(folder: &Path) -> Vec<String> {
    drift(folder, Generated::Reference)
}

/// A schema as the files have it.
fn text(schema: &Json) -> String {
    format!("{schema:#}\n")
}

/// Writes every generated file into a folder and names those that changed.
///
/// # Errors
/// When the folder cannot be made or a file cannot be written.
fn write_all(folder: &Path, what: Generated) -> io::Result<Vec<String>> {
    std::fs::create_dir_all(folder)?;
    let mut changed = Vec::new();
    for (name, text) in what.files() {
        let path = folder.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(&path, text)?;
        changed.push(name);
    }
    Ok(changed)
}

/// How a folder differs from what would be written; empty when it does not.
fn drift(folder: &Path, what: Generated) -> Vec<String> {
    let files = what.files();
    let mut found = Vec::new();
    for (name, text) in &files {
        match std::fs::read_to_string(folder.join(name)) {
            Ok(old) if old == *text => {}
            Ok(_) => found.push(format!("{name} differs")),
            Err(error) => found.push(format!("{name}: {error}")),
        }
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(what.extension()) && !files.iter().any(|(known, _)| *known == name) {
            found.push(format!("{name} is not generated any more"));
        }
    }
    found
}
