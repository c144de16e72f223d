//! How wide text is in Helvetica and the fonts made to its measure (Arial, Liberation Sans), without asking a font.

/// Widths of the characters from space to `~`, in thousandths of the font's size: the metrics that Adobe publishes for
/// Helvetica (Core 14 AFM files).
const ASCII: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// Other letters: no narrower than most, so that text is rather given too much room than too little.
const OTHER: u16 = 667;
/// Ideographs, kana, Hangul, emoji.
const WIDE: u16 = 1000;

/// The width of text in pixels at a font size. Bold text is some 6% wider.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(thousandths).map(f64::from).sum::<f64>() * size / 1000.0
}

fn thousandths(c: char) -> u16 {
    let at = u32::from(c);
    match at {
        0x20..=0x7E => ASCII[at as usize - 0x20],
        // Marks that stand on the letter before them.
        0x300..=0x36F => 0,
        0x2026 => WIDE,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 => {
            WIDE
        }
        0x1_0000.. => 1200,
        _ => OTHER,
    }
}

/// As much of the text as fits, with an ellipsis where something is missing.
pub(super) fn fitted(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = width("…", size);
    for c in text.chars() {
        used += f64::from(thousandths(c)) * size / 1000.0;
        if used > most {
            break;
        }
        out.push(c);
    }
    out.trim_end().to_owned() + "…"
}
