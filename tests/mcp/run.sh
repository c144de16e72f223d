#!/usr/bin/env bash
# Real MCP servers, in JavaScript and Python, over standard input and output and over HTTP. Needs node, npm and python,
# and the network to install what is pinned below:
#     tests/mcp/run.sh PATH_OF_LOOPWRIGHT
set -euo pipefail
cd "$(dirname "$0")/../.."

loopwright=$(realpath "${1:?the program}")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

npm install --silent --no-audit --no-fund --prefix "$work/npm" \
    @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mcp-server-time==2026.10.19

fail() {
    echo "$1" >&2
    exit 1
}
# says PART COMMAND…: what the command prints has the part in it, and the command succeeds.
says() {
    local part=$1 out
    shift
    out=$("$@" 2>&1) || fail "failed: $* gave: $out"
    grep -qF -- "$part" <<<"$out" || fail "no '$part' from $*: $out"
}
# refuses PART COMMAND…: the command fails, with the part in its words.
refuses() {
    local part=$1 out
    shift
    if out=$("$@" 2>&1); then fail "did not fail: $* gave: $out"; fi
    grep -qF -- "$part" <<<"$out" || fail "no '$part' from $*: $out"
}
# Processes of the servers that standard input and output lead to.
left() {
    pgrep -f "$work/npm/node_modules/.bin/.*(server-filesystem|everything stdio)|$work/venv/bin/mcp-server-time" || true
}
lw() {
    "$loopwright" --quiet --workspace "$work/made" "$@"
}

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$work/made/loops" "$work/made/notes"
echo "The ferry leaves at 10:15." >"$work/made/notes/ferry.md"
cat >"$work/made/loopwright.yaml" <<EOF
kind: workspace
mcp:
  files: { command: [node, "$work/npm/node_modules/.bin/mcp-server-filesystem", notes] }
  every: { command: [node, "$work/npm/node_modules/.bin/mcp-server-everything", stdio], timeout: 2s }
  clock: { command: ["$work/venv/bin/mcp-server-time", --local-timezone, UTC] }
  web: { url: "http://127.0.0.1:$port/mcp", timeout: 5s, headers: { X-Token: { env: TOKEN, prefix: "Bearer " } } }
EOF
export TOKEN=not-for-any-server

lw check "$work/made/loopwright.yaml"
says '"name": "mcp_files_read_text_file"' lw mcp list files --format json
says '"convert_time"' lw mcp list clock --format json
says 'The ferry leaves at 10:15.' lw mcp call files read_text_file '{"path": "ferry.md"}'
refuses 'outside allowed directories' lw mcp call files read_text_file '{"path": "/etc/passwd"}'
refuses 'Invalid timezone' lw mcp call clock get_current_time '{"timezone": "Mars/Olympus"}'
says '"timezone": "Asia/Tokyo"' lw mcp call clock get_current_time '{"timezone": "Asia/Tokyo"}'
says 'The sum of 1 and 2 is 3.' lw mcp call every get-sum '{"a": 1, "b": 2}'
says '[image image/png, ' lw mcp call every get-tiny-image
says '"conditions"' lw mcp call every get-structured-content '{"location": "New York"}'
# Three seconds against a limit of two: signs of progress start the time again.
says 'ompleted' lw mcp call every trigger-long-running-operation '{"duration": 3, "steps": 6}'
refuses 'no answer from MCP server `every` within 2s' lw mcp call every trigger-long-running-operation '{"duration": 30, "steps": 1}'
environment=$(lw mcp call every get-env)
grep -q PATH <<<"$environment" || fail "the server has no PATH"
if grep -q not-for-any-server <<<"$environment"; then fail "the server has the engine's environment"; fi
echo "standard input and output: files, pictures, structure, progress, limits, a scrubbed environment"

refuses 'MCP server `web` did not start' lw mcp call web echo '{"message": "hi"}'
(cd "$work" && PORT=$port exec node "$work/npm/node_modules/.bin/mcp-server-everything" streamableHttp) >"$work/web.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
says 'Echo: hi' lw mcp call web echo '{"message": "hi"}'
says 'ompleted' lw mcp call web trigger-long-running-operation '{"duration": 6, "steps": 12}'
says 'session termination' cat "$work/web.log"
echo "streamable HTTP: calls, progress, and an end of the session"

# Replies written by hand stand in for a model.
cp -r examples/mcp "$work/example"
cat >>"$work/example/loopwright.yaml" <<EOF
models: { by_hand: { provider: replay, path: script.yaml, accept: true } }
tiers: { main: by_hand }
EOF
cat >"$work/example/script.yaml" <<'EOF'
kind: script
protocol: json
exchanges:
  - { reply: { text: '{"@action": "directly_call_tool", "tool_name": "mcp_notes_list_directory", "params": {"path": "."}}' } }
  - { reply: { text: '{"@action": "directly_call_tool", "tool_name": "mcp_notes_read_text_file", "params": {"path": "ferry.md"}}' } }
  - { reply: { text: '{"@action": "directly_answer", "answer_payload": "At 10:15 (ferry.md)."}' } }
EOF
says 'At 10:15 (ferry.md).' "$loopwright" --workspace "$work/example" run ask_notes \
    --input 'When does the ferry leave on Sundays?' --events "$work/events.ndjson"
says 'On Sundays there is one only, at 10:15.' grep '"event":"tool_finished"' "$work/events.ndjson"
echo "a loop reads notes through npx"

[ -z "$(left)" ] || fail "servers are left: $(left)"
# Not through the function: then the number would be a shell's.
"$loopwright" --quiet --workspace "$work/made" mcp call every trigger-long-running-operation \
    '{"duration": 100, "steps": 100}' >/dev/null 2>&1 &
call=$!
for _ in $(seq 100); do [ -n "$(left)" ] && break; sleep 0.1; done
[ -n "$(left)" ] || fail "no server runs"
kill -TERM "$call"
wait "$call" || true
for _ in $(seq 50); do [ -z "$(left)" ] && break; sleep 0.1; done
[ -z "$(left)" ] || fail "a server outlives the call that was ended"
echo "no server outlives its call"
