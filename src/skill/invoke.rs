//! `invoke`: what a skill does when it is called. It is a tool with the skill's name, description and `input_schema`.

use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::document::ToolDoc;
use crate::syntax::{Entry, Node, Style, Value, decode};

/// The executable part of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Invoke {
    /// The tool that it stands for.
    pub tool: Arc<ToolDoc>,
    /// The same as a tree, with the places of the skill's file.
    pub node: Node,
}

/// Decodes `invoke`: one step, a list of steps, or `{ do: [steps], middleware, effect, class }`.
pub(super) fn decode_invoke(
    (name, named): (&str, Option<&Node>),
    description: &str,
    input: Option<&Node>,
    invoke: &Node,
    findings: &mut Diagnostics,
) -> Option<Invoke> {
    let synthetic = |text: &str| Node::new(Value::String(text.into()), invoke.span, Style::Synthetic);
    let entry = |key: &str, value: Node| Entry { key: key.into(), key_span: value.span, value };
    let mut entries = vec![
        entry("kind", synthetic("tool")),
        entry("name", Node { value: Value::String(name.into()), ..named.cloned().unwrap_or_else(|| synthetic(name)) }),
        entry("description", synthetic(description)),
    ];
    entries.extend(input.map(|input| entry("params", input.clone())));
    match &invoke.value {
        Value::Seq(_) => entries.push(entry("do", invoke.clone())),
        Value::Map(own) if invoke.get("do").is_some() => entries.extend(own.iter().cloned()),
        Value::Map(_) => {
            let steps = Node::new(Value::Seq([invoke.clone()].into()), invoke.span, Style::Indented);
            entries.push(entry("do", steps));
        }
        other => {
            let message = format!("`invoke` is a step or a list of steps, found {}", other.kind());
            let finding = Diagnostic::error(codes::SKILL_INVOKE, invoke.span, message);
            findings.push(finding.help("write it as in `invoke: { run: [python3, scripts/count.py] }`"));
            return None;
        }
    }
    let node = Node::new(Value::Map(entries.into()), invoke.span, Style::Indented);
    decode::<ToolDoc>(&node, findings).map(|tool| Invoke { tool: Arc::new(tool), node })
}
