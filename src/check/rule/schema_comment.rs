//! Comments that name a schema for editors in a form that editors do not read.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let source = subject.source();
    let is_toml = cx.sources.path(source).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let Some(text) = cx.sources.shared_text(source) else { return };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let written = line.trim();
        // Editors look at the comments above the document.
        if !written.is_empty() && !written.starts_with('#') {
            return;
        }
        if let Some(right) = corrected(written, is_toml) {
            let start = at + line.len() - line.trim_start().len();
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let span = Span::new(source, offset(start), offset(start + written.len()));
            cx.push(
                Diagnostic::warning(codes::SCHEMA_COMMENT, span, "editors do not read this comment")
                    .help(format!("write `{right}`"))
                    .fix(span, right),
            );
        }
        at += line.len();
    }
}

/// The form that editors read, when a comment about a schema has another.
fn corrected(comment: &str, is_toml: bool) -> Option<String> {
    let body = comment.trim_start_matches('#').trim_start();
    let for_toml = body.strip_prefix(":schema").or_else(|| body.strip_prefix("schema:"));
    let for_yaml = body.strip_prefix("yaml-language-server:").map(str::trim_start);
    let for_yaml = for_yaml.and_then(|rest| rest.strip_prefix("$schema").or_else(|| rest.strip_prefix("schema")));
    let named = for_toml.or(for_yaml)?.trim_start_matches([' ', '\t', '=', ':']).trim();
    // A sentence that begins with such a word is no name.
    if named.is_empty() || named.contains(' ') {
        return None;
    }
    let right = match is_toml {
        true => format!("#:schema {named}"),
        false => format!("# yaml-language-server: $schema={named}"),
    };
    let same = comment == right || (!is_toml && comment == right.replacen("# ", "#", 1));
    (!same).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::corrected;

    #[test]
    fn comments_get_the_form_that_editors_read() {
        for comment in [
            "#:schema = a.json",
            "#:schema=a.json",
            "# :schema a.json",
            "#schema: a.json",
            "# yaml-language-server: $schema=a.json",
        ] {
            assert_eq!(corrected(comment, true).as_deref(), Some("#:schema a.json"), "{comment}");
        }
        for comment in
            ["# yaml-language-server: $schema: a.json", "# yaml-language-server: schema=a.json", "#:schema a.json"]
        {
            assert_eq!(
                corrected(comment, false).as_deref(),
                Some("# yaml-language-server: $schema=a.json"),
                "{comment}"
            );
        }
        assert_eq!(corrected("#:schema a.json", true), None);
        assert_eq!(corrected("# yaml-language-server: $schema=a.json", false), None);
        assert_eq!(corrected("# schema: see the manual", false), None);
    }
}
