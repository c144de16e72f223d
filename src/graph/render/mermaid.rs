//! Mermaid: the flow charts that GitHub, GitLab and many editors draw.

use super::lines;
use crate::graph::{EdgeKind, Graph, LoopGraph, Node, NodeKind};

/// Longer lines make the boxes of Mermaid too wide.
const LONGEST: usize = 60;

/// The graph as a Mermaid flow chart.
#[must_use]
pub fn mermaid(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (at, one) in graph.loops.iter().enumerate() {
        // One loop alone needs no frame.
        let framed = graph.loops.len() > 1;
        if framed {
            text.push_str(&format!(
                "  subgraph l{at} [\"{}\"]\n    direction LR\n",
                escape(&super::cut(&one.name, LONGEST))
            ));
        }
        nodes_and_edges(&mut text, at, one);
        if framed {
            text.push_str("  end\n");
        }
    }
    for (at, one) in graph.loops.iter().enumerate() {
        for (from, node) in one.nodes.iter().enumerate() {
            if let Some(to) = node.leads_to.filter(|to| *to < graph.loops.len()) {
                text.push_str(&format!("  l{at}n{from} -.-> l{to}n0\n"));
            }
        }
    }
    text.push_str("  classDef good stroke:#2da44e,stroke-width:2px\n");
    text.push_str("  classDef bad stroke:#cf222e,stroke-width:2px\n");
    text.push_str("  classDef used stroke-dasharray:4 3\n");
    text
}

fn nodes_and_edges(text: &mut String, at: usize, graph: &LoopGraph) {
    for (number, node) in graph.nodes.iter().enumerate() {
        let (open, close) = shape(node);
        let label = lines(node, LONGEST).iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br/>");
        text.push_str(&format!("    l{at}n{number}{open}\"{label}\"{close}{}\n", class(node.kind)));
    }
    for edge in &graph.edges {
        let arrow = match edge.kind {
            EdgeKind::Flow => "-->",
            EdgeKind::Uses => "-.->",
            EdgeKind::Back => "-- next iteration -->",
        };
        text.push_str(&format!("    l{at}n{} {arrow} l{at}n{}\n", edge.from, edge.to));
    }
}

fn shape(node: &Node) -> (&'static str, &'static str) {
    match node.kind {
        NodeKind::Start | NodeKind::Success | NodeKind::Failure => ("([", "])"),
        NodeKind::Hook => ("[/", "/]"),
        NodeKind::Turn => ("{{", "}}"),
        NodeKind::Action | NodeKind::Builtin => ("[", "]"),
        NodeKind::Tool | NodeKind::Forge => ("(", ")"),
        NodeKind::Loop => ("[[", "]]"),
        NodeKind::Next => ("((", "))"),
    }
}

fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Success => ":::good",
        NodeKind::Failure => ":::bad",
        NodeKind::Tool | NodeKind::Forge | NodeKind::Loop => ":::used",
        _ => "",
    }
}

/// Text inside a quoted label: whatever is not plainly harmless becomes an entity, which Mermaid writes `#NUMBER;`.
fn escape(text: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | ',' | ':' | '/' | '…');
    text.chars().map(|c| if harmless(c) { c.to_string() } else { format!("#{};", u32::from(c)) }).collect()
}
