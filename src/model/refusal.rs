//! A server that refuses a protocol, in words that say what to set.

use super::{ErrorClass, ModelError, Protocol};

// What servers call the parts of a request that only one protocol sends.
const SCHEMA_WORDS: &[&str] = &[
    "response_format",
    "responseformat",
    "response format",
    "json_schema",
    "json schema",
    "json_object",
    "responsejsonschema",
    "response_json_schema",
    "response_schema",
    "responsemimetype",
    "response_mime_type",
    "text.format",
    "output_config",
    "output_format",
    "structured output",
    "structured_output",
    "guided decoding",
    "grammar",
    "invalid schema",
];
const TOOL_WORDS: &[&str] = &[
    "tool_choice",
    "tool choice",
    "tools param",
    "support tool",
    "support for tool",
    "tool use",
    "tool call",
    "tool-call",
    "function call",
    "function_call",
    "functioncalling",
    "function_declarations",
    "functiondeclarations",
    "unknown name \"tools\"",
    "'tools'",
    "`tools`",
    "\"tools\"",
];
// Said under a status that otherwise means that trying again may help.
const SETUP_WORDS: &[&str] = &["requires --jinja", "tools param requires", "requires --enable-auto-tool-choice"];

/// Says which setting helps, where the failure is about the protocol.
pub(super) fn explain(mut error: ModelError, protocol: Protocol) -> ModelError {
    let words = match protocol {
        Protocol::Json => return error,
        Protocol::JsonSchema => SCHEMA_WORDS,
        Protocol::Tools => TOOL_WORDS,
    };
    let message = error.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let refused = match error.class {
        ErrorClass::BadRequest | ErrorClass::NotFound => says(words),
        ErrorClass::ServerError => error.status == Some(501) && says(words) || says(SETUP_WORDS),
        _ => false,
    };
    if refused {
        if error.class == ErrorClass::ServerError {
            error.class = ErrorClass::BadRequest;
        }
        let end = if error.message.ends_with(['.', '!']) { "" } else { "." };
        error.message = format!(
            "{}{end} This server refuses `protocol: {name}` as it is asked for; set `protocol: json` for the model, which works with any",
            error.message,
            name = protocol.name()
        );
    }
    error
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::failure::Complaint;
    use super::*;

    #[test]
    fn a_refused_protocol_is_named_with_what_to_set() {
        let refused = [
            (400, "registry.ollama.ai/library/m:2b does not support tools", Protocol::Tools),
            (400, "\"auto\" tool choice requires --enable-auto-tool-choice to be set", Protocol::Tools),
            (404, "No endpoints found that support tool use", Protocol::Tools),
            (500, "tools param requires --jinja flag", Protocol::Tools),
            (400, "This response_format type is unavailable now", Protocol::JsonSchema),
            (422, "Unsupported value: 'json_schema' for response format", Protocol::JsonSchema),
            (400, "output_config: Extra inputs are not permitted", Protocol::JsonSchema),
            (400, "Invalid JSON payload received. Unknown name \"responseJsonSchema\"", Protocol::JsonSchema),
        ];
        for (status, words, protocol) in refused {
            let body = json!({ "error": { "message": words } }).to_string();
            let error = explain(Complaint::from_response(status, body.as_bytes()).into_error(), protocol);
            assert!(error.message.contains("set `protocol: json`"), "{words}: {error}");
            assert!(error.message.contains(words) && error.message.contains(protocol.name()), "{error}");
            assert!(!error.class.is_retryable(), "{words}");
        }
    }

    #[test]
    fn other_failures_keep_their_words() {
        let other = [
            (400, "does not support tools", Protocol::Json),
            (400, "temperature must be at most 2", Protocol::Tools),
            (400, "does not support tools", Protocol::JsonSchema),
            (429, "too many tool calls", Protocol::Tools),
            (500, "Failed to parse tool call arguments as JSON", Protocol::Tools),
        ];
        for (status, words, protocol) in other {
            let body = json!({ "error": { "message": words } }).to_string();
            let error = Complaint::from_response(status, body.as_bytes()).into_error();
            assert_eq!(explain(error.clone(), protocol), error);
        }
    }
}
