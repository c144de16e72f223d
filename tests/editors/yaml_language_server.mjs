// Drives the real YAML language server over a loop with our schema: completion, hover, and an error at the right line.
//
//     node tests/editors/yaml_language_server.mjs PATH_OF_NODE_MODULES WORKSPACE
//
// WORKSPACE is a folder that `loopwright init` made: what is tested is that it works as it comes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, workspace] = process.argv.slice(2).map((path) => resolve(path));
const server = spawn(process.execPath, [join(modules, "yaml-language-server/bin/yaml-language-server"), "--stdio"], {
  stdio: ["pipe", "pipe", "inherit"],
});

let buffer = Buffer.alloc(0);
let nextId = 0;
const waiting = new Map();
const diagnostics = new Map();
const watchers = [];

server.stdout.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString());
    buffer = buffer.subarray(end + 4 + length);
    receive(message);
  }
});

function send(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function receive(message) {
  if (message.method === "textDocument/publishDiagnostics") {
    diagnostics.set(message.params.uri, message.params.diagnostics);
    watchers.splice(0).forEach((watcher) => watcher());
  } else if (message.method && message.id !== undefined) {
    // What the server asks: its settings are the built-in ones, and it fetches nothing.
    const settings = { validate: true, hover: true, completion: true, schemaStore: { enable: false } };
    const result = message.method === "workspace/configuration" ? message.params.items.map(() => settings) : null;
    send({ id: message.id, result });
  } else if (message.id !== undefined) {
    waiting.get(message.id)(message);
    waiting.delete(message.id);
  }
}

function request(method, params) {
  const id = ++nextId;
  return new Promise((resolve, reject) => {
    waiting.set(id, (message) => (message.error ? reject(new Error(message.error.message)) : resolve(message.result)));
    send({ id, method, params });
  });
}

async function until(uri, holds) {
  while (!(diagnostics.has(uri) && holds(diagnostics.get(uri)))) {
    await new Promise((resolve) => watchers.push(resolve));
  }
  return diagnostics.get(uri);
}

// Where `¦` stands in a text, and the text without it.
function marked(text) {
  const before = text.slice(0, text.indexOf("¦")).split("\n");
  const position = { line: before.length - 1, character: before.at(-1).length };
  return [text.replace("¦", ""), position];
}

let version = 0;
function show(uri, text) {
  version += 1;
  if (version === 1) {
    send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "yaml", version, text } } });
  } else {
    const params = { textDocument: { uri, version }, contentChanges: [{ text }] };
    send({ method: "textDocument/didChange", params });
  }
}

async function completion(uri, text) {
  const [plain, position] = marked(text);
  show(uri, plain);
  const found = await request("textDocument/completion", { textDocument: { uri }, position });
  return found.items.map((item) => item.label);
}

async function hover(uri, text) {
  const [plain, position] = marked(text);
  show(uri, plain);
  const found = await request("textDocument/hover", { textDocument: { uri }, position });
  const contents = found?.contents ?? "";
  return typeof contents === "string" ? contents : contents.value;
}

const timeout = setTimeout(() => {
  console.error("the YAML language server did not answer in two minutes");
  process.exit(1);
}, 120_000);

await request("initialize", {
  processId: process.pid,
  rootUri: pathToFileURL(workspace).href,
  capabilities: {
    textDocument: { completion: { completionItem: { documentationFormat: ["markdown"] } }, hover: { contentFormat: ["markdown"] } },
    workspace: { configuration: true },
  },
  workspaceFolders: [{ uri: pathToFileURL(workspace).href, name: "w" }],
});
send({ method: "initialized", params: {} });

const path = join(workspace, "loops/hello.yaml");
const uri = pathToFileURL(path).href;
const text = readFileSync(path, "utf8");

show(uri, text);
assert.deepEqual(await until(uri, () => true), [], "a new workspace has no mistake");

const top = await completion(uri, `${text}\nlim¦`);
assert.ok(top.includes("hooks") && top.includes("mechanisms"), `top-level keys: ${top}`);

const inner = await completion(uri, `${text}\nhooks:\n  finish:\n    - f¦`);
assert.ok(inner.includes("feedback") && inner.includes("forge"), `verbs of a step: ${inner}`);

const words = await completion(uri, `${text}\nhooks:\n  finish:\n    - answer: x\n      then: ¦`);
assert.deepEqual(words.filter((word) => ["continue", "exit", "fail", "done"].includes(word)).length, 4, `words of an enum: ${words}`);

const about = await hover(uri, text.replace("max_iterations", "max_iter¦ations"));
assert.match(about, /Iterations\. Default: 100/, `hover: ${about}`);

show(uri, text.replace("max_iterations", "max_iteratons"));
const found = await until(uri, (list) => list.length > 0);
const line = text.split("\n").findIndex((line) => line.includes("max_iterations"));
assert.equal(found[0].range.start.line, line, JSON.stringify(found));
assert.match(found[0].message, /max_iteratons/);

await request("shutdown");
send({ method: "exit" });
clearTimeout(timeout);
console.log("yaml-language-server: completion, hover and an error at the right line");
