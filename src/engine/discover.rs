//! Discovery: a search for capabilities, applied to a loop. The registry ranks them; where that is unsure, the helper model
//! chooses from the catalog, and only names that exist count.

use std::time::Duration;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json, json};

use super::core::LoopCore;
use super::structured::Structured;
use crate::capability::{CHUNK, Capability, Found, Registry, chunks, is_unsure, known, list_others, result};
use crate::event::{CallPurpose, CapabilityKind, CapabilityRef, CatalogMatch, Event, ExtraCapability};
use crate::prompt::Trust;
use crate::state::{Frame, Scope};
use crate::verb::{Phase, SearchCall, StepFailure};

/// Hits of a search that does not say how many it wants.
const LIMIT: usize = 10;

/// How long the helper model is waited for, all parts of the catalog included.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often the helper model may try again when its reply does not fit.
const RETRIES: u32 = 1;

/// The names that a model may choose from one part of the catalog.
const MOST_CHOSEN: usize = 10;

impl LoopCore {
    /// Searches, remembers what was found, and tells it. The value is the result record.
    ///
    /// # Errors
    /// Only what ends the run: a model that fails is told, and the search goes without it.
    pub(super) async fn search_capabilities(&self, call: SearchCall, phase: Phase) -> Result<Value, StepFailure> {
        self.start_servers(phase).await?;
        let registry = &*self.edition.capabilities();
        let queries: Vec<&str> =
            call.queries.iter().map(|query| query.trim()).filter(|query| !query.is_empty()).collect();
        if queries.is_empty() && call.names.is_empty() {
            return Err(StepFailure::new("a search needs words to look for"));
        }
        let found = self.ranked(registry, &queries, call.limit.unwrap_or(LIMIT));
        let unsure = is_unsure(&found);
        let (chosen, catalog) = if !call.names.is_empty() {
            let (chosen, matched) = self.known(registry, &call.names);
            (chosen, Some(matched))
        } else if call.catalog.unwrap_or(unsure) {
            let (chosen, matched) = self.choose(registry, &queries.join("\n"), phase).await?;
            (chosen, Some(matched))
        } else {
            (Vec::new(), None)
        };
        let mut record = result(&found, &chosen, self.program.language);
        if call.all {
            let all = registry.all().iter().filter(|one| self.allows(one));
            list_others(&mut record, all, self.program.language, CHUNK);
        }
        let hits = record.details.iter().filter_map(|hit| registry.get(hit.kind, &hit.name));
        let usable = hits.filter(|one| self.may_use(one)).map(|one| self.as_extra(one)).collect();
        let listed =
            record.details.iter().map(|hit| CapabilityRef { name: hit.name.clone(), kind: hit.kind }).collect();
        let value = Value::from(Serde(&record));
        let added = self.state().remember_found(record, usable);
        self.events.emit(Event::Capability { queries: call.queries, found: listed, unsure, catalog, added });
        Ok(value)
    }

