// Walks, the chain rule, nudges and modules. tests/explain/page/test_page_walk.py compares the page with Python.

import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAll, nudge } from "../src/walk/check.js";
import { Graph, Value } from "../src/core/graph.js";
import { itemOf, parts, pathTo, scene } from "../src/walk/modules/modules.js";
import { landings, Walk } from "../src/walk/steps.js";
import { BY_NAME } from "../src/core/table.js";
import { chainRule, edgeStory, stepSentence, wrongSentence } from "../src/walk/words.js";

/** @param {string} name @param {...(Value | number)} operands @returns {Value} */
function apply(name, ...operands) {
  const row = BY_NAME.get(name);
  assert(row);
  const value = Value.apply(row, operands);
  assert(value instanceof Value);
  return value;
}

/** @param {Value} value @param {string} label */
function labeled(value, label) {
  value.label = label;
  return value;
}

/** a=2; b=a+1, c=a*3, d=b*c: places 0, 1, 2, 3. */
function diamond() {
  const a = new Value(2, "a");
  const [b, c] = [labeled(apply("add", a, 1), "b"), labeled(apply("mul", a, 3), "c")];
  return Graph.record(labeled(apply("mul", b, c), "d"));
}

/**
 * Build a chain of `length` operations whose parameters have the labels `label(i)`.
 * @param {number} length @param {(i: number) => string} label
 */
function chain(length, label) {
  let value = new Value(0.5, "x");
  for (let i = 0; i < length; i++) value = apply(i % 2 ? "add" : "mul", value, new Value(0.99, label(i)));
  const { nodes, root } = Graph.record(value);
  const pathOf = (/** @type {number} */ place) => nodes[place].label.split(".").slice(0, -1);
  const paths = nodes.map(({ place, operands }) => pathOf(operands.at(-1) ?? place));
  const none = { kind: "", count: 0, numbers: new Int32Array(nodes.length).fill(-1), names: [], boxes: new Int32Array(nodes.length), picture: "" };
  return new Graph(nodes, root, { ...none, paths, modules: Int32Array.from(nodes.keys()) });
}

const MODULAR = [
  diamond(),
  chain(45, () => ""),
  chain(600, () => ""),
  chain(2000, () => ""),
  chain(1000, (i) => `layers.${i % 40}.neurons.${i % 7}.w.${i}`),
  chain(300, (i) => (i % 3 ? "" : `${i}.w`)),
  chain(300, (i) => `${"deep.".repeat(5000)}${i}.w`),
  chain(300, (i) => `:.part 0+1.${i % 2}.__proto__.w`),
];

