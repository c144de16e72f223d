//! One template, and the templates that it includes: syntax, names, filters, tests, functions, files.

use super::context::Cx;
use super::kept::Asked;
use super::logic;
use super::places::TemplatePlace;
use super::scope::{Maybe, Scope};
use super::shape::Shape;
use super::template_text::{Delimiter, hand_written_delimiters, out_of_fuel};
use super::text::Text;
use crate::diag::{Code, Diagnostic, Span, codes, did_you_mean, list_words};
use crate::document::is_template;
use crate::load::PromptFileError;
use crate::template::walk::{FOR_LOOP, IncludeKind, IncludeUse, NameUse, VariableUse, Walk, walk, walk_expr};
use crate::template::{
    FILTERS, FUNCTIONS, TESTS, TemplateError, TemplateErrorKind, suggest_filter, suggest_function, suggest_test,
};

/// How deep templates may include each other before the chain is given up.
const MAX_DEPTH: usize = 32;

/// Checks a template.
pub(super) fn check_text(cx: &mut Cx<'_>, text: &Text<'_>, scope: &Scope) {
    Templates { cx, chain: Vec::new(), outermost: None }.text(text, scope);
}

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It decides something.
    Condition,
    /// It decides whether an action is offered; the rule `offered` says so when it never is.
    Offer,
    /// It gives what a step runs through.
    List,
    /// It gives a figure.
    Number,
}

/// Checks an expression, as `when` has one.
pub(super) fn check_expr(cx: &mut Cx<'_>, text: &Text<'_>, purpose: Purpose, scope: &Scope) {
    TemplatePlace::note(cx, text, scope, true);
    let source = text.as_str();
    if source.trim_start().starts_with("{{") || source.trim_start().starts_with("{%") {
        let bare = source.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
        let finding = Diagnostic::error(
            codes::TEMPLATE_SYNTAX,
            text.span(0..source.len()),
            "an expression is written here without braces",
        );
        return cx.push(finding.help(format!("write `{bare}`")));
    }
    match walk_expr(source) {
        Ok(walk) => {
            Templates { cx: &mut *cx, chain: Vec::new(), outermost: None }.walked(text, &walk, scope);
            match purpose {
                Purpose::Offer if walk.value.truth() == Some(false) => {}
                Purpose::Condition | Purpose::Offer => logic::condition(cx, text, &walk),
                Purpose::List => logic::list(cx, text, &walk, scope),
                Purpose::Number => logic::number(cx, text, &walk, scope),
            }
        }
        Err(error) => {
            cx.state_reads.all = true;
            let finding = unreadable(text, &error);
            cx.push(finding);
        }
    }
}

/// One of the sets of names that templates call.
struct Names {
    known: &'static [&'static str],
    code: Code,
    what: &'static str,
    suggest: fn(&str) -> Option<String>,
}

impl Names {
    const FILTERS: Self = Self { known: FILTERS, code: codes::UNKNOWN_FILTER, what: "filter", suggest: suggest_filter };
    const TESTS: Self = Self { known: TESTS, code: codes::UNKNOWN_TEST, what: "test", suggest: suggest_test };
    const FUNCTIONS: Self =
        Self { known: FUNCTIONS, code: codes::UNKNOWN_FUNCTION, what: "function", suggest: suggest_function };
}

/// Our finding for a template that cannot be read.
fn unreadable(text: &Text<'_>, error: &TemplateError) -> Diagnostic {
    let code = match error.kind {
        TemplateErrorKind::UnclosedBlock => codes::TEMPLATE_UNCLOSED_BLOCK,
        _ => codes::TEMPLATE_SYNTAX,
    };
    let range = error.place.as_ref().map_or(0..text.as_str().len(), |place| place.range.clone());
    let mut chars = error.message.chars();
    let message: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
    let letter = text.as_str().get(range.start..).and_then(|at| at.chars().next());
    let own = if letter.is_some_and(|letter| !letter.is_ascii() && letter.is_alphabetic()) {
        Some("names in templates are of the letters a to z; write another one in quotes, such as `state['größe']`")
    } else if message.starts_with("unexpected `}}`") || message.starts_with("unexpected `%}`") {
        Some("a value is missing before it, as after an operator")
    } else if message.starts_with("expected a name, found `}}`") {
        Some("a name is missing before it: a filter after `|`, a test after `is`, an attribute after `.`")
    } else {
        error.help.as_deref()
    };
    let help = own.unwrap_or("to write braces literally, put them in `{% raw %}` and `{% endraw %}`");
    Diagnostic::error(code, text.span(range), message).help(help)
}

