//! A program that embeds the engine: it registers a skill written in Rust, and runs a loop whose model uses it.
//!
//! ```sh
//! cargo run --example embedding
//! ```
//!
//! The workspace is written into a temporary folder, and its replies come from a file, so that no model is needed.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopwright::invoke::{FnSkill, Manifest, Middleware, Skill};
use loopwright::{Engine, Library, Outcome, RunRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the skill takes: the schema that the model reads is made from this type and its comments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Harvest {
    /// How many apples lie in each crate.
    crates: Vec<u32>,
}

/// What it gives.
#[derive(Serialize)]
struct Weight {
    apples: u32,
    grams: u32,
}

/// A skill: what the model is told of it, what it reads when it loads it, and what happens when it is called.
fn weigh_apples() -> impl Skill {
    let manifest = Manifest::new("weigh-apples", "Weighs a harvest. Use when somebody asks how much there is.")
        .instructions("Call `weigh-apples` with the number of apples in each crate. An apple weighs 150 g.");
    FnSkill::new(manifest, |harvest: Harvest| async move {
        let apples: u32 = harvest.crates.iter().sum();
        if apples == 0 {
            // The model reads this, and the loop goes on.
            return Err("there is no apple in these crates".into());
        }
        Ok(Weight { apples, grams: apples * 150 })
    })
}

/// The workspace: `accept` lets the replies answer whatever is asked, in their order.
const WORKSPACE: &str = "\
kind: workspace
models: { script: { provider: replay, path: replies.yaml, accept: true } }
tiers: { main: script }
";

const LOOP: &str = "\
name: orchard
description: Answer questions about the harvest.
limits: { max_iterations: 5 }
prompt: { instruction: Answer the question in USER_QUERY. Count with the skill and never in your head. }
";

const REPLIES: &str = r#"
kind: script
note: Replies written by hand for this example.
protocol: json
exchanges:
- reply: { text: '{"@action": "loading_skills", "names": ["weigh-apples"]}' }
- reply: { text: '{"@action": "directly_call_tool", "tool_name": "weigh-apples", "params": {"crates": [12, 30]}}' }
- reply: { text: '{"@action": "directly_answer", "answer_payload": "The harvest weighs 6.3 kg."}' }
"#;

/// Runs the loop `orchard` with that skill, in a workspace that is made in this folder.
pub async fn run(folder: &Path) -> Result<Outcome, Box<dyn Error>> {
    fs::create_dir_all(folder.join("loops"))?;
    for (name, text) in [("loopwright.yaml", WORKSPACE), ("loops/orchard.yaml", LOOP), ("replies.yaml", REPLIES)] {
        fs::write(folder.join(name), text)?;
    }
    let (library, _findings) = Library::open(folder);
    let layers = vec![Middleware::timeout(Duration::from_secs(5)), Middleware::concurrency(2)];
    let engine = Engine::builder(Arc::new(library)).skill_with(Arc::new(weigh_apples()), layers).build()?;
    let input = "How much do two crates with 12 and 30 apples weigh?".to_owned();
    let request = RunRequest { loop_name: "orchard".to_owned(), input, ..RunRequest::default() };
    Ok(engine.run(request).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let outcome = run(folder.path()).await?;
    println!("{} ({})", outcome.answer.unwrap_or_default(), outcome.reason.name());
    Ok(())
}