    /// The hits of kinds that the loop allows, ranked by the query and then by what the loop is doing.
    fn ranked<'a>(&self, registry: &'a Registry, queries: &[&str], limit: usize) -> Vec<Found<'a>> {
        // Further hits than are wanted may move up among these.
        let mut found = registry.find_where(queries, limit.saturating_mul(2), |one| self.allows(one));
        let about = self.words_of_perception();
        if !about.is_empty() {
            found = registry.ranked_by(found, &about);
        }
        found.truncate(limit);
        found
    }

    /// Topics and keywords, as perception sees them now.
    fn words_of_perception(&self) -> String {
        let perception = self.state().seen.perception.clone();
        let words = ["topics", "keywords"].into_iter().filter_map(|key| perception.get_attr(key).ok()?.try_iter().ok());
        words.flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>().join(" ")
    }

    /// Whether the loop may use this at all. What is part of the program is there only for loops that name it: a workspace that
    /// allows searches has not said that its models may write files.
    pub(super) fn allows(&self, capability: &Capability) -> bool {
        let (allow, name) = (&self.program.allow, capability.name.as_str());
        let kind_is_allowed = match capability.kind {
            CapabilityKind::Tool => allow.tool,
            CapabilityKind::Forge => allow.forge,
            CapabilityKind::Skill => allow.skill,
            // A loop that enters itself gets nowhere.
            CapabilityKind::FocusMode => allow.focus_mode && name != self.program.name,
        };
        kind_is_allowed && (self.offers(capability.kind, name) || !self.edition.is_shipped(capability.kind, name))
    }

    /// Whether the loop itself offers this to the model.
    fn offers(&self, kind: CapabilityKind, name: &str) -> bool {
        self.program.offered(kind).iter().any(|own| own == name)
    }

    /// Whether the model could use this, and does not see it already: it needs an action for its kind.
    fn may_use(&self, capability: &Capability) -> bool {
        let actions: &[&str] = match capability.kind {
            CapabilityKind::Tool => &["directly_call_tool", "require_tool", "load_capability"],
            CapabilityKind::Forge => &["require_ai_blueprint", "load_capability"],
            CapabilityKind::Skill => &["loading_skills", "load_capability"],
            CapabilityKind::FocusMode => &["enter_focus_mode", "load_capability"],
        };
        self.program.searches
            && actions.iter().any(|action| self.program.actions.contains_key(*action))
            && !self.offers(capability.kind, &capability.name)
    }

    pub(super) fn as_extra(&self, capability: &Capability) -> ExtraCapability {
        let params = match capability.kind {
            CapabilityKind::Tool => self.edition.toolbox.get(&capability.name).map(|tool| tool.params.clone()),
            CapabilityKind::Forge => self.edition.forge_input(&capability.name),
            CapabilityKind::Skill | CapabilityKind::FocusMode => None,
        };
        ExtraCapability {
            name: capability.name.clone(),
            kind: capability.kind,
            description: capability.description.clone(),
            usage: capability.usage_hint(self.program.language),
            params,
        }
    }

    /// What the model reads of a search: the names that it may use now.
    pub(super) fn told_of_search(&self, record: &Value) -> String {
        let names: Vec<String> = self.usable_names(record).iter().map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => "Nothing was found that you may use. Search in other words, or go on without.".to_owned(),
            false => {
                format!(
                    "Found, the best first: {}. How each is used stands in EXTRA_CAPABILITIES, or with what you have.",
                    names.join(", ")
                )
            }
        }
    }

    /// The hits of a result record that the model may use, the best first.
    pub(super) fn usable_names(&self, record: &Value) -> Vec<String> {
        let hits = record.get_attr("details").ok().and_then(|details| details.try_iter().ok());
        let found = hits.into_iter().flatten().filter_map(|hit| Some(hit.get_attr("name").ok()?.as_str()?.to_owned()));
        let state = self.state();
        let extra = state.capabilities.extra.iter().map(|one| &one.name);
        let usable: std::collections::HashSet<&String> = extra.chain(self.program.offered_names()).collect();
        found.filter(|name| usable.contains(name)).collect()
    }

    /// Whether the model may call this tool.
    pub(super) fn may_call(&self, tool: &str) -> bool {
        self.program.tools.iter().any(|own| own == tool) || (self.program.searches && self.state().found_tool(tool))
    }

    /// What the model may name of a kind: what the loop offers, and what was found.
    pub(super) fn names_of(&self, kind: CapabilityKind) -> Vec<String> {
        let state = self.state();
        let found = state.capabilities.extra.iter().filter(|one| one.kind == kind).map(|one| &one.name);
        self.program.offered(kind).iter().chain(found).cloned().collect()
    }

    /// The tools that the model may call, in a sentence.
    pub(super) fn tools_in_words(&self) -> String {
        let names = self.names_of(CapabilityKind::Tool);
        match names.is_empty() {
            true => "Search for one that does what you need.".to_owned(),
            false => format!("The tools are: {}.", names.join(", ")),
        }
    }

    /// Lets the helper model choose from the catalog, part by part.
    ///
    /// # Errors
    /// Only what ends the run.
    async fn choose<'a>(
        &self,
        registry: &'a Registry,
        need: &str,
        phase: Phase,
    ) -> Result<(Vec<&'a Capability>, CatalogMatch), StepFailure> {
        let parts = chunks(registry.all().iter().filter(|one| self.allows(one)), CHUNK);
        let mut names: Vec<String> = Vec::new();
        let mut matched =
            CatalogMatch { chunks: u32::try_from(parts.len()).unwrap_or(u32::MAX), ..CatalogMatch::default() };
        let asking = async {
            for part in parts {
                names.extend(self.ask_for_names(need, part, phase).await?);
            }
            Ok(())
        };
        matched.error = match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(())) => None,
            Ok(Err(StepFailure::Failed(words))) => Some(words),
            Ok(Err(end)) => return Err(end),
            Err(_) => Some(format!("no answer within {} s", PATIENCE.as_secs())),
        };
        let (chosen, of_names) = self.known(registry, &names);
        Ok((chosen, CatalogMatch { chosen: of_names.chosen, unknown: of_names.unknown, ..matched }))
    }

    /// What names mean that somebody chose; those of nothing are counted.
    fn known<'a>(&self, registry: &'a Registry, names: &[String]) -> (Vec<&'a Capability>, CatalogMatch) {
        let (chosen, unknown) = known(names, registry, |one| self.allows(one));
        let chosen_names = chosen.iter().map(|one| one.name.clone()).collect();
        (chosen, CatalogMatch { chosen: chosen_names, unknown, ..CatalogMatch::default() })
    }

    async fn ask_for_names(&self, need: &str, part: String, phase: Phase) -> Result<Vec<String>, StepFailure> {
        let schema = json!({
            "type": "object",
            "required": ["names"],
            "additionalProperties": false,
            "properties": { "names": {
                "type": "array", "items": { "type": "string" }, "maxItems": MOST_CHOSEN,
                "description": "Names from CATALOG that would help, the best first; none when nothing would."
            } }
        });
        let frame = Frame::default().with("schema", Value::from(Serde(&schema)));
        let context = Scope::new(self.base.clone(), frame).context();
        let file = |name: &str| self.render_own(name, &context);
        let call = Structured {
            purpose: CallPurpose::Catalog,
            tier: "helper",
            system: file("prompts/engine/forge.md.j2")?,
            sections: vec![
                ("CATALOG", part, Trust::Untrusted),
                ("NEED", need.to_owned(), Trust::Untrusted),
                ("TASK", file("prompts/engine/catalog.md.j2")?, Trust::Trusted),
            ],
            schema: &schema,
            stream: IndexMap::new(),
            retries: RETRIES,
            max_tokens: None,
        };
        let object = self.structured(call, phase).await?;
        let names = object.get("names").and_then(Json::as_array).into_iter().flatten();
        Ok(names.filter_map(Json::as_str).map(str::to_owned).collect())
    }
}

/// The search that the model's action asks for.
pub(super) fn asked(params: &Map<String, Json>) -> SearchCall {
    let one = params.get("query").and_then(Json::as_str);
    let more = params.get("queries").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    SearchCall { queries: one.into_iter().chain(more).map(str::to_owned).collect(), ..SearchCall::default() }
}
