//! Where the skills of a workspace lie.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Library, Loaded};
use crate::diag::{Diagnostic, SourceId, Span, codes};
use crate::document::WorkspaceDoc;
use crate::skill::{Root, SkillSet};

/// Folders of the user's own skills, which other tools search too, below the home folder.
const USER_FOLDERS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The places that a workspace searches for skills, the first before the others.
pub(super) fn skill_roots(workspace: &WorkspaceDoc, root: &Path, shown_root: &Path) -> Vec<Root> {
    let folders = workspace.paths.skills.iter().map(|folder| folder.value.trim_end_matches('/'));
    let place = |folder: &str| match in_home(folder) {
        Some(path) => Root { path, shown: PathBuf::from(folder) },
        None => {
            let folder = folder.strip_prefix("./").unwrap_or(folder);
            Root { path: root.join(folder), shown: shown_root.join(folder) }
        }
    };
    folders.map(place).collect()
}

/// The folders of the user's own skills. A workspace that wants them names them, so that a run does not depend on whose
/// machine it is on.
#[must_use]
pub fn user_skill_roots() -> Vec<Root> {
    let named = USER_FOLDERS.iter().map(|folder| format!("~/{folder}"));
    named.filter_map(|folder| Some(Root { path: in_home(&folder)?, shown: folder.into() })).collect()
}

fn in_home(folder: &str) -> Option<PathBuf> {
    let below = folder.strip_prefix("~/")?;
    std::env::home_dir().map(|home| home.join(below))
}

impl Library {
    /// Reads the skills of the workspace's folders.
    pub(super) fn read_skills(&mut self) {
        let overlay = self.overlay.clone();
        let skills = SkillSet::load(&self.skill_roots(), &|path| overlay.get(path).cloned(), &mut self.sources);
        self.findings.extend(skills.diagnostics().cloned());
        for entry in skills.entries() {
            let file = entry.folder.join(entry.path.file_name().unwrap_or_default());
            if let Ok(real) = std::fs::canonicalize(file) {
                self.known.insert(real, entry.source);
            }
        }
        self.skills = Arc::new(skills);
    }

    /// Makes tools of the skills that can be called, where no tool has the name.
    pub(super) fn admit_skills(&mut self) {
        let skills = Arc::clone(&self.skills);
        for (entry, skill) in skills.skills() {
            let Some(invoke) = &skill.invoke else { continue };
            if let Some(tool) = self.tools.get(&skill.name) {
                let message = format!(
                    "the skill `{}` cannot be called: a tool has the name: {}",
                    skill.name,
                    tool.path.display()
                );
                let finding = Diagnostic::warning(codes::SKILL_SHADOWED, Span::new(entry.source, 0, 0), message);
                self.findings.push(finding.help("rename one of them"));
                continue;
            }
            let folder = entry.folder.strip_prefix(&self.root).unwrap_or(&entry.folder);
            let loaded = Loaded {
                doc: Arc::clone(&invoke.tool),
                node: invoke.node.clone(),
                path: entry.path.clone(),
                folder: folder.to_string_lossy().replace('\\', "/"),
                source: entry.source,
                shipped: false,
            };
            self.tools.insert(skill.name.clone(), loaded);
        }
    }

    /// The files of the skills that lie in a folder.
    pub(super) fn skill_sources_below(&self, folder: &Path) -> Vec<SourceId> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = real(folder);
        let below = self.skills.entries().iter().filter(|skill| real(&skill.folder).starts_with(&folder));
        below.map(|skill| skill.source).collect()
    }

    /// The places that are searched for skills.
    #[must_use]
    pub fn skill_roots(&self) -> Vec<Root> {
        skill_roots(&self.workspace.doc, &self.root, &self.shown_root)
    }
}
