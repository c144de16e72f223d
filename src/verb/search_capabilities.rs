//! `search_capabilities`: looks for what the loop could use.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{Strings, decode_string_or, string_or};
use super::{Group, SearchCall, StepContext, StepFailure, Verb};

/// A search for capabilities.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SearchCapabilities(SearchArgs);

/// What is searched for, and how.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CapabilitySearch")]
struct SearchArgs {
    /// What is needed, in any words, or a name. A template.
    #[serde(default)]
    query: Option<String>,
    /// Further sides of the same need. Templates.
    #[serde(default)]
    queries: Strings,
    /// The most hits. Default: 10.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
    /// Whether the helper model is shown the whole catalog. Default: when the search alone is unsure.
    #[serde(default)]
    catalog: Option<bool>,
    /// Names that count as found, before all others, if they exist: what a loop or a person chose. Templates.
    #[serde(default)]
    names: Strings,
    /// Whether the report lists all others behind the hits, as far as 30 KiB hold. Default: false.
    #[serde(default)]
    all: bool,
}

impl Verb for SearchCapabilities {
    const NAME: &'static str = "search_capabilities";
    const GROUP: Group = Group::Capability;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let SearchArgs { query, queries, limit, catalog, names, all } = &self.0;
        let one = query.as_ref().map(|query| cx.text(query)).transpose()?;
        let queries = one.into_iter().chain(queries.render(cx)?).collect();
        let call = SearchCall { queries, limit: *limit, catalog: *catalog, names: names.render(cx)?, all: *all };
        cx.host.search_capabilities(call, cx).await
    }
}

impl<'de> Deserialize<'de> for SearchCapabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let short = |query| SearchArgs { query: Some(query), ..SearchArgs::default() };
        decode_string_or(deserializer, short).map(Self)
    }
}

impl JsonSchema for SearchCapabilities {
    fn schema_name() -> Cow<'static, str> {
        "SearchCapabilitiesStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!(["{{ input }}", { "query": "{{ input }}", "queries": ["{{ perception.summary }}"], "limit": 5, "catalog": false }]);
        let description = "Looks for tools, forges, skills and focus modes: what is needed, or { query, queries, limit, catalog, names, all }. The result is the result record, which stays as `capabilities`; what the model may use of it stands in the section EXTRA_CAPABILITIES from the next turn on.";
        string_or::<SearchArgs>(generator, description, examples)
    }
}
