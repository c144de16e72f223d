//! SVG: a picture that needs no other program, follows the reader's light or dark setting, and tells a screen reader
//! what it shows.

use std::fmt::Write as _;

use super::cut;
use super::width::{fitted, width};
use crate::graph::layout::{Layout, Rect, Size, place};
use crate::graph::{Edge, EdgeKind, Graph, LoopGraph, Node, NodeKind};

/// Sizes in pixels.
const MARGIN: f64 = 24.0;
const HEADER: f64 = 52.0;
const BACK_ROOM: f64 = 34.0;
const PADDING: f64 = 12.0;
const WIDEST: f64 = 230.0;
const KIND_SIZE: f64 = 10.0;
const LABEL_SIZE: f64 = 13.0;
const DETAIL_SIZE: f64 = 11.0;
/// Bold letters are wider than the table says.
const BOLD: f64 = 1.07;

/// What does not depend on light or dark.
const STYLE: &str = "
  text { font-family: Helvetica, Arial, 'Liberation Sans', sans-serif; }
  .title { font-size: 16px; font-weight: bold; } .about { font-size: 12px; }
  .kind { font-size: 10px; } .label { font-size: 13px; font-weight: bold; } .detail { font-size: 11px; }
  .box { stroke-width: 1.5; } .turn .box { stroke-width: 2.5; } .builtin .box { stroke-opacity: .45; }
  .tool .box, .forge .box, .loop .box { stroke-dasharray: 5 3; }
  .edge { fill: none; stroke-width: 1.3; } .uses { stroke-dasharray: 4 3; }
";

/// Colours: selector, property, light, dark. Written out, since not every viewer knows CSS variables.
const COLOURS: [(&str, &str, &str, &str); 14] = [
    (".bg", "fill", "#ffffff", "#0d1117"),
    (".panel", "fill", "#f6f8fa", "#151b23"),
    (".panel", "stroke", "#d0d7de", "#3d444d"),
    ("text", "fill", "#1f2328", "#f0f6fc"),
    (".about, .kind, .detail", "fill", "#59636e", "#9198a1"),
    (".box", "fill", "#ffffff", "#0d1117"),
    (".box", "stroke", "#6e7781", "#9198a1"),
    (".action .box, .builtin .box", "stroke", "#0969da", "#4493f8"),
    (".turn .box", "stroke", "#8250df", "#ab7df8"),
    (".hook .box", "stroke", "#9a6700", "#d29922"),
    (".success .box", "stroke", "#1a7f37", "#3fb950"),
    (".failure .box", "stroke", "#cf222e", "#f85149"),
    (".edge", "stroke", "#818b98", "#767f8b"),
    (".tip", "fill", "#818b98", "#767f8b"),
];

/// The style sheet: light, and dark where the reader asks for it.
fn style() -> String {
    let rules = |dark: bool| {
        let rule = |(of, property, light, night): &(&str, &str, &str, &str)| {
            format!("  {of} {{ {property}: {} }}\n", if dark { night } else { light })
        };
        COLOURS.iter().map(rule).collect::<String>()
    };
    format!("{STYLE}{}  @media (prefers-color-scheme: dark) {{\n{}  }}\n", rules(false), rules(true))
}

/// The graph as an SVG document.
#[must_use]
pub fn svg(graph: &Graph) -> String {
    let panels: Vec<Panel<'_>> = graph.loops.iter().map(Panel::of).collect();
    let width = panels.iter().map(Panel::width).fold(320.0, f64::max) + 2.0 * MARGIN;
    let height = panels.iter().map(|panel| panel.height() + MARGIN).sum::<f64>() + MARGIN;
    let name = graph.loops.first().map(|one| one.name.as_str()).unwrap_or_default();
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"graph-title graph-desc\">\n\
         <title id=\"graph-title\">The loop {}</title>\n<desc id=\"graph-desc\">{}</desc>\n<style>{}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n",
        escape(&cut(name, 80)),
        escape(&described(graph)),
        style(),
    );
    let mut y = MARGIN;
    for (at, panel) in panels.iter().enumerate() {
        panel.draw(&mut out, at, y, width - 2.0 * MARGIN);
        y += panel.height() + MARGIN;
    }
    out + "</svg>\n"
}

