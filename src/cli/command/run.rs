//! `run`: a loop on an input, to its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::{Format, Output};
use crate::cli::{Context, asker, input, interrupt, library, runtime};
use crate::engine::{Cancel, Engine, EngineError, HotReload, ModelSpec, Outcome, RunRequest};
use crate::event::Subscriber;
use crate::load::Library;
use crate::report::{Ndjson, Terminal, Trouble};

/// Run a loop on an input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright run log_analyze --input @examples/auth.log > report.md\n  \
                  loopwright run --input \"Who wrote the Iliad?\"\n  \
                  journalctl -n 500 | loopwright run loops/triage.yaml --input - --set state.limit=3\n  \
                  loopwright run triage --input @mail.txt --model main=openai:gpt-5-mini --events run.ndjson\n\n\
                  Progress goes to standard error, the answer to standard output.\n\
                  A loop, template or tool that is saved meanwhile is checked, and in force from the next iteration on.\n\
                  Exits with 0 when the loop reached its end, 1 when it failed or hit a limit, 2 when it could\n\
                  not start, 130 when it was cancelled. Ctrl-C lets `finish` hooks run; a second one stops at once.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    pub(super) task: Task,
    /// Record every exchange with the model into a file, to be replayed later
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the run's events into a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// For the author of a script: let it answer in order whatever is asked, and write the requests into it
    #[arg(long)]
    accept_script: bool,
    /// Keep loops, templates and tools as they are now, whatever is saved while the loop runs
    #[arg(long)]
    no_reload: bool,
    /// What standard output gets: the answer as text, or the run's events as JSON, one a line
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What is to be done: the same for `run` and `render`.
#[derive(Debug, clap::Args)]
pub(super) struct Task {
    /// The loop: its name, or the path of its document
    #[arg(value_name = "LOOP", default_value = library::DEFAULT_LOOP)]
    pub(super) loop_word: String,
    /// The input: a text, @FILE, or - for standard input [default: none]
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    input: Option<String>,
    /// Start with another value of a state variable: JSON, or a text (repeatable)
    #[arg(long, value_name = "state.KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Use another model for a tier: TIER=PROVIDER:MODEL, with @URL after it for a server of your own, TIER=NAME for a
    /// model of the workspace, or TIER=replay:FILE for a recording (repeatable)
    #[arg(long, value_name = "TIER=MODEL", value_parser = tier_model)]
    model: Vec<(String, ModelSpec)>,
    /// Stop after so many iterations, whatever the loop says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_iterations: Option<u32>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write state.KEY=VALUE, such as state.limit=3")?;
    let name = key.trim().strip_prefix("state.").ok_or("only state variables can be set: write state.KEY=VALUE")?;
    if name.is_empty() || name.contains('.') {
        return Err(format!("`{name}` is no name of a state variable; give a whole variable, as JSON if it has parts"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn tier_model(text: &str) -> Result<(String, ModelSpec), String> {
    let (tier, model) = text.split_once('=').unwrap_or(("main", text));
    if tier.trim().is_empty() {
        return Err("write TIER=PROVIDER:MODEL, such as main=openai:gpt-5-mini".to_owned());
    }
    // `@` may be part of a model's name; a scheme after it says that it is not.
    let url_at = ["@http://", "@https://"].iter().find_map(|start| model.find(start));
    let (model, url) = match url_at {
        Some(at) => (&model[..at], Some(model[at + 1..].to_owned())),
        None => (model, None),
    };
    let mut spec = ModelSpec { base_url: url, ..ModelSpec::parse(model)? };
    // A file on the command line counts from where the command runs, not from the workspace.
    if let Some(path) =
        Some(&spec.model).filter(|_| spec.provider == "replay").and_then(|path| std::path::absolute(path).ok())
    {
        spec.model = path.to_string_lossy().into_owned();
    }
    Ok((tier.trim().to_owned(), spec))
}

impl Task {
    /// The loop's library and the request, ready to run.
    pub(super) fn prepare(&self, context: &Context) -> Result<(Library, RunRequest), CliError> {
        self.prepare_as(context, &self.loop_word)
    }

    /// The same task for another loop or another version of it.
    pub(super) fn prepare_as(&self, context: &Context, loop_word: &str) -> Result<(Library, RunRequest), CliError> {
        let (mut library, name) = library::open_loop(context, loop_word)?;
        library::require_sound(&mut library, &name, context.output)?;
        let request = self.request(&library, &name, self.input()?);
        Ok((library, request))
    }

    /// The input.
    pub(super) fn input(&self) -> Result<String, CliError> {
        match &self.input {
            Some(argument) => Ok(input::Input::read(argument)?.text),
            None => Ok(String::new()),
        }
    }

    /// The request to run a loop of a library on an input.
    pub(super) fn request(&self, library: &Library, name: &str, input: String) -> RunRequest {
        let set = self.set.iter().map(|(key, text)| (key.clone(), self.value(library, name, key, text))).collect();
        let (loop_name, cancel) = (name.to_owned(), Cancel::new());
        RunRequest { loop_name, input, set, max_iterations: self.max_iterations, cancel }
    }

    /// The value that a text on the command line means: a variable of type string takes it as it is.
    fn value(&self, library: &Library, loop_name: &str, key: &str, text: &str) -> Value {
        let declared = library.loops.get(loop_name).and_then(|found| found.doc.state.get(key));
        if declared.is_some_and(|var| var.schema["type"] == "string") {
            return Value::from(text);
        }
        serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
    }

    /// Gives an engine the models of the command line.
    pub(super) fn models(&self, builder: crate::engine::EngineBuilder) -> crate::engine::EngineBuilder {
        self.model.iter().fold(builder, |builder, (tier, spec)| builder.model(tier, spec.clone()))
    }
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let output = context.output;
    let (library, request) = args.task.prepare(context)?;
    let cancel = request.cancel.clone();
    let mut reports = Reports::open(args.format, args.events.as_deref(), output, &cancel)?;
    let mut builder = args.task.models(Engine::builder(Arc::new(library)));
    for subscriber in reports.subscribers.drain(..) {
        builder = builder.subscriber(subscriber);
    }
    if let Some(path) = &args.record {
        builder = builder.record(path);
    }
    if args.accept_script {
        builder = builder.accept_script();
    }
    if !args.no_reload {
        builder = builder.hot_reload(HotReload::Watch);
    }
    builder = builder.asker(Arc::new(asker::AtTerminal::new(output)));
    let engine = builder.build().map_err(|error| cannot_start(&error))?;
    let runtime = runtime()?;
    let ended = runtime.block_on(interrupt::until_done(engine.run(request), cancel, output));
    // A question that nobody answered still reads standard input on its thread; the process does not wait for it.
    runtime.shutdown_background();
    match ended {
        None => Ok(code::CANCELLED),
        Some(Err(error)) => Err(cannot_start(&error)),
        Some(Ok(outcome)) => reports.conclude(&outcome, args.format, output),
    }
}

/// Why a run did not begin.
pub(super) fn cannot_start(error: &EngineError) -> CliError {
    let shown = CliError::usage(error.to_string());
    match error.help() {
        Some(help) => shown.hint(help),
        None => shown,
    }
}

/// Who sees the run, and what went wrong while telling them.
pub(super) struct Reports {
    pub(super) subscribers: Vec<Arc<dyn Subscriber>>,
    troubles: Vec<(String, Arc<Trouble>)>,
}

impl Reports {
    pub(super) fn open(
        format: Format,
        events: Option<&Path>,
        output: Output,
        cancel: &Cancel,
    ) -> Result<Self, CliError> {
        let mut reports = Self { subscribers: Vec::new(), troubles: Vec::new() };
        let trouble = reports.trouble("the answer to standard output", cancel);
        match format {
            Format::Json => reports.subscribers.push(Arc::new(Ndjson::new(output.data_writer(), trouble))),
            Format::Text => {
                let (progress, answers) = (output.progress_writer(), output.data_writer());
                reports.subscribers.push(Arc::new(Terminal::new(progress, answers, output.screen(), trouble)));
            }
        }
        if let Some(path) = events {
            let file = create(path)?;
            let trouble = reports.trouble(&format!("the events to {}", path.display()), cancel);
            reports.subscribers.push(Arc::new(Ndjson::new(Box::new(file), trouble)));
        }
        Ok(reports)
    }

    /// What a report that cannot write does: the run ends, since nobody would see what it does.
    fn trouble(&mut self, what: &str, cancel: &Cancel) -> Arc<Trouble> {
        let (words, cancel) = (format!("Cannot write {what}"), cancel.clone());
        let message = words.clone();
        let trouble = Arc::new(Trouble::new(move |error| match error.kind() {
            // The reader went away: it has seen enough.
            std::io::ErrorKind::BrokenPipe => cancel.cancel(),
            _ => cancel.fail(format!("{message}: {error}")),
        }));
        self.troubles.push((words, Arc::clone(&trouble)));
        trouble
    }

    fn conclude(&self, outcome: &Outcome, format: Format, output: Output) -> CliResult {
        for (words, trouble) in &self.troubles {
            if let Some(error) = trouble.take()
                && error.kind() != std::io::ErrorKind::BrokenPipe
            {
                return Err(CliError::failed(format!("{words}: {error}")));
            }
        }
        if format == Format::Json
            && let Some(error) = &outcome.error
        {
            output.error(&CliError::failed(error.clone()));
        }
        Ok(outcome.exit_code)
    }
}

fn create(path: &Path) -> Result<std::fs::File, CliError> {
    std::fs::File::create(path)
        .map_err(|error| CliError::usage(format!("Cannot write the events to {}: {error}", path.display())))
}
