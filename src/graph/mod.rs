//! A loop as a graph: what it begins with, what its model may choose, what that uses, and how it ends.

mod build;
mod layout;
mod render;

pub use build::graph;
pub use render::{dot, mermaid, svg};

use serde::Serialize;

/// A loop and the loops that it leads to. Each is there once, so a circle of loops ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Graph {
    /// The loops; the first is the one that was asked for.
    pub loops: Vec<LoopGraph>,
}

/// One loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopGraph {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its edges.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its name.
    pub label: String,
    /// More about it, one line each.
    pub details: Vec<String>,
    /// The column that it stands in, counted from the start.
    pub column: usize,
    /// For a loop: its place in [`Graph::loops`], when the library has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<usize>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Where a run begins.
    Start,
    /// Steps before, between or after the iterations.
    Hook,
    /// The model's turn.
    Turn,
    /// An action of the loop's own.
    Action,
    /// A built-in action.
    Builtin,
    /// A tool.
    Tool,
    /// A forge.
    Forge,
    /// Another loop.
    Loop,
    /// The iteration is over and the next begins.
    Next,
    /// A good end.
    Success,
    /// A bad end.
    Failure,
}

impl NodeKind {
    /// The kind in a word, for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Hook => "hook",
            Self::Turn => "model",
            Self::Action => "action",
            Self::Builtin => "built-in action",
            Self::Tool => "tool",
            Self::Forge => "forge",
            Self::Loop => "loop",
            Self::Next => "iteration",
            Self::Success | Self::Failure => "exit",
        }
    }
}

/// An edge between two nodes of a loop, by their places in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What it means.
    pub kind: EdgeKind,
}

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// What follows.
    Flow,
    /// What is called, and returns.
    Uses,
    /// Back to the model's turn.
    Back,
}

#[cfg(test)]
mod tests;
