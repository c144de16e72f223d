//! `watch`: a loop is checked at each change of its files, and what the change does is shown.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::render_diff;
use super::run::{Reports, Task, cannot_start};
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::{Format, Output};
use crate::cli::{Context, interrupt::Signals, library, runtime};
use crate::diag::render;
use crate::engine::{Cancel, Engine, RenderedPrompt};
use crate::event::{Event, ReloadStatus};
use crate::report::{escape, short};
use crate::watch::{Change, Follower, Next, Patience, Watcher};

/// Check a loop at each change of its files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright watch triage\n  \
                  loopwright watch loops/triage.yaml --render --input \"a mail\"\n  \
                  loopwright watch triage --run --input @mail.txt --model main=openai:gpt-5-mini\n  \
                  loopwright watch triage --format json\n\n\
                  Everything that the loop uses is watched: what it extends, its templates and their includes, tools,\n\
                  forges and sub-loops. Each version is named by a hash over all of it.\n\
                  The input is read once. Ctrl-C ends it, with exit code 0.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    task: Task,
    /// Show what each good change does to the prompt of the first turn
    #[arg(long)]
    render: bool,
    /// Run the loop on the input, and again after each good change; a run that is not over is stopped first
    #[arg(long)]
    run: bool,
    /// With --run, for the author of a script: let it answer in order whatever is asked, and write the requests into it
    #[arg(long, requires = "run")]
    accept_script: bool,
    /// What standard output gets: lines for people, or JSON, one object a line
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let (library, target) = library::open_target(context, &args.task.loop_word)?;
    let input = args.task.input()?;
    let mut follower = Follower::new(library, target);
    let (changes, mut inbox) = unbounded_channel();
    let runtime = runtime()?;
    let watcher = Watcher::start(move |now| look(&mut follower, now, &changes))
        .map_err(|error| CliError::failed(format!("Cannot watch files: {error}")))?;
    let mut session = Session { args, output: context.output, input, prompt: None, running: None };
    context.output.note(&format!("watching {}; Ctrl-C ends it", args.task.loop_word));
    let ended = runtime.block_on(async {
        let mut signals = Signals::new();
        loop {
            tokio::select! {
                biased;
                () = signals.next() => return Ok(()),
                change = inbox.recv() => {
                    let Some(change) = change else { return Ok(()) };
                    if !session.take(change).await? {
                        return Ok(());
                    }
                }
            }
        }
    });
    runtime.block_on(session.stop());
    drop(watcher);
    runtime.shutdown_background();
    ended.map(|()| code::SUCCESS)
}

fn look(follower: &mut Follower, now: std::time::Instant, changes: &UnboundedSender<Change<()>>) -> Next {
    let look = follower.look(now, Patience::Settle, |_, _| Ok(()));
    if let Some(change) = look.change {
        // A session that has ended takes no more.
        let _ = changes.send(change);
    }
    Next { places: look.places, again: look.again }
}

/// What a person sees of the changes.
struct Session<'a> {
    args: &'a Args,
    output: Output,
    input: String,
    /// The prompt of the last version that could be rendered.
    prompt: Option<render_diff::Earlier>,
    running: Option<(Cancel, JoinHandle<()>)>,
}

