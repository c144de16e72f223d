//! The model behind a tier, as far as its settings tell a price and a context.

use crate::document::LoopDoc;
use crate::load::Library;
use crate::model::Price;
use crate::syntax::Node;

use super::Amount;

/// What is known of a model.
pub(in crate::check) struct Facts {
    pub(in crate::check) label: String,
    pub(in crate::check) context: Option<u64>,
    pub(in crate::check) price: Option<Price>,
}

/// The settings of a tier's model: the loop's own choice, the workspace's, or for a helper those of the main tier.
pub(in crate::check) fn facts(library: &Library, document: &LoopDoc, tier: &str) -> Option<Facts> {
    let workspace = &library.workspace.doc;
    let mut name = tier.to_owned();
    // Each round follows one name; tiers that lead back to themselves are reported elsewhere.
    for _ in 0..8 {
        let chosen = document.model.as_ref().and_then(|model| model.tiers.get(&name)).map(|raw| raw.node());
        match chosen {
            Some(node) if node.as_str().is_none() => return Some(read(node, &name)),
            Some(node) if node.as_str() != Some(&name) => {
                name = node.as_str().unwrap_or_default().to_owned();
            }
            _ => {}
        }
        if let Some(model) = workspace.models.get(&name) {
            return Some(read(model.settings.node(), &name));
        }
        match workspace.tiers.named.get(&name) {
            Some(target) => name.clone_from(&target.value),
            None if chosen.is_none() && name != "main" => name = "main".to_owned(),
            None if chosen.is_none() => return None,
            None => {}
        }
    }
    None
}

fn read(settings: &Node, label: &str) -> Facts {
    let number = |key: &str| settings.get(key).and_then(|node| node.to_json().as_u64());
    let price = settings.get("price").and_then(|node| serde_json::from_value(node.to_json()).ok());
    Facts { label: label.to_owned(), context: number("context"), price }
}

/// A call with its attempts, each reply of at most `reply` tokens.
pub(super) fn call(facts: Option<&Facts>, tier: &str, attempts: u32, reply: Option<u32>) -> Amount {
    let mut amount = Amount { calls: Some(u64::from(attempts)), ..Amount::ZERO };
    let Some(facts) = facts else {
        amount.tokens = None;
        amount.cost_usd = None;
        amount.unknown.insert(format!("no model is configured for the tier `{tier}`"));
        return amount;
    };
    let Some(context) = facts.context else {
        amount.unknown.insert(format!("the model `{}` declares no `context`", facts.label));
        amount.tokens = None;
        amount.cost_usd = None;
        note_price(&mut amount, facts);
        return amount;
    };
    amount.tokens = Some(context.saturating_mul(u64::from(attempts)));
    note_price(&mut amount, facts);
    amount.cost_usd = facts.price.map(|price| (0..attempts).map(|attempt| money(price, context, reply, attempt)).sum());
    amount
}

fn note_price(amount: &mut Amount, facts: &Facts) {
    if facts.price.is_none() {
        amount.unknown.insert(format!("the model `{}` declares no `price`", facts.label));
    }
}

/// The dearest way to fill a context: with as much reply as may be, where replies cost more than prompts.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn money(price: Price, context: u64, reply: Option<u32>, attempt: u32) -> f64 {
    let doubled = reply.map(|reply| u64::from(reply).saturating_mul(1_u64.checked_shl(attempt).unwrap_or(u64::MAX)));
    let output = doubled.unwrap_or(context).min(context);
    // A prompt that was written to the cache may cost more than a plain one.
    let input = price.input.max(price.cache_write.unwrap_or(0.0));
    let output = if price.output > input { output } else { 0 };
    ((context - output) as f64 * input + output as f64 * price.output) / 1e6
}