struct Templates<'c, 'a> {
    cx: &'c mut Cx<'a>,
    /// Names of the files around this one, itself last.
    chain: Vec<String>,
    /// The place in the outermost template that led here.
    outermost: Option<Span>,
}

impl Templates<'_, '_> {
    fn text(&mut self, text: &Text<'_>, scope: &Scope) {
        TemplatePlace::note(self.cx, text, scope, false);
        let source = text.as_str();
        for (kind, range) in hand_written_delimiters(source) {
            let shown = &source[range.clone()];
            let (message, help) = match kind {
                Delimiter::Section => (
                    format!("`{shown}` looks like a section delimiter"),
                    "the engine writes delimiters; declare a section under `prompt.sections`, or use `{{ nonce }}` for a tag".to_owned(),
                ),
                Delimiter::Bare => (
                    format!("`{shown}` is a delimiter without a nonce, which is not recognised"),
                    format!("write `{}_{{{{ nonce }}}}|>` for a tag, or declare a section under `prompt.sections`", shown.trim_end_matches("|>")),
                ),
                Delimiter::Chat => (
                    format!("`{shown}` is a mark that servers write around the messages of a chat"),
                    "remove it: the model would take what follows for another message".to_owned(),
                ),
            };
            self.cx.push(Diagnostic::warning(codes::DELIMITER_IN_TEMPLATE, text.span(range), message).help(help));
        }
        if !is_template(source) {
            return;
        }
        match walk(source) {
            Ok(walk) => self.walked(text, &walk, scope),
            Err(error) => {
                self.cx.state_reads.all = true;
                let finding = unreadable(text, &error);
                self.cx.push(finding);
            }
        }
        if let Some(range) = out_of_fuel(source) {
            let message = "these loops run more often than a template may";
            self.cx.push(
                Diagnostic::error(codes::TEMPLATE_OUT_OF_FUEL, text.span(range), message)
                    .help("make the ranges smaller"),
            );
        }
    }

    fn walked(&mut self, text: &Text<'_>, walk: &Walk, scope: &Scope) {
        for variable in &walk.variables {
            self.variable(text, variable, scope);
        }
        logic::comparisons(self.cx, text, walk, scope);
        self.known(text, &walk.filters, &Names::FILTERS);
        self.known(text, &walk.tests, &Names::TESTS);
        let is_value = |used: &&NameUse| scope.get(&used.name).is_some();
        for used in walk.functions.iter().filter(is_value) {
            let message = format!("`{}` is a value, not a function", used.name);
            self.cx.push(
                Diagnostic::error(codes::UNKNOWN_FUNCTION, text.span(used.range.clone()), message)
                    .help("write it without parentheses"),
            );
        }
        let others: Vec<NameUse> = walk.functions.iter().filter(|used| !is_value(used)).cloned().collect();
        self.known(text, &others, &Names::FUNCTIONS);
        for method in &walk.methods {
            let message = format!("values have no methods, so `.{}(…)` cannot be called", method.name);
            let help = if FILTERS.contains(&method.name.as_str()) {
                format!("use the filter: `| {}`", method.name)
            } else {
                "use a filter, or `+` for lists and texts".to_owned()
            };
            self.cx
                .push(Diagnostic::error(codes::UNKNOWN_FUNCTION, text.span(method.range.clone()), message).help(help));
        }
        for range in &walk.constants {
            let shown = &text.as_str()[range.clone()];
            let message = format!("`{shown}` prints a constant");
            self.cx.push(
                Diagnostic::warning(codes::TEMPLATE_CONSTANT, text.span(range.clone()), message)
                    .help("if the braces are meant literally, put them in `{% raw %}` and `{% endraw %}`"),
            );
        }
        for include in &walk.includes {
            self.include(text, include, scope);
        }
    }

