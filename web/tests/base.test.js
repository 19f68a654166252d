// Behavior of the page's core that Python does not share; tests/explain/page/test_page_base.py compares the rest.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate, ExpressionError, parse } from "../src/core/expression.js";
import { Graph, GraphError, passing } from "../src/core/graph.js";
import { brief, few, said } from "../src/core/names.js";
import { elementOf } from "../src/core/rules.js";

/** @param {string} text @param {Record<string, number>} values */
const graphOf = (text, values) => evaluate(parse(text), new Map(Object.entries(values)));

/** Return a graph in JSON with a hand-made square: b = square(a), c = b + a. @param {object} [changes] */
const byHand = (changes = {}) => ({
  gradwalk: "graph",
  version: 1,
  outputs: [2],
  nodes: [
    { data: 3, grad: 0, label: "a" },
    { symbol: "square", operands: [0, 0], partials: [6, 6], data: 9, grad: 0, label: "b", by_hand: true },
    { operation: "add", operands: [1, 0], partials: [1, 1], data: 12, grad: 0, label: "c" },
  ],
  ...changes,
});

test("expression errors have position, text and hint", () => {
  assert.throws(() => parse("e = a + b\nf = 名 + 2x"), (error) => {
    assert(error instanceof ExpressionError);
    assert.equal(error.problem, "syntax error: an operator is missing");
    assert.deepEqual([error.line, error.column], [2, 9]);
    assert.equal(error.text.split("\n")[error.line - 1][error.column], "x");
    assert.equal(error.message, `${error.problem}\n  f = 名 + 2x\n            ^\n${error.hint}`);
    return true;
  });
});

test("very deep expressions work", () => {
  for (const text of [`x${"+x".repeat(1e5)}`, `${"-".repeat(1e5)}x`, `${"(".repeat(1e5)}x${")".repeat(1e5)}`]) {
    const graph = graphOf(text, { x: 1 });
    assert.equal(graph.withData(new Map([[0, 2]])).nodes[graph.root].data, 2 * graph.nodes[graph.root].data);
  }
});

test("withData does not change the graph", () => {
  const graph = graphOf("e = a*b; f = e + c", { a: 2, b: -3, c: 10 });
  const other = graph.withData(new Map([[0, 5]]));
  assert.deepEqual(graph.nodes.map(({ data }) => data), [2, -3, -6, 10, 4]);
  assert.deepEqual(other.nodes.map(({ data }) => data), [5, -3, -15, 10, -5]);
  assert.deepEqual(other.nodes[2].partials, [-3, 5]);
  assert.equal(other.nodes[3], graph.nodes[3]);
  assert.deepEqual(other.nodes.map(({ name }) => name), ["a", "b", "e", "c", "f"]);
});

test("hand-made nodes cannot be recomputed", () => {
  const graph = Graph.fromDocument(byHand());
  assert.throws(() => graph.withData(new Map([[0, 4]])), new GraphError(
    "b was made by hand: its formula is unknown, so its operands cannot be changed",
  ));
  assert.deepEqual(passing(graph.nodes[1]), [{ position: 0, place: 0 }]);
});

test("constants and conditions get no gradient", () => {
  const { nodes, root } = graphOf("where(a, b, 2)", { a: 1, b: 3 });
  assert.deepEqual(passing(nodes[root]), [{ position: 1, place: 1 }]);
});

test("elements of a sum of products pair the two factors", () => {
  const operands = [0, 0, 0, 0, 0].map((_, position) => ({ constant: position }));
  const node = { data: 11, grad: 0, operation: "sumprod", operands, partials: operands.map(() => null) };
  const [sum] = Graph.fromDocument({ gradwalk: "graph", version: 1, outputs: [0], nodes: [node] }).nodes;
  assert.deepEqual([0, 1, 2, 3, 4].map((position) => elementOf(sum, position, 5)), [[], [1, 3], [2, 4], [1, 3], [2, 4]]);
});

