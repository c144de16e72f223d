//! All skills of some folders: read one by one, so that a broken file hides no other, and each name given to the first.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{Found, Problem, discover};
use super::fault::{Fault, Finding, Level};
use super::file::{Reading, Skill, read};
use super::{MAX_FILE, name::normal_name};
use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span};
use crate::syntax::add_source;

/// A place that is searched: a folder of skills, a skill's folder, or a single file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it is.
    pub path: PathBuf,
    /// How people name it.
    pub shown: PathBuf,
}

impl Root {
    /// A place that is named as it is.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { shown: path.clone(), path }
    }
}

/// What stands before the files on disk: an editor's drafts, by real path.
pub type Texts<'a> = &'a dyn Fn(&Path) -> Option<Arc<str>>;

/// A place where a skill is or should be.
#[derive(Debug, Clone)]
pub struct SkillEntry {
    /// Its folder.
    pub folder: PathBuf,
    /// Its file, as people see it.
    pub path: PathBuf,
    /// The file's text.
    pub source: SourceId,
    /// The name, as far as it is known.
    pub name: Option<String>,
    /// The description, as far as it is known.
    pub description: Option<String>,
    /// The skill, if it can be used.
    pub skill: Option<Arc<Skill>>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

impl SkillEntry {
    /// The first finding that keeps it from being loaded.
    #[must_use]
    pub fn error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.level == Level::Error)
    }

    /// The classes of what is wrong with a skill that is loaded all the same, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<&'static str> {
        let mut words: Vec<&'static str> = Vec::new();
        let mild = self.findings.iter().filter(|finding| matches!(finding.level, Level::Warning | Level::Note));
        for word in mild.map(|finding| finding.fault.as_str()) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// What the format's rules refuse it for, in the order of their weight.
    pub fn violations(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_refused_by_format())
    }
}

/// The skills of some places, in the order in which they were found.
#[derive(Debug, Clone, Default)]
pub struct SkillSet {
    entries: Vec<SkillEntry>,
    by_name: HashMap<String, usize>,
}

impl SkillSet {
    /// Reads the skills of these places. Of two with the same name, the one of the earlier place is taken; in one place,
    /// the one whose path comes first. A place that is not there gives nothing.
    #[must_use]
    pub fn load(roots: &[Root], texts: Texts<'_>, sources: &mut SourceMap) -> Self {
        let mut set = Self::default();
        let mut seen = HashSet::new();
        for root in roots {
            for found in entries_of(root) {
                let path = join(&root.path, &found.below);
                // The same file by another way: `.claude/skills` is often a link to `.agents/skills`.
                if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                    continue;
                }
                let shown = join(&root.shown, &found.below);
                set.entries.push(load_one(&path, &shown, found.problem, texts, sources));
            }
        }
        set.give_names(sources);
        set
    }

    /// Each name goes to the first that has it.
    fn give_names(&mut self, sources: &SourceMap) {
        let mut folded: HashMap<String, String> = HashMap::new();
        for at in 0..self.entries.len() {
            let Some(skill) = self.entries[at].skill.clone() else { continue };
            let place = Span::new(self.entries[at].source, 0, 0);
            let winner = self.by_name.get(&skill.name).map(|&first| sources.path(self.entries[first].source));
            let entry = &mut self.entries[at];
            if let Some(winner) = winner {
                let message =
                    format!("the skill `{}` is hidden by one of the same name: {}", skill.name, winner.display());
                let finding = Finding::new(Fault::Shadowed, place, message);
                entry.findings.insert(0, finding.help("rename one of them, or remove it"));
                entry.skill = None;
                continue;
            }
            if let Some(other) = folded.insert(skill.name.to_lowercase(), skill.name.clone()) {
                let message =
                    format!("`{}` differs from another skill only by upper and lower case: `{other}`", skill.name);
                entry.findings.push(Finding::new(Fault::NameCaseClash, place, message).help("rename one of them"));
            }
            self.by_name.insert(skill.name.clone(), at);
        }
    }

    /// Every place, the broken and hidden ones too.
    #[must_use]
    pub fn entries(&self) -> &[SkillEntry] {
        &self.entries
    }

    /// The entry of the skill with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&SkillEntry> {
        self.by_name.get(&normal_name(name)).map(|&at| &self.entries[at])
    }

    /// The skills that can be used, in the order of their names.
    #[must_use]
    pub fn skills(&self) -> Vec<(&SkillEntry, &Arc<Skill>)> {
        let usable = self.entries.iter().filter_map(|entry| entry.skill.as_ref().map(|skill| (entry, skill)));
        let mut usable: Vec<_> = usable.collect();
        usable.sort_by(|one, other| one.1.name.cmp(&other.1.name));
        usable
    }

    /// The names of the skills that can be used, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.skills().into_iter().map(|(_, skill)| skill.name.clone()).collect()
    }

    /// What people are told when these skills are checked.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.entries.iter().flat_map(|entry| &entry.findings);
        findings.filter(|finding| finding.level != Level::Strict).map(|finding| &finding.diagnostic)
    }
}

