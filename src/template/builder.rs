//! Collecting templates before a run: compile every string once, find every file that may be included.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};

use super::{Templates, Use, filters, functions, guard};

/// Fuel of one rendering. One unit pays for one instruction or 64 bytes, so no rendering can make more than 16 MiB.
const FUEL: u64 = 256 * 1024;

/// Reads a template file that was not added beforehand, by its workspace-relative name; none when there is no such
/// file. Called only with names that do not lead out of the workspace.
pub type Loader = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Collects templates; [`TemplatesBuilder::build`] freezes them.
pub struct TemplatesBuilder {
    pub(super) templates: Templates,
}

impl Default for TemplatesBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TemplatesBuilder {
    /// No templates yet.
    #[must_use]
    pub fn new() -> Self {
        let files = Arc::new(Files::default());
        Self {
            templates: Templates {
                steps: environment(Use::Step, &files),
                prompts: environment(Use::Prompt, &files),
                files,
                known: HashMap::new(),
                later: RwLock::default(),
            },
        }
    }

    /// Adds a folder, relative to the workspace and written with `/`, that included names are looked up in.
    pub fn root(&mut self, folder: &str) {
        let folder = folder.trim_matches('/');
        if folder != "." && !folder.is_empty() {
            self.templates.files.write().roots.push(folder.to_string());
        }
    }

    /// Sets how files are read that were not added.
    pub fn loader(&mut self, loader: impl Fn(&str) -> Option<String> + Send + Sync + 'static) {
        self.templates.files.write().loader = Some(Arc::new(loader));
    }

    /// Freezes what was added.
    #[must_use]
    pub fn build(self) -> Templates {
        self.templates
    }
}

/// Whether a name stays inside the workspace, whatever it is joined to.
pub(super) fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('/')
        && !name.contains(['\\', '\0', ':'])
        && name.split('/').all(|part| !part.is_empty() && part != ".." && part != ".")
        && !name.chars().any(char::is_control)
}

/// The files that templates may include.
#[derive(Default)]
pub(super) struct Files {
    inner: RwLock<FilesInner>,
}

#[derive(Default)]
pub(super) struct FilesInner {
    pub(super) texts: HashMap<String, Arc<str>>,
    roots: Vec<String>,
    loader: Option<Arc<Loader>>,
    /// Strings that wait to be compiled, by the name that they get.
    parked: HashMap<String, Arc<str>>,
    /// How many strings were compiled.
    strings: usize,
}

/// How many strings are kept compiled; more are compiled each time they are used. A large workspace has hundreds.
const MAX_STRINGS: usize = 65_536;

impl Files {
    pub(super) fn write(&self) -> std::sync::RwLockWriteGuard<'_, FilesInner> {
        // The maps are valid after each single insertion, so a panic elsewhere leaves nothing half done.
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, FilesInner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a string a name that no file has, under which the environment's loader finds it; none when there are too
    /// many.
    pub(super) fn park(&self, source: &str) -> Option<String> {
        let mut files = self.write();
        if files.strings >= MAX_STRINGS {
            return None;
        }
        files.strings += 1;
        let name = format!("\u{1}{}", files.strings);
        files.parked.insert(name.clone(), Arc::from(source));
        Some(name)
    }

    /// Forgets a string that was compiled.
    pub(super) fn unpark(&self, name: &str) {
        self.write().parked.remove(name);
    }

    fn parked(&self, name: &str) -> Option<Arc<str>> {
        self.read().parked.get(name).cloned()
    }

    /// The text of a file, read on first use.
    pub(super) fn text(&self, name: &str) -> Option<Arc<str>> {
        if !is_inside(name) {
            return None;
        }
        let loader = {
            let files = self.read();
            if let Some(text) = files.texts.get(name) {
                return Some(text.clone());
            }
            files.loader.clone()?
        };
        let text: Arc<str> = loader(name)?.into();
        Some(self.write().texts.entry(name.to_string()).or_insert(text).clone())
    }

    /// The file that `name` means when `parent` includes it: next to the parent, then from the workspace's folder,
    /// then in one of the prompt folders.
    pub(super) fn resolve(&self, name: &str, parent: &str) -> Option<String> {
        if !is_inside(name) {
            return None;
        }
        let beside = parent.rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}"));
        let roots = self.read().roots.clone();
        beside
            .into_iter()
            .chain([name.to_string()])
            .chain(roots.iter().map(|root| format!("{root}/{name}")))
            .find(|candidate| self.text(candidate).is_some())
    }
}

/// What a loader error carries when a name leads out of the workspace.
#[derive(Debug)]
pub(super) struct OutsideRoot;

impl std::fmt::Display for OutsideRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a template may include only files of the workspace, by relative names without `..`")
    }
}

impl std::error::Error for OutsideRoot {}

/// How often a prompt template's values were guarded, kept in the state of a rendering.
#[derive(Default)]
pub(super) struct Neutralised(pub(super) usize);

fn environment(used: Use, files: &Arc<Files>) -> Environment<'static> {
    let mut env = Environment::new();
    env.set_debug(false);
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(FUEL));
    functions::install(&mut env);
    let known = files.clone();
    env.set_path_join_callback(move |name, parent| match known.resolve(name, parent) {
        Some(resolved) => resolved.into(),
        None => name.into(),
    });
    let known = files.clone();
    env.set_loader(move |name| {
        if let Some(source) = known.parked(name) {
            return Ok(Some(source.to_string()));
        }
        if !is_inside(name) {
            return Err(Error::new(ErrorKind::BadInclude, OutsideRoot.to_string()).with_source(OutsideRoot));
        }
        match known.text(name) {
            Some(text) => match super::depth::fault(&text, false) {
                Some(fault) => Err(Error::new(ErrorKind::SyntaxError, fault.message.clone())),
                None => Ok(Some(text.to_string())),
            },
            None => Ok(None),
        }
    });
    match used {
        Use::Step => {
            // The last line break of an artifact's content is content.
            if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
                env.set_syntax(syntax);
            }
            env.set_auto_escape_callback(|_| AutoEscape::None);
            env.set_formatter(print_plain);
        }
        Use::Prompt => {
            // With an escape other than `None`, captured blocks and macro results are marked as safe: what they hold
            // has been through the guard.
            env.set_auto_escape_callback(|_| AutoEscape::Custom("prompt".into()));
            env.set_formatter(print_guarded);
        }
    }
    env
}

fn print_plain(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => out.write_str(text)?,
        None => out.write_str(&filters::print(value))?,
    }
    Ok(())
}

fn print_guarded(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let printed;
    let text = match value.as_str() {
        Some(text) if value.is_safe() => return Ok(out.write_str(text)?),
        Some(text) => text,
        None => {
            printed = filters::print(value);
            &printed
        }
    };
    let (guarded, shapes) = guard::neutralise(text);
    if shapes > 0 {
        state.get_or_insert_extension_with(Neutralised::default).0 += shapes;
    }
    Ok(out.write_str(&guarded)?)
}
