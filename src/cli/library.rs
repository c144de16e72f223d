//! Opening the workspace that a command works in, and finding the loop that it names.

use std::path::{Path, PathBuf};

use super::Context;
use super::error::CliError;
use super::output::Output;
use crate::check::{Options, Targets, check};
use crate::diag::{Diagnostics, Severity, SourceId, did_you_mean, list_words, render};
use crate::document::Kind;
use crate::load::{Library, Overlay};
use crate::watch::Target;

/// The loop that runs when none is named.
pub(super) const DEFAULT_LOOP: &str = "default";

/// Opens the workspace: `--workspace`, else the nearest one upward from `near`, else from the working folder.
pub(super) fn open(context: &Context, near: Option<&Path>) -> Result<Library, CliError> {
    open_with(context, near, &Overlay::default())
}

/// The same with texts that stand before the files of their paths.
pub(super) fn open_with(context: &Context, near: Option<&Path>, overlay: &Overlay) -> Result<Library, CliError> {
    let open = |start: &Path| Library::open_with(start, overlay.clone()).0;
    if let Some(folder) = &context.workspace {
        if !folder.is_dir() {
            return Err(CliError::usage(format!("--workspace: {} is not a folder", folder.display())));
        }
        return Ok(open(folder));
    }
    if let Some(near) = near {
        let library = open(near);
        if library.workspace.source != SourceId::NONE {
            return Ok(library);
        }
    }
    let here =
        std::env::current_dir().map_err(|error| CliError::usage(format!("Cannot tell the working folder: {error}")))?;
    Ok(open(&here))
}

/// Whether a word on the command line means a file rather than a name.
fn is_path(word: &str) -> bool {
    let path = Path::new(word);
    let is_document = path.extension().is_some_and(|end| ["yaml", "yml", "toml"].iter().any(|known| end == *known));
    is_document || word.contains('/') || word.contains(std::path::MAIN_SEPARATOR)
}

/// Opens the workspace of a loop that is named or given as a path; gives the loop's name in it.
pub(super) fn open_loop(context: &Context, word: &str) -> Result<(Library, String), CliError> {
    if !is_path(word) {
        let library = open(context, None)?;
        let name = known_loop(&library, word)?;
        return Ok((library, name));
    }
    let path = PathBuf::from(word);
    if !path.is_file() {
        let why = if path.is_dir() { "it is a folder" } else { "there is no such file" };
        return Err(CliError::usage(format!("Cannot read the loop {word}: {why}")));
    }
    let mut library = open(context, Some(&path))?;
    let sources = library.add_path(&path);
    let found = sources.first().and_then(|source| library.doc_ref(*source));
    match found {
        Some(found) if found.kind == Kind::Loop => Ok((library, found.name)),
        Some(found) => {
            let kind = found.kind.name();
            Err(CliError::usage(format!("{word} is no loop: it is a {kind}")))
        }
        None => Err(unreadable(&library, &path)),
    }
}

/// A document that the command line names.
pub(super) struct Named {
    pub(super) kind: Kind,
    /// Empty for the workspace.
    pub(super) name: String,
}

/// Opens the workspace of any document: a path, `KIND/NAME`, `workspace`, or a name, of which loops come first.
pub(super) fn open_document(context: &Context, word: &str) -> Result<(Library, Named), CliError> {
    if is_path(word) && Path::new(word).is_file() {
        let path = PathBuf::from(word);
        let mut library = open(context, Some(&path))?;
        let sources = library.add_path(&path);
        if sources.first() == Some(&library.workspace.source) {
            return Ok((library, Named { kind: Kind::Workspace, name: String::new() }));
        }
        let found = sources.first().and_then(|source| library.doc_ref(*source));
        return match found.filter(|found| is_known(&library, found.kind, &found.name)) {
            Some(found) => Ok((library, Named { kind: found.kind, name: found.name })),
            None => Err(unreadable(&library, &path)),
        };
    }
    let library = open(context, None)?;
    let asked = word.split_once('/').and_then(|(kind, name)| Some((Kind::of(kind)?, name)));
    if let Some((kind, name)) = asked.filter(|(kind, name)| is_known(&library, *kind, name)) {
        return Ok((library, Named { kind, name: name.to_owned() }));
    }
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| is_known(&library, *kind, word)) {
        return Ok((library, Named { kind, name: word.to_owned() }));
    }
    if word == Kind::Workspace.name() {
        return Ok((library, Named { kind: Kind::Workspace, name: String::new() }));
    }
    match is_path(word) && asked.is_none() {
        true => Err(CliError::usage(format!("Cannot read {word}: there is no such file"))),
        false => known_loop(&library, word).map(|name| (library, Named { kind: Kind::Loop, name })),
    }
}

