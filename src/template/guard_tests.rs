//! Tests of the guard, most of them as data in `tests/cases/guard/shapes.json`.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    text: String,
    /// What the model sees; the same as `text` when nothing is guarded.
    guarded: String,
    #[serde(default)]
    note: String,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../../tests/cases/guard/shapes.json")).expect("cases")
}

#[test]
fn shapes_are_guarded_and_the_rest_is_left_alone() {
    for case in cases() {
        let (guarded, shapes) = neutralise(&case.text);
        assert_eq!(guarded, case.guarded, "{}", case.note);
        assert_eq!(shapes > 0, case.text != case.guarded, "{}", case.note);
        assert_eq!(restore(&guarded), case.text, "{}", case.note);
    }
}

#[test]
fn nothing_is_copied_when_there_is_nothing_to_do() {
    assert!(matches!(neutralise("a < b | c > d"), (Cow::Borrowed(_), 0)));
}

#[test]
fn long_texts_take_linear_time() {
    // A quadratic scan of these would take minutes.
    for text in ["<".repeat(1 << 17), "<|".repeat(1 << 16), format!("<{}", " ".repeat(1 << 17)), "<|a_".repeat(1 << 15)]
    {
        assert_eq!(restore(&neutralise(&text).0), text);
    }
}

proptest! {
    #[test]
    fn restoring_gives_back_any_text(text in prop_oneof![
        any::<String>(),
        "([<>|\\\\_ /\n.＜﹤＞｜\u{200B}\u{AD}\u{A0}]|NAME|END|a_b|é){0,30}",
    ]) {
        let (guarded, _) = neutralise(&text);
        prop_assert_eq!(restore(&guarded).into_owned(), text.clone());
        // Guarding twice is undone by restoring twice.
        let (twice, _) = neutralise(&guarded);
        prop_assert_eq!(restore(&restore(&twice)).into_owned(), text);
    }

    /// Whatever the text, no delimiter is left in what a forgiving reader makes of it.
    #[test]
    fn nothing_that_is_left_is_a_delimiter(text in "([<>|_ ＜﹤＞｜\u{200B}\u{AD}\\\\]|NAME|END|abc){0,30}") {
        let (guarded, _) = neutralise(&text);
        let canonical = canonical(&guarded).into_owned();
        let delimiter = regex::Regex::new(r"<\|[a-z_]*[a-z]_[a-z_]*[a-z]\|>").expect("pattern");
        prop_assert!(!delimiter.is_match(&canonical), "{canonical:?}");
    }
}
