//! The result of a call, as a value that a model and steps can read.

use serde_json::{Value, json};

use crate::policy::captured;

/// The value of a `tools/call` result; what an unsuccessful one says, as the error.
///
/// Text is text; several blocks are joined by lines. Structured content is a value as it is when the text says nothing
/// else, and stands beside the text otherwise. Pictures and sounds are named, not kept: no prompt can show them.
///
/// # Errors
/// The words of a result that says `isError`.
pub(super) fn value(result: &Value, max: usize) -> Result<Value, String> {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = blocks.iter().map(text_of).collect();
    let text = captured(&texts.join("\n"), max).text;
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return Err(if text.trim().is_empty() { "the tool failed without a word".to_owned() } else { text });
    }
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let Some(structured) = structured else { return Ok(Value::from(text)) };
    let written = structured.to_string();
    if written.len() > max {
        return Ok(Value::from(if text.is_empty() { captured(&written, max).text } else { text }));
    }
    let same = text.is_empty() || serde_json::from_str::<Value>(&text).is_ok_and(|value| value == *structured);
    Ok(if same { structured.clone() } else { json!({ "text": text, "structured": structured }) })
}

fn text_of(block: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match text(block, "type").as_str() {
        "text" => text(block, "text"),
        kind @ ("image" | "audio") => {
            let mime = text(block, "mimeType");
            format!("[{kind} {mime}, {} bytes, not shown]", decoded_len(&text(block, "data")))
        }
        "resource_link" => {
            let title = [text(block, "title"), text(block, "name")].into_iter().find(|text| !text.is_empty());
            format!("[resource {} {}]", title.unwrap_or_default(), text(block, "uri"))
        }
        "resource" => match block.get("resource") {
            Some(resource) if resource.get("text").is_some() => {
                format!("[resource {}]\n{}", text(resource, "uri"), text(resource, "text"))
            }
            Some(resource) => {
                let bytes = decoded_len(&text(resource, "blob"));
                format!("[resource {} {}, {bytes} bytes, not shown]", text(resource, "uri"), text(resource, "mimeType"))
            }
            None => String::new(),
        },
        other => format!("[{other} content, not shown]"),
    }
}

/// Bytes behind Base64 text.
fn decoded_len(base64: &str) -> usize {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    (base64.len() / 4 * 3).saturating_sub(padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_every_shape() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let cases = [
            (json!({ "content": [text("a"), text("b")] }), Ok(json!("a\nb"))),
            (json!({ "content": [] }), Ok(json!(""))),
            (json!({}), Ok(json!(""))),
            (json!({ "content": [text("no such file")], "isError": true }), Err("no such file")),
            (json!({ "content": [], "isError": true }), Err("the tool failed without a word")),
            (json!({ "content": [text("{\"t\": 1}")], "structuredContent": { "t": 1 } }), Ok(json!({ "t": 1 }))),
            (json!({ "structuredContent": [1, 2] }), Ok(json!([1, 2]))),
            (
                json!({ "content": [text("Warm.")], "structuredContent": { "t": 1 } }),
                Ok(json!({ "text": "Warm.", "structured": { "t": 1 } })),
            ),
            (
                json!({ "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/png" }, text("a dot")] }),
                Ok(json!("[image image/png, 3 bytes, not shown]\na dot")),
            ),
            (
                json!({ "content": [{ "type": "resource_link", "name": "notes", "uri": "file:///n" }] }),
                Ok(json!("[resource notes file:///n]")),
            ),
            (
                json!({ "content": [{ "type": "resource", "resource": { "uri": "demo://1", "text": "T" } }] }),
                Ok(json!("[resource demo://1]\nT")),
            ),
            (
                json!({ "content": [{ "type": "resource", "resource": { "uri": "demo://1", "mimeType": "x/y", "blob": "AA==" } }] }),
                Ok(json!("[resource demo://1 x/y, 1 bytes, not shown]")),
            ),
            (json!({ "content": [{ "type": "hologram" }] }), Ok(json!("[hologram content, not shown]"))),
        ];
        for (result, expected) in cases {
            assert_eq!(value(&result, 1000), expected.map_err(str::to_owned), "{result}");
        }
    }

    #[test]
    fn long_results_keep_their_ends() {
        let long = format!("begin{}end", "x".repeat(10_000));
        let result = json!({ "content": [{ "type": "text", "text": long }] });
        let Ok(Value::String(kept)) = value(&result, 100) else { panic!() };
        assert!(kept.starts_with("begin") && kept.ends_with("end") && kept.len() < 200 && kept.contains("left out"));
        let structured = json!({ "structuredContent": { "a": "y".repeat(1000) } });
        assert!(value(&structured, 100).unwrap().as_str().is_some_and(|text| text.len() < 200));
        let both =
            json!({ "content": [{ "type": "text", "text": "short" }], "structuredContent": { "a": "y".repeat(1000) } });
        assert_eq!(value(&both, 100), Ok(json!("short")));
    }
}
