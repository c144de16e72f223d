#!/usr/bin/env bash
# Real editors' servers over our schemas. Needs node, npm and python, and the network to install what is pinned below:
#     tests/editors/run.sh PATH_OF_LOOPWRIGHT
set -euo pipefail
cd "$(dirname "$0")/../.."

loopwright=$(realpath "${1:?the program}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm install --silent --no-audit --no-fund --prefix "$work/npm" yaml-language-server@2.0.0
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check taplo==0.9.3

"$loopwright" --quiet init "$work/made"
node tests/editors/yaml_language_server.mjs "$work/npm/node_modules" "$work/made"

# The same schema in TOML, by the line that a document begins with.
loop() {
    printf '#:schema ../schemas/loop.schema.json\nkind = "loop"\nname = "%s"\n\n[prompt]\ninstruction = "y"\n\n[limits]\n%s = 3\n' "$2" "$1"
}
taplo() {
    "$work/venv/bin/taplo" "$@"
}
loop max_iterations good >"$work/made/loops/good.toml"
loop max_iteratons bad >"$work/made/loops/bad.toml"
cd "$work/made"
taplo lint loops/good.toml 2>"$work/good.log" || { cat "$work/good.log" >&2; exit 1; }
if taplo lint loops/bad.toml 2>"$work/bad.log"; then
    echo "taplo takes a key that does not exist" >&2
    exit 1
fi
grep -q max_iteratons "$work/bad.log"
"$loopwright" --quiet check loops/good.toml
echo "taplo: a good document passes, and a key that does not exist is found"
