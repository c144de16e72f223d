//! `diff`: what changed between two versions of a loop, in terms of behaviour.

use std::path::Path;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::revision::{self, Revision};
use crate::cli::{Context, library};
use crate::compare::{self as compared, Severity, Side, compare};
use crate::diag::SourceId;
use crate::document::Kind;
use crate::load::Library;

/// Say what changed between two versions of a loop, in terms of behaviour.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright diff main:loops/triage.yaml loops/triage.yaml\n  \
                  loopwright diff HEAD~1:loops/triage.yaml\n  \
                  loopwright diff old/ new/ --loop triage\n  \
                  loopwright diff origin/main: . --format markdown --fail-on widens\n\n\
                  A version is a document's path, a loop's name, a workspace's folder, or REVISION:PATH of git, whose\n\
                  path counts from the repository's top. Effective documents are compared: form does not count, a\n\
                  changed preset or template does.\n\n\
                  Exits with 0 when nothing changed in behaviour, 1 when something did (with --fail-on widens only\n\
                  when something widens), 2 when a version cannot be read.")]
pub(in crate::cli) struct Args {
    /// The version before
    #[arg(value_name = "A")]
    old: String,
    /// The version after [default: the same path in the working folder]
    #[arg(value_name = "B")]
    new: Option<String>,
    /// The loop, where A and B are folders [default: all loops]
    #[arg(long = "loop", value_name = "NAME")]
    loop_name: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// What makes the command exit with 1
    #[arg(long, value_enum, default_value_t)]
    fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For a comment on a pull request
    Markdown,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Any change in behaviour
    #[default]
    Any,
    /// A change that lets the loop do more
    Widens,
}

/// A version that was opened. The copy of a revision lives as long as it.
struct Version {
    side: Side,
    /// The loop, if one was named.
    name: Option<String>,
    _copy: Option<Revision>,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let other = match (&args.new, revision::split(&args.old)) {
        (Some(new), _) => new.clone(),
        (None, Some((_, path))) => {
            if path.is_empty() {
                ".".to_owned()
            } else {
                path.to_owned()
            }
        }
        (None, None) => {
            return Err(CliError::usage("One version cannot be compared with itself")
                .hint("name another one, or a revision of git: loopwright diff HEAD:loops/x.yaml"));
        }
    };
    let old = open(context, &args.old)?;
    let new = open(context, &other)?;
    let names = pairs(args, &old, &new)?;
    let changes = compare(&old.side, &new.side, &names);
    let output = context.output;
    match args.format {
        Format::Text => output.data(&compared::text(&changes, output.data_color()))?,
        Format::Json => output.json(&compared::json(&changes))?,
        Format::Markdown => output.data(&compared::markdown(&changes))?,
    }
    let fails = match args.fail_on {
        FailOn::Any => !changes.is_empty(),
        FailOn::Widens => changes.iter().any(|change| change.severity == Severity::Widens),
    };
    Ok(if fails { code::FAILED } else { code::SUCCESS })
}

fn open(context: &Context, word: &str) -> Result<Version, CliError> {
    let Some((name, path)) = revision::split(word) else { return open_here(context, word) };
    let copy = Revision::open(name)?;
    let file = copy.path(path);
    if !file.exists() {
        let inside = file.strip_prefix(&copy.folder).unwrap_or(&file).display().to_string();
        return Err(CliError::usage(format!("{name} has no {inside}"))
            .hint("the path counts from the working folder, on both sides"));
    }
    let (library, loop_name) = open_path(&file, word)?;
    let side = Side { library, copy: Some((copy.folder.clone(), format!("{name}:"))) };
    Ok(Version { side, name: loop_name, _copy: Some(copy) })
}

fn open_here(context: &Context, word: &str) -> Result<Version, CliError> {
    let path = Path::new(word);
    let (library, name) = if path.exists() {
        open_path(path, word)?
    } else {
        let (library, name) = library::open_loop(context, word)?;
        (library, Some(name))
    };
    Ok(Version { side: Side { library, copy: None }, name, _copy: None })
}

/// Opens a folder as a workspace, or a file with the workspace around it.
fn open_path(path: &Path, word: &str) -> Result<(Library, Option<String>), CliError> {
    let (mut library, _) = Library::open(path);
    if path.is_dir() {
        return Ok((library, None));
    }
    if library.workspace.source == SourceId::NONE {
        // Without a workspace's file, the folder around `loops` is the workspace.
        let folder = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "loops"));
        let around = folder.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
        library = Library::open(around.unwrap_or(Path::new("."))).0;
    }
    let sources = library.add_path(path);
    let found = sources.first().and_then(|source| library.doc_ref(*source));
    match found.filter(|found| found.kind == Kind::Loop && library.loops.contains_key(&found.name)) {
        Some(found) => Ok((library, Some(found.name))),
        None => Err(CliError::usage(format!("{word} gives no loop that can be read"))
            .hint(format!("see what is wrong with: loopwright check {word}"))),
    }
}

/// Which loops are compared with which.
fn pairs(args: &Args, old: &Version, new: &Version) -> Result<Vec<(String, String)>, CliError> {
    if let Some(name) = &args.loop_name {
        let known = |version: &Version| version.side.library.loops.contains_key(name);
        if !known(old) && !known(new) {
            return Err(CliError::usage(format!("Neither version has a loop named `{name}`")));
        }
        return Ok(vec![(name.clone(), name.clone())]);
    }
    match (&old.name, &new.name) {
        (Some(before), Some(after)) => Ok(vec![(before.clone(), after.clone())]),
        (Some(name), None) | (None, Some(name)) => Ok(vec![(name.clone(), name.clone())]),
        (None, None) => {
            let own = |version: &Version| {
                let loops = version.side.library.loops.iter().filter(|(_, loaded)| !loaded.shipped);
                loops.map(|(name, _)| name.clone()).collect::<Vec<_>>()
            };
            let mut names = own(old);
            names.extend(own(new));
            names.sort();
            names.dedup();
            Ok(names.into_iter().map(|name| (name.clone(), name)).collect())
        }
    }
}
