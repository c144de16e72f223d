//! What is known about words before any catalog is read: which do not count, which mean nearly the same.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries, adverbs of degree, and the halves of
/// contractions, as the tokeniser cuts them.
const FUNCTION_WORDS: &str = "
    a about above after again against all also although always am among an and another any anybody anyone anything are aren as at
    be because been before being below between both but by can cannot could couldn d did didn do does doesn doing don down during
    each either else etc ever every everyone everything except few for from further had hadn has hasn have haven having he hence
    her here hers herself him himself his how however i if in into is isn it its itself just ll m ma many may maybe me might mine
    more most much must my myself neither no nor not now of off on once only onto or other others otherwise ought our ours
    ourselves out over own per perhaps quite rather re really s same shall she should shouldn since so some somebody someone
    something still such t than that the their theirs them themselves then there therefore these they this those though through
    thus to too toward towards under unless until up upon us ve very via was wasn we were weren what whatever when where whether
    which while who whoever whom whose why will with within without won would wouldn yet you your yours yourself yourselves";

/// Function words of Chinese that make a pair of characters.
const CHINESE_FUNCTION_WORDS: &str = "
    的 了 是 在 和 与 或 及 也 就 都 而 着 把 被 给 让 对 从 到 向 吗 呢 吧 啊 我 你 他 她 它 这 那 我们 你们 他们 这个 那个 这些 那些 一个 一些
    什么 怎么 如何 为什 哪个 哪些 可以 能够 是否 因为 所以 但是 如果 以及 或者";

/// Words that say only that somebody asks for something.
const REQUEST_WORDS: &str = "
    able appreciate assist assistance bit curious give going got hello help hey hi hope hoping interested kindly know let like
    look looking lot need ok okay planning please possible provide require required show sure tell thank thanks thing things try
    trying want way ways wish wonder wondering
    请 请问 帮我 帮忙 我想 想要 需要 希望 告诉 谢谢 您好 你好 麻烦";

static FUNCTION: LazyLock<HashSet<&str>> =
    LazyLock::new(|| FUNCTION_WORDS.split_whitespace().chain(CHINESE_FUNCTION_WORDS.split_whitespace()).collect());
static REQUEST: LazyLock<HashSet<&str>> = LazyLock::new(|| REQUEST_WORDS.split_whitespace().collect());

/// Whether a word holds a sentence together and says nothing about its subject.
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION.contains(word)
}

/// Whether a word says only that somebody asks for something.
pub(super) fn is_request_word(word: &str) -> bool {
    REQUEST.contains(word)
}

/// Words to their stems, by the English Snowball stemmer.
pub(super) struct Stems(Stemmer);

impl std::fmt::Debug for Stems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stems")
    }
}

impl Stems {
    pub(super) fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    pub(super) fn of<'a>(&self, word: &'a str) -> std::borrow::Cow<'a, str> {
        self.0.stem(word)
    }
}

/// For each word, by its stem, those of nearly the same meaning.
#[derive(Debug)]
pub(super) struct Synonyms(HashMap<String, Vec<String>>);

impl Synonyms {
    /// `stem` is how the words of the catalog are made; groups are lines of the list beside this file.
    pub(super) fn new(stem: impl Fn(&str) -> String) -> Self {
        let mut groups: HashMap<String, Vec<String>> = HashMap::new();
        for line in include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#')) {
            let stems: Vec<String> = line.split_whitespace().map(&stem).collect();
            for word in &stems {
                let others = groups.entry(word.clone()).or_default();
                for other in &stems {
                    if other != word && !others.contains(other) {
                        others.push(other.clone());
                    }
                }
            }
        }
        Self(groups)
    }

    pub(super) fn of(&self, stem: &str) -> &[String] {
        self.0.get(stem).map_or(&[], Vec::as_slice)
    }
}
