//! `model ask`: one call to a model, which shows whether a provider works.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, input, library, runtime};
use crate::diag::{did_you_mean, list_words};
use crate::engine::{MODEL_HELP, environment_model};
use crate::load::Library;
use crate::model::retry::{RetryPolicy, next_delay, random};
use crate::model::{BuildContext, Finish, Model, ModelError, ModelSetupError, PROVIDERS, Reply, ask, provider};

/// Try a model.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Send one text to a model and print what comes back
    Ask(Ask),
}

/// Send one text to a model and print what comes back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright model ask \"Say hello.\"\n  \
                  loopwright model ask --tier speed \"Say hello.\"\n  \
                  loopwright model ask --provider openai --base-url http://127.0.0.1:8080/v1 --model local \"Say hello.\"\n  \
                  loopwright model ask --provider anthropic --model claude-sonnet-5 --api-key-env MY_KEY --format json hi\n\n\
                  Exits with 0 when a reply came, with 1 when the call failed.")]
struct Ask {
    /// What the model is asked: a text, @FILE, or - for standard input
    text: String,
    /// A tier or a model of the workspace [default: what a run would ask]
    #[arg(long, value_name = "TIER", conflicts_with = "provider")]
    tier: Option<String>,
    /// A provider, instead of the workspace's models
    #[arg(long, requires = "model")]
    provider: Option<String>,
    /// Where the provider's API begins, up to /v1 [default: the provider's own]
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,
    /// The model's name, as the provider knows it
    #[arg(long, requires = "provider")]
    model: Option<String>,
    /// The environment variable that holds the key [default: the provider's own]
    #[arg(long, value_name = "VARIABLE", requires = "provider")]
    api_key_env: Option<String>,
    /// How long the server may be silent, such as 3s
    #[arg(long, value_name = "TIME", value_parser = wait)]
    idle_timeout: Option<String>,
    /// Make one attempt only, whatever goes wrong
    #[arg(long)]
    no_retry: bool,
    /// How the reply is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn wait(text: &str) -> Result<String, String> {
    crate::model::Wait::parse(text).map(|_| text.to_owned())
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        What::Ask(args) => run_ask(args, context),
    }
}

fn run_ask(args: &Ask, context: &Context) -> CliResult {
    let text = input::Input::read(&args.text)?.text;
    let model = build(args, context)?;
    model.ready().map_err(|error| setup_failed(&error))?;
    let policy = if args.no_retry { RetryPolicy::none() } else { RetryPolicy::default() };
    let result = runtime()?.block_on(ask_until_done(&*model, &text, &policy, context));
    match args.format {
        Format::Json => context.output.json(&as_json(&result))?,
        Format::Text => as_text(&result, &*model, context)?,
    }
    Ok(if result.is_ok() { code::SUCCESS } else { code::FAILED })
}

