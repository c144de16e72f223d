//! What there is: capabilities by kind and name, and the search over them.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::kind::{Language, hint};
use super::search::{Search, Text};
use crate::event::CapabilityKind;

/// Something that a loop could use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The kind.
    pub kind: CapabilityKind,
    /// The name, unique within its kind.
    pub name: String,
    /// What it does or is for.
    pub description: String,
    /// When to use it, in the words of its author.
    pub usage: Option<String>,
    /// Further words by which it should be found, such as those of its parameters.
    pub keywords: String,
}

impl Capability {
    /// How to use it: what its author says, or what holds for its kind.
    #[must_use]
    pub fn usage_hint(&self, language: Language) -> String {
        let how = hint(self.kind, language);
        match (&self.usage, language) {
            (None, _) => how.to_owned(),
            (Some(usage), Language::English) => format!("{}; {how}", usage.trim().trim_end_matches('.')),
            (Some(usage), Language::Chinese) => format!("{}；{how}", usage.trim().trim_end_matches(['.', '。'])),
        }
    }

    /// The text that is searched beside the name.
    fn text(&self) -> String {
        let parts = [self.description.as_str(), self.usage.as_deref().unwrap_or(""), self.keywords.as_str()];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        said.join("\n")
    }
}

/// A capability that a search found.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The capability.
    pub capability: &'a Capability,
    /// How well it fits, to compare with others of the same search; above 0.
    pub score: f32,
    /// How much of what the query says is in it: 0 nothing, 1 everything.
    pub coverage: f32,
}

/// How much the surroundings of a query count beside it. A query says what is wanted; they only decide between hits that are close.
const ABOUT: f32 = 0.2;

/// All capabilities, by name and then by kind.
#[derive(Debug, Default)]
pub struct Registry {
    all: Vec<Capability>,
    places: HashMap<(CapabilityKind, String), usize>,
    duplicates: Vec<Capability>,
    search: OnceLock<Search>,
}

impl Registry {
    /// Takes capabilities from wherever they come. The first of a kind and name holds; see [`Self::duplicates`].
    #[must_use]
    pub fn new(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        let mut all: Vec<Capability> = capabilities.into_iter().collect();
        // The sort is stable, so the first of the same kind and name stays the first.
        all.sort_by(|a, b| a.name.cmp(&b.name).then(a.kind.cmp(&b.kind)));
        let mut registry = Self::default();
        for capability in all {
            let key = (capability.kind, capability.name.clone());
            if registry.places.contains_key(&key) {
                registry.duplicates.push(capability);
            } else {
                registry.places.insert(key, registry.all.len());
                registry.all.push(capability);
            }
        }
        registry
    }

    /// All of them, by name and then by kind.
    #[must_use]
    pub fn all(&self) -> &[Capability] {
        &self.all
    }

    /// Those that are not used, since another of their kind has the name.
    #[must_use]
    pub fn duplicates(&self) -> &[Capability] {
        &self.duplicates
    }

    /// The capability of a kind and name.
    #[must_use]
    pub fn get(&self, kind: CapabilityKind, name: &str) -> Option<&Capability> {
        self.places.get(&(kind, name.to_owned())).map(|place| &self.all[*place])
    }