/// The picture in words.
fn described(graph: &Graph) -> String {
    let loops = graph.loops.iter().map(|one| {
        let of = |kinds: &[NodeKind]| {
            let names = one.nodes.iter().filter(|node| kinds.contains(&node.kind)).map(|node| cut(&node.label, 60));
            names.collect::<Vec<_>>().join(", ")
        };
        let rows = [
            ("chooses among", of(&[NodeKind::Action, NodeKind::Builtin])),
            ("uses", of(&[NodeKind::Tool, NodeKind::Forge, NodeKind::Loop])),
            ("ends with", of(&[NodeKind::Success, NodeKind::Failure])),
        ];
        let rows = rows.iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("{what} {names}"));
        format!("{} {}.", cut(&one.name, 60), rows.collect::<Vec<_>>().join("; "))
    });
    loops.collect::<Vec<_>>().join(" ")
}

/// One loop, laid out.
struct Panel<'a> {
    graph: &'a LoopGraph,
    layout: Layout,
    /// The edges that have lines in the layout.
    forward: Vec<&'a Edge>,
}

impl<'a> Panel<'a> {
    fn of(graph: &'a LoopGraph) -> Self {
        let sizes: Vec<Size> = graph.nodes.iter().map(size).collect();
        let forward: Vec<&Edge> = graph.edges.iter().filter(|edge| edge.kind != EdgeKind::Back).collect();
        let edges: Vec<_> = forward.iter().map(|edge| (edge.from, edge.to)).collect();
        Self { graph, layout: place(&sizes, &edges), forward }
    }

    fn width(&self) -> f64 {
        self.layout.width + 2.0 * MARGIN
    }

    fn height(&self) -> f64 {
        let back = self.graph.edges.iter().any(|edge| edge.kind == EdgeKind::Back);
        HEADER + self.layout.height + MARGIN + if back { BACK_ROOM } else { 0.0 }
    }

    fn draw(&self, out: &mut String, at: usize, y: f64, width: f64) {
        let _ = writeln!(out, "<g id=\"loop-{at}\" transform=\"translate({MARGIN} {y:.1})\">");
        let _ = writeln!(out, "<rect class=\"panel\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"10\"/>", self.height());
        text(out, "title", (MARGIN, 26.0), &fitted(&cut(&self.graph.name, 200), 16.0 * BOLD, width - 2.0 * MARGIN));
        let about = fitted(&cut(&self.graph.description, 400), 12.0, width - 2.0 * MARGIN);
        text(out, "about", (MARGIN, 43.0), &about);
        let _ = writeln!(out, "<g transform=\"translate({MARGIN} {HEADER})\">");
        for (line, edge) in self.layout.lines.iter().zip(&self.forward) {
            let class = if edge.kind == EdgeKind::Uses { "edge uses" } else { "edge" };
            path(out, class, &curve(line));
        }
        for edge in self.graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Back) {
            path(out, "edge", &self.back(edge));
        }
        for (node, rect) in self.graph.nodes.iter().zip(&self.layout.boxes) {
            draw_box(out, node, rect);
        }
        out.push_str("</g>\n</g>\n");
    }

    /// Around everything from below: in the gap right of the source down, left under all boxes, and in the gap left of
    /// the target up.
    fn back(&self, edge: &Edge) -> String {
        let (from, to) = (&self.layout.boxes[edge.from], &self.layout.boxes[edge.to]);
        let (right, left) = (from.x + from.width + 16.0, to.x - 16.0);
        let (start, end) = (from.y + from.height / 2.0, to.y + to.height * 0.75);
        let low = self.layout.height + 20.0;
        format!(
            "M{:.1},{start:.1} Q{right:.1},{start:.1} {right:.1},{:.1} V{:.1} Q{right:.1},{low:.1} {:.1},{low:.1} H{:.1} Q{left:.1},{low:.1} {left:.1},{:.1} V{:.1} Q{left:.1},{end:.1} {:.1},{end:.1}",
            from.x + from.width,
            start + 10.0,
            low - 10.0,
            right - 10.0,
            left + 10.0,
            low - 10.0,
            end + 10.0,
            to.x,
        )
    }
}

