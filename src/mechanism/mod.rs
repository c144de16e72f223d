//! What watches a loop, as pure decisions: settings, throttles, and one state machine a mechanism.
//!
//! Nothing here waits, calls a model or reads a clock. Time comes in as a [`Moment`]; every decision goes out with the
//! rule and the numbers that made it. What is decided is carried out in `engine::mechanism`.

mod incident;
#[doc(hidden)]
pub mod measure;
mod perception;
mod progress;
mod reflection;
mod settings;
pub mod spin;
mod throttle;
mod todo;
pub mod verification;

pub use incident::{Opinion, Repetition, Sight, Watch, Weighed};
pub use perception::{Account, Perception};
pub use progress::Progress;
pub use reflection::{Circumstances, level};
pub use settings::{Mode, ProgressSettings, Settings};
pub use throttle::{Moment, Verdict};
pub use todo::{Checkpoints, Plan};

use sha2::{Digest, Sha256};

/// A short text: one line of at most so many characters.
fn line(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// A text of at most so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Sixteen hexadecimal digits that stand for a text.
fn hash(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes())[..8])
}
