//! Counting: what steps, actions, hooks, tools and inner loops may take.

use std::collections::HashMap;

use super::models::{call, facts};
use super::{Amount, Ceiling, Part, Preview};
use crate::check::steps::StepView;
use crate::document::{BUILTINS, LoopDoc, Middleware, OverflowStep, is_template};
use crate::load::{Library, Loaded};
use crate::syntax::{Entry, Node};

/// Further attempts of a structured call that says nothing: forges, parameters of tools, mechanisms.
const STRUCTURED_RETRIES: u32 = 2;
/// Tool calls that one action may hold.
const CALLS_AT_ONCE: u64 = 8;

pub(super) struct Walker<'a> {
    library: &'a Library,
    /// Runs of loops by name and depth.
    runs: HashMap<(String, u32), Amount>,
    /// Tools around the current one, so that one that calls itself ends.
    tools: Vec<String>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(library: &'a Library) -> Self {
        Self { library, runs: HashMap::new(), tools: Vec::new() }
    }

    pub(super) fn preview(&mut self, name: &str) -> Option<Preview> {
        let loaded = self.library.loops.get(name)?;
        let iterations = u64::from(loaded.doc.limits.max_iterations);
        let iteration_parts = self.iteration(loaded, 0);
        let per_iteration = sum(&iteration_parts);
        let run_parts = self.around(loaded, 0);
        let per_run = per_iteration.times(iterations).plus(&sum(&run_parts));
        let ceilings = ceilings(&loaded.doc, &per_iteration, &per_run);
        Some(Preview {
            name: name.to_owned(),
            iterations,
            per_iteration,
            iteration_parts,
            per_run,
            run_parts,
            ceilings,
        })
    }

    /// A whole run of a loop at a depth.
    fn run(&mut self, name: &str, depth: u32) -> Amount {
        let Some(loaded) = self.library.loops.get(name) else {
            return Amount::unknown(format!("the loop `{name}` cannot be read"));
        };
        // The engine refuses it without a call.
        if depth > loaded.doc.limits.max_depth {
            return Amount::ZERO;
        }
        let key = (name.to_owned(), depth);
        if let Some(known) = self.runs.get(&key) {
            return known.clone();
        }
        let iterations = u64::from(loaded.doc.limits.max_iterations);
        let inner = sum(&self.iteration(loaded, depth)).times(iterations);
        let amount = inner.plus(&sum(&self.around(loaded, depth)));
        self.runs.insert(key, amount.clone());
        amount
    }

    /// One iteration, in parts that are not nothing.
    fn iteration(&mut self, loaded: &'a Loaded<LoopDoc>, depth: u32) -> Vec<Part> {
        let document = &loaded.doc;
        let main = facts(self.library, document, "main");
        let attempts = document.limits.action_retries.saturating_add(1);
        let label = main.as_ref().map_or(String::new(), |facts| format!(" on `{}`", facts.label));
        let action = call(main.as_ref(), "main", attempts, document.limits.max_reply_tokens);
        let mut parts = vec![Part { what: format!("choosing an action, {attempts} attempts{label}"), amount: action }];
        let mut dearest = self.builtins(document, depth);
        for (name, action) in &document.actions {
            let steps = loaded.node.get("actions").and_then(|actions| actions.get(name)?.get("do"));
            let amount = match &action.from_tool {
                Some(tool) => self.tool(document, tool, depth),
                None => self.steps(document, steps, depth),
            };
            dearest = dearest.or(&amount);
        }
        push(&mut parts, "the dearest action", dearest);
        push(&mut parts, "`after_iteration`", self.hook(loaded, "after_iteration", depth));
        if document.prompt.overflow.steps.contains(&OverflowStep::Summarise) {
            let summary = self.structured(document, "helper", 0, None);
            push(&mut parts, "a summary of a long prompt", summary);
        }
        for (what, amount) in self.mechanisms(document) {
            push(&mut parts, what, amount);
        }
        parts
    }

    /// What a run has beside its iterations.
    fn around(&mut self, loaded: &'a Loaded<LoopDoc>, depth: u32) -> Vec<Part> {
        let mut parts = Vec::new();
        push(&mut parts, "`init`", self.hook(loaded, "init", depth));
        push(&mut parts, "`finish`", self.hook(loaded, "finish", depth));
        // Such an action ends the loop, so there is one a run.
        let targets = loaded.doc.actions.values().filter_map(|action| action.from_loop.as_ref());
        let inner = targets.fold(Amount::ZERO, |most, target| most.or(&self.run(&target.value, depth + 1)));
        push(&mut parts, "the dearest loop that is an action", inner);
        parts
    }

    /// One call for each mechanism that the document configures.
    fn mechanisms(&self, document: &LoopDoc) -> Vec<(&'static str, Amount)> {
        let all = &document.mechanisms;
        let is_on = |enabled: Option<bool>| enabled != Some(false);
        let tier = |tier: Option<&crate::syntax::Spanned<String>>, default: &str| {
            tier.map_or_else(|| default.to_owned(), |tier| tier.value.clone())
        };
        let mut parts = Vec::new();
        let mut one =
            |what, tier: String| parts.push((what, self.structured(document, &tier, STRUCTURED_RETRIES, None)));
        if let Some(own) = all.perception.as_ref().filter(|own| is_on(own.enabled)) {
            one("perception", tier(own.tier.as_ref(), "helper"));
        }
        if let Some(own) = all.reflection.as_ref().filter(|own| is_on(own.enabled)) {
            one("reflection", tier(own.tier.as_ref(), "helper"));
        }
        if let Some(own) = all.spin.as_ref().filter(|own| is_on(own.enabled)) {
            one("spin", tier(own.tier.as_ref(), "helper"));
        }
        if let Some(own) = all.verification.as_ref().filter(|own| is_on(own.enabled)) {
            let by_checks =
                own.checks.is_some() && own.judge.is_none() || own.judge == Some(crate::document::Judge::Checks);
            if !by_checks {
                one("verification", tier(own.tier.as_ref(), "main"));
            }
        }
        parts
    }

    /// Built-in actions that call tools.
    fn builtins(&mut self, document: &LoopDoc, depth: u32) -> Amount {
        let is_offered = |name: &str| {
            let listed = document.builtins.as_ref().is_none_or(|list| list.iter().any(|one| one.value == name));
            listed && !document.actions.contains_key(name) && BUILTINS.iter().any(|one| one.name == name)
        };
        let tools: Vec<String> =
            document.tools.iter().chain(&self.library.workspace.doc.tools).map(|tool| tool.value.clone()).collect();
        if !document.allow.tool || tools.is_empty() {
            return Amount::ZERO;
        }
        let dearest = tools.iter().fold(Amount::ZERO, |most, tool| most.or(&self.tool(document, tool, depth)));
        let mut amount = Amount::ZERO;
        if is_offered("directly_call_tool") {
            amount = amount.or(&dearest.times(CALLS_AT_ONCE));
        }
        if is_offered("require_tool") {
            let parameters = self.structured(document, "main", STRUCTURED_RETRIES, None);
            amount = amount.or(&dearest.plus(&parameters).times(CALLS_AT_ONCE));
        }
        amount
    }

    fn structured(&self, document: &LoopDoc, tier: &str, retries: u32, reply: Option<u32>) -> Amount {
        call(facts(self.library, document, tier).as_ref(), tier, retries.saturating_add(1), reply)
    }

    fn hook(&mut self, loaded: &'a Loaded<LoopDoc>, key: &str, depth: u32) -> Amount {
        self.steps(&loaded.doc, loaded.node.get("hooks").and_then(|hooks| hooks.get(key)), depth)
    }

    fn tool(&mut self, document: &LoopDoc, name: &str, depth: u32) -> Amount {
        let Some(tool) = self.library.tools.get(name) else { return Amount::ZERO };
        if self.tools.iter().any(|around| around == name) {
            return Amount::unknown(format!("the tool `{name}` calls itself"));
        }
        self.tools.push(name.to_owned());
        let once = self.steps(document, tool.node.get("do"), depth);
        self.tools.pop();
        once.times(attempts(&tool.doc.middleware))
    }

    /// All steps of a list, as if every condition held and every step with `on_error` failed at its end.
    fn steps(&mut self, document: &LoopDoc, list: Option<&Node>, depth: u32) -> Amount {
        let mut all = Amount::ZERO;
        for step in StepView::list(list) {
            let once = step.verbs().fold(Amount::ZERO, |sum, verb| sum.plus(&self.verb(document, verb, depth)));
            let handler = self.steps(document, step.on_error(), depth);
            let attempts = 1 + step
                .key("retry")
                .map_or(0, |retry| retry.get("times").unwrap_or(retry).to_json().as_u64().unwrap_or(0));
            let mut amount = once.times(attempts);
            if let Some(list) = step.key("for_each").filter(|_| !amount.is_zero()) {
                let source = list.as_str().unwrap_or_default().trim();
                amount = match length(source) {
                    Some(length) => amount.times(length),
                    None => Amount::unknown(format!("`for_each: {source}` runs as often as its list is long")),
                };
            }
            all = all.plus(&amount).plus(&handler);
        }
        all
    }

    fn verb(&mut self, document: &LoopDoc, verb: &Entry, depth: u32) -> Amount {
        let kind = &*verb.key;
        if !matches!(kind, "forge" | "tool" | "loop") {
            return Amount::ZERO;
        }
        let name = verb.value.as_str().or_else(|| verb.value.get("use")?.as_str()).unwrap_or_default();
        if is_template(name) {
            return Amount::unknown(format!("which {kind} `{name}` is becomes known when the step runs"));
        }
        match kind {
            "loop" => self.run(name, depth + 1),
            "tool" => self.tool(document, name, depth),
            _ => {
                let Some(forge) = self.library.forges.get(name) else { return Amount::ZERO };
                let own = forge.doc.tier.as_ref().map(|tier| tier.value.clone());
                let tier = verb.value.get("tier").and_then(Node::as_str).map(str::to_owned).or(own);
                let tier = tier.unwrap_or_else(|| "main".to_owned());
                let retries = forge.doc.retries.unwrap_or(STRUCTURED_RETRIES);
                let once = self.structured(document, &tier, retries, forge.doc.max_reply_tokens);
                once.times(attempts(&forge.doc.middleware))
            }
        }
    }
}

