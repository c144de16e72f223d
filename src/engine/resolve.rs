//! `load_capability`: what a name turns out to be, and what follows: a tool is called, a forge is run, a skill is loaded, a focus
//! mode is entered; for a name of nothing, the one that was meant is looked for.

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::batch::{Call, CallResult};
use super::core::LoopCore;
use super::structured::wants_object;
use crate::capability::Registry;
use crate::document::ForgeDoc;
use crate::event::{CapabilityKind, Event, LoadOutcome};
use crate::verb::{ForgeCall, LoadCall, LoopCall, Phase, SearchCall, StepFailure};

/// What a name brought.
pub(super) struct Used {
    pub(super) kind: CapabilityKind,
    pub(super) outcome: LoadOutcome,
    pub(super) result: Value,
    /// What the model reads of it.
    pub(super) told: String,
    /// The call, when it was a tool's.
    pub(super) calls: Vec<CallResult>,
}

/// How many capabilities that go with a skill are named.
const RELATED: usize = 3;

/// The last actions that a model sees which is asked for parameters.
const ACTIONS: usize = 3;

impl Used {
    fn new(kind: CapabilityKind, outcome: LoadOutcome, result: Value, told: String) -> Self {
        Self { kind, outcome, result, told, calls: Vec::new() }
    }

    /// For steps.
    pub(super) fn value(&self) -> Value {
        Value::from_pairs([
            ("type", Value::from(self.kind.name())),
            ("outcome", Value::from(self.outcome.name())),
            ("result", self.result.clone()),
        ])
    }
}

impl LoopCore {
    /// Uses something by its name.
    ///
    /// # Errors
    /// Why it could not be used, in words; what ends the run.
    pub(super) async fn load_capability(&self, call: LoadCall, phase: Phase) -> Result<Used, StepFailure> {
        let identifier = call.identifier.trim().trim_matches(['`', '"', '\'']).to_owned();
        let registry = &*self.edition.capabilities();
        let Some(kind) = self.kind_of(registry, &identifier, call.kind) else {
            return self.unknown(&identifier, call.kind, phase).await;
        };
        let used = match kind {
            CapabilityKind::Tool => self.use_tool(&identifier, phase).await,
            CapabilityKind::Forge => self.use_forge(&identifier, call.params, phase).await,
            CapabilityKind::Skill => self.use_skill(&identifier, phase).await,
            CapabilityKind::FocusMode => self.use_focus_mode(&identifier, call.task).await,
        };
        let (outcome, detail) = match &used {
            Ok(used) => (used.outcome, None),
            Err(failure) => (LoadOutcome::Failed, Some(failure.to_string())),
        };
        // A forge that cannot run now may have given its place to a skill.
        let kind = Some(used.as_ref().map_or(kind, |used| used.kind));
        self.events.emit(Event::Load { identifier, kind, outcome, detail });
        used
    }

    /// What a name means, of what the loop may use.
    fn kind_of(&self, registry: &Registry, name: &str, wanted: Option<CapabilityKind>) -> Option<CapabilityKind> {
        let known = registry.named(name).find(|one| self.allows(one) && wanted.is_none_or(|kind| kind == one.kind));
        if let Some(one) = known {
            return Some(one.kind);
        }
        let may_be = |kind| wanted.is_none_or(|wanted| wanted == kind);
        // Not in the registry: a tool of a server that has not been started, and a loop that is hidden but listed.
        if may_be(CapabilityKind::Tool) && self.program.allow.tool && self.edition.toolbox.server_of(name).is_some() {
            return Some(CapabilityKind::Tool);
        }
        let listed = self.program.focus_modes.iter().any(|own| own == name);
        (may_be(CapabilityKind::FocusMode) && listed).then_some(CapabilityKind::FocusMode)
    }

    /// A tool is called; its parameters are asked for if it has some. From then on the model may call it again.
    async fn use_tool(&self, name: &str, phase: Phase) -> Result<Used, StepFailure> {
        let tool = self.find_tool(name, phase).await?;
        if let Some(one) = self.edition.capabilities().get(CapabilityKind::Tool, name)
            && !self.program.tools.iter().any(|own| own == name)
        {
            let extra = self.as_extra(one);
            self.state().add_extra(vec![extra]);
        }
        let bare = Call { tool: name.to_owned(), params: json!({}), identifier: None, reason: None };
        let has_params = tool.params.get("properties").and_then(Json::as_object).is_some_and(|own| !own.is_empty());
        let params = match has_params {
            true => self.ask_for_parameters(&bare, self.recent_words()).await?,
            false => bare.params.clone(),
        };
        let call = Call { params, ..bare };
        let value = self.call_tool(name, Value::from(Serde(&call.params)), None, phase, true).await?;
        let told = super::act::outcome_text(&value);
        let calls = vec![CallResult { call, outcome: Ok(value.clone()) }];
        Ok(Used { calls, ..Used::new(CapabilityKind::Tool, LoadOutcome::Called, value, told) })
    }

