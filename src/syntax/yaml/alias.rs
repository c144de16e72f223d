//! Anchors and aliases: values are shared, their size is counted at each use.

use super::{Builder, Stop};
use crate::diag::{Diagnostic, Span, codes, did_you_mean};
use crate::syntax::{MAX_NODES, Node, Style, Value};

/// A value with a name.
pub(super) struct Anchor {
    pub(super) name: String,
    pub(super) span: Span,
    /// Present once the value is complete.
    pub(super) node: Option<(Node, usize)>,
    pub(super) used: bool,
}

impl Builder<'_> {
    pub(super) fn anchor(&mut self, id: usize, name: &str, span: Span) {
        let anchor =
            self.anchors.entry(id).or_insert_with(|| Anchor { name: String::new(), span, node: None, used: false });
        name.clone_into(&mut anchor.name);
        anchor.span = span;
    }

    pub(super) fn alias(&mut self, id: usize, span: Span) -> Result<(), Stop> {
        let Some(anchor) = self.anchors.get_mut(&id) else {
            return self.add(Node::new(Value::Null, span, Style::Invalid), 0, 1);
        };
        anchor.used = true;
        let Some((node, weight)) = &anchor.node else {
            let finding =
                Diagnostic::error(codes::YAML_SYNTAX, span, format!("`*{}` is used inside its own value", anchor.name));
            self.diagnostics.push(finding.label(anchor.span, "the value begins here"));
            return self.add(Node::new(Value::Null, span, Style::Invalid), 0, 1);
        };
        let (mut node, weight) = (node.clone(), *weight);
        node.origin = Some(node.origin.unwrap_or(node.span));
        node.span = span;
        self.count += weight;
        if self.count > MAX_NODES {
            self.diagnostics.push(
                Diagnostic::error(codes::ALIAS_BOMB, span, format!("aliases expand to more than {MAX_NODES} values"))
                    .help("write the repeated parts out, or use fewer levels of aliases"),
            );
            return Err(Stop);
        }
        self.add(node, 0, weight)
    }

    pub(super) fn unresolved(&mut self, name: &str, span: Span) -> Result<(), Stop> {
        let names = self.anchors.values().map(|anchor| anchor.name.as_str());
        let help = match did_you_mean(name, names) {
            Some(near) => format!("did you mean `*{near}`?"),
            None => "put the value in quotes if its text begins with `*`".to_owned(),
        };
        self.diagnostics.push(
            Diagnostic::error(
                codes::YAML_SYNTAX,
                span,
                format!("`*{name}` repeats a value that was never named with `&{name}`"),
            )
            .help(help),
        );
        self.add(Node::new(Value::Null, span, Style::Invalid), 0, 1)
    }

    pub(super) fn report_unused_anchors(&mut self) {
        let mut unused: Vec<&Anchor> = self.anchors.values().filter(|a| !a.used).collect();
        unused.sort_by_key(|anchor| anchor.span);
        for anchor in unused {
            let message = format!("the anchor `&{}` is never used", anchor.name);
            let finding = Diagnostic::warning(codes::UNUSED_ANCHOR, anchor.span, message)
                .help("put the value in quotes if its text begins with `&`; else remove the anchor");
            let (span, is_certain) = removal(self.text, anchor.span);
            self.diagnostics.push(if is_certain { finding.safe_fix(span, "") } else { finding.fix(span, "") });
        }
    }
}

/// What to take away with an anchor, and whether it surely is one: `&Co sells` may be a text.
fn removal(text: &str, anchor: Span) -> (Span, bool) {
    let (before, after) = (&text[..anchor.start as usize], &text[anchor.end as usize..]);
    let spaces = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let rest = after.trim_start_matches([' ', '\t']);
    if rest.is_empty() || rest.starts_with(['\n', '\r']) {
        let start = anchor.start - spaces(before.len() - before.trim_end_matches([' ', '\t']).len());
        return (Span::new(anchor.source, start, anchor.end), true);
    }
    let end = anchor.end + spaces(after.len() - rest.len());
    (Span::new(anchor.source, anchor.start, end), rest.starts_with(['[', '{', '"', '\'', '|', '>']))
}
