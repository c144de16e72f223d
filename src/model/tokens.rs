//! Token counts before a provider says them. An estimate, and marked as one wherever it is shown.

/// About how many tokens a text has: four bytes of Latin text a token, one token a character of scripts without
/// spaces between words (a rule of thumb that byte-pair vocabularies of the large models share).
#[must_use]
pub fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let (mut wide, mut narrow) = (0, 0);
    for c in text.chars() {
        match u32::from(c) {
            // CJK, kana, hangul, and everything in the supplementary planes.
            0x2E80..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x10000.. => {
                wide += 1;
            }
            _ => narrow += c.len_utf8(),
        }
    }
    wide + narrow.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn latin_text_has_four_bytes_a_token_and_chinese_one_character() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("four"), 1);
        assert_eq!(estimate("fives"), 2);
        assert_eq!(estimate("确定性"), 3);
        assert_eq!(estimate("ok 确定"), 3);
    }
}
