//! "Did you mean": the nearest known word to one that a person wrote.

use std::collections::HashSet;

/// The candidate nearest to `word`, if one is near enough to be worth saying.
///
/// Case and `-`/`_` do not count. The limit is one edit and one more for each four letters, so
/// `max_iteratons` finds `max_iterations` and `zebra` finds nothing.
pub fn did_you_mean<'a, S>(word: &str, candidates: impl IntoIterator<Item = &'a S>) -> Option<&'a str>
where
    S: AsRef<str> + ?Sized + 'a,
{
    let near = near(&fold(word), candidates);
    near.into_iter().min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The candidate that is near enough, if it is the only one: what may be written without asking.
pub fn only_near<'a, S>(word: &str, candidates: impl IntoIterator<Item = &'a S>) -> Option<&'a str>
where
    S: AsRef<str> + ?Sized + 'a,
{
    match near(&fold(word), candidates)[..] {
        [(_, only)] => Some(only),
        _ => None,
    }
}

/// The candidates that are near enough, each with its distance.
fn near<'a, S>(folded: &str, candidates: impl IntoIterator<Item = &'a S>) -> Vec<(usize, &'a str)>
where
    S: AsRef<str> + ?Sized + 'a,
{
    let length = folded.chars().count();
    let limit = 1 + length / 4;
    let distance = |candidate: &'a S| {
        let candidate = candidate.as_ref();
        let other = fold(candidate);
        let other_length = other.chars().count();
        if length.abs_diff(other_length) > limit {
            return None;
        }
        let distance = strsim::damerau_levenshtein(folded, &other);
        // A word whose every letter had to change is no suggestion, however short it is.
        (distance <= limit && distance < length.max(other_length)).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(distance).collect()
}

/// Words in backticks, each once, separated by commas, cut after twelve.
pub fn list_words<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 12;
    let mut shown = HashSet::new();
    let words = words.into_iter().map(|word| format!("`{}`", word.as_ref()));
    let words: Vec<String> = words.filter(|word| shown.insert(word.clone())).collect();
    match words.len() {
        0 => "nothing".to_owned(),
        n if n > SHOWN => format!("{} and {} more", words[..SHOWN].join(", "), n - SHOWN),
        _ => words.join(", "),
    }
}

fn fold(word: &str) -> String {
    word.chars().map(|c| if c == '-' { '_' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["max_iterations", "max_total_tokens", "timeout", "model"];
        for (word, expected) in [
            ("max-iterations", Some("max_iterations")),
            ("Max_Iterations", Some("max_iterations")),
            ("max_iteratons", Some("max_iterations")),
            ("tiemout", Some("timeout")),
            ("modle", Some("model")),
            ("zebra", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(word, &keys), expected, "{word}");
        }
    }

    #[test]
    fn a_word_near_two_is_not_certain() {
        assert_eq!(only_near("max_iteratons", &["max_iterations", "max_tokens"]), Some("max_iterations"));
        assert_eq!(only_near("colour", &["collar", "color"]), None);
        assert_eq!(only_near("zebra", &["collar", "color"]), None);
    }

    #[test]
    fn the_nearest_wins() {
        assert_eq!(did_you_mean("colour", &["collar", "color"]), Some("color"));
    }

    #[test]
    fn short_words_need_a_common_letter() {
        assert_eq!(did_you_mean("x", &["y", "z"]), None);
    }

    #[test]
    fn long_lists_are_cut() {
        let words: Vec<String> = (0..14).map(|n| format!("w{n}")).collect();
        assert!(list_words(&words).ends_with("`w11` and 2 more"));
        assert_eq!(list_words(["a", "b", "a"]), "`a`, `b`");
    }
}
