#!/usr/bin/env bash
# Lets the real Mermaid parse what `graph` draws. Needs node, npm and the npm registry:
#     .ci/mermaid.sh
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cargo build --locked -q
for loop in loops/*.yaml; do
    ./target/debug/loopwright graph "$loop" >"$folder/$(basename "$loop").mmd"
done
cp tests/cases/graph/circle_mermaid/expected "$folder/circle.mmd"

npm install --silent --no-audit --no-fund --prefix "$folder" mermaid@11.17.2 jsdom@29.1.1
cat >"$folder/parse.mjs" <<'SCRIPT'
import fs from 'node:fs';
import { JSDOM } from 'jsdom';
const dom = new JSDOM('<body></body>');
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const mermaid = (await import('mermaid')).default;
for (const file of process.argv.slice(2)) {
  try {
    await mermaid.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    console.error(`${file}: ${error}`);
    process.exitCode = 1;
  }
}
SCRIPT
node "$folder/parse.mjs" "$folder"/*.mmd
echo "Mermaid parses $(ls "$folder"/*.mmd | wc -l) graphs"
