//! Replays as a picture: SVG that needs no other program and follows the reader's light or dark setting.
//!
//! A panel a history, with its iterations from left to right: how large the prompt was, where the goal was reached and
//! where the spin began; then a line for each of the settings with a mark for everything that a mechanism did.

use std::fmt::Write as _;

use super::replay::{Mark, What};
use super::table::{Compared, Row, one_line};
use crate::event::MechanismName;

/// Sizes in pixels.
const MARGIN: f64 = 20.0;
const LABELS: f64 = 300.0;
const CHART: f64 = 900.0;
const TITLE: f64 = 34.0;
const TOKENS: f64 = 46.0;
const LINE: f64 = 24.0;
const AXIS: f64 = 30.0;
const LEGEND: f64 = 44.0;

/// The most characters of a label: as many as fit.
const LABEL: usize = 44;

/// Marks of one line that stand in the same iteration are moved apart by this much.
const APART: f64 = 11.0;

const STYLE: &str = "
  svg { font: 12px ui-sans-serif, system-ui, sans-serif; }
  text { fill: var(--ink); } .small { font-size: 11px; fill: var(--dim); } .title { font-size: 14px; font-weight: 600; }
  .bg { fill: var(--page); } .panel { fill: var(--panel); stroke: var(--line); } .grid { stroke: var(--line); }
  .tokens { fill: var(--area); } .goal { stroke: #2e9e5b; stroke-width: 2; } .spun { stroke: #c9302c; stroke-width: 2; stroke-dasharray: 5 4; }
  .perception { stroke: #2f74d0; fill: #2f74d0; } .reflection { stroke: #8a56c8; fill: #8a56c8; } .spin { stroke: #d9822b; fill: #d9822b; }
  .verification { stroke: #2e9e5b; fill: #2e9e5b; } .progress, .todo { stroke: #6b7a89; fill: #6b7a89; } .wasted { fill: none; }
  .end { stroke: var(--ink); stroke-width: 2; fill: none; }
  :root { --ink: #1c2733; --dim: #5b6b7b; --page: #ffffff; --panel: #f7f9fb; --line: #d5dde5; --area: #dbe5f0; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e3eaf1; --dim: #97a6b5; --page: #12181f; --panel: #1a222b; --line: #344150; --area: #2a3a4b; } }
";

/// All replays as an SVG document.
#[must_use]
pub fn plot(all: &[Compared]) -> String {
    let width = 4.0 * MARGIN + LABELS + CHART;
    let height = all.iter().map(panel_height).sum::<f64>() + LEGEND + MARGIN;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"tune-title tune-desc\">\n\
         <title id=\"tune-title\">What the mechanisms would have done</title>\n<desc id=\"tune-desc\">{}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n",
        escape(&described(all)),
    );
    legend(&mut out);
    let mut y = LEGEND;
    for one in all {
        panel(&mut out, one, y);
        y += panel_height(one);
    }
    out + "</svg>\n"
}

/// The picture in words, for who cannot see it.
fn described(all: &[Compared]) -> String {
    let row = |row: &Row| {
        let count = row.replay.calls.all();
        format!("{}: {} model calls, {} of them wasted", row.settings, count.made, count.wasted)
    };
    let one =
        |one: &Compared| format!("{}. {}.", one.history, one.replays.iter().map(row).collect::<Vec<_>>().join("; "));
    one_line(&all.iter().map(one).collect::<Vec<_>>().join(" "))
}

fn panel_height(one: &Compared) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred lines")]
    let lines = one.replays.len() as f64;
    TITLE + TOKENS + lines * LINE + AXIS + MARGIN
}

fn legend(out: &mut String) {
    let marks = [
        ("perception", "perception"),
        ("reflection", "reflection"),
        ("spin", "second opinion, warning"),
        ("verification", "verification"),
        ("todo", "todo checkpoint, no progress"),
    ];
    let mut x = MARGIN;
    for (class, words) in marks {
        shape(out, class, class, (x + 6.0, 22.0));
        text(out, "small", (x + 16.0, 26.0), words);
        x += 36.0 + 6.4 * f64::from(u16::try_from(words.len()).unwrap_or(u16::MAX));
    }
    let _ = writeln!(out, "<circle class=\"perception wasted\" cx=\"{:.1}\" cy=\"22\" r=\"5\"/>", x + 6.0);
    text(out, "small", (x + 16.0, 26.0), "hollow: changed nothing");
    x += 180.0;
    let line = |out: &mut String, class: &str, x: f64| {
        let _ = writeln!(out, "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"14\" y2=\"30\"/>");
    };
    line(out, "goal", x);
    text(out, "small", (x + 8.0, 26.0), "goal reached");
    line(out, "spun", x + 96.0);
    text(out, "small", (x + 104.0, 26.0), "spin begins");
    cross(out, (x + 192.0, 22.0));
    text(out, "small", (x + 202.0, 26.0), "end");
}

fn panel(out: &mut String, one: &Compared, top: f64) {
    let left = 2.0 * MARGIN + LABELS;
    let step = CHART / f64::from(one.iterations.max(1));
    let x = |iteration: u32| left + (f64::from(iteration) - 0.5) * step;
    let bottom = top + panel_height(one) - MARGIN;
    let _ = writeln!(
        out,
        "<rect class=\"panel\" x=\"{MARGIN}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>",
        LABELS + CHART + 2.0 * MARGIN,
        bottom - top,
    );
    text(out, "title", (MARGIN + 12.0, top + 22.0), &cut(&one.history, 80));
    let base = top + TITLE + TOKENS;
    tokens(out, one, (left, base), step);
    for (class, at) in [("goal", one.goal_at), ("spun", one.spin_at)] {
        let Some(at) = at.map(x) else { continue };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
            top + TITLE,
            bottom - AXIS
        );
    }
    let mut y = base;
    for row in &one.replays {
        let middle = y + LINE / 2.0;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>",
            left + CHART
        );
        text(out, "label", (MARGIN + 12.0, middle + 4.0), &cut(&row.settings, LABEL));
        line_of(out, row, middle, &x);
        y += LINE;
    }
    // At most some twenty numbers, at round distances.
    let every =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|n| one.iterations / n <= 20).unwrap_or(5000);
    for iteration in (1..=one.iterations).filter(|iteration| *iteration == 1 || iteration % every == 0) {
        let at = x(iteration);
        let _ = writeln!(
            out,
            "<text class=\"small\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{iteration}</text>",
            bottom - 10.0
        );
    }
    text(out, "small", (MARGIN + 12.0, bottom - 10.0), "iteration");
}