fn join(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) }
}

/// What a place holds. A file stands for itself.
fn entries_of(root: &Root) -> Vec<Found> {
    match std::fs::metadata(&root.path) {
        Ok(meta) if meta.is_dir() => discover(&root.path),
        Ok(_) => {
            let is_markdown = root.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
            let problem = (!is_markdown).then_some(Problem::NotAFile);
            vec![Found { below: PathBuf::new(), problem }]
        }
        Err(_) => Vec::new(),
    }
}

fn load_one(
    path: &Path,
    shown: &Path,
    problem: Option<Problem>,
    texts: Texts<'_>,
    sources: &mut SourceMap,
) -> SkillEntry {
    let folder = path.parent().unwrap_or(path).to_owned();
    let broken = |finding: fn(Span) -> Finding, sources: &mut SourceMap| {
        let source = sources.add(shown, "");
        let findings = vec![finding(Span::new(source, 0, 0))];
        entry(&folder, shown, source, Reading { findings, ..Reading::default() })
    };
    match problem {
        Some(Problem::NotAFile) => broken(not_a_file, sources),
        Some(Problem::Unreadable) => broken(unsearchable, sources),
        Some(Problem::Dangling) => broken(dangling, sources),
        None | Some(Problem::OtherCase) => {
            let (source, mut reading) = read_path(path, shown, texts, sources);
            if problem == Some(Problem::OtherCase) {
                let message = "the file is not named `SKILL.md`, and some tools do not see it";
                reading
                    .findings
                    .push(Finding::new(Fault::FileName, Span::new(source, 0, 0), message).help("rename it"));
            }
            entry(&folder, shown, source, reading)
        }
    }
}

fn entry(folder: &Path, shown: &Path, source: SourceId, reading: Reading) -> SkillEntry {
    SkillEntry {
        folder: folder.to_owned(),
        path: shown.to_owned(),
        source,
        name: reading.name,
        description: reading.description,
        skill: reading.skill.map(Arc::new),
        findings: reading.findings,
    }
}

fn not_a_file(place: Span) -> Finding {
    Finding::new(Fault::NotAFile, place, "this is no regular file, so it is no skill")
}

fn unsearchable(place: Span) -> Finding {
    Finding::new(Fault::Unreadable, place, "the folder cannot be searched for skills")
}

fn dangling(place: Span) -> Finding {
    Finding::new(Fault::NotFound, place, "the link leads nowhere").help("remove it, or put the skill where it points")
}

/// Reads a file: the text's id, and what it gives.
fn read_path(path: &Path, shown: &Path, texts: Texts<'_>, sources: &mut SourceMap) -> (SourceId, Reading) {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let bytes = match texts(&real) {
        Some(text) => text.as_bytes().to_vec(),
        None => match bounded(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let source = sources.add(shown, "");
                let message = format!("the file cannot be read: {error}");
                let finding = Finding::new(Fault::Unreadable, Span::new(source, 0, 0), message);
                return (source, Reading { findings: vec![finding], ..Reading::default() });
            }
        },
    };
    read_bytes(&bytes, path, shown, sources)
}

/// The file's bytes, one more than the limit at most.
fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE as u64 + 4).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_bytes(bytes: &[u8], path: &Path, shown: &Path, sources: &mut SourceMap) -> (SourceId, Reading) {
    let broken = |finding: Finding| Reading { findings: vec![finding], ..Reading::default() };
    if bytes.len() > MAX_FILE {
        let source = sources.add(shown, "");
        let message = format!("the skill has more than {MAX_FILE} bytes");
        let finding = Finding::new(Fault::TooLarge, Span::new(source, 0, 0), message);
        return (
            source,
            broken(finding.help("move details into files of their own, which are read when they are needed")),
        );
    }
    let mut found = Diagnostics::new();
    let (source, is_text) = add_source(sources, shown, bytes, &mut found);
    if let Some(finding) = found.into_iter().next().filter(|_| !is_text) {
        return (source, broken(Finding::of(Fault::NotUtf8, finding)));
    }
    let text = sources.shared_text(source).unwrap_or_default();
    let mut reading = read(source, &text, &own_folder(path));
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        let message = "the file begins with a byte order mark, with which some tools do not see the front matter";
        let finding = Finding::new(Fault::BomStripped, Span::new(source, 0, 0), message);
        reading.findings.push(finding.help("save it as UTF-8 without one"));
        reading.findings.sort_by_key(|finding| (finding.level, finding.fault));
    }
    (source, reading)
}

/// The name that a skill of this path should have: its folder's; for a file of another name, that name.
fn own_folder(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_skill = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
    let name = if is_skill { absolute.parent().and_then(Path::file_name) } else { absolute.file_stem() };
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
