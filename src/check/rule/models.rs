//! Models and tiers: that they exist, and that their settings are their provider's.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes, did_you_mean, list_words};
use crate::document::ModelChoice;
use crate::model::PROVIDERS;
use crate::syntax::{Node, Value};

/// Tiers that every workspace may be asked for: one that it does not declare is the main tier.
const KNOWN_TIERS: [&str; 4] = ["main", "helper", "quality", "speed"];

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    match subject {
        Subject::Workspace(loaded) => {
            for entry in document.get("models").into_iter().flat_map(Node::entries) {
                settings(cx, &entry.value);
                if let Some(tier) = loaded.doc.tiers.named.get(&*entry.key).filter(|tier| tier.value != *entry.key) {
                    let message = format!("`{}` is the name of a model and of a tier", entry.key);
                    cx.push(
                        Diagnostic::error(codes::DUPLICATE_NAME, entry.key_span, message)
                            .label(tier.span, "the tier")
                            .help("give one of them another name"),
                    );
                }
            }
            let models: Vec<&str> = loaded.doc.models.keys().map(String::as_str).collect();
            let named = loaded.doc.tiers.named.values();
            for model in named.chain(loaded.doc.tiers.fallback.values().flatten()) {
                if !models.contains(&model.value.as_str()) {
                    unknown(cx, model, model.span, &models, "model");
                }
            }
        }
        Subject::Loop(loaded) => choice(cx, loaded.doc.model.as_ref()),
        Subject::Preset(loaded) => choice(cx, loaded.doc.model.as_ref()),
        Subject::Forge(loaded) => {
            if let Some(tier) = &loaded.doc.tier {
                named(cx, tier, tier.span);
            }
        }
        Subject::Tool(_) => {}
    }
    for mechanism in document.get("mechanisms").into_iter().flat_map(Node::entries) {
        if let Some((tier, span)) = mechanism.value.get("tier").and_then(|tier| Some((tier.as_str()?, tier.span))) {
            named(cx, tier, span);
        }
    }
    for list in crate::check::steps::lists(document) {
        crate::check::steps::each(list.node, &mut |step| {
            for verb in step.verbs().filter(|verb| &*verb.key == "forge") {
                if let Some((tier, span)) = verb.value.get("tier").and_then(|tier| Some((tier.as_str()?, tier.span))) {
                    named(cx, tier, span);
                }
            }
        });
    }
}

fn choice(cx: &mut Cx<'_>, choice: Option<&ModelChoice>) {
    for raw in choice.into_iter().flat_map(|choice| choice.tiers.values()) {
        match &raw.node().value {
            Value::String(name) => named(cx, name, raw.node().span),
            _ => settings(cx, raw.node()),
        }
    }
}

/// A model or tier by name.
fn named(cx: &mut Cx<'_>, name: &str, span: Span) {
    let workspace = cx.workspace();
    let known = workspace.models.contains_key(name) || workspace.tiers.named.contains_key(name);
    if known || KNOWN_TIERS.contains(&name) || crate::document::is_template(name) {
        return;
    }
    let mut names: Vec<&str> =
        workspace.models.keys().chain(workspace.tiers.named.keys()).map(String::as_str).collect();
    names.extend(KNOWN_TIERS.iter().filter(|tier| !workspace.tiers.named.contains_key(**tier)));
    unknown(cx, name, span, &names, "model or tier");
}

fn unknown(cx: &mut Cx<'_>, name: &str, span: Span, known: &[&str], what: &str) {
    let help = match did_you_mean(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "declare it under `models` in the workspace".to_owned(),
        None => format!("the workspace knows {}", list_words(known)),
    };
    cx.push(Diagnostic::error(codes::UNKNOWN_MODEL, span, format!("unknown {what} `{name}`")).help(help));
}

/// A model's settings, as its provider reads them.
fn settings(cx: &mut Cx<'_>, node: &Node) {
    let Some(provider) = node.get("provider") else {
        // In a workspace, decoding reports it; a loop's map without `provider` goes from tier to model.
        return;
    };
    let Some(name) = provider.as_str() else { return };
    let url = node.get("base_url").and_then(|url| Some((url.as_str()?.trim(), url.span)));
    if let Some((_, span)) =
        url.filter(|(url, _)| !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)))
    {
        let message = "a base_url begins with http:// or https:// and names a host";
        cx.push(Diagnostic::error(codes::INVALID_VALUE, span, message).help("such as http://127.0.0.1:8080/v1"));
    }
    match PROVIDERS.iter().find(|known| known.name() == name) {
        Some(known) => known.check(node, cx.found),
        None => {
            let names: Vec<&str> = PROVIDERS.iter().map(|known| known.name()).collect();
            let help = match did_you_mean(name, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the providers are {}", list_words(&names)),
            };
            cx.push(
                Diagnostic::error(codes::UNKNOWN_PROVIDER, provider.span, format!("unknown provider `{name}`"))
                    .help(help),
            );
        }
    }
}
