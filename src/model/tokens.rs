//! Token counts before a provider says them: by the model's own vocabulary where that is known, estimated elsewhere.

use super::ModelInfo;
use crate::event::ReplySource;

/// Counts the tokens of texts as one model does, or about so.
///
/// Cheap to make and to copy: the vocabulary is read when something is first counted (60 ms for the largest), once in a
/// process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// The vocabulary's name; none for an estimate.
    vocabulary: Option<&'static str>,
}

impl Counter {
    /// An estimate for any model.
    pub const ESTIMATE: Self = Self { vocabulary: None };

    /// Counts as this model does, as far as its name tells which vocabulary it has.
    #[must_use]
    pub fn for_model(info: &ModelInfo) -> Self {
        // What was written down has no vocabulary, and Anthropic has not published one.
        if info.source != ReplySource::Model || info.provider == "anthropic" {
            return Self::ESTIMATE;
        }
        Self { vocabulary: vocabulary(&info.model) }
    }

    /// The tokens of a text. Special tokens that it spells out are counted as the plain text that they are sent as.
    #[must_use]
    pub fn count(self, text: &str) -> usize {
        match self.vocabulary.and_then(tiktoken::get_encoding) {
            Some(encoding) => encoding.count(text),
            None => estimate(text),
        }
    }

    /// Whether the counts are estimates.
    #[must_use]
    pub fn estimated(self) -> bool {
        self.vocabulary.is_none()
    }

    /// Reads the vocabulary in a thread of its own, so that the first count need not wait for it.
    pub fn warm_up(self) {
        if let Some(name) = self.vocabulary {
            std::thread::spawn(move || tiktoken::get_encoding(name));
        }
    }
}

/// The vocabulary of a model, by its name without owner and file ending: `Qwen/Qwen3-4B-Q4_K_M.gguf` is `qwen3-4b-q4_k_m`.
fn vocabulary(model: &str) -> Option<&'static str> {
    let name = model.rsplit(['/', '\\']).next().unwrap_or(model).to_ascii_lowercase();
    // Names that begin as a family's do, of models with another vocabulary.
    let others =
        ["llama-2", "llama2", "codellama", "mistral-nemo", "mistral-small-3", "ministral", "deepseek-r1-distill"];
    if others.iter().any(|other| name.starts_with(other)) {
        return None;
    }
    let name = name.strip_prefix("meta-").unwrap_or(&name);
    tiktoken::model_to_encoding(name).filter(|name| tiktoken::list_encodings().contains(name))
}

/// About how many tokens a text has, by what the byte-pair vocabularies of the large models have in common: words up to
/// nine letters are one token, digits come in threes, marks in clusters, and a space belongs to the word after it.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut total = 0;
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = random_word(rest);
        if word > 0 {
            total += (word * 2).div_ceil(3);
            before = Some(Kind::Letters);
            rest = &rest[word..];
            continue;
        }
        let kind = Kind::of(first);
        let end = rest.find(|c| Kind::of(c) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        total += match kind {
            Kind::Letters if run.is_ascii() && run.len() <= 9 => 1,
            Kind::Letters if run.is_ascii() => run.len().div_ceil(6),
            Kind::Letters => run.len().div_ceil(5),
            Kind::Digits => run.len().div_ceil(3),
            Kind::Wide => (run.chars().count() * 3).div_ceil(4),
            Kind::Marks => {
                if run.is_ascii() {
                    run.len().div_ceil(3)
                } else {
                    run.chars().count()
                }
            }
            Kind::Space if run == " " => usize::from(after.starts_with(|c| Kind::of(c) == Kind::Digits)),
            Kind::Space => usize::from(before != Some(Kind::Marks) || run.contains(|c| c != '\n')),
        };
        before = Some(kind);
        rest = after;
    }
    total
}

/// The length of a long word of letters and digits in disorder that the text begins with, such as a nonce or a hash: no
/// vocabulary holds its parts.
fn random_word(text: &str) -> usize {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    let mixed = |word: &str| word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic());
    if end >= 16 && mixed(&text[..end]) { end } else { 0 }
}

/// What belongs together in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letters,
    Digits,
    /// Scripts without spaces between words, and everything in the supplementary planes.
    Wide,
    Space,
    Marks,
}

