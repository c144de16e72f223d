//! The context that the tests run verbs in.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use minijinja::Value;
use minijinja::value::Serde;

use crate::diag::{Diagnostics, SourceMap};
use crate::event::{Envelope, Event, EventStream, RunId, Subscriber};
use crate::model::BoxFuture;
use crate::policy::Access;
use crate::state::{Frame, RunFacts, RunState, Scope, ScopeBase, Totals, Vars};
use crate::syntax::Node;
use crate::template::{Templates, TemplatesBuilder};
use crate::verb::{
    AnyStep, ForgeCall, Host, LoadCall, LoopCall, ReflectCall, SearchCall, StepContext, StepFailure, ToolCallRequest,
    find,
};

/// Everything that a step needs, for one test.
pub(super) struct World {
    pub(super) state: Arc<Mutex<RunState>>,
    pub(super) access: Access,
    pub(super) host: FakeHost,
    events: EventStream,
    seen: Arc<Collect>,
    templates: Templates,
    frame: Frame,
}

#[derive(Default)]
struct Collect(Mutex<Vec<Event>>);

impl Subscriber for Collect {
    fn on_event(&self, event: &Envelope) {
        self.0.lock().unwrap().push(event.event.clone());
    }
}

/// Notes what it is asked, and answers with it.
#[derive(Default)]
pub(super) struct FakeHost {
    pub(super) answer: Option<String>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl FakeHost {
    fn note<T: std::fmt::Debug>(&self, call: T) -> Value {
        let words = format!("{call:?}");
        self.asked.lock().unwrap().push(words.clone());
        Value::from(words)
    }
}

impl Host for FakeHost {
    fn forge<'a>(&'a self, call: ForgeCall, _: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn tool<'a>(&'a self, call: ToolCallRequest, _: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn run_loop<'a>(&'a self, call: LoopCall, _: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn ask<'a>(
        &'a self,
        question: String,
        options: Vec<String>,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, StepFailure>> {
        Box::pin(async move {
            self.note((question, options));
            Ok(self.answer.clone())
        })
    }
    fn load_skills<'a>(
        &'a self,
        names: Vec<String>,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(names)) })
    }

    fn perceive<'a>(&'a self, reason: String, _: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(("perceive", reason))) })
    }
    fn reflect<'a>(&'a self, call: ReflectCall, _: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn search_capabilities<'a>(
        &'a self,
        call: SearchCall,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn load_capability<'a>(
        &'a self,
        call: LoadCall,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(call)) })
    }
    fn check_spin<'a>(
        &'a self,
        review: Option<bool>,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(("check_spin", review))) })
    }
    fn verify_goal<'a>(
        &'a self,
        reason: Option<String>,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.note(("verify_goal", reason))) })
    }
}

impl World {
    /// A world whose workspace is `root`.
    pub(super) fn in_folder(root: &Path) -> Self {
        Self::with_access(Access::new(root, &[root.to_path_buf()], Vec::new()))
    }

    /// A world without files.
    pub(super) fn new() -> Self {
        Self::in_folder(Path::new("/nonexistent-workspace"))
    }

    pub(super) fn with_access(access: Access) -> Self {
        let seen = Arc::new(Collect::default());
        Self {
            state: Arc::default(),
            access,
            host: FakeHost::default(),
            events: EventStream::new(RunId("r1".into()), vec![seen.clone()], crate::event::Secrets::default()),
            seen,
            templates: TemplatesBuilder::new().build(),
            frame: Frame::default(),
        }
    }

    /// Declares state variables.
    pub(super) fn vars(self, declared: serde_json::Value) -> Self {
        self.state.lock().unwrap().vars = Vars::new(&serde_json::from_value(declared).unwrap()).unwrap();
        self
    }

    /// Sets a name that templates see.
    pub(super) fn with(mut self, name: &str, value: serde_json::Value) -> Self {
        self.frame.set(name, Value::from(Serde(&value)));
        self
    }

    /// Notes a step's result, as the engine does.
    pub(super) fn with_step(mut self, id: Option<&str>, result: &serde_json::Value) -> Self {
        self.frame.step_result(id, Value::from(Serde(result)));
        self
    }

    /// Runs `verb: arguments`.
    pub(super) async fn run(&self, verb: &str, args: serde_json::Value) -> Result<serde_json::Value, String> {
        let step = step(verb, &args).map_err(|found| format!("{found:?}"))?;
        let base = ScopeBase {
            input: Value::from("the input"),
            facts: RunFacts { id: "r1".into(), loop_name: "test".into(), max_iterations: 3, started: Instant::now() },
            workspace: Value::from(()),
            env: Value::from(()),
            tools: Value::from(()),
            skills: Arc::default(),
            totals: Arc::new(Mutex::new(Totals::default())),
            state: Arc::clone(&self.state),
        };
        let scope = Scope::new(Arc::new(base), self.frame.clone());
        let cx = StepContext {
            scope: &scope,
            templates: &self.templates,
            state: &self.state,
            events: &self.events,
            access: &self.access,
            host: &self.host,
            phase: crate::verb::Phase::WORK,
        };
        match step.run(&cx).await {
            Ok(value) => Ok(serde_json::to_value(&value).unwrap()),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// The events so far.
    pub(super) fn events(&self) -> Vec<Event> {
        self.seen.0.lock().unwrap().clone()
    }
}

/// Decodes a step's arguments.
pub(super) fn step(verb: &str, args: &serde_json::Value) -> Result<Box<dyn AnyStep>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let step =
        find(verb).unwrap_or_else(|| panic!("no verb `{verb}`")).decode(&Node::synthetic(args), &mut diagnostics);
    match step {
        Some(step) if !diagnostics.has_errors() => Ok(step),
        _ => Err(diagnostics),
    }
}

/// Decodes a step's arguments from YAML, as a document has them; the errors as text with their places.
pub(super) fn decode_errors(verb: &str, yaml: &str) -> Vec<(String, String, Option<String>)> {
    let mut sources = SourceMap::new();
    let id = sources.add("step.yaml", yaml);
    let mut diagnostics = Diagnostics::new();
    if let Some(node) = crate::syntax::parse(id, yaml, crate::syntax::Format::Yaml, &mut diagnostics) {
        find(verb).unwrap().decode(&node, &mut diagnostics);
    }
    let place = |d: &crate::diag::Diagnostic| {
        d.span.map(|span| yaml[span.start as usize..span.end as usize].to_owned()).unwrap_or_default()
    };
    diagnostics.iter().map(|d| (place(d), d.message.clone(), d.help.clone())).collect()
}
