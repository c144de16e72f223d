//! Secrets in documents and their templates: shapes of keys that people paste.
//!
//! The value is shown nowhere: the finding names its kind, and what is printed of the file has it masked.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, SourceId, Span, codes};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    in_source(cx, subject.source());
}

/// Reports the secrets of the template files that were read since this was called last.
pub(in crate::check) fn in_templates(cx: &mut Cx<'_>) {
    for source in cx.new_templates() {
        in_source(cx, source);
    }
}

/// Reports the secrets of a file, once a check.
pub(in crate::check) fn in_source(cx: &mut Cx<'_>, source: SourceId) {
    if !cx.first_search(source) {
        return;
    }
    let Some(text) = cx.sources.shared_text(source) else { return };
    for (what, range) in find(&text) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(source, offset(range.start), offset(range.end));
        cx.hide(span);
        cx.push(
            Diagnostic::warning(codes::SECRET, span, format!("this looks like {what}"))
                .help("take it out of the file and have it replaced; name an environment variable instead: `{ env: NAME }`, or `{{ env.NAME }}` in a template"),
        );
    }
}

/// A value of an environment variable, which may be shorter and have no digits.
const VARIABLE: &str = "the secret of a variable";

/// A shape: what has it, a text that stands in every such value, and the pattern whose first group is the value.
type Shape = (&'static str, &'static str, &'static str);

/// Prefixes are those that the providers document for their keys.
const SHAPES: &[Shape] = &[
    ("a key of Anthropic", "sk-ant-", r"\b(sk-ant-[A-Za-z0-9_-]{20,})"),
    ("a key of OpenRouter", "sk-or-", r"\b(sk-or-v1-[0-9a-f]{32,})"),
    ("a key of OpenAI", "sk-", r"\b(sk-(?:proj-|svcacct-)?[A-Za-z0-9_]{32,}[A-Za-z0-9_-]*)"),
    ("a key of Stripe", "_live_", r"\b((?:sk|rk)_live_[A-Za-z0-9]{16,})"),
    ("a key of Groq", "gsk_", r"\b(gsk_[A-Za-z0-9]{40,})"),
    ("a key of xAI", "xai-", r"\b(xai-[A-Za-z0-9]{40,})"),
    ("a token of Hugging Face", "hf_", r"\b(hf_[A-Za-z0-9]{30,})"),
    ("a key of AWS", "A", r"\b((?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    ("a key of Google", "AIza", r"\b(AIza[0-9A-Za-z_-]{35})"),
    ("a token of GitHub", "gh", r"\b(gh[pousr]_[A-Za-z0-9]{36,})"),
    ("a token of GitHub", "github_pat_", r"\b(github_pat_[A-Za-z0-9_]{22,})"),
    ("a token of GitLab", "glpat-", r"\b(glpat-[A-Za-z0-9_-]{20,})"),
    ("a token of Slack", "xox", r"\b(xox[abprs]-[A-Za-z0-9-]{20,})"),
    ("a token of npm", "npm_", r"\b(npm_[A-Za-z0-9]{36})"),
    ("a token of PyPI", "pypi-", r"\b(pypi-[A-Za-z0-9_-]{40,})"),
    ("a token of Docker", "dckr_pat_", r"\b(dckr_pat_[A-Za-z0-9_-]{20,})"),
    ("a token of DigitalOcean", "_v1_", r"\b(do[opr]_v1_[0-9a-f]{64})"),
    ("a token of Vault", "hvs.", r"\b(hvs\.[A-Za-z0-9_-]{24,})"),
    ("a token of Replicate", "r8_", r"\b(r8_[A-Za-z0-9]{37})"),
    ("a token of Databricks", "dapi", r"\b(dapi[0-9a-f]{32})"),
    ("a key of Perplexity", "pplx-", r"\b(pplx-[A-Za-z0-9]{40,})"),
    ("a key of Nvidia", "nvapi-", r"\b(nvapi-[A-Za-z0-9_-]{40,})"),
    ("a key of Tavily", "tvly-", r"\b(tvly-[A-Za-z0-9-]{20,})"),
    ("a key of Linear", "lin_api_", r"\b(lin_api_[A-Za-z0-9]{32,})"),
    ("a key of SendGrid", "SG.", r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"),
    ("a key of Twilio", "SK", r"\b(SK[0-9a-f]{32})\b"),
    ("a key of age", "AGE-SECRET-KEY-", r"\b(AGE-SECRET-KEY-1[A-Z0-9]{20,})"),
    ("a secret of Google", "GOCSPX-", r"\b(GOCSPX-[A-Za-z0-9_-]{20,})"),
    ("a token of Google", "ya29.", r"\b(ya29\.[A-Za-z0-9_-]{20,})"),
    ("a token of Telegram", ":AA", r"\b(\d{8,10}:AA[A-Za-z0-9_-]{32,})"),
    ("a key of Azure", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    (
        "a webhook of Slack",
        "hooks.slack.com",
        r"(hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,})",
    ),
    ("a signed token", "eyJ", r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    (
        "a private key",
        "PRIVATE KEY-----",
        r"(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:[\s\w+/=\\]*-----END [A-Z ]{0,20}PRIVATE KEY-----)?)",
    ),
    ("an authorization header", "earer ", r"\b[Bb]earer ([A-Za-z0-9._~+/=-]{20,})"),
    ("an authorization header", "asic ", r"\b[Bb]asic ([A-Za-z0-9+/]{16,}={0,2})"),
    ("a password in a URL", "://", r"\b[a-z][a-z0-9+.-]*://[^\s/:@{}<>'\x22]+:([^\s/@{}<>$*'\x22]{3,})@"),
    (
        "a secret",
        "",
        r#"(?i)(?:^|[^a-z])(?:api[_-]?key|apikey|secret|secret[_-]?key|access[_-]?key|password|passwd|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']?([A-Za-z0-9+/_=.~-]{20,})"#,
    ),
    (
        VARIABLE,
        "",
        r#"\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_KEY|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY)["']?\s*[:=]\s*["']?([A-Za-z0-9!@%^&*+/_=.~-]{8,})["']?[\s,;})\]]"#,
    ),
];

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| SHAPES.iter().map(|(_, _, pattern)| Regex::new(pattern).expect("a valid pattern")).collect());

/// The secrets of a text, each once, in order.
fn find(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let mut found: Vec<(&'static str, Range<usize>)> = Vec::new();
    for ((what, literal, _), pattern) in SHAPES.iter().zip(PATTERNS.iter()) {
        if !text.contains(literal) {
            continue;
        }
        for captures in pattern.captures_iter(text) {
            let Some(value) = captures.get(1) else { continue };
            let overlaps = found.iter().any(|(_, range)| range.start < value.end() && value.start() < range.end);
            if !overlaps && is_real(value.as_str(), what) {
                found.push((what, value.range()));
            }
        }
    }
    found.sort_by_key(|(_, range)| range.start);
    found
}

/// Whether a value is none of the placeholders that documentation is full of.
fn is_real(value: &str, what: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let placeholder = ["example", "xxxx", "your", "changeme", "placeholder", "redacted", "dummy", "0123456789", "..."];
    if placeholder.iter().any(|word| lower.contains(word)) {
        return false;
    }
    if what == "a password in a URL" {
        return !matches!(lower.as_str(), "pass" | "password" | "secret" | "pwd" | "token");
    }
    if what == VARIABLE {
        // A path, a name that stands for the value, or a number that merely sets a limit.
        let is_name = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        let is_path = value.starts_with(['/', '.', '~']) || value.contains("://");
        let is_word = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
        let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        let is_expression = lower.starts_with("env.");
        return !(is_name || is_path || is_word || is_number || is_expression);
    }
    let mut kinds: Vec<char> = lower.chars().collect();
    kinds.sort_unstable();
    kinds.dedup();
    // Words joined by dashes or dots are names and paths; keys have digits among their letters.
    let digits = lower.chars().any(|c| c.is_ascii_digit()) && lower.chars().any(|c| c.is_ascii_alphabetic());
    kinds.len() >= 6 && (digits || what == "a private key")
}

#[cfg(test)]
mod tests {
    use super::{VARIABLE, find};

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().map(|(what, _)| what).collect()
    }

    #[test]
    fn keys_of_providers_are_found_and_placeholders_are_not() {
        // Put together here, so that no scanner takes this file for a leak.
        let body = "Zk3Vq81xPm42LtRb7cWnYd90HsGf56JuQe";
        for (text, what) in [
            (format!("sk-ant-api03-{body}"), "a key of Anthropic"),
            (format!("key: sk-proj-{body}{body}"), "a key of OpenAI"),
            (format!("AKIA{}", "Q7ZP3LM8XK2WNB5T"), "a key of AWS"),
            (format!("ghp_{body}ab"), "a token of GitHub"),
            (format!("Authorization: Bearer {body}"), "an authorization header"),
            ("postgres://app:k3vq81x@db/main".to_owned(), "a password in a URL"),
            (format!("password = \"{body}\""), "a secret"),
            ("-----BEGIN RSA PRIVATE KEY-----".to_owned(), "a private key"),
            (format!("SG.{}.{body}", &body[..22]), "a key of SendGrid"),
            (format!("AGE-SECRET-KEY-1{}", body.to_uppercase()), "a key of age"),
            (format!("Authorization: Bearer ghp_{body}ab"), "a token of GitHub"),
            (format!("Authorization: Bearer ghp_{}", &body[..20]), "an authorization header"),
            ("env: { DB_PASSWORD: kV3-vq81x }".to_owned(), VARIABLE),
            ("  DB_PASSWORD: \"kVqrbWnY\"\n".to_owned(), VARIABLE),
            ("run: [env, \"GH_TOKEN=kV3vq81xPm\", x]".to_owned(), VARIABLE),
            (format!("db_password: {body}"), "a secret"),
            (
                format!("https://hooks.slack.com/services/T0{}/B0{}/{body}", &body[..8], &body[..8]),
                "a webhook of Slack",
            ),
        ] {
            assert_eq!(kinds(&text), [what], "{text}");
        }
        for text in [
            "sk-ant-your-key-goes-here-000000",
            "AKIAIOSFODNN7EXAMPLE",
            "Authorization: Bearer {{ env.TOKEN }}",
            "https://user:password@host/",
            "https://{{ env.USER }}:{{ env.PASSWORD }}@host/",
            "api_key: { env: ANTHROPIC_API_KEY }",
            "password: take-it-from-the-vault-please",
            "sk-learn and task-oriented-dialogue-systems",
            "http://127.0.0.1:8080/v1",
            "DB_PASSWORD: \"{{ env.DB_PASSWORD }}\"\n",
            "DB_PASSWORD: hunter-of-words\n",
            "MAX_TOKEN: 1000000000\n",
            "env: [DB_PASSWORD, API_TOKEN]\n",
            "DB_PASSWORD_FILE: /run/secrets/Db1\nDB_PASSWORD: /run/secrets/Db1\n",
            "API_TOKEN: $API_TOKEN_1\n",
            "TOKEN=YOUR_TOKEN_HERE1 \n",
        ] {
            assert_eq!(kinds(text), Vec::<&str>::new(), "{text}");
        }
    }
}
