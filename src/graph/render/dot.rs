//! DOT: the language of Graphviz.

use super::lines;
use crate::graph::{EdgeKind, Graph, LoopGraph, NodeKind};

const LONGEST: usize = 60;

/// The graph in DOT.
#[must_use]
pub fn dot(graph: &Graph) -> String {
    let mut text = "digraph loops {\n  rankdir=LR\n  compound=true\n  node [shape=box, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11]\n  edge [arrowsize=0.7]\n".to_owned();
    for (at, one) in graph.loops.iter().enumerate() {
        text.push_str(&format!(
            "  subgraph cluster_{at} {{\n    label=\"{}\"\n",
            escape(&super::cut(&one.name, LONGEST))
        ));
        text.push_str(&nodes_and_edges(at, one));
        text.push_str("  }\n");
    }
    for (at, one) in graph.loops.iter().enumerate() {
        for (from, node) in one.nodes.iter().enumerate() {
            if let Some(to) = node.leads_to.filter(|to| *to < graph.loops.len()) {
                text.push_str(&format!("  l{at}n{from} -> l{to}n0 [style=dotted, constraint=false]\n"));
            }
        }
    }
    text + "}\n"
}

fn nodes_and_edges(at: usize, graph: &LoopGraph) -> String {
    let mut text = String::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let style = match node.kind {
            NodeKind::Start => "shape=oval",
            NodeKind::Success => "shape=oval, color=darkgreen",
            NodeKind::Failure => "shape=oval, color=firebrick",
            NodeKind::Hook => "shape=parallelogram",
            NodeKind::Turn => "shape=hexagon, penwidth=2",
            NodeKind::Action => "style=bold",
            NodeKind::Builtin => "style=solid",
            NodeKind::Tool | NodeKind::Forge => "style=\"rounded,dashed\"",
            NodeKind::Loop => "peripheries=2",
            NodeKind::Next => "shape=circle",
        };
        let label = lines(node, LONGEST).iter().map(|line| escape(line)).collect::<Vec<_>>().join("\\n");
        text.push_str(&format!("    l{at}n{number} [label=\"{label}\", {style}]\n"));
    }
    for edge in &graph.edges {
        let style = match edge.kind {
            EdgeKind::Flow => "",
            EdgeKind::Uses => " [style=dashed]",
            EdgeKind::Back => " [label=\"next iteration\", constraint=false]",
        };
        text.push_str(&format!("    l{at}n{} -> l{at}n{}{style}\n", edge.from, edge.to));
    }
    text
}

/// Text inside a quoted label. Graphviz reads `\` and `&` there.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
