//! `init`: a workspace that passes `check` and runs.

use std::path::PathBuf;

use super::new::write_new;
use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::schema;

/// Make a workspace that passes `check` and runs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  loopwright init my-loops && cd my-loops && loopwright run hello --input \"Who are you?\"\n\n\
                  No file that exists is changed."
)]
pub(in crate::cli) struct Args {
    /// The folder, which may exist and must not have a workspace yet
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const FILES: &[(&str, &str)] = &[
    ("loopwright.yaml", include_str!("init/loopwright.yaml")),
    ("loops/hello.yaml", include_str!("init/hello.yaml")),
    ("prompts/hello/instruction.md.j2", include_str!("init/instruction.md.j2")),
];

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let folder = &args.folder;
    if let Some((name, _)) = FILES.iter().find(|(name, _)| folder.join(name).exists()) {
        return Err(CliError::usage(format!("{} exists already; nothing was written", folder.join(name).display()))
            .hint("choose another folder"));
    }
    for (name, text) in FILES {
        write_new(&folder.join(name), text)?;
    }
    let schemas = folder.join("schemas");
    schema::write(&schemas)
        .map_err(|error| CliError::failed(format!("Cannot write {}: {error}", schemas.display())))?;
    let shown = folder.display();
    context.output.note(&format!(
        "wrote a workspace into {shown}\nnext: cd {shown} && loopwright check && loopwright run hello --input \"Who are you?\""
    ));
    Ok(code::SUCCESS)
}