/// Asks again after failures that may pass, saying so.
async fn ask_until_done(
    model: &dyn Model,
    text: &str,
    policy: &RetryPolicy,
    context: &Context,
) -> Result<Reply, ModelError> {
    let mut attempt = 1;
    loop {
        let error = match ask(model, text).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let Some(wait) = next_delay(policy, attempt, &error, &mut random) else { return Err(error) };
        let seconds = wait.as_secs_f64();
        context.output.note(&format!("{} ({}); asking again in {seconds:.1} s", error.message, error.class.name()));
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

fn build(args: &Ask, context: &Context) -> Result<Arc<dyn Model>, CliError> {
    let (name, mut settings, root) = match &args.provider {
        Some(name) => (name.clone(), given(args, name), std::env::current_dir().unwrap_or_default()),
        None => {
            let library = library::open(context, None)?;
            let (name, settings) = match &args.tier {
                Some(word) => configured(&library, word)?,
                None => usual(&library)?,
            };
            (name, settings, library.root)
        }
    };
    if let Some(wait) = &args.idle_timeout {
        settings.insert("idle_timeout".to_owned(), json!(wait));
    }
    let found = provider(&name).map_err(|error| {
        let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
        let error = setup_failed(&error);
        match did_you_mean(&name, &known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
    })?;
    found.build(&Value::Object(settings), &BuildContext::new(root)).map_err(|error| setup_failed(&error))
}

/// The settings that the flags make up.
fn given(args: &Ask, provider: &str) -> Map<String, Value> {
    let mut settings = Map::new();
    settings.insert("provider".to_owned(), json!(provider));
    settings.insert("model".to_owned(), json!(args.model));
    if let Some(url) = &args.base_url {
        settings.insert("base_url".to_owned(), json!(url));
    }
    if let Some(variable) = &args.api_key_env {
        settings.insert("api_key".to_owned(), json!({ "env": variable }));
    }
    settings
}

/// The model that a run would ask: the workspace's main tier, else what the environment names.
fn usual(library: &Library) -> Result<(String, Map<String, Value>), CliError> {
    if library.workspace.doc.tiers.named.contains_key("main") {
        return configured(library, "main");
    }
    let named = environment_model(&|name| std::env::var(name).ok());
    let Some(spec) = named else {
        return Err(CliError::usage("No model is configured").hint(MODEL_HELP));
    };
    if spec.provider.is_empty() {
        return configured(library, &spec.model);
    }
    match spec.settings() {
        Value::Object(settings) => Ok((spec.provider, settings)),
        _ => Err(CliError::usage("No model is configured").hint(MODEL_HELP)),
    }
}

/// The provider and the settings of a tier or a model of the workspace.
fn configured(library: &Library, word: &str) -> Result<(String, Map<String, Value>), CliError> {
    let workspace = &library.workspace.doc;
    let name = workspace.tiers.named.get(word).map_or(word, |model| model.value.as_str());
    let Some(model) = workspace.models.get(name) else {
        let words: Vec<&str> =
            workspace.tiers.named.keys().chain(workspace.models.keys()).map(String::as_str).collect();
        let error = CliError::usage(format!("The workspace has no tier or model `{word}`"));
        return Err(match did_you_mean(word, &words) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if words.is_empty() => error.hint(
                "declare one under `models` in loopwright.yaml, or name a provider: --provider openai --model NAME",
            ),
            None => error.hint(format!("it has {}", list_words(&words))),
        });
    };
    let Value::Object(settings) = model.settings.node().to_json() else {
        return Err(CliError::usage(format!("The model `{name}` is not a map")));
    };
    Ok((model.provider.value.clone(), settings))
}

fn setup_failed(error: &ModelSetupError) -> CliError {
    CliError::usage(error.to_string())
}

fn as_json(result: &Result<Reply, ModelError>) -> Value {
    let error = result.as_ref().err();
    let (text, reasoning, finish, usage) = match result {
        Ok(reply) => (&reply.text, &reply.reasoning, reply.finish.map(Finish::name), reply.usage),
        Err(error) => (&error.partial_text, &error.partial_reasoning, None, error.usage),
    };
    let mut shown = json!({
        "text": text,
        "reasoning": reasoning,
        "finish": finish,
        "usage": usage,
        "error_class": error.map(|error| error.class.name()),
        "retry_after_ms": error.and_then(|error| error.retry_after).map(|wait| u64::try_from(wait.as_millis()).ok()),
    });
    if let Ok(Reply { calls, .. }) = result
        && !calls.is_empty()
    {
        shown["calls"] = json!(calls);
    }
    if let Some(error) = error {
        shown["message"] = json!(error.message);
        shown["status"] = json!(error.status);
    }
    shown
}

fn as_text(result: &Result<Reply, ModelError>, model: &dyn Model, context: &Context) -> Result<(), CliError> {
    let output = context.output;
    let reply = match result {
        Ok(reply) => reply,
        Err(error) => {
            let wait = error.retry_after.map(|wait| format!("; the provider asks to wait {} s", wait.as_secs_f64()));
            let failed = CliError::failed(format!("{} ({})", error.message, error.class.name()));
            output.error(&match wait {
                Some(wait) => failed.hint(wait.trim_start_matches("; ").to_owned()),
                None => failed,
            });
            return Ok(());
        }
    };
    if !reply.reasoning.is_empty() {
        output.note(&format!("reasoning: {}", reply.reasoning.trim()));
    }
    output.data(&output.for_people(&format!("{}\n", reply.text.trim_end_matches('\n'))))?;
    let finish = reply.finish.map_or("no reason given", Finish::name);
    let usage = reply
        .usage
        .map_or("no usage reported".to_owned(), |usage| format!("{} tokens in, {} out", usage.input, usage.output));
    output.note(&format!("{} (finish: {finish}; {usage})", model.info().label()));
    Ok(())
}