    fn known(&mut self, text: &Text<'_>, uses: &[NameUse], names: &Names) {
        for used in uses.iter().filter(|used| !names.known.contains(&used.name.as_str())) {
            let Names { known, code, what, suggest } = names;
            let help = suggest(&used.name).unwrap_or_else(|| format!("the {what}s are {}", list_words(*known)));
            let message = format!("unknown {what} `{}`", used.name);
            self.cx.push(Diagnostic::error(*code, text.span(used.range.clone()), message).help(help));
        }
    }

    /// Notes the state variable that is read.
    fn note_state(&mut self, used: &VariableUse) {
        match used.path.get(1).map(|part| &part.name) {
            Some(Some(name)) => {
                self.cx.state_reads.names.insert(name.clone());
            }
            _ => self.cx.state_reads.all = true,
        }
    }

    fn variable(&mut self, text: &Text<'_>, used: &VariableUse, scope: &Scope) {
        let root = used.root();
        if root == "state" {
            self.note_state(used);
        }
        let is_guarded = |part: usize| part < used.known || (used.optional && part + 1 == used.path.len());
        let Some(mut shape) = scope.get(root) else {
            if is_guarded(0) {
                return;
            }
            let range = used.path.first().map_or_else(|| used.range.clone(), |part| part.range.clone());
            let (finding, help) = if used.sometimes_set {
                let message = format!("`{root}` is set in one branch only, and may not be defined here");
                let finding = Diagnostic::warning(codes::UNDEFINED_VARIABLE, text.span(range), message);
                (finding, "set it before the branches".to_owned())
            } else {
                let message = format!("`{root}` is not defined here");
                (Diagnostic::error(codes::UNDEFINED_VARIABLE, text.span(range), message), scope.help_for(root))
            };
            return self.cx.push(finding.help(help));
        };
        for (index, part) in used.path.iter().enumerate().skip(1) {
            let Some(name) = &part.name else {
                shape = shape.element();
                continue;
            };
            match shape.attribute(name) {
                Ok(inner) => {
                    shape = inner;
                    if index == 1
                        && !is_guarded(1)
                        && let Some(why) = scope.why_maybe(root, name)
                    {
                        self.cx.push(perhaps_missing(text, used, root, name, why));
                    }
                }
                Err(_) if is_guarded(index) => return,
                Err(keys) => {
                    let finding = missing_attribute(text, used, index, name, shape, keys.as_deref(), scope);
                    return self.cx.push(finding);
                }
            }
        }
    }

    fn include(&mut self, text: &Text<'_>, include: &IncludeUse, scope: &Scope) {
        let span = text.span(include.range.clone());
        let Some(name) = include.names.first() else {
            self.cx.state_reads.all = true;
            return;
        };
        let found = include
            .names
            .iter()
            .map(|name| self.cx.look_up(Asked::Template(name.clone(), text.file_name().to_owned())));
        let found: Vec<_> = found.collect();
        let best = found.iter().position(|result| !matches!(result, Err(PromptFileError::Missing(_))));
        let Some(result) = best.and_then(|best| found.into_iter().nth(best)) else {
            if !include.optional {
                self.cx.included_file(Err(PromptFileError::Missing(name.clone())), (name, text.file_name()), span);
            }
            return;
        };
        let Some(file) = self.cx.included_file(result, (name, text.file_name()), span) else { return };
        self.imported(text, include, &file);
        let outermost = self.outermost.unwrap_or(span);
        if let Text::File(own, ..) = text
            && self.chain.is_empty()
        {
            self.chain.push(own.clone());
        }
        let next = file.file_name().to_owned();
        if let Some(at) = self.chain.iter().position(|around| *around == next) {
            let mut names: Vec<&str> = self.chain[at..].iter().map(String::as_str).collect();
            names.push(&next);
            let message = format!("templates include each other in a circle: {}", names.join(" → "));
            let mut finding =
                Diagnostic::error(codes::INCLUDE_CYCLE, outermost, message).help("remove one link of this chain");
            if outermost != span {
                finding = finding.label(span, "here the circle closes");
            }
            return self.cx.push(finding);
        }
        if self.chain.len() >= MAX_DEPTH {
            return;
        }
        let mut inner = scope.clone();
        for local in &include.locals {
            inner.set(local, Shape::Any);
        }
        let before = self.outermost.replace(outermost);
        self.chain.push(next);
        self.text(&file, &inner);
        self.chain.pop();
        self.outermost = before;
    }
}

