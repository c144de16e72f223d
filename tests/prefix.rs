//! How much of a request the next one begins with, measured on the bytes that a server really got.
//!
//! `cargo test --test main prefix:: -- --nocapture` prints the figures of docs/performance.md.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::Folder;
use crate::raw_http::{Response, Seen, Server};

/// A reply: text with one JSON object in it.
struct Reply {
    before: String,
    object: Value,
    after: String,
}

impl Reply {
    fn read(text: &str) -> Self {
        let at = text.find("{\"@action\"").or_else(|| text.find('{')).unwrap_or_else(|| panic!("no action in {text}"));
        let mut objects = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let object = objects.next().unwrap().unwrap();
        let end = at + objects.byte_offset();
        Self { before: text[..at].to_owned(), object, after: text[end..].to_owned() }
    }

    /// As a server says it, under a provider and a protocol.
    fn response(&self, provider: &str, native: bool, seen: &Seen) -> Response {
        let request = String::from_utf8_lossy(&seen.body);
        let nonce = request.rsplit("Its nonce is ").next().map_or("", |rest| &rest[..26]).to_owned();
        let fill = |text: &str| text.replace("{{ nonce }}", &nonce);
        let mut arguments = self.object.clone();
        let name = arguments.as_object_mut().unwrap().shift_remove("@action").unwrap();
        let text = if native {
            fill(&format!("{}{}", self.before, self.after))
        } else {
            fill(&format!("{}{}{}", self.before, self.object, self.after))
        };
        let arguments = arguments.to_string();
        let chunks: Vec<Value> = match (provider, native) {
            ("openai", false) => {
                vec![json!({ "choices": [{ "delta": { "content": text }, "finish_reason": "stop" }] })]
            }
            ("openai", true) => {
                let call = json!({ "index": 0, "id": "c", "function": { "name": name, "arguments": arguments } });
                let delta = json!({ "content": text, "tool_calls": [call] });
                vec![json!({ "choices": [{ "delta": delta, "finish_reason": "tool_calls" }] })]
            }
            (_, native) => {
                let mut chunks = vec![
                    json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
                    json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": text } }),
                    json!({ "type": "content_block_stop", "index": 0 }),
                ];
                if native {
                    let block = json!({ "type": "tool_use", "id": "c", "name": name, "input": {} });
                    let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
                    chunks.push(json!({ "type": "content_block_start", "index": 1, "content_block": block }));
                    chunks.push(json!({ "type": "content_block_delta", "index": 1, "delta": delta }));
                    chunks.push(json!({ "type": "content_block_stop", "index": 1 }));
                }
                let reason = if native { "tool_use" } else { "end_turn" };
                chunks.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 1 } }));
                chunks.push(json!({ "type": "message_stop" }));
                chunks
            }
        };
        Response::events(chunks.iter().map(|chunk| match chunk["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {chunk}\n\n"),
            None => format!("data: {chunk}\n\n"),
        }))
    }
}

/// A loop that was run, and what its requests had in common.
struct Measured {
    /// Bytes of each request, without the marks that say where a cache may end.
    sizes: Vec<usize>,
    /// Where its open part begins: the first section that may change with every iteration.
    open: Vec<usize>,
    /// How many of its bytes the next request begins with.
    shared: Vec<usize>,
    tokens_per_byte: f64,
}

