// Finding arrays in the labels of nodes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Graph, Value } from "../src/core/graph.js";
import { arraysOf } from "../src/walk/arrays.js";
import { BY_NAME } from "../src/core/table.js";

/** Build a graph of labeled leaves and their unlabeled sum. @param {readonly string[]} labels */
function graphOf(labels) {
  const add = /** @type {import("../src/types.js").Row} */ (BY_NAME.get("add"));
  const leaves = labels.map((label) => new Value(1, label));
  return Graph.record(leaves.reduce((sum, leaf) => new Value(0, "", add, [sum, leaf])));
}

/** Return the labels in each row of each array, by name; "" marks a cell without a node. @param {readonly string[]} labels */
function rowsOf(labels) {
  const graph = graphOf(labels);
  const named = arraysOf(graph).map(({ name, rows }) => {
    return [name, rows.map((row) => [row.name, ...row.places.map((place) => graph.nodes[place]?.label ?? "")])];
  });
  return Object.fromEntries(named);
}

test("trailing numbers in labels are rows and columns", () => {
  assert.deepEqual(rowsOf(["x.0", "x.1", "w.0.0", "w.0.1", "w.1.1"]), {
    x: [["", "x.0", "x.1"]],
    w: [["0", "w.0.0", "w.0.1"], ["1", "", "w.1.1"]],
  });
});

test("indices may be in brackets", () => {
  assert.deepEqual(rowsOf(["w[0][0]", "w[0][1]", "layers[0].w[0]", "layers.0.w.1"]), {
    w: [["0", "w[0][0]", "w[0][1]"]],
    "layers.w": [["0", "layers[0].w[0]", "layers.0.w.1"]],
  });
});

test("rows that differ in one number are stacked in order", () => {
  const places = [0, 2, 10].map((place) => `place${place}.head1.weight`);
  assert.deepEqual(rowsOf([...places].reverse().flatMap((path) => [`${path}.0`, `${path}.1`])), {
    "head1.weight": [0, 2, 10].map((place, i) => [`place${place}`, `${places[i]}.0`, `${places[i]}.1`]),
  });
  assert.deepEqual(Object.keys(rowsOf(["layers.0.neurons.0.w.0", "layers.0.neurons.1.w.0"])), ["layers[0].neurons.w"]);
});

test("causal arrays are detected", () => {
  const rows = [0, 1, 2].flatMap((place) => Array.from({ length: place + 1 }, (_, i) => `place${place}.weight.${i}`));
  const isCausal = (/** @type {readonly string[]} */ labels) => arraysOf(graphOf(labels))[0]?.isCausal;
  assert.equal(isCausal(rows), true);
  assert.equal(isCausal([...rows, "place2.weight.3"]), false);
  assert.equal(isCausal(rows.filter((label) => label !== "place2.weight.1")), false);
});

test("other labels and single cells make no array", () => {
  assert.deepEqual(rowsOf(["a", "b.c", "1", "x.0", "y.1e9", "z.9999", "z.9998", "..", "v.", "é.0", "x * 0.1", "x * 0.2", "a b.0", "a b.1"]), {});
});

test("the latest array comes first", () => {
  assert.deepEqual(Object.keys(rowsOf(["a.0", "b.0", "b.1", "a.1"])), ["a", "b"]);
});