impl Session<'_> {
    /// Shows a change; false when nobody reads any more.
    async fn take(&mut self, change: Change<()>) -> Result<bool, CliError> {
        let usable = matches!(change.status, ReloadStatus::Loaded | ReloadStatus::Applied);
        if usable && self.args.run {
            // Its lines must not come between those of the next one.
            self.stop().await;
        }
        let text = match self.args.format {
            Format::Text => self.text(&change),
            Format::Json => line(&event(&change))?,
        };
        let mut read = self.output.data_while_read(&text)?;
        if usable && self.args.render {
            let text = self.rendered(&change)?;
            read = self.output.data_while_read(&text)?;
        }
        if usable && self.args.run && read {
            self.start(&change)?;
        }
        Ok(read)
    }

    fn text(&self, change: &Change<()>) -> String {
        let palette = self.output.data_color();
        let mut text = render::full(change.findings.as_slice(), &change.library.sources, palette);
        if let Some(problem) = &change.problem {
            text.push_str(&format!("error: {}\n", escape(problem)));
        }
        let after = short(change.after.as_str());
        let stays = match &change.before {
            Some(before) => format!("{} stays", short(before.as_str())),
            None => "nothing can be used yet".to_owned(),
        };
        let files = match change.files.as_slice() {
            files if change.before.is_none() => format!("{} files", files.len()),
            files => escape(&files.join(", ")).into_owned(),
        };
        text + &match change.status {
            ReloadStatus::Loaded | ReloadStatus::Applied => format!("good     {after}  {files}\n"),
            ReloadStatus::Refused => format!("refused  {after}  {files}; {stays}\n"),
            ReloadStatus::Restored => format!("restored {after}\n"),
        }
    }

    /// What the change does to the prompt.
    fn rendered(&mut self, change: &Change<()>) -> Result<String, CliError> {
        let json = self.args.format == Format::Json;
        let prompt = match self.prompt_of(change) {
            Ok(prompt) => prompt,
            Err(words) if json => return line(&json!({ "event": "prompt", "error": words })),
            Err(words) => return Ok(format!("cannot render: {}\n", escape(&words))),
        };
        let earlier = self.prompt.replace(render_diff::Earlier::of(&prompt));
        let difference = earlier.map(|earlier| render_diff::between(&earlier, &prompt));
        let bytes = prompt.system.len() + prompt.user.len();
        let tokens = prompt.sections.iter().map(|section| section.tokens).sum::<usize>() + prompt.tools_tokens;
        if json {
            let estimated = prompt.estimated;
            return line(&json!({
                "event": "prompt", "bytes": bytes, "tokens": tokens, "estimated": estimated, "difference": difference,
            }));
        }
        let about = if prompt.estimated { "about " } else { "" };
        let changes = match difference {
            None => String::new(),
            Some(difference) if difference.is_empty() => "  the prompt is the same\n".to_owned(),
            Some(difference) => self.output.for_people(&difference.changes()),
        };
        Ok(format!("prompt   {bytes} bytes, {about}{tokens} tokens\n{changes}"))
    }

    fn prompt_of(&self, change: &Change<()>) -> Result<RenderedPrompt, String> {
        let builder = self.args.task.models(Engine::builder(Arc::clone(&change.library)));
        let engine = builder.build().map_err(|error| error.to_string())?;
        let name = change.name.as_deref().unwrap_or_default();
        let request = self.args.task.request(&change.library, name, self.input.clone());
        engine.render(&request).map_err(|error| error.to_string())
    }

    /// Runs the loop as it is now.
    fn start(&mut self, change: &Change<()>) -> Result<(), CliError> {
        let name = change.name.as_deref().unwrap_or_default();
        let request = self.args.task.request(&change.library, name, self.input.clone());
        let cancel = request.cancel.clone();
        let reports = Reports::open(self.args.format, None, self.output, &cancel)?;
        let mut builder = self.args.task.models(Engine::builder(Arc::clone(&change.library)));
        if self.args.accept_script {
            builder = builder.accept_script();
        }
        let builder =
            reports.subscribers.iter().fold(builder, |builder, report| builder.subscriber(Arc::clone(report)));
        let output = self.output;
        let engine = builder.build().map_err(|error| cannot_start(&error))?;
        let task = tokio::spawn(async move {
            // A loop that cannot start is mended by the next change.
            if let Err(error) = engine.run(request).await {
                output.error(&cannot_start(&error));
            }
        });
        self.running = Some((cancel, task));
        Ok(())
    }

    /// Stops the run that goes on, if any, and waits for its `finish` hooks.
    async fn stop(&mut self) {
        if let Some((cancel, task)) = self.running.take() {
            cancel.cancel();
            // A task that panicked has nothing to say that was not printed.
            let _ = task.await;
        }
    }
}

/// The change as a run's event stream tells it.
fn event(change: &Change<()>) -> Event {
    Event::Reload {
        loop_name: change.name.clone().unwrap_or_default(),
        status: change.status,
        before: change.before.as_ref().map(ToString::to_string),
        after: change.after.to_string(),
        files: change.files.clone(),
        findings: change.told(),
    }
}

fn line(value: &impl serde::Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(value).map_err(|error| CliError::failed(error.to_string()))?;
    Ok(text + "\n")
}
