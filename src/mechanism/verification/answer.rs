//! What a judge answers, and what it amounts to.

use serde::{Deserialize, Deserializer};

use super::VerificationSettings;
use crate::event::VerificationState;
use crate::mechanism::line;

/// The most items of a list that are kept, and the most characters of one, and of the reasoning.
const MOST: usize = 12;
const ITEM: usize = 300;
const REASONING: usize = 2000;

/// A judge's answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Answer {
    /// Whether the goal is reached.
    pub satisfied: bool,
    /// How one can tell.
    #[serde(default)]
    pub reasoning: String,
    /// What is not done yet.
    #[serde(default, deserialize_with = "words")]
    pub missing: Vec<String>,
    /// Whether nothing that the loop can do will reach the goal.
    #[serde(default)]
    pub impossible: bool,
    /// How sure it is, 0 to 1.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// Files that the loop brought.
    #[serde(default, deserialize_with = "words")]
    pub output_files: Vec<String>,
    /// Changes of the evidence.
    #[serde(default)]
    pub evidence: Vec<EvidenceChange>,
    /// What to do next.
    #[serde(default, deserialize_with = "words")]
    pub next_movements: Vec<String>,
    /// Parts of the task that are done.
    #[serde(default, deserialize_with = "words")]
    pub completed_task_index: Vec<String>,
}

/// A change of the evidence.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EvidenceChange {
    /// What is done.
    pub op: EvidenceOp,
    /// The evidence's id.
    pub id: String,
    /// Its content; nothing for `remove`.
    #[serde(default)]
    pub content: String,
}

/// What is done to a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceOp {
    /// It is new.
    Add,
    /// It has another content.
    Update,
    /// It no longer holds.
    Remove,
}

impl Answer {
    /// What the answer amounts to. A yes counts when the judge is as sure as the loop wants it, and names nothing that is
    /// missing: one that contradicts itself is a no.
    ///
    /// Files and changes of evidence are left to whoever can look at them.
    #[must_use]
    pub fn weigh(&self, settings: &VerificationSettings) -> VerificationState {
        let confidence = self.confidence.map(|sure| if sure.is_finite() { sure.clamp(0.0, 1.0) } else { 0.0 });
        let mut missing = kept(&self.missing);
        let sure = settings.threshold.is_none_or(|needed| confidence.unwrap_or(0.0) >= needed);
        let satisfied = self.satisfied && sure && missing.is_empty() && !self.impossible;
        if self.satisfied && missing.is_empty() && !sure {
            missing.push(format!("the judge is not sure enough: {:.2}", confidence.unwrap_or(0.0)));
        }
        VerificationState {
            satisfied,
            reasoning: crate::mechanism::cut(self.reasoning.trim(), REASONING),
            missing,
            impossible: self.impossible && !self.satisfied,
            confidence,
            next_movements: kept(&self.next_movements),
            completed_task_index: kept(&self.completed_task_index),
            ..VerificationState::default()
        }
    }
}

/// Items as they are kept: each on one line, no empty ones.
fn kept(items: &[String]) -> Vec<String> {
    items.iter().map(|item| line(item, ITEM)).filter(|item| !item.is_empty()).take(MOST).collect()
}

/// A list of words and numbers, or one alone.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Word {
        Text(String),
        Number(serde_json::Number),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        One(Word),
        Many(Vec<Word>),
        None(()),
    }
    let text = |word: Word| match word {
        Word::Text(text) => text,
        Word::Number(number) => number.to_string(),
    };
    Ok(match Words::deserialize(deserializer)? {
        Words::One(word) => vec![text(word)],
        Words::Many(words) => words.into_iter().map(text).collect(),
        Words::None(()) => Vec::new(),
    })
}
