// The passes of a program: which ones have graphs, the gradients that leaves had before, and the curve of results.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read } from "../src/model/document.js";
import { dropped, modeler } from "../src/model/model.js";
import { alike } from "../src/model/passes.js";
import { bare } from "../src/model/state.js";
import { places } from "../src/panels/walk/pass_curve.js";

/** Return exp(a), after earlier passes. @param {number} a @param {number} grad */
const graph = (a, grad) => ({
  gradwalk: "graph",
  version: 1,
  outputs: [1],
  nodes: [
    { data: a, grad, label: "a" },
    { operation: "exp", operands: [0], partials: [Math.exp(a)], data: Math.exp(a), grad: 1, label: "loss" },
  ],
});

const line = { file: "train.py", line: 8, text: "loss.backward()" };
const root = { file: "train.py", line: 6, text: "loss = exp(a)" };
const json = {
  gradwalk: "walk",
  version: 1,
  graph: graph(3, 9),
  order: [1, 0],
  overwrite: false,
  pass: 3,
  calls: 3,
  passes: [
    { number: 1, data: Math.exp(1), nodes: 2, line, root, earlier: [], graph: graph(1, Math.exp(1)) },
    { number: 2, data: "inf", nodes: 2, line, root: null },
    { number: 3, data: Math.exp(3), nodes: 2, line, root, earlier: [{ place: 0, grad: -4, since: 1 }] },
  ],
};

const document = () => read(JSON.stringify(json));

test("the document's own pass has the document's graph", () => {
  const { passes, graph: own } = document();
  assert.deepEqual([passes.count, passes.own, passes.all.length], [3, 3, 3]);
  assert.equal(passes.all[2].graph, own);
  assert.deepEqual(passes.all[2].earlier, [{ place: 0, grad: -4, now: 9, since: 1 }]);
  assert.deepEqual(passes.all.map(({ isKept }) => isKept), [true, false, true]);
  assert.equal(passes.all[1].data, Infinity);
  assert.deepEqual(alike(passes.all, passes.all[2]).map(({ number }) => number), [1, 3]);
});

test("another pass shows its own graph and gradients", () => {
  const found = document();
  const model = modeler(found);
  const own = model(bare());
  assert.equal(own.graph, found.graph);
  assert.equal(own.pass?.number, 3);
  const first = model({ ...bare(), pass: 1 });
  assert.equal(first.graph.nodes[0].data, 1);
  assert.equal(first.walk.right[0], Math.exp(1));
  assert.equal(first.state.pass, 1);
  const changed = model({ ...bare(), pass: 1, values: new Map([["a", 2]]) });
  assert.equal(changed.graph.nodes[1].data, Math.exp(2));
});

test("invalid passes are dropped and reported", () => {
  for (const pass of [2, 4, 999]) {
    const state = { ...bare(), pass };
    const model = modeler(document())(state);
    assert.equal(model.state.pass, 0);
    assert.equal(model.pass?.number, 3);
    assert.equal(dropped(state, model).length, 1);
  }
  const own = { ...bare(), pass: 3 };
  assert.deepEqual(dropped(own, modeler(document())(own)), []);
});

test("invalid passes in documents are ignored", () => {
  for (const strange of [{}, { passes: 1 }, { passes: [1, null, []] }, { passes: [{}], pass: "x" }, { passes: [{ earlier: [{ place: 7 }], line: 1 }] }]) {
    const { pass: _, passes: __, calls: ___, ...rest } = json;
    const found = read(JSON.stringify({ ...rest, ...strange }));
    const model = modeler(found)({ ...bare(), pass: 1 });
    assert.equal(model.pass, null);
    assert.equal(model.graph, found.graph);
  }
});

test("the curve spans the plot and omits nonfinite numbers", () => {
  const points = places([8, NaN, 0, Infinity, 4]);
  assert.deepEqual(points.map(({ y }) => y), [5, NaN, 55, NaN, 30]);
  assert(points.every(({ x }, i) => i === 0 || x > points[i - 1].x));
  assert.deepEqual(places([3, 3]).map(({ y }) => y), [30, 30]);
  assert.deepEqual(places([1e308, -1e308]).map(({ y }) => y), [5, 55]);
});
