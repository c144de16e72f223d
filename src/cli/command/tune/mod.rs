//! `tune`: try thresholds on what was recorded, without a model. `tune spin` judges histories.

mod replay;
mod spin;

use crate::cli::Context;
use crate::cli::error::CliResult;

/// Try thresholds on recorded runs, without a model.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  \
                  loopwright tune examples/histories/*.json --preset cost --preset strict\n  \
                  loopwright tune run.ndjson --loop log_analyze --sweep perception.every=1,2,4,8\n  \
                  loopwright tune run.ndjson --set verification.max_age=2m --svg tune.svg\n  \
                  loopwright tune run.ndjson --as-history > history.json\n\n\
                  HISTORY is a recorded run (`loopwright schema history` gives its form), a list of them, or the\n\
                  events of a run, one a line (`run --events`).\n\
                  Exits with 0 whatever the figures are."
)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    replay: replay::ReplayArgs,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say of each history whether it is a spin, from which step on, and why
    Spin(spin::SpinArgs),
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        Some(What::Spin(args)) => spin::run(args, context),
        None => replay::run(&args.replay, context),
    }
}
