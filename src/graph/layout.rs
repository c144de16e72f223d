//! Where boxes and lines go: layers from left to right, as Sugiyama, Tagawa and Toda (1981) lay out a hierarchy.
//!
//! A line that passes a column gets a place of its own in it, so no line crosses a box. Inside columns the order comes
//! from the means of the neighbours' places; heights are then drawn towards the neighbours without changing it.

/// How much room lies between two columns.
const COLUMN_GAP: f64 = 56.0;
/// How much room lies between two boxes, and beside a line.
const BOX_GAP: f64 = 14.0;
const LINE_GAP: f64 = 11.0;
/// More rounds change nothing visible in loops with thirty actions.
const SWEEPS: usize = 8;
const ROUNDS: usize = 24;

/// A box to be placed: the column, and the size in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) column: usize,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A box that was placed: the left upper corner, and the size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Boxes and lines in their places.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    /// For each edge the points that it passes; between two columns it may bend, inside one it is level.
    pub(super) lines: Vec<Vec<(f64, f64)>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A place in a column: a box, or a line that passes.
struct Slot {
    height: f64,
    is_box: bool,
    /// Slots of the column before and of the one after.
    before: Vec<(usize, usize)>,
    after: Vec<(usize, usize)>,
    /// The centre.
    y: f64,
}

/// Places boxes; `edges` go from a lower column to a higher one, others are left without a line.
pub(super) fn place(sizes: &[Size], edges: &[(usize, usize)]) -> Layout {
    let columns = sizes.iter().map(|size| size.column + 1).max().unwrap_or(0);
    let mut grid: Vec<Vec<Slot>> = (0..columns).map(|_| Vec::new()).collect();
    let slot = |height: f64, is_box: bool| Slot { height, is_box, before: Vec::new(), after: Vec::new(), y: 0.0 };
    let mut home = Vec::new();
    for size in sizes {
        home.push((size.column, grid[size.column].len()));
        grid[size.column].push(slot(size.height, true));
    }
    // Each edge as the slots that it passes.
    let mut chains: Vec<Vec<(usize, usize)>> = Vec::new();
    for &(from, to) in edges {
        let (first, last) = (home[from], home[to]);
        let mut chain = vec![first];
        if first.0 < last.0 {
            for (column, slots) in grid.iter_mut().enumerate().take(last.0).skip(first.0 + 1) {
                chain.push((column, slots.len()));
                slots.push(slot(0.0, false));
            }
            chain.push(last);
        }
        for pair in chain.windows(2) {
            grid[pair[0].0][pair[0].1].after.push(pair[1]);
            grid[pair[1].0][pair[1].1].before.push(pair[0]);
        }
        chains.push(chain);
    }
    let orders = order(&grid);
    settle(&mut grid, &orders);
    lines_and_boxes(sizes, &grid, &home, &chains)
}

/// For each column its slots from top to bottom.
fn order(grid: &[Vec<Slot>]) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = grid.iter().map(|slots| (0..slots.len()).collect()).collect();
    let mut best = (crossings(grid, &orders), orders.clone());
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        let columns: Vec<usize> = if forward { (0..grid.len()).collect() } else { (0..grid.len()).rev().collect() };
        for column in columns {
            let rank = ranks(&orders);
            let key = |slot: usize| {
                let near = if forward { &grid[column][slot].before } else { &grid[column][slot].after };
                let sum: f64 = near.iter().map(|&(column, slot)| rank[column][slot]).sum();
                if near.is_empty() { rank[column][slot] } else { sum / near.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> = orders[column].iter().map(|&slot| (key(slot), slot)).collect();
            keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
            orders[column] = keyed.into_iter().map(|(_, slot)| slot).collect();
        }
        let found = crossings(grid, &orders);
        if found < best.0 {
            best = (found, orders.clone());
        }
    }
    best.1
}

/// For each slot its place in its column, from 0 to 1: columns of different length can be compared.
fn ranks(orders: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let rank = |order: &Vec<usize>| {
        let mut rank = vec![0.0; order.len()];
        for (at, &slot) in order.iter().enumerate() {
            rank[slot] = (at as f64 + 0.5) / order.len() as f64;
        }
        rank
    };
    orders.iter().map(rank).collect()
}

fn crossings(grid: &[Vec<Slot>], orders: &[Vec<usize>]) -> usize {
    let rank = ranks(orders);
    let mut found = 0;
    for (column, slots) in grid.iter().enumerate() {
        let ends = |(at, slot): (usize, &Slot)| {
            let from = rank[column][at];
            slot.after.iter().map(|&(c, s)| (from, rank[c][s])).collect::<Vec<_>>()
        };
        let edges: Vec<(f64, f64)> = slots.iter().enumerate().flat_map(ends).collect();
        for (at, one) in edges.iter().enumerate() {
            found += edges[at + 1..].iter().filter(|two| (one.0 - two.0) * (one.1 - two.1) < 0.0).count();
        }
    }
    found
}

/// Gives every slot its height in the picture.
fn settle(grid: &mut [Vec<Slot>], orders: &[Vec<usize>]) {
    for (column, order) in orders.iter().enumerate() {
        let wanted = vec![0.0; order.len()];
        spread(&mut grid[column], order, &wanted);
    }
    for round in 0..ROUNDS {
        let columns: Vec<usize> =
            if round % 2 == 0 { (0..grid.len()).collect() } else { (0..grid.len()).rev().collect() };
        for column in columns {
            let centre = |slot: &usize| {
                let slot = &grid[column][*slot];
                let near: Vec<f64> = slot.before.iter().chain(&slot.after).map(|&(c, s)| grid[c][s].y).collect();
                if near.is_empty() { slot.y } else { near.iter().sum::<f64>() / near.len() as f64 }
            };
            let wanted: Vec<f64> = orders[column].iter().map(centre).collect();
            spread(&mut grid[column], &orders[column], &wanted);
        }
    }
}

