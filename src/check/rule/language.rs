//! The language of the mechanisms' prompts: shipped, or written in the workspace.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::load::{SHIPPED_LANGUAGES, mechanism_prompt, mechanism_prompts};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let (language, folder) = match subject {
        Subject::Loop(loaded) => (loaded.doc.language.as_deref(), loaded.folder.as_str()),
        Subject::Workspace(loaded) => (loaded.doc.language.as_deref(), loaded.folder.as_str()),
        _ => return,
    };
    let Some((language, node)) = language.zip(subject.node().get("language")) else { return };
    if SHIPPED_LANGUAGES.contains(&language) {
        return;
    }
    let files = &cx.library.files;
    let (written, missing): (Vec<&str>, Vec<&str>) =
        mechanism_prompts().partition(|name| files.translation(language, name, folder).is_some());
    let finding = if written.is_empty() {
        let shipped = list_words(SHIPPED_LANGUAGES);
        let message = format!("there are no prompts in the language `{language}`; shipped are {shipped}");
        let finding = Diagnostic::error(codes::UNKNOWN_LANGUAGE, node.span, message);
        // `zh-CN` is far from `zh` as a word, and near as a language.
        let base = language.split(['-', '_']).next().unwrap_or(language).to_lowercase();
        let near = SHIPPED_LANGUAGES.into_iter().find(|known| *known == base);
        match near.or_else(|| did_you_mean(language, &SHIPPED_LANGUAGES)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!("write `{}` and its like", mechanism_prompt(language, "system"))),
        }
    } else if missing.is_empty() {
        return;
    } else {
        let message = format!("{} not translated into `{language}`, and stay in English", are(&missing));
        let help = format!("write `{}`", mechanism_prompt(language, missing[0]));
        Diagnostic::info(codes::UNTRANSLATED_PROMPT, node.span, message).help(help)
    };
    cx.push(finding);
}

fn are(names: &[&str]) -> String {
    let words = list_words(names);
    match names {
        [_] => format!("the prompt {words} is"),
        _ => format!("the prompts {words} are"),
    }
}