test("a walk has order, gradients and lost contributions", () => {
  const graph = diamond();
  assert.deepEqual(new Walk(graph).order, [3, 2, 1, 0]);
  assert.deepEqual(new Walk(graph).gradients, [15, 6, 3, 1]);
  const wrong = new Walk(graph, [1, 3, 2, 0]);
  assert.deepEqual([wrong.isLegal, wrong.legalOrders, wrong.gradients[0], wrong.right[0]], [false, 2n, 9, 15]);
  assert.match(wrongSentence(wrong, wrong.wrong[0]), /d's contribution 6 to b came too late: d was visited after b\./);
});

test("the count of valid orders agrees with enumeration", () => {
  const graph = chain(3, () => "");
  const places = graph.nodes.map(({ place }) => place);
  const legal = permutations(places).filter((order) => new Walk(graph, order).isLegal).length;
  assert.equal(new Walk(graph).legalOrders, BigInt(legal));
});

test("counting orders gives up on 64 independent nodes", () => {
  let sum = new Value(0, "");
  for (let i = 0; i < 32; i++) sum = apply("add", sum, new Value(i, ""));
  const graph = Graph.record(sum);
  assert(graph.nodes.length > 64);
  assert.equal(new Walk(graph).legalOrders, null);
  assert.equal(new Walk(chain(31, () => "")).legalOrders, null);
});

test("moments lead from unknown values to all gradients", () => {
  const walk = new Walk(diamond(), [1, 3, 2, 0]);
  const phases = walk.steps.map((_, i) => walk.moment(i).phase);
  const backward = ["backward", "backward", "backward"];
  assert.deepEqual(phases, ["start", "forward", "forward", "forward", "forward", "seed", ...backward]);
  const [start, end] = [walk.moment(0), walk.moment(9)];
  assert.deepEqual([start.known, start.gradients, start.active], [Array(4).fill(false), Array(4).fill(null), null]);
  assert.deepEqual([end.phase, end.gradients, end.visited], ["end", [9, 0, 3, 1], Array(4).fill(true)]);
  assert.deepEqual([...end.lost], ["3:0"]);
});

test("the seed is a step of its own", () => {
  const walk = new Walk(diamond(), [1, 3, 2, 0]);
  const [before, after] = [walk.moment(walk.seeded - 1), walk.moment(walk.seeded)];
  assert.deepEqual(before.gradients, Array(4).fill(null));
  assert.deepEqual([after.gradients, after.visited], [[null, null, null, 1], Array(4).fill(false)]);
  assert.deepEqual([after.phase, after.active, after.known], ["seed", 3, Array(4).fill(true)]);
  const sentence = "dd/dd = 1: the root's gradient with respect to itself is 1. That is the seed of the backward pass.";
  assert.equal(stepSentence(walk, walk.steps[walk.seeded - 1]), sentence);
});

test("contributions of a step arrive one by one", () => {
  for (const overwrite of [false, true]) {
    const x = new Value(3, "x");
    const walk = new Walk(Graph.record(apply("mul", x, x)), undefined, overwrite);
    walk.steps.forEach((step, i) => assert.deepEqual(walk.moment(i + 1, landings(step)), walk.moment(i + 1)));
    const found = [0, 1, 2].map((landed) => walk.moment(walk.seeded + 1, landed));
    assert.deepEqual(found.map(({ gradients }) => gradients[0]), [null, 3, overwrite ? 3 : 6]);
    assert.deepEqual(found.map(({ contributions }) => [...contributions].length), [0, 1, 2]);
    assert.deepEqual(found.map(({ lost }) => lost.size), [0, 0, overwrite ? 1 : 0]);
    assert.deepEqual([walk.moment(1, 0).known, walk.moment(walk.seeded, 0).gradients], [[false, false], [null, null]]);
    const last = walk.steps.length;
    assert.deepEqual([walk.moment(last).phase, walk.moment(last, 0).phase], ["end", "end"]); // a leaf has no operands
  }
});

test("finding a moment takes little time", () => {
  const walk = new Walk(chain(50, () => ""));
  const moments = walk.steps.map((_, i) => walk.moment(i));
  const start = performance.now();
  for (let round = 0; round < 10; round++) walk.steps.forEach((_, i) => walk.moment(i));
  assert(performance.now() - start < moments.length * 10);
});

test("the chain rule has a term for every user", () => {
  const walk = new Walk(diamond());
  const early = chainRule(walk, 0, walk.moment(4));
  assert.equal(early.symbolic, "dd/da = dd/dc · ∂c/∂a + dd/db · ∂b/∂a");
  assert.deepEqual([early.total, early.right], [null, 15]);
  assert.deepEqual(early.terms.map((term) => [term.upstream, term.amount, term.status]), [
    [null, null, "waiting"],
    [null, null, "waiting"],
  ]);
  const late = chainRule(walk, 0, walk.moment(9));
  assert.deepEqual(late.terms.map(({ local, upstream, amount }) => [local, upstream, amount]), [
    [3, 3, 9],
    [1, 6, 6],
  ]);
  assert.equal(late.total, 15);
  assert.equal(chainRule(walk, 3, walk.moment(9)).symbolic, "dd/dd = 1");
});

test("edges report local derivative and contribution status", () => {
  const x = new Value(2, "x");
  const graph = Graph.record(labeled(apply("div", 1, labeled(apply("mul", x, x), "x*x")), "out"));
  const walk = new Walk(graph);
  const story = edgeStory(walk, "2:1", walk.moment(walk.steps.length));
  assert.equal(story.symbolic, "dout/dout · ∂out/∂(x*x)");
  assert.deepEqual([story.formula, story.written, story.local], ["-out / y", "-out / (x*x)", -1 / 16]);
  assert.deepEqual([story.status, story.because], ["arrived", ""]);
  const wrong = new Walk(diamond(), [1, 3, 2, 0]);
  const lost = edgeStory(wrong, "3:0", wrong.moment(9));
  assert.deepEqual([lost.status, lost.because], ["late", "d was visited after b"]);
  const overwritten = new Walk(diamond(), undefined, true);
  assert.equal(edgeStory(overwritten, "2:0", overwritten.moment(9)).because, "b's 6 was written over it");
  const chosen = new Walk(Graph.record(apply("where", x, new Value(1, "y"), 2)));
  assert.equal(edgeStory(chosen, "2:0", chosen.moment(0)).status, "inert");
});

test("a nudge reports both sides and a verdict", () => {
  const graph = diamond();
  const nudged = nudge(graph, 0, 0.5, "central");
  assert.deepEqual([nudged.base, nudged.up, nudged.down], [18, 26.25, 11.25]);
  assert.deepEqual([nudged.left, nudged.right, nudged.quotient, nudged.backprop], [13.5, 16.5, 15, 15]);
  assert.equal(nudged.verdict, "agrees");
  const forward = nudge(graph, 0, 0.5, "forward");
  assert.deepEqual([forward.quotient, forward.down, forward.verdict], [16.5, null, "coarse"]);
  assert.equal(nudge(graph, 0, 1e-3, "forward").verdict, "agrees");
  for (const h of [1e-15, 1e-17, 1e300, 5e-324]) assert.notEqual(nudge(graph, 0, h, "central").verdict, "differs");
  assert.equal(nudge(graph, 0, 1e-17, "forward").verdict, "rounding");
});

test("verdicts for kinks, jumps, wrong derivatives and others", () => {
  const verdict = (/** @type {Graph} */ graph, place = 0) => nudge(graph, place, 1e-3, "central").verdict;
  const zero = new Value(0, "x");
  assert.equal(verdict(Graph.record(apply("relu", zero))), "kink");
  assert.equal(verdict(Graph.record(apply("add", apply("less", zero, 0), zero))), "jump");
  assert.equal(verdict(Graph.record(apply("mul", apply("stop_gradient", new Value(2, "")), 3)), 1), "agrees");
  const x = new Value(2, "");
  assert.equal(verdict(Graph.record(apply("mul", apply("stop_gradient", x), x))), "stopped");
  assert.equal(verdict(Graph.record(apply("log", zero))), "not finite");
  const { nodes, root } = diamond();
  const changed = (/** @type {Partial<import("../src/types.js").Node>} */ change) => {
    return new Graph([...nodes.slice(0, root), { ...nodes[root], ...change }], root);
  };
  assert.equal(verdict(changed({ partials: [6 * 1.0001, 3] })), "differs");
  assert.equal(verdict(changed({ data: 19 })), "stale");
  const byHand = nudge(changed({ row: null, operation: "", byHand: true }), 0, 1e-3, "central");
  assert.deepEqual([byHand.verdict, byHand.base, byHand.up, byHand.quotient], ["by hand", 18, NaN, NaN]);
  assert.equal(verdict(changed({ row: null, operation: "" })), "stored");
});

test("a check has a row for every gradient", () => {
  const rows = checkAll(diamond(), "central");
  assert.deepEqual(rows.map(({ place, verdict }) => [place, verdict]), [0, 1, 2, 3].map((place) => [place, "agrees"]));
  assert(rows.every(({ error }) => error < 1e-9));
  assert.deepEqual(checkAll(diamond(), "forward", [2]).map(({ place, down }) => [place, down]), [[2, null]]);
});

test("small graphs are shown completely", () => {
  const graph = diamond();
  const whole = parts(graph);
  assert.deepEqual(whole.children, [0, 1, 2, 3]);
  const { items, edges } = scene(graph, whole, whole.key);
  assert.equal(items.length, 4);
  assert.deepEqual(
    edges.map(({ operand, count }) => [operand, count]),
    ["1:0", "2:0", "3:0", "3:1"].map((edge) => [edge, 1]),
  );
});

test("parts have few boxes and contain each node once", () => {
  for (const graph of MODULAR) {
    const whole = parts(graph);
    const keys = new Set();
    for (const part of all(whole)) {
      const held = part.children.flatMap((child) => (typeof child === "number" ? [child] : child.places));
      assert.deepEqual(held.sort((one, other) => one - other), part.places);
      assert(part.children.length > 1);
      assert(part.children.length <= (graph.nodes.length <= 60 ? 60 : 24), part.name);
      assert(!keys.has(part.key));
      keys.add(part.key);
      assert.equal(pathTo(whole, part.key).at(-1), part);
    }
    assert.equal(whole.places.length, graph.nodes.length);
    assert.deepEqual(pathTo(whole, "no such part"), []);
  }
});

test("a scene has all boxes and lines", () => {
  for (const graph of MODULAR) {
    const whole = parts(graph);
    const some = all(whole).filter((_, i) => i % 17 === 0 || i < 3);
    for (const part of some) {
      const shown = scene(graph, whole, part.key);
      assert(shown.items.length <= 120, `${shown.items.length} boxes`);
      const boxes = graph.nodes.map(({ place }) => itemOf(shown, place));
      const expected = graph.nodes.flatMap(({ place, operands }) => {
        const lines = operands.map((operand, i) => `${boxes[operand]} > ${boxes[place]} ${place}:${i}`);
        return lines.filter((_, i) => operands[i] >= 0 && boxes[operands[i]] !== boxes[place] && boxes[operands[i]] && boxes[place]);
      });
      const drawn = shown.edges.flatMap(({ from, to, givers, positions }) => givers.map((giver, i) => `${from} > ${to} ${giver}:${positions[i]}`));
      assert.deepEqual(drawn.sort(), expected.sort());
      const inside = new Set(part.places);
      for (const { place, operands } of graph.nodes) {
        const isConnected = [place, ...operands].some((one) => inside.has(one));
        if (isConnected) assert([place, ...operands].every((one) => one < 0 || boxes[one] || (!inside.has(place) && !inside.has(one))));
      }
      for (const { count, operand, givers, positions } of shown.edges) {
        assert.equal(count, givers.length);
        assert.equal(operand, count === 1 ? `${givers[0]}:${positions[0]}` : null);
      }
    }
  }
});

test("modules are named after their parameters", () => {
  const names = all(parts(MODULAR[4])).map(({ name }) => name);
  assert(names.includes("layers[39].neurons[4]") || names.includes("layers[39]"));
});

test("deep and large graphs", () => {
  const graph = chain(20_000, () => "");
  const walk = new Walk(graph);
  assert.equal(walk.moment(walk.steps.length).phase, "end");
  assert(walk.isLegal && !walk.wrong.length);
  const whole = parts(graph);
  assert(scene(graph, whole, whole.key).items.length <= 24);
  assert.match(stepSentence(walk, walk.steps[walk.steps.length - 1]), /x is a leaf/);
  assert.equal(nudge(graph, graph.root - 1, 1e-4, "central").verdict, "agrees");
});

/** List a part and all parts in it. @param {import("../src/types.js").Part} whole @returns {import("../src/types.js").Part[]} */
function all(whole) {
  return [whole, ...whole.children.flatMap((child) => (typeof child === "number" ? [] : all(child)))];
}

/** @param {readonly number[]} places @returns {number[][]} */
function permutations(places) {
  if (!places.length) return [[]];
  return places.flatMap((first) => {
    const rest = places.filter((place) => place !== first);
    return permutations(rest).map((order) => [first, ...order]);
  });
}