impl Measured {
    fn run(provider: &'static str, native: bool, folder: &Folder, arguments: &[&str], replies: Vec<Reply>) -> Self {
        let count = replies.len();
        let server = Server::answering(move |number, seen| match replies.get(number) {
            Some(reply) => reply.response(provider, native, seen),
            None => Response::status(400),
        });
        let url = if provider == "openai" { server.base_url() } else { server.url() };
        let protocol = if native { "tools" } else { "json" };
        let model = json!({ "provider": provider, "model": "m", "base_url": url, "protocol": protocol });
        let workspace = json!({ "kind": "workspace", "models": { "local": model }, "tiers": { "main": "local" } });
        folder.write("loopwright.yaml", workspace.to_string());
        folder.run(&[arguments, &["--events", "events.ndjson"]].concat()).exits(0);
        let log = folder.read("events.ndjson");
        let mut profile = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let profile = profile.rfind(|event| event["event"] == "prompt_profile").unwrap();
        let sections = profile["sections"].as_array().unwrap();
        let is_open = |section: &&Value| matches!(section["tier"].as_str(), Some("timeline_open" | "dynamic"));
        let open_names: Vec<&str> = sections.iter().filter(is_open).map(|s| s["name"].as_str().unwrap()).collect();

        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        let bodies: Vec<String> =
            server.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).replace(mark, "")).collect();
        assert_eq!(bodies.len(), count, "each reply was asked for");
        let starts = |body: &String| {
            let begins = open_names.iter().filter_map(|name| body.rfind(&format!("<|{name}_")));
            // `rfind` finds the closing tag; the opening one stands before it, in the same section.
            let first = begins.filter_map(|end| {
                let name = body[end + 2..].split("_END_").next().unwrap();
                body[..end].rfind(&format!("<|{name}_"))
            });
            // The braces that the part is wrapped in belong to it.
            let before = &body[..first.min().unwrap()];
            let envelopes = [
                "{\"type\":\"text\",\"text\":\"",
                "{\"role\":\"user\",\"content\":[",
                "{\"role\":\"user\",\"content\":\"",
            ];
            envelopes
                .iter()
                .fold(before, |rest, envelope| rest.strip_suffix(envelope).unwrap_or(rest))
                .trim_end_matches(',')
                .len()
        };
        let shared = bodies
            .windows(2)
            .map(|pair| pair[0].bytes().zip(pair[1].bytes()).take_while(|(before, after)| before == after).count());
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let tokens_per_byte = profile["tokens"].as_f64().unwrap() / profile["bytes"].as_u64().unwrap() as f64;
        Self {
            sizes: bodies.iter().map(String::len).collect(),
            open: bodies.iter().map(starts).collect(),
            shared: shared.collect(),
            tokens_per_byte,
        }
    }

    /// The share of what lies before the open parts that the next request begins with.
    fn before_the_open_part(&self) -> f64 {
        let kept = self.shared.iter().zip(&self.open).map(|(shared, open)| shared.min(open)).sum();
        share(kept, self.open[..self.shared.len()].iter().sum())
    }

    /// The share of whole requests that the next one begins with.
    fn of_everything(&self) -> f64 {
        share(self.shared.iter().sum(), self.sizes[..self.shared.len()].iter().sum())
    }

    /// Tokens of the whole run: read from the cache, written to it, in open parts.
    fn tokens(&self) -> [f64; 3] {
        let mut bytes = [0, 0, 0];
        let mut cached = 0;
        for (size, open) in self.sizes.iter().zip(&self.open) {
            let hit = cached.min(*open);
            bytes = [bytes[0] + hit, bytes[1] + open - hit, bytes[2] + size - open];
            cached = *open;
        }
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        bytes.map(|bytes| bytes as f64 * self.tokens_per_byte)
    }

    /// US dollars for the input of the whole run: without a cache, and with one that holds what came before the open part.
    fn cost(&self, input: f64, read: f64, write: f64) -> (f64, f64) {
        let [hit, new, open] = self.tokens();
        ((hit + new + open) * input / 1e6, (hit * read + new * write + open * input) / 1e6)
    }

    #[expect(clippy::print_stdout, reason = "the figures of docs/performance.md")]
    fn print(&self, what: &str) {
        let (plain, cached) = self.cost(3.0, 0.3, 3.75);
        let [hit, new, open] = self.tokens();
        println!(
            "tokens read from the cache {hit:.0}, written to it {new:.0}, in open parts {open:.0}\n\
             | {what} | {} | {:.1} KB | {:.1}% | {:.1}% | ${plain:.4} | ${cached:.4} | {:.0}% |",
            self.sizes.len(),
            share(self.sizes.iter().sum(), self.sizes.len() * 1000),
            100.0 * self.before_the_open_part(),
            100.0 * self.of_everything(),
            100.0 * (1.0 - cached / plain),
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

const SERVERS: [(&str, bool); 4] = [("openai", false), ("openai", true), ("anthropic", false), ("anthropic", true)];

fn name(provider: &str, native: bool) -> String {
    format!("`{provider}`, `{}`", if native { "tools" } else { "json" })
}

/// `log_analyze` over the example log, with the replies of its script.
fn log_analyze(provider: &'static str, native: bool, change: impl Fn(&Folder)) -> Measured {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(root.join("examples/log_analyze.script.yaml")).unwrap();
    let script: Value = serde_yaml::from_str(&script).unwrap();
    let exchanges = script["exchanges"].as_array().unwrap();
    let replies = exchanges.iter().map(|each| Reply::read(each["reply"]["text"].as_str().unwrap())).collect();
    let folder = Folder::new(&[]);
    folder.write("auth.log", std::fs::read(root.join("examples/auth.log")).unwrap());
    change(&folder);
    Measured::run(provider, native, &folder, &["run", "log_analyze", "--input", "@auth.log"], replies)
}

#[test]
fn log_analyze_repeats_what_lies_before_its_open_part() {
    for (provider, native) in SERVERS {
        let measured = log_analyze(provider, native, |_| {});
        measured.print(&format!("`log_analyze`, {}", name(provider, native)));
        assert!((measured.before_the_open_part() - 1.0).abs() < f64::EPSILON, "{}", measured.before_the_open_part());
    }
}

#[test]
fn an_input_in_a_static_tier_is_repeated_too() {
    let measured = log_analyze("openai", false, |folder| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("loops/log_analyze.yaml");
        let document = std::fs::read_to_string(path).unwrap();
        let section = "  sections: [{ name: USER_QUERY, tier: frozen, trust: untrusted, text: \"{{ input }}\" }]\n";
        let document = document.replacen("\nbuiltins:", &format!("{section}\nbuiltins:"), 1);
        // The files of the example are not here.
        let lines = document.lines().filter(|line| !line.starts_with("example:"));
        folder.write("loops/log_analyze.yaml", lines.collect::<Vec<_>>().join("\n"));
    });
    measured.print("`log_analyze`, its input `frozen`");
    assert!(measured.of_everything() > 0.9, "{}", measured.of_everything());
}

#[test]
fn twenty_iterations_repeat_what_lies_before_their_open_part() {
    for (provider, native) in SERVERS {
        let note = |n| Reply::read(&format!(r#"{{"@action": "note", "text": "Page {n} of the report was read."}}"#));
        let mut replies: Vec<Reply> = (0..19).map(note).collect();
        replies.push(Reply::read(r#"{"@action": "finish"}"#));
        let folder = Folder::new(&[(
            "loops/reader.yaml",
            "name: reader\nprompt: { instruction: Read the report page by page. }\nactions:\n  note:\n    \
             description: Note what a page says.\n    params: { text: string! }\n    \
             do: [{ feedback: \"{% for n in range(20) %}line {{ n }} of the page; {% endfor %}\" }]\n",
        )]);
        let measured = Measured::run(provider, native, &folder, &["run", "reader", "--input", "the report"], replies);
        measured.print(&format!("20 iterations, {}", name(provider, native)));
        assert!((measured.before_the_open_part() - 1.0).abs() < f64::EPSILON, "{}", measured.before_the_open_part());
        assert!(measured.of_everything() > 0.9, "{}", measured.of_everything());
        let (plain, cached) = measured.cost(3.0, 0.3, 3.75);
        assert!(cached < plain * 0.5, "{cached} of {plain}");
    }
}
