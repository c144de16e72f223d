//! The whole catalog as text for a model that chooses from it, and what holds of the names that it gives back.

use std::collections::HashSet;

use super::registry::{Capability, Registry};
use super::result::one_line;

/// The most bytes of the catalog that a model sees at once: some 8,000 tokens, of which a helper model still finds one line.
pub const CHUNK: usize = 30 * 1024;

/// The catalog in parts of at most `most` bytes, a line a capability. A line is never cut, since it is short.
pub fn chunks<'a>(capabilities: impl IntoIterator<Item = &'a Capability>, most: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for one in capabilities {
        let line = format!("- {} ({}): {}\n", one.name, one.kind, one_line(&one.description));
        match parts.last_mut() {
            Some(part) if part.len() + line.len() <= most => part.push_str(&line),
            _ => parts.push(line),
        }
    }
    parts
}

/// The capabilities that a model's names mean, each once, and how many names mean none. Quotes around a name do not count.
pub fn known<'a>(
    names: &[String],
    registry: &'a Registry,
    allowed: impl Fn(&Capability) -> bool,
) -> (Vec<&'a Capability>, u32) {
    let (mut found, mut unknown) = (Vec::new(), 0);
    let mut seen = HashSet::new();
    for name in names {
        let name = name.trim().trim_matches(['`', '"', '\'']);
        if !seen.insert(name) {
            continue;
        }
        match registry.named(name).find(|one| allowed(one)) {
            Some(one) => found.push(one),
            None => unknown += 1,
        }
    }
    (found, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CapabilityKind;

    fn registry(count: usize) -> Registry {
        Registry::new((0..count).map(|n| Capability {
            kind: if n % 2 == 0 { CapabilityKind::Tool } else { CapabilityKind::Skill },
            name: format!("c{n:03}"),
            description: "Does\nsomething.".to_owned(),
            usage: None,
            keywords: String::new(),
        }))
    }

    #[test]
    fn parts_are_full_and_none_is_too_long() {
        let registry = registry(10);
        let parts = chunks(registry.all(), 70);
        assert_eq!(parts[0], "- c000 (tool): Does something.\n- c001 (skill): Does something.\n");
        assert_eq!(parts.len(), 5);
        assert!(chunks(&[], 70).is_empty());
        assert_eq!(chunks(registry.all(), 1).len(), 10);
    }

    #[test]
    fn names_that_were_made_up_are_counted() {
        let registry = registry(4);
        let names = ["c000", "`c001`", "c000", "nothing", ""].map(str::to_owned);
        let (found, unknown) = known(&names, &registry, |one| one.kind != CapabilityKind::Skill);
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["c000"]);
        assert_eq!(unknown, 3);
    }
}