/// The lines of a box: their class, size, text.
fn rows(node: &Node) -> Vec<(&'static str, f64, f64, String)> {
    let most = WIDEST - 2.0 * PADDING;
    let mut rows = Vec::new();
    if node.kind.word() != node.label {
        rows.push(("kind", KIND_SIZE, 13.0, node.kind.word().to_owned()));
    }
    rows.push(("label", LABEL_SIZE, 17.0, fitted(&cut(&node.label, 200), LABEL_SIZE * BOLD, most)));
    for detail in node.details.iter().filter(|detail| !detail.is_empty()) {
        rows.push(("detail", DETAIL_SIZE, 14.0, fitted(&cut(detail, 200), DETAIL_SIZE, most)));
    }
    rows
}

fn size(node: &Node) -> Size {
    let rows = rows(node);
    let wide = |(class, size, _, text): &(&str, f64, f64, String)| {
        width(text, if *class == "label" { size * BOLD } else { *size })
    };
    Size {
        column: node.column,
        width: rows.iter().map(wide).fold(28.0, f64::max).min(WIDEST) + 2.0 * PADDING,
        height: rows.iter().map(|row| row.2).sum::<f64>() + 13.0,
    }
}

fn draw_box(out: &mut String, node: &Node, rect: &Rect) {
    let class = match node.kind {
        NodeKind::Start | NodeKind::Next => "next",
        NodeKind::Hook => "hook",
        NodeKind::Turn => "turn",
        NodeKind::Action => "action",
        NodeKind::Builtin => "builtin",
        NodeKind::Tool => "tool",
        NodeKind::Forge => "forge",
        NodeKind::Loop => "loop",
        NodeKind::Success => "success",
        NodeKind::Failure => "failure",
    };
    let round = match node.kind {
        NodeKind::Start | NodeKind::Next | NodeKind::Success | NodeKind::Failure => (rect.height / 2.0).min(20.0),
        NodeKind::Tool | NodeKind::Forge => 10.0,
        _ => 4.0,
    };
    let link = node.leads_to.map(|to| format!("<a href=\"#loop-{to}\">"));
    out.push_str(link.as_deref().unwrap_or_default());
    // The whole text, for a pointer that rests on the box.
    let whole: Vec<String> =
        std::iter::once(&node.label).chain(&node.details).map(|line| escape(&cut(line, 2000))).collect();
    let _ = writeln!(
        out,
        "<g class=\"{class}\"><title>{}: {}</title><rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round:.1}\"/>",
        node.kind.word(),
        whole.join("; "),
        rect.x,
        rect.y,
        rect.width,
        rect.height,
    );
    let mut y = rect.y + 4.0;
    for (class, _, height, line) in rows(node) {
        y += height;
        text(out, class, (rect.x + PADDING, y), &line);
    }
    out.push_str(if link.is_some() { "</g></a>\n" } else { "</g>\n" });
}

/// A line through its points: bent between columns, level inside them.
fn curve(points: &[(f64, f64)]) -> String {
    let Some((first, rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{:.1},{:.1}", first.0, first.1);
    let mut last = first;
    for point in rest {
        if (point.1 - last.1).abs() < 0.1 {
            let _ = write!(path, " H{:.1}", point.0);
        } else {
            let middle = f64::midpoint(last.0, point.0);
            let _ =
                write!(path, " C{middle:.1},{:.1} {middle:.1},{:.1} {:.1},{:.1}", last.1, point.1, point.0, point.1);
        }
        last = point;
    }
    path
}

fn path(out: &mut String, class: &str, data: &str) {
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{data}\" marker-end=\"url(#tip)\"/>");
}

fn text(out: &mut String, class: &str, (x, y): (f64, f64), words: &str) {
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
