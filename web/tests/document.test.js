// Documents: the source lines that are shown beside a graph.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read } from "../src/model/document.js";

/** Build a chain of nodes with these source lines. @param {readonly object[]} sources */
const graph = (sources) => ({
  gradwalk: "graph",
  version: 1,
  outputs: [sources.length - 1],
  nodes: sources.map((source, i) => ({
    ...(i ? { operation: "exp", operands: [i - 1], partials: [1] } : {}),
    data: 1,
    grad: 0,
    ...(source ? { source } : {}),
  })),
});

/** @param {readonly object[]} sources @param {unknown} [files] */
const walk = (sources, files) => {
  const order = sources.map((_, i) => sources.length - 1 - i);
  return { gradwalk: "walk", version: 1, graph: graph(sources), order, overwrite: false, files };
};

/** Return the lines of all files, by name. @param {unknown} json */
const linesOf = (json) => Object.fromEntries([...read(JSON.stringify(json)).files].map(([name, lines]) => [name, [...lines]]));

const SOURCES = [
  { file: "a.py", line: 40, text: "y = f(x)" },
  { file: "b.py", line: 3, text: "x = 2" },
  { file: "a.py", line: 7, text: "return exp(x)" },
  { file: "a.py", line: 40, text: "y = f(x)" },
  { file: "c.py", line: 1 },
];

test("only lines that made nodes are shown without the file", () => {
  const lines = { "a.py": [[7, "return exp(x)"], [40, "y = f(x)"]], "b.py": [[3, "x = 2"]] };
  for (const json of [graph(SOURCES), walk(SOURCES), walk(SOURCES, {}), walk(SOURCES, [1])]) {
    assert.deepEqual(linesOf(json), lines);
  }
});

test("files in the document are shown completely", () => {
  const found = linesOf(walk(SOURCES, { "a.py": "one\r\n\ntwo\n" }));
  assert.deepEqual(found, { "a.py": [[1, "one"], [2, ""], [3, "two"]], "b.py": [[3, "x = 2"]] });
});

test("older documents have source lines without text", () => {
  const { graph: found, files } = read(JSON.stringify(graph([{ file: "a.py", line: 1 }])));
  assert.deepEqual(found.nodes[0].source, { file: "a.py", line: 1, text: "" });
  assert.equal(files.size, 0);
});

test("file names are never opened or interpreted", () => {
  const names = ["__proto__", "constructor", "/etc/passwd", "", "a\0b", "x".repeat(5000)];
  const found = linesOf(graph(names.map((file) => ({ file, line: 2, text: "x" }))));
  assert.deepEqual(found, Object.fromEntries(names.map((file) => [file, [[2, "x"]]])));
});

test("invalid groups are refused", () => {
  const graph = { gradwalk: "graph", version: 1, outputs: [0], nodes: [{ data: 1, grad: 0 }] };
  const walk = { gradwalk: "walk", version: 1, graph, overwrite: false };
  const modules = (/** @type {number[]} */ ...places) => Buffer.from(Int32Array.from(places).buffer).toString("base64");
  const reading = (/** @type {unknown} */ groups) => read(JSON.stringify({ ...walk, groups }));
  const given = { paths: [[], ["a", "b"]], modules: modules(1), kind: "", count: 0, numbers: modules(-1) };
  assert.deepEqual(reading(given).graph.groups?.paths[1], ["a", "b"]);
  for (const groups of [3, {}, { paths: [[]] }, { paths: [[]], modules: modules(1) }, { paths: [[]], modules: modules(0, 0) }, { paths: [[1]], modules: modules(0) }]) {
    assert.throws(() => reading(groups), { name: "GraphError" }, JSON.stringify(groups));
  }
});
