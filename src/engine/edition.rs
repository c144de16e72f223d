//! Editions: all documents and templates of one version, compiled. A run uses one until it takes over the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::Value as Json;

use super::error::EngineError;
use super::program::Program;
use super::toolbox::{Brought, Toolbox};
use crate::capability::{CapabilityKind, Registry};
use crate::event::{ReloadFinding, ReloadStatus};
use crate::load::Library;
use crate::state::lock;
use crate::template::{Templates, TemplatesBuilder};
use crate::watch::{Change, Contents, Follower, Next, Patience, Version, Watcher};

/// Whether runs take over saved changes between their iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HotReload {
    /// They keep what they started with.
    #[default]
    Off,
    /// They do when [`super::Engine::reload`] is called.
    Manual,
    /// They do when files are saved: a thread waits for it as long as the engine lives.
    Watch,
}

/// What became of a change of a loop's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// The loop that was started; what its sub-loops and tools use belongs to it.
    pub loop_name: String,
    /// What became of it.
    pub status: ReloadStatus,
    /// The version that was offered to runs until now.
    pub before: String,
    /// The version that was found.
    pub after: String,
    /// The files that differ.
    pub files: Vec<String>,
    /// Why it was refused; warnings about one that can be used.
    pub findings: Vec<ReloadFinding>,
}

/// All documents and templates of one version.
pub(super) struct Edition {
    pub(super) library: Arc<Library>,
    pub(super) templates: Templates,
    pub(super) toolbox: Toolbox,
    pub(super) contents: Contents,
    pub(super) version: Version,
    /// Warnings about it.
    pub(super) warnings: Vec<ReloadFinding>,
    programs: Mutex<HashMap<String, Arc<Program>>>,
    /// With the generation of the servers' tools that it has.
    capabilities: Mutex<Option<(u64, Arc<Registry>)>>,
}

impl Edition {
    fn new(library: Arc<Library>, brought: &Brought, contents: Contents) -> Self {
        Self {
            templates: templates(&library),
            toolbox: Toolbox::new(&library, brought),
            version: contents.version(),
            contents,
            warnings: Vec::new(),
            programs: Mutex::default(),
            capabilities: Mutex::default(),
            library,
        }
    }

    /// A loop, compiled when it is first needed, and again when servers have other tools.
    pub(super) fn program(&self, name: &str) -> Result<Arc<Program>, EngineError> {
        if let Some(program) = lock(&self.programs).get(name).filter(|program| program.is_current(&self.toolbox)) {
            return Ok(Arc::clone(program));
        }
        let loaded = self.library.loops.get(name).ok_or_else(|| EngineError::UnknownLoop {
            name: name.to_owned(),
            suggestion: crate::diag::did_you_mean(name, self.library.loops.keys().map(String::as_str))
                .map(str::to_owned),
        })?;
        let program = Arc::new(Program::compile(&self.library, loaded, &self.toolbox)?);
        lock(&self.programs).insert(name.to_owned(), Arc::clone(&program));
        Ok(program)
    }

    /// What the loops could use, gathered when it is first asked for, and again when servers have other tools.
    pub(super) fn capabilities(&self) -> Arc<Registry> {
        // Before the tools: those of a later generation under an earlier number are only gathered once more.
        let generation = self.toolbox.generation();
        let mut gathered = lock(&self.capabilities);
        match &*gathered {
            Some((of, registry)) if *of == generation => Arc::clone(registry),
            _ => {
                let registry = Arc::new(super::capabilities::registry(&self.library, &self.toolbox));
                *gathered = Some((generation, Arc::clone(&registry)));
                registry
            }
        }
    }

    /// Whether something is part of the program, and no document of the workspace took its place.
    pub(super) fn is_shipped(&self, kind: CapabilityKind, name: &str) -> bool {
        let library = &self.library;
        match kind {
            CapabilityKind::Tool => library.tools.get(name).is_some_and(|tool| tool.shipped),
            CapabilityKind::Forge => library.forges.get(name).is_some_and(|forge| forge.shipped),
            CapabilityKind::FocusMode => library.loops.get(name).is_some_and(|known| known.shipped),
            CapabilityKind::Skill => false,
        }
    }

    /// JSON Schema of a forge's input, where it says what that is.
    pub(super) fn forge_input(&self, name: &str) -> Option<Json> {
        self.library.forges.get(name)?.doc.input.as_ref().map(|input| input.schema.clone())
    }

    /// The template name of a file that a document in `folder` means by `path`.
    pub(super) fn document_file(&self, path: &str, folder: &str) -> Result<String, String> {
        self.library.files.of_document(path, folder).map(|file| file.name).map_err(|error| error.to_string())
    }

    /// `workspace` in templates.
    pub(super) fn workspace_value(&self) -> Value {
        let name = self.library.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Value::from_pairs([
            ("name", Value::from(name)),
            ("root", Value::from(self.library.root.to_string_lossy())),
            ("vars", Value::from(Serde(&self.library.workspace.doc.vars))),
        ])
    }
}

fn templates(library: &Library) -> Templates {
    let mut builder = TemplatesBuilder::new();
    for folder in library.files.folders() {
        builder.root(folder);
    }
    let files = library.files.clone();
    builder.loader(move |name| files.read(name).ok().map(|file| file.text.to_string()));
    builder.build()
}

/// Keys of the workspace that an engine reads once: who answers, and what a run may touch.
const FIXED: [&str; 7] = ["models", "tiers", "retry", "policy", "paths", "mcp", "store"];

/// What runs are offered of one loop.
#[derive(Clone)]
pub(super) struct Published {
    /// Counted from 0; another number means that something is new.
    pub(super) number: u64,
    pub(super) edition: Arc<Edition>,
    /// The version that the files are now, when it cannot be used.
    pub(super) refused: Option<Arc<Reloaded>>,
}

