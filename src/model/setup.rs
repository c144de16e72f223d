//! What settings of several providers are made of: keys, waits, and what can be wrong with them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::http::HttpClients;
use crate::syntax::{Raw, decode_within};

/// Reads an environment variable.
pub type ReadEnv = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What providers need to be built.
#[derive(Clone)]
pub struct BuildContext {
    /// Reads an environment variable.
    pub env: ReadEnv,
    /// The folder that relative paths in settings start from.
    pub root: PathBuf,
    /// The process's HTTP clients.
    pub clients: Arc<HttpClients>,
    /// The clock, for dates in `Retry-After`.
    pub now: fn() -> SystemTime,
}

impl BuildContext {
    /// The real environment, relative to a folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            env: Arc::new(|name| std::env::var(name).ok()),
            root: root.into(),
            clients: Arc::new(HttpClients::default()),
            now: SystemTime::now,
        }
    }
}

/// Why a model cannot be used as it is set up. The words are for the person who wrote the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelSetupError {
    /// No provider of that name.
    #[error("No provider `{name}`; there are {known}")]
    UnknownProvider {
        /// The name.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// The settings do not decode.
    #[error("Settings of provider `{provider}`: {reason}")]
    Settings {
        /// The provider.
        provider: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The variable with the key is not set.
    #[error(
        "The environment variable {variable} is not set; it holds the key for {label}. \
         Set it with: export {variable}=YOUR-KEY (or name another one as api_key: {{ env: NAME }}, or a file as api_key: {{ file: PATH }})"
    )]
    MissingKey {
        /// The variable.
        variable: String,
        /// The model as `provider:model`.
        label: String,
    },
    /// The file with the key cannot be read.
    #[error("Cannot read the key for {label} from {path}: {reason}")]
    KeyFile {
        /// The file.
        path: String,
        /// The model as `provider:model`.
        label: String,
        /// Why.
        reason: String,
    },
    /// The key has bytes that no header may have.
    #[error("The key for {label} has a line break or another character that a header cannot carry")]
    BadKey {
        /// The model as `provider:model`.
        label: String,
    },
    /// The base URL is none.
    #[error("base_url `{url}` cannot be used: {reason}")]
    BaseUrl {
        /// What was written.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// A header that HTTP does not allow.
    #[error("The header `{name}` has a name or value that HTTP does not allow")]
    Header {
        /// Its name.
        name: String,
    },
    /// A member of `extra` that the provider writes itself.
    #[error("extra may not set `{member}`: the engine writes it")]
    Extra {
        /// The member.
        member: String,
    },
    /// A script or recording that cannot be used.
    #[error("Cannot use the replies in {path}: {reason}")]
    Replies {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The name of an environment variable.
    Env(String),
    /// A file whose text, without blanks around it, is the key. Relative to the workspace.
    File(PathBuf),
}

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Named {
            Env(String),
            File(PathBuf),
        }
        let raw = Raw::deserialize(deserializer)?;
        // A text is most likely the key itself, which no message may repeat.
        if raw.node().as_str().is_some() {
            return Err(de::Error::custom(
                "a key does not stand in a document; write `{ env: NAME }` with the environment variable that holds it, \
                 or `{ file: PATH }`",
            ));
        }
        decode_within::<Named, D::Error>(raw.node()).map(|named| match named {
            Named::Env(name) => Self::Env(name),
            Named::File(path) => Self::File(path),
        })
    }
}

impl KeySource {
    /// Reads the key.
    pub(super) fn read(&self, label: &str, context: &BuildContext) -> Result<String, ModelSetupError> {
        let key = match self {
            Self::Env(variable) => (context.env)(variable).unwrap_or_default(),
            Self::File(path) => read_key_file(&context.root.join(path), label)?,
        };
        match (key.trim(), self) {
            ("", Self::Env(variable)) => {
                Err(ModelSetupError::MissingKey { variable: variable.clone(), label: label.to_owned() })
            }
            ("", Self::File(path)) => Err(ModelSetupError::KeyFile {
                path: path.display().to_string(),
                label: label.to_owned(),
                reason: "it is empty".to_owned(),
            }),
            (key, _) => Ok(key.to_owned()),
        }
    }
}