impl Kind {
    fn of(c: char) -> Self {
        match u32::from(c) {
            0x2E80..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x10000.. => {
                Self::Wide
            }
            _ if c.is_alphabetic() => Self::Letters,
            _ if c.is_numeric() => Self::Digits,
            _ if c.is_whitespace() => Self::Space,
            _ => Self::Marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Protocol;

    fn info(provider: &str, model: &str) -> ModelInfo {
        ModelInfo {
            provider: provider.to_owned(),
            model: model.to_owned(),
            protocol: Protocol::Json,
            context: None,
            price: None,
            source: ReplySource::Model,
            input_includes_cache: true,
        }
    }

    fn known(model: &str) -> Option<&'static str> {
        Counter::for_model(&info("openai", model)).vocabulary
    }

    #[test]
    fn a_models_name_tells_its_vocabulary() {
        assert_eq!(known("gpt-5-mini"), Some("o200k_base"));
        assert_eq!(known("gpt-4o-2024-08-06"), Some("o200k_base"));
        assert_eq!(known("openai/gpt-4.1"), Some("o200k_base"));
        assert_eq!(known("ft:gpt-4o:acme::x"), Some("o200k_base"));
        assert_eq!(known("o3"), Some("o200k_base"));
        assert_eq!(known("gpt-4-turbo"), Some("cl100k_base"));
        assert_eq!(known("gpt-3.5-turbo"), Some("cl100k_base"));
        assert_eq!(known("models/Qwen3-4B-Q4_K_M.gguf"), Some("qwen2"));
        assert_eq!(known("meta-llama/Meta-Llama-3.1-8B-Instruct"), Some("llama3"));
        assert_eq!(known("llama3.2:1b"), Some("llama3"));
    }

    #[test]
    fn elsewhere_it_is_an_estimate_and_says_so() {
        for model in ["m", "SmolLM2-135M-Instruct.Q4_1.gguf", "llama-2-7b-chat", "codellama", "phi-4", "gemma3"] {
            assert_eq!(known(model), None, "{model}");
        }
        assert!(Counter::for_model(&info("anthropic", "gpt-5")).estimated());
        let script = ModelInfo { source: ReplySource::Script { path: "x".to_owned() }, ..info("replay", "gpt-5") };
        assert!(Counter::for_model(&script).estimated());
        assert!(!Counter::for_model(&info("openai", "gpt-5")).estimated());
    }

    /// Counts that OpenAI's own library gives for these texts.
    #[test]
    fn counts_are_those_of_the_vocabulary() {
        let counter = Counter::for_model(&info("openai", "gpt-4o"));
        assert_eq!(counter.count("hello world"), 2);
        assert_eq!(counter.count("antidisestablishmentarianism"), 6);
        assert_eq!(counter.count("2 + 2 = 4"), 7);
        assert_eq!(Counter::for_model(&info("openai", "gpt-4")).count("tiktoken is great!"), 6);
        assert_eq!(counter.count("<|endoftext|>"), 7, "text that spells a special token is text");
    }

    #[test]
    fn the_estimate_is_near_for_what_prompts_hold() {
        let counter = Counter::for_model(&info("openai", "gpt-4o"));
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["examples/auth.log", "README.md", "loops/log_analyze.yaml", "schemas/loop.schema.json"] {
            let text = std::fs::read_to_string(root.join(name)).unwrap();
            let (real, about) = (counter.count(&text), estimate(&text));
            assert!(about.abs_diff(real) * 100 <= real * 10, "{name}: {about} for {real}");
        }
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("确定性"), 3);
    }

    /// A count is made of every new text, hostile ones among them.
    #[test]
    fn a_long_run_takes_no_longer_than_a_text() {
        let counter = Counter::for_model(&info("openai", "gpt-4o"));
        assert_eq!(counter.count("warm"), 1);
        let begun = std::time::Instant::now();
        for run in ["a", " ", "\n", "!", "ab1"] {
            assert!(counter.count(&run.repeat(200_000 / run.len())) > 100);
        }
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }

    proptest! {
        #[test]
        fn no_text_panics_or_has_more_tokens_than_bytes(text in any::<String>()) {
            prop_assert!(estimate(&text) <= text.len());
            prop_assert!(Counter::for_model(&info("openai", "gpt-4o")).count(&text) <= text.len());
        }
    }
}