/// How large the prompts were.
fn tokens(out: &mut String, one: &Compared, (left, base): (f64, f64), step: f64) {
    let most = one.prompt_tokens.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return;
    }
    text(out, "small", (MARGIN + 12.0, base - 8.0), &format!("prompt tokens, at most {most}"));
    for (tokens, index) in one.prompt_tokens.iter().zip(0_u32..) {
        let height = (TOKENS - 6.0) * f64::from(*tokens) / f64::from(most);
        let _ = writeln!(
            out,
            "<rect class=\"tokens\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
            left + f64::from(index) * step + step * 0.1,
            base - height,
            step * 0.8
        );
    }
}

fn line_of(out: &mut String, row: &Row, y: f64, x: &impl Fn(u32) -> f64) {
    let mut last = (0, 0.0);
    for mark in &row.replay.marks {
        last = if last.0 == mark.iteration { (mark.iteration, last.1 + APART) } else { (mark.iteration, 0.0) };
        draw(out, mark, (x(mark.iteration) + last.1, y));
    }
    if let Some(end) = &row.replay.end {
        let apart = if last.0 == end.iteration { last.1 + APART } else { 0.0 };
        let _ = write!(
            out,
            "<g><title>{}</title>",
            escape(&format!("ends with {} in iteration {}", end.reason.name(), end.iteration))
        );
        cross(out, (x(end.iteration) + apart, y));
        out.push_str("</g>\n");
    }
}

fn draw(out: &mut String, mark: &Mark, at: (f64, f64)) {
    if mark.what == What::End {
        return;
    }
    let numbers = mark.grounds.numbers.iter().map(|(name, figure)| format!(" {name}={figure}")).collect::<String>();
    let name = mark.mechanism.name();
    let words = format!("{name} in iteration {}, {:.0} s: {}{numbers}", mark.iteration, mark.at, mark.grounds.rule);
    let _ = write!(out, "<g><title>{}</title>", escape(&words));
    let class = if mark.wasted { format!("{name} wasted") } else { name.to_owned() };
    let drawn = if mark.mechanism == MechanismName::Spin && mark.what == What::Warning { "warning" } else { name };
    shape(out, drawn, &class, at);
    out.push_str("</g>\n");
}

/// A shape of its own for each mechanism, for who cannot tell the colours.
fn shape(out: &mut String, drawn: &str, class: &str, (x, y): (f64, f64)) {
    let _ = match drawn {
        "perception" => writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"),
        "verification" => {
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\"/>",
                x - 4.5,
                y - 4.5
            )
        }
        "reflection" => writeln!(out, "<path class=\"{class}\" d=\"M{x:.1},{:.1} l6,6 -6,6 -6,-6 z\"/>", y - 6.0),
        "spin" => writeln!(out, "<path class=\"{class}\" d=\"M{x:.1},{:.1} l6,10 -12,0 z\"/>", y - 5.0),
        "warning" => writeln!(out, "<path class=\"{class}\" d=\"M{x:.1},{:.1} l6,-10 -12,0 z\"/>", y + 5.0),
        _ => writeln!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"4\" height=\"12\"/>",
            x - 2.0,
            y - 6.0
        ),
    };
}

fn cross(out: &mut String, (x, y): (f64, f64)) {
    let _ = writeln!(out, "<path class=\"end\" d=\"M{:.1},{:.1} l10,10 m0,-10 l-10,10\"/>", x - 5.0, y - 5.0);
}

fn text(out: &mut String, class: &str, (x, y): (f64, f64), words: &str) {
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
}

fn cut(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // XML has no place for these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