/// The key that a model's settings name, where it can be read: what must be masked even when the model is not asked.
#[must_use]
pub fn key_of(settings: &serde_json::Value, context: &BuildContext) -> Option<String> {
    let source: KeySource = serde_json::from_value(settings.get("api_key")?.clone()).ok()?;
    source.read("", context).ok()
}

fn read_key_file(path: &Path, label: &str) -> Result<String, ModelSetupError> {
    std::fs::read_to_string(path).map_err(|error| ModelSetupError::KeyFile {
        path: path.display().to_string(),
        label: label.to_owned(),
        reason: error.to_string(),
    })
}

/// A key that was read, or why it could not be. It is looked for at once and missed only when it is needed.
#[derive(Clone)]
pub(super) struct Key(Result<Option<String>, ModelSetupError>);

impl Key {
    pub(super) fn find(source: Option<&KeySource>, label: &str, context: &BuildContext) -> Self {
        Self(source.map(|source| source.read(label, context)).transpose())
    }

    /// The key; none where none is asked for.
    pub(super) fn get(&self) -> Result<Option<&str>, ModelSetupError> {
        match &self.0 {
            Ok(key) => Ok(key.as_deref()),
            Err(error) => Err(error.clone()),
        }
    }

    /// What must be masked.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.0.iter().flatten().cloned().collect()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A wait: `500ms`, `30s`, `2m`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait(pub Duration);

impl Wait {
    /// So many seconds.
    pub(super) const fn secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Reads a wait as people write it.
    ///
    /// # Errors
    /// Says what a wait looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let scale = match &text[unit_at..] {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => f64::NAN,
        };
        let seconds = text[..unit_at].trim().parse::<f64>().unwrap_or(f64::NAN) * scale;
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|wait| !wait.is_zero())
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no wait; write one such as 500ms, 30s or 2m"))
    }
}

impl std::str::FromStr for Wait {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}s", self.0.as_secs_f64()))
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Wait;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a wait such as 500ms, 30s or 2m")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Wait, E> {
                Wait::parse(text).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Wait, E> {
                self.visit_str(&seconds.to_string())
            }
            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Wait, E> {
                self.visit_str(&seconds.to_string())
            }
            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Wait, E> {
                self.visit_str(&seconds.to_string())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Wait {
    fn schema_name() -> Cow<'static, str> {
        "Wait".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A wait: 500ms, 30s, 2m, or a number of seconds.",
            "anyOf": [
                { "type": "string", "pattern": r"^\s*[0-9.]+\s*(ms|s|m|h)?\s*$" },
                { "type": "number", "exclusiveMinimum": 0 },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(env: &'static [(&'static str, &'static str)]) -> BuildContext {
        let env = move |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        BuildContext { env: Arc::new(env), ..BuildContext::new("/nowhere") }
    }

    #[test]
    fn waits_are_read_and_nonsense_is_not() {
        let good = [("500ms", 500), ("30s", 30_000), ("1.5m", 90_000), ("2", 2_000), ("1h", 3_600_000)];
        for (text, ms) in good {
            assert_eq!(Wait::parse(text).unwrap().0.as_millis(), ms, "{text}");
        }
        for text in ["", "s", "-1s", "0", "1 week", "NaN", "inf", "1e99s", "3s5"] {
            assert!(Wait::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_in_the_document_is_refused_and_not_repeated() {
        let words = serde_json::from_value::<KeySource>(serde_json::json!("sk-secret")).unwrap_err().to_string();
        assert!(words.contains("{ env: NAME }") && !words.contains("sk-secret"), "{words}");
        let source: KeySource = serde_json::from_value(serde_json::json!({ "env": "K" })).unwrap();
        assert_eq!(source, KeySource::Env("K".to_owned()));
    }

    #[test]
    fn a_missing_key_is_named_and_explained() {
        let source = KeySource::Env("SOME_KEY".to_owned());
        assert_eq!(source.read("openai:m", &context(&[("SOME_KEY", " k \n")])).unwrap(), "k");
        for env in [&[][..], &[("SOME_KEY", "  ")][..]] {
            let words = source.read("openai:m", &context(env)).unwrap_err().to_string();
            assert!(words.contains("SOME_KEY") && words.contains("export SOME_KEY="), "{words}");
        }
        let words = KeySource::File("no-such".into()).read("openai:m", &context(&[])).unwrap_err().to_string();
        assert!(words.contains("/nowhere/no-such"), "{words}");
    }
}
