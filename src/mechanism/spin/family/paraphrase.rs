//! `paraphrase`: the same question in other words, until neither it nor its answer has anything new.

use super::super::lane::{Call, Lane, Question};
use super::super::record::Class;
use super::super::settings::Settings;
use super::super::words::Words;
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family {
    name: "paraphrase",
    about: "a question in other words with the same answer, until no word of it is new",
    judge,
};

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.paraphrase;
    let call = lane.current().filter(|call| set.enabled && call.telling && call.class == Class::Normal)?;
    let question = call.question.as_ref()?;
    let mut asked: Vec<(&Call, &Question)> = lane
        .back()
        .take_while(|old| old.action == call.action || !old.changes)
        .filter(|old| old.action == call.action)
        .take_while(|old| old.same_result(call))
        .filter_map(|old| Some((old, old.question.as_ref().filter(|other| other.rest == question.rest)?)))
        .collect();
    if asked.len() < set.n.max(set.stale.saturating_add(1)) {
        return None;
    }
    asked.reverse();
    let words: Vec<&Words> = asked.iter().map(|(_, question)| &question.words).collect();
    // What the first ones ask is the subject; a list of different subjects goes on bringing new words.
    let stale = (words.len() - set.stale..words.len()).all(|at| words[at].within(&words[..at]));
    if !stale || words.iter().any(|words| words.is_empty()) {
        return None;
    }
    let text = format!(
        "`{}` gave the same answer to {} questions, the last {} without a word that was not asked before",
        call.action,
        asked.len(),
        set.stale
    );
    Judged::hard(asked.iter().map(|(call, _)| call.step).collect(), asked.len(), set.n, text)
}
