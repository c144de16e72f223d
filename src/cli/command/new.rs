//! `new`: a document to start from.

use std::path::Path;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, library};

/// Start a new document.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Start a loop in the workspace's folder of loops
    Loop(NewLoop),
}

/// Start a loop in the workspace's folder of loops.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  loopwright new loop triage\n\nWrites loops/triage.yaml, which passes `check` as it is."
)]
struct NewLoop {
    /// The loop's name: letters, digits, `_`, `-` and `.`
    name: String,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        What::Loop(args) => new_loop(&args.name, context),
    }
}

fn new_loop(name: &str, context: &Context) -> CliResult {
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(is_first) || !name.chars().all(|c| is_first(c) || matches!(c, '-' | '.')) {
        return Err(CliError::usage(format!("`{name}` cannot be a loop's name"))
            .hint("a name has letters, digits, `_`, `-` and `.`, and begins with a letter, a digit or `_`"));
    }
    let library = library::open(context, None)?;
    let folder = library.workspace.doc.paths.loops.first().map_or("loops", |folder| folder.value.as_str());
    let path = library.root.join(folder).join(format!("{name}.yaml"));
    let depth = folder.split('/').filter(|part| !matches!(*part, "" | ".")).count();
    let text = LOOP.replace("NAME", name).replace("SCHEMAS", &format!("{}schemas", "../".repeat(depth)));
    write_new(&path, &text)?;
    context.output.note(&format!("wrote {}; try: loopwright check {}", path.display(), path.display()));
    Ok(code::SUCCESS)
}

/// Writes a file that must not be there yet, with the folders above it.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CliError::usage(format!("{} exists already and is left as it is", path.display()))
        }
        _ => CliError::failed(format!("Cannot write {}: {error}", path.display())),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)
}

const LOOP: &str = "\
# yaml-language-server: $schema=SCHEMAS/loop.schema.json
kind: loop
name: NAME
description: Say in a sentence what the loop does.
usage: Say when to use it.

limits: { max_iterations: 10 }

state:
  notes: { type: array, default: [] }

prompt:
  instruction: |
    Say what the task is, what a good result looks like, and what must not happen.
  reactive: |
    Notes so far: {{ state.notes | length }}

actions:
  take_note:
    description: Keep one finding, in a sentence.
    params: { note: string! }
    verify:
      - that: params.note | trim | length > 0
        message: a note has at least one word
    do:
      - set: { notes: \"{{ state.notes + [params.note] }}\" }
      - feedback: \"Note {{ state.notes | length }} is kept.\"
";
