//! `tune HISTORY…`: what other thresholds would have done.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, input, library};
use crate::diag::{did_you_mean, list_words};
use crate::document::Kind;
use crate::schema::{SchemaKind, generate};
use crate::tune::{
    Ai, Base, CandidateError, Compared, History, Override, Profile, Sweep, candidates, compare, plot, read, table,
};

#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    /// Recorded runs, or `-` for standard input
    #[arg(required = true, value_name = "HISTORY")]
    files: Vec<String>,
    /// Try the settings of this loop: a name, or a path
    #[arg(long = "loop", value_name = "LOOP|FILE")]
    loops: Vec<String>,
    /// Try the settings of this preset, with the defaults where it says nothing
    #[arg(long = "preset", value_name = "NAME")]
    presets: Vec<String>,
    /// Try another value: `perception.every=4`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Try several values of a key; with several sweeps, every combination
    #[arg(long = "sweep", value_name = "KEY=A,B,…")]
    sweeps: Vec<String>,
    /// How the mechanisms' models answer
    #[arg(long, value_enum, default_value_t)]
    profile: Word,
    /// What chance begins with: the same seed gives the same answers
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: TuneFormat,
    /// Write a plot of what would have happened, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the histories as JSON instead, to be kept, or completed by hand
    #[arg(long, conflicts_with_all = ["loops", "presets", "set", "sweeps", "svg", "format"])]
    as_history: bool,
}

/// How the mechanisms' models answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Word {
    /// Calls take 5 to 30 s, and what is said is right; one in five verdicts sees the goal a look too late
    #[default]
    Realistic,
    /// Calls take 1 to 10 s, every fourth verdict is wrong, and topics change where the work does not
    Noisy,
    /// Calls take 10 s, and nothing ever changes: no new topics, no spin, not done
    Quiet,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum TuneFormat {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
}

pub(super) fn run(args: &ReplayArgs, context: &Context) -> CliResult {
    let histories = histories(&args.files)?;
    if args.as_history {
        match histories.as_slice() {
            [one] => context.output.json(one)?,
            several => context.output.json(&several)?,
        }
        return Ok(code::SUCCESS);
    }
    let set = args.set.iter().map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>().map_err(unusable)?;
    let sweeps = args.sweeps.iter().map(|text| Sweep::parse(text)).collect::<Result<Vec<_>, _>>().map_err(unusable)?;
    let bases = bases(args, context)?;
    let schema = generate(SchemaKind::Document(Kind::Preset));
    let tried = candidates(&bases, &set, &sweeps, &schema).map_err(unusable)?;
    let defaults = candidates(&[Base::defaults()], &[], &[], &schema).map_err(unusable)?;
    let profile = match args.profile {
        Word::Realistic => Profile::Realistic,
        Word::Noisy => Profile::Noisy,
        Word::Quiet => Profile::Quiet,
    };
    let ai = Ai { profile, seed: args.seed };
    let compared: Vec<Compared> = histories
        .iter()
        .flat_map(|history| defaults.first().map(|defaults| compare(history, &tried, defaults, ai)))
        .collect();
    if let Some(path) = &args.svg {
        let failed = |error| CliError::failed(format!("Cannot write {}: {error}", path.display()));
        std::fs::write(path, plot(&compared)).map_err(failed)?;
    }
    match args.format {
        TuneFormat::Json => {
            context.output.json(&json!({ "profile": profile, "seed": args.seed, "histories": compared }))?
        }
        TuneFormat::Table => context.output.data(&context.output.for_people(&table(&compared)))?,
    }
    Ok(code::SUCCESS)
}

fn unusable(error: CandidateError) -> CliError {
    let told = CliError::usage(error.message);
    error.help.into_iter().fold(told, CliError::hint)
}

fn histories(files: &[String]) -> Result<Vec<History>, CliError> {
    let mut all = Vec::new();
    for file in files {
        let from = if file == "-" { "-".to_owned() } else { format!("@{file}") };
        let mut text = input::Input::read(&from);
        if let Err(error) = &mut text {
            // Here the file is named as it is, so how texts and files are told apart elsewhere is no help.
            error.hints.clear();
        }
        let stem = std::path::Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = if file == "-" { "standard input".to_owned() } else { stem.unwrap_or_else(|| file.clone()) };
        let read = read(&text?.text, &name).map_err(|error| {
            CliError::usage(format!("{file} holds no recorded run: {error}"))
                .hint("`loopwright schema history` gives the form of a recorded run; `loopwright run --events FILE` records one")
        })?;
        all.extend(read);
    }
    Ok(all)
}

/// The settings that are named, else the defaults.
fn bases(args: &ReplayArgs, context: &Context) -> Result<Vec<Base>, CliError> {
    let mut bases = Vec::new();
    for word in &args.loops {
        let (mut library, name) = library::open_loop(context, word)?;
        library::require_sound(&mut library, &name, context.output)?;
        let own = library.loops.get(&name).and_then(|found| found.node.get("mechanisms"));
        let mechanisms = own.map_or_else(|| json!({}), crate::syntax::Node::to_json);
        bases.push(Base { name, mechanisms });
    }
    if !args.presets.is_empty() {
        let library = library::open(context, None)?;
        for word in &args.presets {
            let name = word.strip_prefix("preset/").unwrap_or(word);
            let Some(found) = library.presets.get(name) else {
                let error = CliError::usage(format!("There is no preset named `{name}`"));
                return Err(match did_you_mean(name, library.presets.keys()) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint(format!("the presets here are {}", list_words(library.presets.keys()))),
                });
            };
            let own = found.node.get("mechanisms");
            let mechanisms = own.map_or_else(|| json!({}), crate::syntax::Node::to_json);
            bases.push(Base { name: format!("preset/{name}"), mechanisms });
        }
    }
    if bases.is_empty() {
        bases.push(Base::defaults());
    }
    Ok(bases)
}
