//! `tune spin`: which histories are spins, from which step on, and why.

use serde_json::{Value, json};

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::{Format, Output};
use crate::cli::{Context, input, library};
use crate::mechanism::spin::{Rules, Settings, Verdict, detect, histories};

/// Say of each history whether it is a spin, from which step on, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright tune spin histories.json\n  \
                  loopwright tune spin run.ndjson --settings log_analyze\n  \
                  loopwright tune spin - --format json < histories.json\n\n\
                  FILE holds a list of histories:\n  \
                  [{\"steps\": [{\"action\": \"read\", \"args\": {\"path\": \"a\"}, \"observation\": \"…\", \"error\": false}],\n    \
                  \"tool_classes\": {\"job_state\": \"poll\"}}]\n\
                  or one of them, or the events of a run, one a line (`run --events`).\n\
                  Exits with 0 whatever is found.")]
pub(super) struct SpinArgs {
    /// The histories, or `-` for standard input
    file: String,
    /// Take `mechanisms.spin` from this loop: a name, or a path
    #[arg(long, value_name = "LOOP|FILE")]
    settings: Option<String>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &SpinArgs, context: &Context) -> CliResult {
    let settings = match &args.settings {
        Some(word) => settings_of(word, context)?,
        None => Settings::default(),
    };
    let from = if args.file == "-" { "-".to_owned() } else { format!("@{}", args.file) };
    let mut read = input::Input::read(&from);
    if let Err(error) = &mut read {
        // Here the file is named as it is, so how texts and files are told apart elsewhere is no help.
        error.hints.clear();
    }
    let text = read?.text;
    let name = if args.file == "-" { "standard input" } else { &args.file };
    let read = histories(&text).map_err(|error| {
        let path = if error.path.is_empty() { String::new() } else { format!(" at {}", error.path) };
        CliError::usage(format!("{name} holds no histories{path}: {}", error.message))
            .hint("see `loopwright tune spin --help` for the form of a history")
    })?;
    let rules = Rules::new(settings);
    let verdicts: Vec<Verdict> = read.iter().map(|history| detect(history, &rules)).collect();
    match args.format {
        Format::Json => context.output.json(&verdicts.iter().map(as_json).collect::<Vec<Value>>())?,
        Format::Text => context.output.data(&table(&verdicts, context.output))?,
    }
    Ok(code::SUCCESS)
}

/// The settings of a loop, which must be sound.
fn settings_of(word: &str, context: &Context) -> Result<Settings, CliError> {
    let (mut library, name) = library::open_loop(context, word)?;
    library::require_sound(&mut library, &name, context.output)?;
    let spin = library.loops.get(&name).and_then(|found| found.doc.mechanisms.spin.as_ref());
    Ok(spin.map(Settings::from).unwrap_or_default())
}

fn as_json(verdict: &Verdict) -> Value {
    let found = verdict.spin.as_ref();
    json!({
        "spin": found.is_some(),
        "step": found.map(|finding| finding.step),
        "pattern": found.map(|finding| finding.family),
        "evidence": found.map(|finding| &finding.evidence),
        "suspicions": verdict.suspicions,
    })
}

fn table(verdicts: &[Verdict], output: Output) -> String {
    let mut text = format!("{:>4}  {:<6}  {:>4}  {:<14}  {}\n", "no.", "spin", "step", "pattern", "evidence");
    for (at, verdict) in verdicts.iter().enumerate() {
        let line = match (&verdict.spin, verdict.suspicions.first()) {
            (Some(found), _) => ("yes", found.step.to_string(), found.family, found.evidence.text.as_str()),
            (None, Some(first)) => ("maybe", first.step.to_string(), first.family, first.evidence.text.as_str()),
            (None, None) => ("no", String::new(), "", ""),
        };
        let (spin, step, family, why) = line;
        let row = format!("{:>4}  {spin:<6}  {step:>4}  {family:<14}  {}", at + 1, one_line(why));
        text.push_str(row.trim_end());
        text.push('\n');
    }
    let spins = verdicts.iter().filter(|verdict| verdict.spin.is_some()).count();
    text.push_str(&format!("{spins} of {} histories spin\n", verdicts.len()));
    output.for_people(&text)
}

/// Names in a history may hold anything; a row of the table is one line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
