//! Prompt sections: tier, source, trust.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a section's bytes stay the same. Sections are placed in this order, so that nothing that changes often
/// stands before something that does not, and a provider's prompt cache keeps working.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The same for every run of every loop: traits, protocol, how capabilities work.
    HighStatic,
    /// The same for every iteration of a run: tool and forge inventory.
    Frozen,
    /// The same until a skill or the set of actions changes: PERSISTENT, SCHEMA, OUTPUT_EXAMPLE, SKILLS_CONTEXT.
    SemiDynamic,
    /// Changes with every iteration: open timeline, evidence, todo, workspace, clock.
    TimelineOpen,
    /// Changes with every iteration and stands last: USER_QUERY, EXTRA_CAPABILITIES, REFLECTION, REACTIVE_DATA.
    Dynamic,
}

impl Tier {
    /// All tiers, in the order of the prompt.
    pub const ALL: [Tier; 5] = [Self::HighStatic, Self::Frozen, Self::SemiDynamic, Self::TimelineOpen, Self::Dynamic];

    /// The name in documents and events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HighStatic => "high_static",
            Self::Frozen => "frozen",
            Self::SemiDynamic => "semi_dynamic",
            Self::TimelineOpen => "timeline_open",
            Self::Dynamic => "dynamic",
        }
    }

    /// Whether the tier stands in the system message.
    #[must_use]
    pub fn is_static(self) -> bool {
        match self {
            Self::HighStatic | Self::Frozen | Self::SemiDynamic => true,
            Self::TimelineOpen | Self::Dynamic => false,
        }
    }
}

/// Who wrote a section's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The loop's author: the text may show delimiters; values printed into it are guarded all the same.
    #[default]
    Trusted,
    /// Anybody: everything that looks like a delimiter is made harmless.
    Untrusted,
}