/// Moves the slots of a column as near to what they want as their order and the gaps let them.
fn spread(slots: &mut [Slot], order: &[usize], wanted: &[f64]) {
    let gap = |above: &Slot, below: &Slot| {
        let between = if above.is_box && below.is_box { BOX_GAP } else { LINE_GAP };
        f64::midpoint(above.height, below.height) + between
    };
    let gaps: Vec<f64> = order.windows(2).map(|pair| gap(&slots[pair[0]], &slots[pair[1]])).collect();
    let (mut down, mut up) = (wanted.to_vec(), wanted.to_vec());
    for at in 1..down.len() {
        down[at] = down[at].max(down[at - 1] + gaps[at - 1]);
    }
    for at in (1..up.len()).rev() {
        up[at - 1] = up[at - 1].min(up[at] - gaps[at - 1]);
    }
    // Both keep the gaps, so their mean does too, and it pushes nobody to one side.
    for (at, &slot) in order.iter().enumerate() {
        slots[slot].y = f64::midpoint(down[at], up[at]);
    }
}

fn lines_and_boxes(
    sizes: &[Size],
    grid: &[Vec<Slot>],
    home: &[(usize, usize)],
    chains: &[Vec<(usize, usize)>],
) -> Layout {
    let mut wide = vec![0.0f64; grid.len()];
    for size in sizes {
        wide[size.column] = wide[size.column].max(size.width);
    }
    let mut left = vec![0.0; grid.len()];
    let mut x = 0.0;
    for (column, width) in wide.iter().enumerate() {
        left[column] = x;
        // A column without boxes takes no room.
        x += if *width > 0.0 { width + COLUMN_GAP } else { 0.0 };
    }
    let all = grid.iter().flatten();
    let top = all.clone().map(|slot| slot.y - slot.height / 2.0).fold(f64::INFINITY, f64::min);
    let bottom = all.map(|slot| slot.y + slot.height / 2.0).fold(f64::NEG_INFINITY, f64::max);
    let top = if top.is_finite() { top } else { 0.0 };
    let boxes: Vec<Rect> = sizes
        .iter()
        .zip(home)
        .map(|(size, &(column, slot))| Rect {
            x: left[column],
            y: grid[column][slot].y - size.height / 2.0 - top,
            // Boxes of a column are equally wide: edges begin and end on one line.
            width: wide[column],
            height: size.height,
        })
        .collect();
    let line = |chain: &Vec<(usize, usize)>| {
        let mut points = Vec::new();
        // A column without boxes has no room to be level in.
        let passed = |at: &usize| chain.len() > 1 && wide[chain[*at].0] > 0.0;
        for at in (0..chain.len()).filter(passed) {
            let (column, slot) = chain[at];
            let y = grid[column][slot].y - top;
            if at > 0 {
                points.push((left[column], y));
            }
            if at + 1 < chain.len() {
                points.push((left[column] + wide[column], y));
            }
        }
        points
    };
    Layout {
        lines: chains.iter().map(line).collect(),
        width: (x - COLUMN_GAP).max(0.0),
        height: if bottom.is_finite() { bottom - top } else { 0.0 },
        boxes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn boxes_do_not_overlap_and_lines_do_not_cross_them(
            sizes in proptest::collection::vec((0usize..6, 20.0..200.0f64, 20.0..80.0f64), 1..24),
            edges in proptest::collection::vec((0usize..24, 0usize..24), 0..40),
        ) {
            let sizes: Vec<Size> = sizes.into_iter().map(|(column, width, height)| Size { column, width, height }).collect();
            let n = sizes.len();
            let edges: Vec<_> = edges.into_iter().map(|(a, b)| (a % n, b % n)).collect();
            let layout = place(&sizes, &edges);
            let inside = |rect: &Rect| rect.x >= 0.0 && rect.y >= -0.01 && rect.y + rect.height <= layout.height + 0.01;
            prop_assert!(layout.boxes.iter().all(inside));
            for (at, one) in layout.boxes.iter().enumerate() {
                for two in &layout.boxes[at + 1..] {
                    let apart = one.x + one.width <= two.x || two.x + two.width <= one.x
                        || one.y + one.height <= two.y + 0.01 || two.y + two.height <= one.y + 0.01;
                    prop_assert!(apart, "{one:?} {two:?}");
                }
            }
            for (line, edge) in layout.lines.iter().zip(&edges) {
                // Level pieces run inside columns: between an odd point and the next.
                for pair in line.windows(2).filter(|pair| pair[0].1 == pair[1].1) {
                    for (at, rect) in layout.boxes.iter().enumerate().filter(|(at, _)| *at != edge.0 && *at != edge.1) {
                        let crosses = pair[0].0 < rect.x + rect.width - 0.01 && pair[1].0 > rect.x + 0.01
                            && pair[0].1 > rect.y + 0.01 && pair[0].1 < rect.y + rect.height - 0.01;
                        prop_assert!(!crosses, "{pair:?} crosses box {at} {rect:?}");
                    }
                }
            }
        }
    }
}