/// The versions of one loop that is started by name, with everything that it uses.
struct Series {
    follower: Mutex<Follower>,
    published: Mutex<Published>,
}

/// The editions of an engine.
pub(super) struct Editions {
    /// What the engine was built over.
    first: Arc<Edition>,
    mode: HotReload,
    followed: Arc<Followed>,
    watcher: Mutex<Option<Watcher>>,
}

/// What the watching thread shares with the engine.
struct Followed {
    brought: Brought,
    first: Arc<Library>,
    series: Mutex<IndexMap<String, Arc<Series>>>,
}

impl Editions {
    pub(super) fn new(library: Arc<Library>, brought: Brought, mode: HotReload) -> Self {
        Self {
            first: Arc::new(Edition::new(Arc::clone(&library), &brought, Contents::default())),
            mode,
            followed: Arc::new(Followed { brought, first: library, series: Mutex::default() }),
            watcher: Mutex::default(),
        }
    }

    /// The edition that a run of this loop begins with. From now on the loop's files are followed, if that is wanted.
    ///
    /// # Errors
    /// The files cannot be watched.
    pub(super) fn begin(&self, name: &str) -> Result<Arc<Edition>, EngineError> {
        if self.mode == HotReload::Off {
            return Ok(Arc::clone(&self.first));
        }
        let known = lock(&self.followed.series).get(name).cloned();
        let series = match known {
            Some(series) => series,
            None => match self.followed.follow(name) {
                Some(series) => series,
                // Whoever compiles it says that there is no such loop.
                None => return Ok(Arc::clone(&self.first)),
            },
        };
        if self.mode == HotReload::Watch {
            self.watch()?;
        }
        let published = lock(&series.published);
        Ok(Arc::clone(&published.edition))
    }

    fn watch(&self) -> Result<(), EngineError> {
        let mut watcher = lock(&self.watcher);
        if let Some(watcher) = &*watcher {
            watcher.look();
            return Ok(());
        }
        let followed = Arc::clone(&self.followed);
        let look = move |now| followed.look(now, Patience::Settle).1;
        let started = Watcher::start(look);
        *watcher = Some(started.map_err(|source| EngineError::Io { path: "watching for changes".to_owned(), source })?);
        Ok(())
    }

    /// What runs of this loop are offered now; none while its files are not followed.
    pub(super) fn published(&self, name: &str) -> Option<Published> {
        let series = lock(&self.followed.series).get(name).cloned()?;
        let published = lock(&series.published).clone();
        Some(published)
    }

    /// Looks at the files of all loops that are followed.
    pub(super) fn look(&self) -> Vec<Reloaded> {
        self.followed.look(Instant::now(), Patience::None).0
    }
}

impl Followed {
    /// Begins to follow a loop; none when there is no such loop.
    fn follow(&self, name: &str) -> Option<Arc<Series>> {
        let fresh;
        let library = if self.first.loops.contains_key(name) {
            &*self.first
        } else {
            // It may have been written after the engine was built.
            fresh = self.first.reopen();
            fresh.loops.contains_key(name).then_some(&fresh)?
        };
        let follower = Follower::in_use(library, name);
        let edition = Edition::new(Arc::clone(follower.library()), &self.brought, follower.contents().clone());
        let published = Published { number: 0, edition: Arc::new(edition), refused: None };
        let series = Series { follower: Mutex::new(follower), published: Mutex::new(published) };
        let mut all = lock(&self.series);
        // Another run of the same loop may have been quicker.
        Some(Arc::clone(all.entry(name.to_owned()).or_insert_with(|| Arc::new(series))))
    }

    fn look(&self, now: Instant, patience: Patience) -> (Vec<Reloaded>, Next) {
        let all: Vec<(String, Arc<Series>)> =
            lock(&self.series).iter().map(|(name, series)| (name.clone(), Arc::clone(series))).collect();
        let (mut news, mut next) = (Vec::new(), Next::default());
        for (name, series) in all {
            let build = |library: &Arc<Library>, contents: &Contents| self.build(&name, library, contents);
            let look = lock(&series.follower).look(now, patience, build);
            next.places.extend(look.places);
            next.again = [next.again, look.again].into_iter().flatten().min();
            if let Some(change) = look.change {
                news.push(series.publish(&name, change));
            }
        }
        (news, next)
    }

    fn build(&self, name: &str, library: &Arc<Library>, contents: &Contents) -> Result<Edition, String> {
        let value = |library: &Library, key| library.workspace.node.get(key).map(crate::syntax::Node::to_json);
        let changed: Vec<&str> =
            FIXED.into_iter().filter(|key| value(library, key) != value(&self.first, key)).collect();
        if !changed.is_empty() {
            let keys = changed.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            return Err(format!("{keys} of the workspace cannot change while a run uses it: start it again"));
        }
        let edition = Edition::new(Arc::clone(library), &self.brought, contents.clone());
        edition.program(name).map_err(|error| error.to_string())?;
        Ok(edition)
    }
}

impl Series {
    /// Makes a change known to the runs.
    fn publish(&self, name: &str, change: Change<Edition>) -> Reloaded {
        let news = Reloaded {
            loop_name: name.to_owned(),
            status: change.status,
            before: change.before.as_ref().map(Version::to_string).unwrap_or_default(),
            after: change.after.to_string(),
            files: change.files.clone(),
            findings: change.told(),
        };
        let mut published = lock(&self.published);
        published.number += 1;
        published.refused = (news.status == ReloadStatus::Refused).then(|| Arc::new(news.clone()));
        if let Some(mut edition) = change.built {
            edition.warnings.clone_from(&news.findings);
            published.edition = Arc::new(edition);
        }
        news
    }
}