    /// All capabilities of a name, in the order in which kinds are resolved.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Capability> {
        CapabilityKind::ALL.into_iter().filter_map(move |kind| self.get(kind, name))
    }

    /// The capabilities that fit the queries best, at most `limit`, the best first. No model is asked.
    ///
    /// The first search reads all capabilities, which takes about 15 ms a thousand.
    #[must_use]
    pub fn find(&self, queries: &[&str], limit: usize) -> Vec<Found<'_>> {
        self.find_where(queries, limit, |_| true)
    }

    /// The same among those that are allowed.
    #[must_use]
    pub fn find_where(&self, queries: &[&str], limit: usize, allowed: impl Fn(&Capability) -> bool) -> Vec<Found<'_>> {
        let search = self.search.get_or_init(|| {
            let texts: Vec<String> = self.all.iter().map(Capability::text).collect();
            let with_names = self.all.iter().zip(&texts);
            Search::new(with_names.map(|(capability, text)| Text { name: &capability.name, description: text }))
        });
        let hits = search.find_where(queries, limit, &|document| allowed(&self.all[document]));
        let found = |hit: super::search::Hit| Found {
            capability: &self.all[hit.document],
            score: hit.score,
            coverage: hit.coverage,
        };
        hits.into_iter().map(found).collect()
    }

    /// Ranks hits again by words that say what the work is about: one that fits them too moves up, none is added.
    #[must_use]
    pub fn ranked_by<'a>(&'a self, mut found: Vec<Found<'a>>, words: &str) -> Vec<Found<'a>> {
        let same = |a: &Capability, b: &Capability| std::ptr::eq(a, b);
        let about = self.find_where(&[words], found.len(), |one| found.iter().any(|hit| same(hit.capability, one)));
        let (Some(best), Some(most)) = (found.first().map(|hit| hit.score), about.first().map(|hit| hit.score)) else {
            return found;
        };
        for hit in &mut found {
            let share = about.iter().find(|other| same(other.capability, hit.capability));
            hit.score += ABOUT * best * share.map_or(0.0, |other| other.score / most);
        }
        // Stable: what fits neither better nor worse keeps its place.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(kind: CapabilityKind, name: &str, description: &str) -> Capability {
        Capability {
            kind,
            name: name.to_owned(),
            description: description.to_owned(),
            usage: None,
            keywords: String::new(),
        }
    }

    #[test]
    fn the_first_of_a_kind_and_name_holds() {
        let registry = Registry::new([
            capability(CapabilityKind::Tool, "b", "first"),
            capability(CapabilityKind::Skill, "a", "skill"),
            capability(CapabilityKind::Tool, "b", "second"),
            capability(CapabilityKind::Forge, "b", "forge"),
        ]);
        let names: Vec<String> = registry.all().iter().map(|one| format!("{} {}", one.kind, one.name)).collect();
        assert_eq!(names, ["skill a", "tool b", "forge b"]);
        assert_eq!(registry.get(CapabilityKind::Tool, "b").unwrap().description, "first");
        assert_eq!(registry.duplicates().len(), 1);
        assert_eq!(
            registry.named("b").map(|one| one.kind).collect::<Vec<_>>(),
            [CapabilityKind::Tool, CapabilityKind::Forge]
        );
        assert!(registry.get(CapabilityKind::FocusMode, "b").is_none());
    }

    #[test]
    fn usage_and_keywords_are_found_too() {
        let mut graph = capability(CapabilityKind::Tool, "draw", "Draws.");
        graph.usage = Some("For dependency graphs.".to_owned());
        graph.keywords = "output_format".to_owned();
        let registry = Registry::new([graph, capability(CapabilityKind::Skill, "other", "Something else.")]);
        assert_eq!(registry.find(&["dependency"], 5)[0].capability.name, "draw");
        assert_eq!(registry.find(&["format"], 5)[0].capability.name, "draw");
        assert!(registry.find(&[""], 5).is_empty() && registry.find(&[], 5).is_empty());
        assert!(registry.find(&["draw"], 0).is_empty());
    }

    #[test]
    fn what_the_work_is_about_decides_between_close_hits() {
        let registry = Registry::new([
            capability(CapabilityKind::Tool, "a_read", "Reads a table of a spreadsheet."),
            capability(CapabilityKind::Tool, "b_read", "Reads a table of a database."),
            capability(CapabilityKind::Tool, "furniture", "Makes a wooden desk."),
        ]);
        let names = |found: Vec<Found<'_>>| found.iter().map(|hit| hit.capability.name.clone()).collect::<Vec<_>>();
        let found = || registry.find(&["read a table"], 5);
        assert_eq!(names(found()), ["a_read", "b_read"]);
        assert_eq!(names(registry.ranked_by(found(), "databases, desk")), ["b_read", "a_read"]);
        assert_eq!(names(registry.ranked_by(found(), "")), ["a_read", "b_read"]);
        assert_eq!(names(registry.ranked_by(Vec::new(), "desk")), [""; 0]);
    }

    #[test]
    fn hints_are_the_authors_or_the_kinds() {
        let mut skill = capability(CapabilityKind::Skill, "x", "y");
        assert_eq!(skill.usage_hint(Language::English), "load it with `loading_skills`");
        skill.usage = Some("After a build.".to_owned());
        assert_eq!(skill.usage_hint(Language::English), "After a build; load it with `loading_skills`");
        assert_eq!(skill.usage_hint(Language::Chinese), "After a build；用 `loading_skills` 加载");
        for kind in CapabilityKind::ALL {
            assert_eq!(CapabilityKind::of(kind.name()), Some(kind));
            assert_ne!(hint(kind, Language::English), hint(kind, Language::Chinese));
        }
    }
}