    /// A forge takes the work over, or runs in its place. One that cannot take it over gives way to a skill of its name.
    pub(super) async fn use_forge(&self, name: &str, params: Option<Json>, phase: Phase) -> Result<Used, StepFailure> {
        let loaded = self.edition.library.forges.get(name);
        let loaded = loaded.ok_or_else(|| StepFailure::new(format!("there is no forge named `{name}`")))?;
        let doc = &loaded.doc;
        // In a `finish` hook the loop is over already: nobody is left to hand anything over.
        let hands_over = doc.hands_over && !phase.finishing;
        if hands_over && self.is_async() {
            let skill = self.program.allow.skill && self.edition.toolbox.skills().get(name).is_some();
            return if skill {
                self.use_skill(name, phase).await
            } else {
                let words = "this task has handed its work over already, and nothing is handed over twice";
                Err(StepFailure::new(format!("the forge `{name}` cannot run: {words}")))
            };
        }
        let input = self.forge_input(doc, params, phase).await?;
        if hands_over {
            let task = self.hand_over(doc, input)?;
            let told = format!("The forge `{name}` has taken the work over.");
            return Ok(Used::new(CapabilityKind::Forge, LoadOutcome::HandedOver, Value::from(task), told));
        }
        let call = ForgeCall { forge: name.to_owned(), input, tier: None, stream: Vec::new() };
        let value = self.call_forge(call, phase).await?;
        let told = super::act::outcome_text(&value);
        Ok(Used::new(CapabilityKind::Forge, LoadOutcome::Ran, value, told))
    }

    /// A forge's input: what the model gave, what it is asked for, or the loop's own where the forge takes anything.
    async fn forge_input(&self, doc: &ForgeDoc, given: Option<Json>, phase: Phase) -> Result<Value, StepFailure> {
        let given = given.filter(|given| given.as_object().is_none_or(|fields| !fields.is_empty()));
        let Some(input) = &doc.input else {
            return Ok(given.map_or_else(|| self.base.input.clone(), |given| Value::from(Serde(&given))));
        };
        let given = match given {
            Some(given) => given,
            None => self.ask_for_input(doc, &input.schema, self.recent_words(), phase).await?,
        };
        // Whatever is no object came, or was asked for, as the one field of one.
        let value = match (wants_object(&input.schema), given) {
            (false, Json::Object(mut fields)) if fields.len() == 1 && fields.contains_key("input") => {
                fields.remove("input").unwrap_or_default()
            }
            (_, given) => given,
        };
        Ok(Value::from(Serde(&value)))
    }

    /// A skill is loaded, and what goes with it is named.
    async fn use_skill(&self, name: &str, phase: Phase) -> Result<Used, StepFailure> {
        let views = self.load_skills(&[name.to_owned()])?;
        let mut told = super::skills::told(&views);
        let about = self.edition.toolbox.skills().get(name).map(|skill| skill.description.clone()).unwrap_or_default();
        if self.program.searches && !about.trim().is_empty() {
            let search = SearchCall {
                queries: vec![about],
                limit: Some(RELATED + 1),
                catalog: Some(false),
                ..SearchCall::default()
            };
            let record = self.search_capabilities(search, phase).await?;
            let related = self.usable_names(&record);
            let related: Vec<String> = related
                .into_iter()
                .filter(|other| other != name)
                .take(RELATED)
                .map(|name| format!("`{name}`"))
                .collect();
            if !related.is_empty() {
                told.push_str(&format!(" What may go with it: {}.", related.join(", ")));
            }
        }
        Ok(Used::new(CapabilityKind::Skill, LoadOutcome::Loaded, super::skills::value_of(&views), told))
    }

    /// A focus mode does a part of the task, as a task of its own that this loop waits for.
    async fn use_focus_mode(&self, name: &str, task: Option<String>) -> Result<Used, StepFailure> {
        if let Some(around) = self.line.iter().find(|around| around.name == name) {
            let words = "it is running already, around this loop; do the work here, or enter another one";
            return Err(StepFailure::new(format!("the focus mode `{}` cannot be entered: {words}", around.name)));
        }
        let task = task.filter(|task| !task.trim().is_empty());
        let input = task.map_or_else(|| self.base.input.clone(), Value::from);
        let place = self.task_of("focus", name);
        let value = self.run_subtask(LoopCall { name: name.to_owned(), input, set: Vec::new() }, &place).await?;
        let text = |key: &str| value.get_attr(key).ok().and_then(|value| value.as_str().map(str::to_owned));
        let reason = text("reason").unwrap_or_default();
        let told = match text("answer") {
            Some(answer) => format!("The focus mode `{name}` ended ({reason}). Its answer:\n{answer}"),
            None => format!("The focus mode `{name}` ended ({reason}) without an answer."),
        };
        let told = super::act::outcome_text(&Value::from(told));
        Ok(Used::new(CapabilityKind::FocusMode, LoadOutcome::Entered, value, told))
    }

    /// What the loop did last, for a model that is asked for parameters.
    fn recent_words(&self) -> String {
        format!("{}\n\n{}", self.actions_text(ACTIONS), self.notes_text()).trim().to_owned()
    }
}
