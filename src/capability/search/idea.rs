//! What the ranking is made of: each idea can be left out, to see what it brings.

use std::fmt;
use std::str::FromStr;

/// One idea behind the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idea {
    /// Names fall into their parts: `getWaterQuality` is also `get`, `water` and `quality`.
    NameParts,
    /// `translating` and `translation` are one word.
    Stemming,
    /// Words such as `the` and `with` do not count.
    StopWords,
    /// Nor do those that only say that one is asking: `please`, `help`, `want`.
    RequestWords,
    /// A word that a query repeats counts once.
    UniqueTerms,
    /// Name and description are measured by their own lengths.
    Fields,
    /// Runs of four letters are ranked beside the words, for compounds, inflections and typing errors.
    Grams,
    /// A query looks at a lower weight for words that mean nearly the same.
    Synonyms,
    /// Each sentence of a query is also ranked alone, so that the longest does not drown the others.
    Sentences,
}

impl Idea {
    /// Every idea, in the order in which one would build them.
    pub const ALL: [Idea; 9] = [
        Idea::NameParts,
        Idea::Stemming,
        Idea::StopWords,
        Idea::RequestWords,
        Idea::UniqueTerms,
        Idea::Fields,
        Idea::Grams,
        Idea::Synonyms,
        Idea::Sentences,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Idea::NameParts => "name_parts",
            Idea::Stemming => "stemming",
            Idea::StopWords => "stop_words",
            Idea::RequestWords => "request_words",
            Idea::UniqueTerms => "unique_terms",
            Idea::Fields => "fields",
            Idea::Grams => "grams",
            Idea::Synonyms => "synonyms",
            Idea::Sentences => "sentences",
        }
    }
}

impl fmt::Display for Idea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no idea of this name.
#[derive(Debug, thiserror::Error)]
#[error("no idea has this name")]
pub struct UnknownIdea;

impl FromStr for Idea {
    type Err = UnknownIdea;

    fn from_str(name: &str) -> Result<Self, UnknownIdea> {
        Self::ALL.into_iter().find(|idea| idea.name() == name).ok_or(UnknownIdea)
    }
}

/// The ideas in use; all of them unless some are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ideas([bool; Idea::ALL.len()]);

impl Default for Ideas {
    fn default() -> Self {
        Self([true; Idea::ALL.len()])
    }
}

impl Ideas {
    /// All but these.
    #[must_use]
    pub fn without(left_out: &[Idea]) -> Self {
        let mut ideas = Self::default();
        for idea in left_out {
            ideas.0[*idea as usize] = false;
        }
        ideas
    }

    /// Whether this idea is in use.
    #[must_use]
    pub fn has(self, idea: Idea) -> bool {
        self.0[idea as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_idea_can_be_left_out_by_its_name() {
        for idea in Idea::ALL {
            assert_eq!(idea.name().parse::<Idea>().unwrap(), idea);
            let ideas = Ideas::without(&[idea]);
            assert!(Idea::ALL.iter().all(|other| ideas.has(*other) == (*other != idea)));
        }
    }
}
