//! Entry points for the fuzzers in `fuzz/`: each reads hostile bytes and checks what must hold for all of them.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::json;

use crate::diag::{Diagnostics, SourceMap};
use crate::document::{LoopDoc, WorkspaceDoc};
use crate::model::fuzz_stream;
use crate::reply::{self, ActionGrammar, Finish, Grammar, Live, Piece, TagRule};
use crate::syntax::{Format, add_source, decode_partial, parse};

const NONCE: &str = "abcdefghijklmnopqrstuvwx23";

fn grammar() -> Grammar {
    let search = json!({
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": { "type": "string" }, "limit": { "type": "integer" }, "exact": { "type": "boolean" },
            "names": { "type": "array", "items": { "type": "string" } },
        }
    });
    let tags = IndexMap::from([("FINAL_ANSWER".to_owned(), TagRule::default())]);
    let answer = json!({ "type": "object", "properties": { "note": { "type": "string" } } });
    Grammar::new(
        NONCE,
        [
            ("search".to_owned(), Arc::new(ActionGrammar::new(search, IndexMap::new()))),
            ("answer".to_owned(), Arc::new(ActionGrammar::new(answer, tags))),
        ],
    )
}

/// What a reader that is fed piece by piece shows.
fn shown(text: &str, step: usize, grammar: &Grammar) -> Vec<(String, String)> {
    let mut live = Live::new(grammar);
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut show = |piece: Piece<'_>| {
        let (key, text) = match piece {
            Piece::Field { action, key, text } => (format!("{action}.{key}"), text),
            Piece::Tag { name, text } => (name.to_owned(), text),
            Piece::Thought(text) => ("thought".to_owned(), text),
            Piece::Retract => return shown.clear(),
            Piece::FieldEnd { .. } | Piece::TagEnd { .. } => return,
        };
        match shown.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.push_str(text),
            None => shown.push((key, text.to_owned())),
        }
    };
    let mut rest = text;
    while !rest.is_empty() {
        let cut = rest.ceil_char_boundary(step.max(1).min(rest.len()));
        live.feed(&rest[..cut], &mut show);
        rest = &rest[cut..];
    }
    live.finish(&mut show);
    shown
}

/// A reply: extraction ends, and showing it piece by piece shows the same as showing it whole.
pub fn extract(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    let grammar = grammar();
    let finish = if first % 2 == 0 { Finish::Stop } else { Finish::Length };
    let _ = reply::extract(&text, finish, &grammar);
    let _ = reply::extract_object(&text, finish);
    let whole = shown(&text, text.len(), &grammar);
    assert_eq!(whole, shown(&text, 1 + usize::from(first % 7), &grammar), "cut differently, shown differently");
}

/// Tags around hostile text: the body is taken exactly, unless the text itself ends it.
pub fn tags(data: &[u8]) {
    let body = String::from_utf8_lossy(data);
    let grammar = grammar();
    let text = format!("{{\"@action\": \"answer\"}}\n<|FINAL_ANSWER_{NONCE}|>\n{body}\n<|FINAL_ANSWER_END_{NONCE}|>");
    let Ok(extracted) = reply::extract(&text, Finish::Stop, &grammar) else { return };
    // A last `\r` is one line break together with the `\n` before the end tag.
    if !body.contains(NONCE) && !body.ends_with('\r') {
        assert_eq!(
            extracted.tags.get("FINAL_ANSWER").map(String::as_str),
            Some(&*body),
            "a body that was not taken exactly"
        );
    }
}

/// A stream of any provider: cutting it elsewhere changes nothing.
pub fn stream(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    fuzz_stream(rest, 1 + usize::from(*first));
}

/// A document in YAML or TOML: reading ends, and every place lies inside the text.
pub fn document(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let format = if first % 2 == 0 { Format::Yaml } else { Format::Toml };
    let (mut sources, mut found) = (SourceMap::new(), Diagnostics::new());
    let (source, readable) = add_source(&mut sources, Path::new("fuzz.yaml"), rest, &mut found);
    if !readable {
        return;
    }
    let text = sources.text(source).to_owned();
    if let Some(node) = parse(source, &text, format, &mut found) {
        let _: Option<LoopDoc> = decode_partial(&node, &mut found);
        let _: Option<WorkspaceDoc> = decode_partial(&node, &mut found);
    }
    for finding in found.iter() {
        if let Some(span) = finding.span {
            assert!(span.is_none() || span.end as usize <= text.len(), "a place outside of the text: {finding:?}");
        }
    }
}
