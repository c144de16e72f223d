//! `lsp`: the language server.

use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::lsp::{self, End};

/// Help an editor: a language server over standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright lsp\n\n\
                  An editor starts it: mistakes as you type, completion, hover, go to definition, rename.\n\
                  docs/editors.md says what to write into the settings of VS Code, Neovim, Helix, Zed and others.")]
pub(in crate::cli) struct Args {
    /// Taken and ignored, since some editors add it: there is no other way to talk to the server
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let Args { stdio: _ } = args;
    let ended = context.output.with_stdout(|output| lsp::serve(std::io::BufReader::new(std::io::stdin()), output));
    match ended {
        Ok(End::Proper) => Ok(code::SUCCESS),
        Ok(End::Abrupt) => Ok(code::FAILED),
        Err(error) => Err(CliError::failed(format!("The editor does not listen: {error}"))),
    }
}
