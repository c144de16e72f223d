//! What a further attempt of a turn gets: more room, and the words that answer the failed one.

use crate::model::{Reply, ToolResult, Turn};

/// A reply that was cut gets twice the room, as far as the context allows. Where no limit is set, the provider's own
/// default was too small, and 8192 tokens hold every action that a person would want to read.
pub(super) fn more_room(room: Option<u32>, context: Option<u32>, prompt_tokens: usize) -> Option<u32> {
    let wanted = room.map_or(8192, |room| room.saturating_mul(2));
    let left = context.map_or(u32::MAX, |context| {
        context.saturating_sub(u32::try_from(prompt_tokens).unwrap_or(u32::MAX)).max(room.unwrap_or(1))
    });
    Some(wanted.min(left))
}

/// Adds a failed attempt, and the words that answer it, to the conversation of this turn.
pub(super) fn push_retry(retry: &mut Vec<Turn>, reply: &Reply, message: String) {
    if reply.calls.is_empty() {
        let text = if reply.text.trim().is_empty() { "(no text)" } else { reply.text.as_str() };
        retry.push(Turn::Assistant(text.into()));
        retry.push(Turn::User(message.into()));
        return;
    }
    let results = reply
        .calls
        .iter()
        .map(|call| ToolResult { id: call.id.clone(), content: message.clone(), is_error: true })
        .collect();
    retry.push(Turn::Calls { text: reply.text.as_str().into(), calls: reply.calls.clone() });
    retry.push(Turn::Results(results));
}
