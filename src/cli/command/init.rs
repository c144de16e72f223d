//! `init`: a workspace that passes `check` and runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::new::write_new;
use super::run::cannot_start;
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, runtime};
use crate::engine::{Engine, RunRequest};
use crate::load::Library;
use crate::schema;

/// Make a workspace that passes `check` and runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                  loopwright init my-loops && cd my-loops\n  \
                  loopwright check\n  \
                  loopwright run hello --input @examples/question.txt\n\n\
                  No file that exists is changed.")]
pub(in crate::cli) struct Args {
    /// The folder, which may exist and must not have a workspace yet
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const WORKSPACE: (&str, &str) = ("loopwright.yaml", include_str!("init/loopwright.yaml"));
const QUESTION: &str = include_str!("init/question.txt");
const FILES: &[(&str, &str)] = &[
    ("loops/hello.yaml", include_str!("init/hello.yaml")),
    ("prompts/hello/instruction.md.j2", include_str!("init/instruction.md.j2")),
    ("examples/question.txt", QUESTION),
    ("examples/hello.script.yaml", include_str!("init/hello.script.yaml")),
];

/// The workspace while the script is made: whatever the environment says, the script answers.
const MAKING: &str = "\
models: { script: { provider: replay, path: examples/hello.script.yaml, accept: true } }
tiers: { main: script }
";

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let folder = &args.folder;
    let mut names = FILES.iter().chain([&WORKSPACE]).map(|(name, _)| folder.join(name));
    if let Some(path) = names.find(|path| path.exists()) {
        return Err(CliError::usage(format!("{} exists already; nothing was written", path.display()))
            .hint("choose another folder"));
    }
    for (name, text) in FILES {
        write_new(&folder.join(name), text)?;
    }
    make_script(folder)?;
    let schemas = folder.join("schemas");
    schema::write(&schemas)
        .map_err(|error| CliError::failed(format!("Cannot write {}: {error}", schemas.display())))?;
    let shown = folder.display();
    let enter = if folder.as_os_str() == "." { String::new() } else { format!("cd {shown} && ") };
    context.output.note(&format!(
        "wrote a workspace into {shown}\n\
         next: {enter}loopwright check && loopwright run hello --input @examples/question.txt"
    ));
    Ok(code::SUCCESS)
}

/// Lets the script take over the request that it answers. It is made here and not shipped, since it holds the engine's
/// own prompts word for word.
fn make_script(folder: &Path) -> Result<(), CliError> {
    let (name, text) = WORKSPACE;
    let path = folder.join(name);
    write_new(&path, MAKING)?;
    let made = run_once(folder);
    std::fs::write(&path, text)
        .map_err(|error| CliError::failed(format!("Cannot write {}: {error}", path.display())))?;
    made
}

fn run_once(folder: &Path) -> Result<(), CliError> {
    let (library, _) = Library::open(folder);
    let engine = Engine::builder(Arc::new(library)).build().map_err(|error| cannot_start(&error))?;
    let request = RunRequest { loop_name: "hello".to_owned(), input: QUESTION.to_owned(), ..RunRequest::default() };
    let outcome = runtime()?.block_on(engine.run(request)).map_err(|error| cannot_start(&error))?;
    match outcome.error {
        Some(error) => Err(CliError::failed(format!("The new workspace does not run: {error}"))),
        None => Ok(()),
    }
}