fn sum(parts: &[Part]) -> Amount {
    parts.iter().fold(Amount::ZERO, |sum, part| sum.plus(&part.amount))
}

/// How often middleware may let the work be done for one call.
fn attempts(layers: &[Middleware]) -> u64 {
    layers.iter().fold(1, |attempts, layer| match layer {
        Middleware::Retry(retry) => attempts.saturating_mul(u64::from(retry.times) + 1),
        _ => attempts,
    })
}

fn push(parts: &mut Vec<Part>, what: &str, amount: Amount) {
    if !amount.is_zero() {
        parts.push(Part { what: what.to_owned(), amount });
    }
}

/// The length of a list that is written out.
fn length(source: &str) -> Option<u64> {
    match crate::template::walk::walk_expr(source).ok()?.value {
        crate::template::walk::Operand::Constant(serde_json::Value::Array(items)) => u64::try_from(items.len()).ok(),
        _ => None,
    }
}

/// The limits that a worst case reaches, with the iteration in which it does.
fn ceilings(document: &LoopDoc, iteration: &Amount, run: &Amount) -> Vec<Ceiling> {
    let limits = &document.limits;
    let mut ceilings = Vec::new();
    if let Some(most) = limits.max_total_tokens {
        let reached = iteration.tokens.filter(|_| run.tokens.is_none_or(|all| all >= most));
        let reached = reached.filter(|each| *each > 0).map(|each| most.div_ceil(each));
        ceilings.push(Ceiling { limit: "max_total_tokens", value: most.to_string(), reached_in_iteration: reached });
    }
    if let Some(most) = limits.max_cost_usd {
        let reached = iteration.cost_usd.filter(|each| *each > 0.0 && run.cost_usd.is_none_or(|all| all >= most));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive quotient, and `as` saturates"
        )]
        let reached = reached.map(|each| ((most / each).ceil() as u64).max(1));
        ceilings.push(Ceiling { limit: "max_cost_usd", value: most.to_string(), reached_in_iteration: reached });
    }
    if let Some(timeout) = limits.timeout {
        ceilings.push(Ceiling { limit: "timeout", value: timeout.to_string(), reached_in_iteration: None });
    }
    ceilings
}