impl Templates<'_, '_> {
    /// Names that an imported template does not define.
    fn imported(&mut self, text: &Text<'_>, include: &IncludeUse, file: &Text<'_>) {
        if include.imported.is_empty() {
            return;
        }
        // What is wrong with the other template is reported there; one that extends another may have more.
        let Ok(other) = walk(file.as_str()) else { return };
        if other.includes.iter().any(|used| used.kind == IncludeKind::Extends) {
            return;
        }
        for used in include.imported.iter().filter(|used| !other.exports.contains(&used.name)) {
            let help = match did_you_mean(&used.name, &other.exports) {
                Some(near) => format!("did you mean `{near}`?"),
                None if other.exports.is_empty() => "it defines nothing: add a `{% macro %}` to it".to_owned(),
                None => format!("it defines {}", list_words(&other.exports)),
            };
            let message = format!("`{}` defines no `{}`", file.file_name(), used.name);
            self.cx
                .push(Diagnostic::error(codes::UNDEFINED_VARIABLE, text.span(used.range.clone()), message).help(help));
        }
    }
}

/// Our finding for an attribute that need not be there.
fn perhaps_missing(text: &Text<'_>, used: &VariableUse, root: &str, name: &str, why: Maybe) -> Diagnostic {
    let range = used.path.get(1).map_or_else(|| used.range.clone(), |part| part.range.clone());
    let (words, help) = match why {
        Maybe::Step => (
            format!("the step `{name}` may not have run, and then `{root}.{name}` is not defined"),
            format!("give this step `when: {root}.{name} is defined`, or write `{root}.{name} | default(…)`"),
        ),
        Maybe::Param => (
            format!("the parameter `{name}` may be left out, and then `{root}.{name}` is not defined"),
            format!("make it required, or write `{root}.{name} | default(…)`"),
        ),
        Maybe::Tag => (
            format!("the tag `{name}` may be left out, and then `{root}.{name}` is not defined"),
            format!("write `required: true` at the tag, or `{root}.{name} | default(…)`"),
        ),
    };
    Diagnostic::warning(codes::MAYBE_UNDEFINED, text.span(range), words).help(help)
}

fn missing_attribute(
    text: &Text<'_>,
    used: &VariableUse,
    index: usize,
    name: &str,
    shape: &Shape,
    keys: Option<&[&str]>,
    scope: &Scope,
) -> Diagnostic {
    let names = used.path[..index].iter().map(|part| part.name.as_deref().unwrap_or("[…]"));
    let owner = names.collect::<Vec<_>>().join(".").replace(FOR_LOOP, "loop");
    let range = used.path.get(index).map_or_else(|| used.range.clone(), |part| part.range.clone());
    let (message, help) = match keys {
        None => (format!("`{owner}` is {}, so it has no `{name}`", shape.noun()), None),
        Some(_) if owner == "steps" && scope.later_steps.iter().any(|later| later == name) => (
            format!("`steps.{name}` is not there yet"),
            Some(format!("the step `{name}` runs later; only results of earlier steps of the same list are known")),
        ),
        Some(keys) => {
            let help = match (did_you_mean(name, keys), owner.as_str()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, "env") => format!("list `{name}` under `env` to make it visible"),
                (None, "workspace.vars") => format!("declare `{name}` under `vars` in the workspace"),
                (None, "steps") => "give an earlier step of the same list this `id`".to_owned(),
                (None, "state") if keys.is_empty() => format!("declare `{name}` under `state`"),
                (None, _) if keys.is_empty() => format!("`{owner}` is empty here"),
                (None, _) => format!("it has {}", list_words(keys)),
            };
            (format!("`{owner}` has no `{name}`"), Some(help))
        }
    };
    Diagnostic::error(codes::UNDEFINED_VARIABLE, text.span(range), message).maybe_help(help)
}
