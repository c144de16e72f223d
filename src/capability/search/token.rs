//! Text to words: names fall into their parts, letters are folded, Chinese becomes pairs of characters.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// A word of a text, folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word, or a part of a name: `get`, `water` and `quality` of `getWaterQuality`.
    Word(&'a str),
    /// A name of several parts without what separates them: `getwaterquality`, also of `get_water_quality`.
    Whole(&'a str),
    /// Two neighbouring characters of a script that is written without spaces, or a single one between others.
    Pair(&'a str),
}

impl<'a> Token<'a> {
    pub(super) fn text(self) -> &'a str {
        match self {
            Token::Word(text) | Token::Whole(text) | Token::Pair(text) => text,
        }
    }
}

/// Whether names fall into parts where the case of letters changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Split,
    Kept,
}

/// Calls `take` with each token of the text, in order.
///
/// Parts are cut before folding: `getURLFor2Users` is `get`, `url`, `for`, `2`, `users`.
pub(super) fn tokens(text: &str, names: Names, take: &mut dyn FnMut(Token<'_>)) {
    let text = fold(text);
    let mut reader = Reader { take, part: String::new(), whole: String::new(), parts: 0, pairs: Vec::new() };
    let mut last = ' ';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next().unwrap_or(' ');
        if is_unspaced(c) {
            reader.end_name();
            reader.pairs.push(c);
        } else if c.is_alphanumeric() {
            reader.end_pairs();
            if names == Names::Split && is_cut(last, c, next) {
                reader.end_part();
            }
            reader.part.extend(c.to_lowercase());
        } else {
            reader.end_pairs();
            if matches!(c, '_' | '-') && names == Names::Split {
                reader.end_part();
            } else {
                reader.end_name();
            }
        }
        last = c;
    }
    reader.end_name();
    reader.end_pairs();
}

/// Compatibility forms (`ｆｕｌｌ` width, ligatures) and Latin accents are folded; case is not yet, since names are cut by it.
fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    // Only the block of accents goes: marks of other scripts are vowels. What stays is composed again, as Hangul and kana must be.
    Cow::Owned(text.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().collect())
}

/// Whether a part of a name ends between `last` and `c`: `get|Url`, `URL|For`, `For|2`.
fn is_cut(last: char, c: char, next: char) -> bool {
    if !last.is_alphanumeric() {
        return false;
    }
    (last.is_lowercase() && c.is_uppercase())
        || (last.is_uppercase() && c.is_uppercase() && next.is_lowercase())
        || last.is_numeric() != c.is_numeric()
}

/// Han, kana and Hangul.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

struct Reader<'a> {
    take: &'a mut dyn FnMut(Token<'_>),
    part: String,
    whole: String,
    parts: usize,
    pairs: Vec<char>,
}

impl Reader<'_> {
    fn end_part(&mut self) {
        if !self.part.is_empty() {
            (self.take)(Token::Word(&self.part));
            self.whole.push_str(&self.part);
            self.parts += 1;
            self.part.clear();
        }
    }

    fn end_name(&mut self) {
        self.end_part();
        if self.parts > 1 {
            (self.take)(Token::Whole(&self.whole));
        }
        self.whole.clear();
        self.parts = 0;
    }

    fn end_pairs(&mut self) {
        let size = self.pairs.len().clamp(1, 2);
        let mut text = String::new();
        for pair in self.pairs.windows(size) {
            text.clear();
            text.extend(pair);
            (self.take)(Token::Pair(&text));
        }
        self.pairs.clear();
    }
}

/// The sentences of a text, at most `most`: the last one holds all the rest.
pub(super) fn sentences(text: &str, most: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        let next = rest.clone().next().map_or(' ', |(_, next)| next);
        let ends = match c {
            '。' | '！' | '？' | '；' | '\n' => true,
            '.' | '!' | '?' | ';' => next.is_whitespace() || matches!(next, '"' | '\'' | ')'),
            _ => false,
        };
        if ends && found.len() + 1 < most {
            let end = at + c.len_utf8();
            found.push(&text[start..end]);
            start = end;
        }
    }
    found.push(&text[start..]);
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let mut words = Vec::new();
        tokens(text, Names::Split, &mut |token| {
            words.push(match token {
                Token::Word(word) => word.to_owned(),
                Token::Whole(word) => format!("={word}"),
                Token::Pair(word) => format!("{word}+"),
            });
        });
        words.join(" ")
    }

    #[test]
    fn names_fall_into_their_parts() {
        for (text, expected) in [
            ("getWaterQuality", "get water quality =getwaterquality"),
            ("canvas_create_edge", "canvas create edge =canvascreateedge"),
            ("parseHTTPResponse2", "parse http response 2 =parsehttpresponse2"),
            ("math.factorial", "math factorial"),
            ("an e-mail, sent.", "an e mail =email sent"),
            ("mcp__files__read", "mcp files read =mcpfilesread"),
            ("_x_ -y", "x y"),
            ("", ""),
            ("  \u{0} \u{feff}", ""),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn letters_are_folded() {
        for (text, expected) in [
            ("Café ÉTÉ naïve", "cafe ete naive"),
            ("ＰＤＦ ﬁle", "pdf file"),
            ("Straße ΑΘΉΝΑ", "straße αθηνα"),
            ("пошук файлів", "пошук фаилів"),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn chinese_becomes_pairs() {
        for (text, expected) in [
            ("搜索文件", "搜索+ 索文+ 文件+"),
            ("把PDF转换", "把+ pdf 转换+"),
            ("図書館の本", "図書+ 書館+ 館の+ の本+"),
            ("天气 预报。", "天气+ 预报+"),
            ("한국어", "한국+ 국어+"),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        assert_eq!(
            sentences("Find a bus. Then, v1.2 of it! 好。天气", 9),
            ["Find a bus.", " Then, v1.2 of it!", " 好。", "天气"]
        );
        assert_eq!(sentences("a. b. c. d.", 2), ["a.", " b. c. d."]);
        assert_eq!(sentences(" ... ", 9), [""; 0]);
    }
}