test("invalid graphs are rejected", () => {
  const node = byHand().nodes[0];
  for (const [json, message] of /** @type {[unknown, string][]} */ ([
    [null, 'this is not a graph: the entry "gradwalk": "graph" is missing'],
    [byHand({ version: 3 }), "this graph has version 3; versions 1 and 2 can be read"],
    [byHand({ version: undefined }), "this graph has version missing; versions 1 and 2 can be read"],
    [byHand({ version: 2 }), "the graph has the unknown key 'nodes'; known keys: by_hand, data, grad, gradwalk, labels, offsets, opcodes, operands, operations, outputs, partials, scopes, sources, symbols, version"],
    [byHand({ outputs: [] }), "the graph has no output"],
    [byHand({ outputs: [1, 2] }), "this needs a graph with one root, but this graph has 2: b, c"],
    [byHand({ outputs: [7] }), "an output refers to node 7, but the graph has 3 nodes"],
    [byHand({ strange: 1 }), "the graph has the unknown key 'strange'; known keys: gradwalk, nodes, outputs, version"],
    [byHand({ nodes: {} }), "the graph needs a list of nodes"],
    [byHand({ nodes: [node, 3] }), "node 1 is 3, not an object"],
    [byHand({ nodes: [{ ...node, data: "1" }] }), 'the data of node 0 is "1", not a number'],
    [byHand({ nodes: [{ data: 1 }] }), "the gradient of node 0 is missing, not a number"],
    [byHand({ nodes: [{ ...node, label: "" }] }), "the label of node 0 is empty: leave it out"],
    [byHand({ nodes: [{ ...node, scope: "" }] }), "the scope of node 0 is empty: leave it out"],
    [byHand({ nodes: [{ ...node, scope: 3 }] }), "the scope of node 0 is 3, not a string"],
    [byHand({ nodes: [{ ...node, operation: "cube" }] }), 'node 0 has the unknown operation "cube"'],
    [byHand({ nodes: [{ ...node, operation: "exp" }] }), "node 0 (exp) takes 1 operands, not 0"],
    [byHand({ nodes: [{ ...node, operation: "sumprod" }] }), "node 0 (sumprod) takes an odd number of operands, not 0"],
    [
      byHand({ nodes: [node, { ...node, operation: "exp", operands: [1], partials: [1] }] }),
      "node 1 has node 1 as operand, not an earlier node",
    ],
    [byHand({ nodes: [node, { ...node, operands: [0], partials: [1] }] }), "node 1 has operands (1) but no operation"],
    [byHand({ nodes: [{ ...node, source: "a.py" }] }), 'the source of node 0 is "a.py", not a file and a line'],
    [byHand({ nodes: [{ ...node, source: { file: "a.py", line: 1, text: 3 } }] }), "the text of node 0 is 3, not a string"],
    [
      byHand({ nodes: [{ ...node, source: { file: "a.py", line: 1, text: "é".repeat(201) } }] }),
      "the text of node 0 must have at most 200 characters, got 201",
    ],
  ])) {
    assert.throws(() => Graph.fromDocument(json), new GraphError(message));
  }
});

test("long names and lists are folded", () => {
  const items = Array.from({ length: 60 }, (_, i) => `t${i}`);
  const mark = (/** @type {number} */ count) => `${count}`;
  assert.deepEqual(few(items, false, mark), ["t0", "t1", "t2", "t3", "54", "t58", "t59"]);
  assert.equal(few(items, true, mark), items);
  assert.equal(few(items.slice(0, 8), false, mark).length, 8);
  assert.equal(few(new Array(5000).fill("t"), true, mark).length, 1001);
  assert.equal(said(items.join(" + ")), "t0 + t1 + t2 + t3 + … 54 more … + t58 + t59");
  assert.equal(said(items.join(" + "), true), items.join(" + "));
  assert.match(said(`f(${items.join(" + ")})`), /^f\(t0 \+ t1.{30,}….*t59\)$/);
  assert.deepEqual([said("\n"), brief("x".repeat(20)), brief("x".repeat(50))], ["?", "x".repeat(20), `${"x".repeat(10)}…${"x".repeat(6)}`]);
});
