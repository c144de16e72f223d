#!/usr/bin/env bash
# setup.sh [NAME...]: one venv per Python peer, and the Rust crates; only those named, or all. The model server `mock` is
# always built. Each install is limited to 4 minutes.
set -u
cd "$(dirname "$0")"
PY=${PY:-python3}
WANTED=" $* "
mkdir -p .venvs logs
UV=$PWD/.venvs/uv/bin/uv
wanted() { [ "$WANTED" = "  " ] || [[ $WANTED == *" $1 "* ]]; }
venv() { # venv NAME PACKAGE...
  local name=$1; shift
  wanted "$name" || return 0
  [ -x "$UV" ] || { "$PY" -m venv .venvs/uv && .venvs/uv/bin/pip -q install uv; }
  [ -x ".venvs/$name/bin/python" ] || "$UV" -q venv --python "$PY" ".venvs/$name"
  if timeout 240 "$UV" pip install -q --compile-bytecode --python ".venvs/$name/bin/python" "$@" >"logs/install-$name.log" 2>&1
  then echo "installed $name"; else echo "SKIPPED $name: see logs/install-$name.log"; fi
}
venv floor        httpx
venv miniswe      mini-swe-agent
venv adk          google-adk litellm
venv msaf         agent-framework-core agent-framework-openai
venv langgraph    langgraph langchain langchain-openai
venv pydantic_ai  'pydantic-ai-slim[openai]'
venv openai_agents openai-agents
venv smolagents   'smolagents[openai]'
for v in .venvs/*/; do
  [ -x "$UV" ] && "$UV" pip freeze -q --python "$v/bin/python" >"logs/freeze-$(basename "$v").txt" 2>/dev/null
done
for crate in mock rig_driver loopwright_driver; do
  [ $crate = mock ] || wanted $crate || continue
  (cd $crate && cargo build -q --release) || echo "SKIPPED $crate: it does not build"
done
true