fn is_known(library: &Library, kind: Kind, name: &str) -> bool {
    match kind {
        Kind::Loop => library.loops.contains_key(name),
        Kind::Tool => library.tools.contains_key(name),
        Kind::Forge => library.forges.contains_key(name),
        Kind::Preset => library.presets.contains_key(name),
        Kind::Workspace => false,
    }
}

/// Opens the workspace of a loop that may be broken at the moment; what is followed then is its name or its file.
pub(super) fn open_target(context: &Context, word: &str) -> Result<(Library, Target), CliError> {
    let path = PathBuf::from(word);
    if is_path(word) && path.is_file() {
        return Ok((open(context, Some(&path))?, Target::File(path)));
    }
    if is_path(word) {
        return open_loop(context, word).map(|(library, name)| (library, Target::Name(name)));
    }
    let library = open(context, None)?;
    let broken = library.unusable.iter().any(|file| file.kind == Kind::Loop && file.name.as_deref() == Some(word));
    if !broken {
        known_loop(&library, word)?;
    }
    Ok((library, Target::Name(word.to_owned())))
}

/// A file that gives no loop at all: what is wrong with it stands in the findings.
fn unreadable(library: &Library, path: &Path) -> CliError {
    let mut findings = library.findings().clone();
    findings.sort(&library.sources);
    let text = render::concise(findings.as_slice(), &library.sources);
    let text = if text.is_empty() { "it has no name".to_owned() } else { format!("\n{}", text.trim_end()) };
    CliError::usage(format!("{} cannot be used: {text}", path.display()))
}

/// Refuses a loop with mistakes, showing each, before anything is run; warnings are shown and let pass.
pub(super) fn require_sound(library: &mut Library, name: &str, output: Output) -> Result<(), CliError> {
    let found = check(library, Targets::Loop(name), Options { schemas: false });
    require(library, found, &format!("The loop `{name}`"), output)
}

/// Refuses a workspace whose own file has mistakes.
pub(super) fn require_sound_workspace(library: &mut Library, output: Output) -> Result<(), CliError> {
    let source = library.workspace.source;
    if source == SourceId::NONE {
        return Ok(());
    }
    let found = check(library, Targets::Files(&[source]), Options { schemas: false });
    require(library, found, "The workspace", output)
}

fn require(library: &Library, mut found: Diagnostics, what: &str, output: Output) -> Result<(), CliError> {
    found.retain(|finding| finding.severity != Severity::Info);
    if !found.has_errors() {
        output.note_block(&render::concise(found.as_slice(), &library.sources));
        return Ok(());
    }
    found.sort(&library.sources);
    output.alarm(&render::full(found.as_slice(), &library.sources, output.progress_palette()));
    let errors = found.count(Severity::Error);
    Err(CliError::usage(format!("{what} has {errors} error{}", if errors == 1 { "" } else { "s" })))
}

fn known_loop(library: &Library, name: &str) -> Result<String, CliError> {
    let broken = library.unusable.iter().find(|file| file.kind == Kind::Loop && file.name.as_deref() == Some(name));
    if library.loops.contains_key(name) {
        return Ok(name.to_owned());
    }
    if let Some(file) = broken {
        return Err(unreadable(library, &file.path));
    }
    let known: Vec<&str> = library.loops.keys().map(String::as_str).collect();
    let error = CliError::usage(format!("There is no loop named `{name}`"));
    Err(match did_you_mean(name, &known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("the loops here are {}; a path such as loops/x.yaml works too", list_words(&known))),
    })
}
