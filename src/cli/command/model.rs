//! `model ask`: one call to a model, which shows whether a provider works.

use crate::cli::Context;
use crate::cli::error::{CliError, CliResult};

/// Try a model.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {}

pub(in crate::cli) fn run(_args: &Args, _context: &Context) -> CliResult {
    Err(CliError::failed("Models cannot be called yet"))
}
