//! Finding files: the workspace's own, and those below its folders of documents.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, Diagnostics, SourceMap, Span, codes};
use crate::syntax::MAX_BYTES;

/// The names that a workspace's file may have.
pub const WORKSPACE_FILES: [&str; 3] = ["loopwright.yaml", "loopwright.yml", "loopwright.toml"];

/// What `kind` may say in a file that is a document, or is read like one.
const KINDS: [&str; 8] = ["loop", "tool", "forge", "preset", "workspace", "script", "recording", "test"];

/// Folders that are never searched.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// How deep folders of documents may lie in each other.
const MAX_DEPTH: usize = 16;

/// The workspace that a path lies in: its folder and its files (more than one is a mistake).
pub fn find_workspace(start: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    start.ancestors().find_map(|folder| {
        let files = workspace_files(folder);
        (!files.is_empty()).then(|| (folder.to_owned(), files))
    })
}

/// The files in this folder that declare a workspace.
pub(super) fn workspace_files(folder: &Path) -> Vec<PathBuf> {
    WORKSPACE_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// Every document below a folder, sorted, as paths below `folder`.
pub(super) fn documents(
    folder: &Path,
    shown: &Path,
    sources: &mut SourceMap,
    findings: &mut Diagnostics,
) -> Vec<PathBuf> {
    let mut walk = Walk { around: Vec::new(), found: Vec::new(), seen: HashSet::new(), sources, findings };
    walk.folder(folder, shown, Path::new(""));
    walk.found.sort();
    walk.found
}

struct Walk<'a> {
    /// The real paths of the folders around the present one.
    around: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    found: Vec<PathBuf>,
    sources: &'a mut SourceMap,
    findings: &'a mut Diagnostics,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, shown: &Path, below: &Path) {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if self.around.contains(&real) {
            let message = format!("the link leads back to `{}`, which it lies in", real.display());
            return self.report(shown, Diagnostic::error(codes::FOLDER_CYCLE, None, message));
        }
        // The same folder by another way has been searched already.
        if !self.seen.insert(real.clone()) || self.around.len() >= MAX_DEPTH {
            return;
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let message = format!("the folder cannot be read: {error}");
                return self.report(shown, Diagnostic::error(codes::FILE_UNREADABLE, None, message));
            }
        };
        self.around.push(real);
        let mut names: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect();
        names.sort();
        for name in names {
            let text = name.to_string_lossy();
            if text.starts_with('.') || SKIPPED.contains(&&*text) {
                continue;
            }
            let path = folder.join(&name);
            let below = below.join(&name);
            if path.is_dir() && is_other_workspace(&path) {
                continue;
            }
            if path.is_dir() {
                self.folder(&path, &shown.join(&name), &below);
            } else if is_document(&path) {
                self.found.push(below);
            }
        }
        self.around.pop();
    }

    fn report(&mut self, shown: &Path, mut finding: Diagnostic) {
        finding.span = Some(Span::new(self.sources.add(shown, ""), 0, 0));
        self.findings.push(finding);
    }
}

/// A folder with a workspace's file of its own is another workspace.
fn is_other_workspace(folder: &Path) -> bool {
    WORKSPACE_FILES.iter().any(|name| folder.join(name).is_file())
}

/// Every folder below one (itself included) that is searched for documents.
pub(super) fn searched_folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    let mut seen = HashSet::new();
    while let Some((folder, depth)) = open.pop() {
        let real = std::fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        if depth > MAX_DEPTH || !seen.insert(real) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            let skipped = name.starts_with('.') || SKIPPED.contains(&&*name);
            if !skipped && path.is_dir() && !is_other_workspace(&path) {
                open.push((path, depth + 1));
            }
        }
        found.push(folder);
    }
    found
}

/// Whether a file is searched for: JSON files are data beside the documents, and are read only when they are named.
pub(super) fn is_document(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".yaml", ".yml", ".toml"].iter().any(|end| name.ends_with(end)) && !WORKSPACE_FILES.contains(&&*name)
}

/// Whether a file that lies anywhere says that it is a document: by its `kind`, or by keys that every loop has.
///
/// It looks at the beginnings of lines only, so that a broken document is still one.
pub(super) fn says_document(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut bytes = Vec::new();
    if file.take(MAX_BYTES as u64).read_to_end(&mut bytes).is_err() {
        return true;
    }
    says_document_text(&String::from_utf8_lossy(&bytes))
}

/// The same for a text that is at hand.
pub fn says_document_text(text: &str) -> bool {
    let (mut name, mut body) = (false, false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.strip_prefix('{').unwrap_or(line).trim_end();
        let line = line.strip_prefix('[').map_or(line, |table| table.trim_end_matches(']'));
        let end = line.find([':', '=', '.']).unwrap_or(line.len());
        let value = line.get(end + 1..).unwrap_or_default();
        match line[..end].trim_end().trim_matches(['"', '\'']) {
            "kind" => {
                let word = value.split([',', '#', ' ']).find(|word| !word.is_empty()).unwrap_or_default();
                let word = word.trim_matches(['"', '\'', '}']);
                if KINDS.contains(&word) {
                    return true;
                }
            }
            "name" => name = true,
            "prompt" | "actions" => body = true,
            _ => {}
        }
    }
    name && body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_whether_they_are_documents() {
        let folder = tempfile::tempdir().unwrap();
        for (text, expected) in [
            ("kind: tool\nname: x\n", true),
            ("\u{feff}# a comment\nkind: \"loop\"  # a loop\n", true),
            ("name: x\nprompt: { instruction: [broken\n", true),
            ("name = \"x\"\n[prompt]\ninstruction = \"y\"\n", true),
            ("name = \"x\"\nprompt.instruction = \"y\"\n", true),
            ("{kind: forge, name: x}\n", true),
            ("kind: Deployment\nmetadata: { name: x }\n", false),
            ("[package]\nname = \"x\"\n", false),
            ("loop:\n  name: x\n  prompt: { instruction: y }\n", false),
            ("", false),
        ] {
            let path = folder.path().join("file");
            std::fs::write(&path, text).unwrap();
            assert_eq!(says_document(&path), expected, "{text}");
        }
    }
}
