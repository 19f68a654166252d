// Training: descent compared with a tiny autodiff engine and with difference quotients; batches, points and links.

import assert from "node:assert/strict";
import { test } from "node:test";

import { evaluate, parse } from "../src/core/expression.js";
import { Graph } from "../src/core/graph.js";
import { Batch, isRunnable } from "../src/learn/batch.js";
import { contour } from "../src/learn/contour.js";
import { descend, descended, isLoss, leavesOf, onTop, usualParameters } from "../src/learn/descent.js";
import { layersOf } from "../src/learn/flow.js";
import { ACTIVATIONS, chain, designOf, HIDDEN, LOSSES, network, outputOf } from "../src/learn/network.js";
import { columnsOf, KINDS, made, MOST, needsScaling, PointsError, read, scaled, uniform } from "../src/learn/points.js";
import { modeler } from "../src/model/model.js";
import { unframed } from "../src/model/framing.js";
import { bare, decoded, encoded, stateOf } from "../src/model/state.js";
import { PRESETS, presetOf } from "../src/model/presets.js";
import { gradients, Walk } from "../src/walk/steps.js";

/** @param {string} text @param {Record<string, number>} values */
const graphOf = (text, values) => evaluate(parse(text), new Map(Object.entries(values)));

/** @param {number} one @param {number} other @param {number} [tolerance] relative */
const isNear = (one, other, tolerance = 1e-9) => Math.abs(one - other) <= tolerance * Math.max(1, Math.abs(one), Math.abs(other));

// A tiny engine independent of the page's: data, gradient, and a backward function.
class Tiny {
  grad = 0;
  /** @param {number} data @param {Tiny[]} operands @param {(grad: number) => number[]} back */
  constructor(data, operands = [], back = () => []) {
    this.data = data;
    this.operands = operands;
    this.back = back;
  }

  /** @param {Tiny} other */
  plus = (other) => new Tiny(this.data + other.data, [this, other], (grad) => [grad, grad]);
  /** @param {Tiny} other */
  minus = (other) => new Tiny(this.data - other.data, [this, other], (grad) => [grad, -grad]);
  /** @param {Tiny} other */
  times = (other) => new Tiny(this.data * other.data, [this, other], (grad) => [grad * other.data, grad * this.data]);
  squared = () => new Tiny(this.data ** 2, [this], (grad) => [grad * 2 * this.data]);
  tanh() {
    const out = Math.tanh(this.data);
    return new Tiny(out, [this], (grad) => [grad * (1 - out * out)]);
  }

  backward() {
    /** @type {Tiny[]} */
    const order = [];
    const visit = (/** @type {Tiny} */ value) => {
      if (order.includes(value)) return;
      value.operands.forEach(visit);
      order.push(value);
    };
    visit(this);
    this.grad = 1;
    for (const value of order.reverse()) value.back(value.grad).forEach((amount, i) => (value.operands[i].grad += amount));
  }
}

const NETWORK = "h1 = tanh(w11*x1 + w12*x2 + b1); h2 = tanh(w21*x1 + w22*x2 + b2); o = v1*h1 + v2*h2 + c; L = (o - y)**2";
const START = { x1: 1, x2: -0.5, y: 1, w11: 0.8, w12: -0.4, b1: 0.1, w21: -0.6, w22: 0.9, b2: 0.2, v1: 1.2, v2: -0.7, c: 0.05 };

/** The network in the tiny engine. @param {Record<string, Tiny>} p */
function tinyNetwork({ x1, x2, y, w11, w12, b1, w21, w22, b2, v1, v2, c }) {
  const h1 = w11.times(x1).plus(w12.times(x2)).plus(b1).tanh();
  const h2 = w21.times(x1).plus(w22.times(x2)).plus(b2).tanh();
  return v1.times(h1).plus(v2.times(h2)).plus(c).minus(y).squared();
}

for (const isZeroed of [true, false]) {
  test(`descent agrees with a loop ${isZeroed ? "with" : "without"} zero_grad`, () => {
    const leaves = Object.fromEntries(Object.entries(START).map(([name, number]) => [name, new Tiny(number)]));
    const parameters = ["w11", "w12", "b1", "w21", "w22", "b2", "v1", "v2", "c"];
    let graph = graphOf(NETWORK, START);
    /** @type {ReadonlyMap<string, number>} */
    let stored = new Map();
    for (let step = 0; step < 40; step += 1) {
      if (isZeroed) for (const leaf of Object.values(leaves)) leaf.grad = 0;
      const loss = tinyNetwork(leaves);
      loss.backward();
      const found = descend(graph, { parameters, rate: 0.05, isZeroed, stored });
      assert(isNear(found.loss, loss.data), `step ${step}: ${found.loss} and ${loss.data}`);
      for (const [name, { grad }] of Object.entries(leaves)) assert(isNear(Number(found.gradients.get(name)), grad), `step ${step}, ${name}`);
      for (const name of parameters) leaves[name].data -= 0.05 * leaves[name].grad;
      for (const [name, value] of found.values) assert(isNear(value, leaves[name].data), `step ${step}, ${name}`);
      assert.deepEqual([...found.values.keys()].sort(), [...parameters].sort());
      graph = descended(graph, found);
      stored = found.gradients;
    }
  });
}

test("steps report stored and new gradients and updates", () => {
  const graph = graphOf("L = (w*x - y)**2", { w: 0.5, x: 2, y: 3 });
  const { moves, loss } = descend(graph, { parameters: ["w"], rate: 0.25, isZeroed: false, stored: new Map([["w", 1], ["x", 0.5]]) });
  assert.equal(loss, 4);
  assert.deepEqual(moves.find(({ name }) => name === "w"), { name: "w", isParameter: true, before: 0.5, stored: 1, fresh: -8, gradient: -7, after: 2.25 });
  assert.deepEqual(moves.find(({ name }) => name === "x"), { name: "x", isParameter: false, before: 2, stored: 0.5, fresh: -2, gradient: -1.5, after: 2 });
});

test("default parameters exclude data and constants", () => {
  const of = (/** @type {string} */ text, values = {}) => {
    const { names } = parse(text);
    return usualParameters(graphOf(text, Object.fromEntries(names.map((name) => [name, 1 / 3]).concat(Object.entries(values)))));
  };
  assert.deepEqual(of("(w*x1 + b - y)**2"), ["w", "x1", "b", "y"].filter((name) => "wb".includes(name)));
  assert.deepEqual(of("x*y"), ["x", "y"]);
  assert.deepEqual(of("pi*r*x_2", { pi: Math.PI }), ["r"]);
  assert.deepEqual(of("xw*yb"), ["xw", "yb"]);
  for (const name of ["L", "loss", "L2", "J", "mse"]) assert(isLoss(name), name);
  for (const name of ["f", "o", "Lx", "out"]) assert(!isLoss(name), name);
});

test("batch gradients are means over the points", () => {
  const points = [...made("xor", 3).slice(0, 12), { x1: 0, x2: 0.5, y: 1 }]; // log(0) is not selected, and its derivative is infinite
  const programs = HIDDEN.slice(0, 7).flatMap((hidden) => ACTIVATIONS.flatMap((activation) => LOSSES.map((loss) => network({ hidden, activation, loss }, 5))));
  const edge = { program: "L = maximum(log(w*abs(x1)), v*x2) + relu(v*y)", values: new Map([["w", 0.5], ["v", 0.3]]) };
  for (const { program, values } of [...programs, edge]) {
    const graph = evaluate(parse(program), new Map([...values, ...Object.entries(points[0])]));
    const { loss, gradients: mean } = new Batch(graph, columnsOf(points), points.length).pass(graph);
    const single = points.map((point) => graph.withData(new Map(leavesOf(graph).flatMap(({ name, place }) => (name in point ? [[place, point[/** @type {"x1"} */ (name)]]] : [])))));
    const found = single.map((one) => gradients(one));
    assert(isNear(loss, single.reduce((total, { nodes, root }) => total + nodes[root].data, 0) / points.length));
    for (const { name, place } of leavesOf(graph)) {
      const expected = ["x1", "x2", "y"].includes(name) ? 0 : found.reduce((total, one) => total + one[place], 0) / points.length;
      assert(Object.is(mean[place], expected) || isNear(mean[place], expected), `${program}: ${name} ${mean[place]} ${expected}`);
    }
  }
});

test("batch gradients agree with difference quotients", () => {
  const points = made("moons", 2);
  for (const { program, values } of [network({ hidden: [4], activation: "tanh", loss: "square" }, 1), network({ hidden: [3, 3], activation: "sigmoid", loss: "square" }, 2)]) {
    const graph = evaluate(parse(program), new Map([...values, ...Object.entries(points[0])]));
    const batch = new Batch(graph, columnsOf(points), points.length);
    const { gradients: found } = batch.pass(graph);
    for (const { name, place, data } of leavesOf(graph)) {
      if (!values.has(name)) continue;
      const [up, down] = [1e-5, -1e-5].map((h) => batch.pass(graph.withData(new Map([[place, data + h]]))).loss);
      assert(isNear(found[place], (up - down) / 2e-5, 1e-7), `${name}: ${found[place]}`);
    }
  }
});

test("every kind of points can be learned", () => {
  for (const kind of KINDS) {
    const points = made(kind, 1);
    const { program, values } = network({ hidden: [6], activation: "tanh", loss: "square" }, 1);
    let graph = evaluate(parse(program), new Map([...values, ...Object.entries(points[0])]));
    const batch = new Batch(graph, columnsOf(points), points.length);
    const parameters = usualParameters(graph);
    assert.deepEqual(new Set(parameters), new Set(values.keys()));
    for (let step = 0; step < 400; step += 1) graph = descended(graph, descend(graph, { parameters, rate: 1, points: batch }));
    batch.forward(graph);
    const outputs = batch.column(outputOf(graph));
    assert(points.filter(({ y }, i) => outputs[i] * y > 0).length > 95, kind);
  }
});

test("generated points are reproducible, balanced and bounded", () => {
  for (const kind of KINDS) {
    const [one, again, other] = [made(kind, 7), made(kind, 7), made(kind, 8)];
    assert.deepEqual(one, again);
    assert.notDeepEqual(one, other);
    assert.equal(one.length, 100);
    assert.equal(one.filter(({ y }) => y === 1).length, 50);
    assert(one.every(({ x1, x2, y }) => Math.abs(x1) < 3 && Math.abs(x2) < 3 && Math.abs(y) === 1));
  }
  const draw = uniform(1); // reference values of mulberry32 with seed 1
  assert.deepEqual([draw(), draw()].map((number) => number.toFixed(9)), ["0.627073941", "0.002735721"]);
});

test("points can be read in every common format", () => {
  const expected = [{ x1: 0.5, x2: -1, y: 1 }, { x1: 2, x2: 3, y: -1 }];
  for (const text of ["0.5,-1,1\n2,3,-1", "x1,x2,y\n0.5,-1,1\n2,3,0\n", "0.5;-1;1\r\n2;3;-1", "0,5;-1;1\n2;3;0", "a\tb\tc\n0.5\t-1\t1\n\n2\t3\t-1", '"y","x2","x1"\n1,-1,0.5\n-1,3,2', "\ufeffid,X1,X2,Y\n7,.5,-1,1\n8,2,3,-1", " 0.5 , \u22121 , 1 \n 2,3,-1.0"]) {
    assert.deepEqual(read(text), expected, text);
  }
});

test("errors in points state line, value and expectation", () => {
  for (const [text, message] of [
    ["", "There are no points in the text: write lines such as 0.5,-1.2,1."],
    ["x1,x2,y\n", "There are no points in the text: write lines such as 0.5,-1.2,1."],
    ["1,2", "Line 1 has 2 values, but 3 were expected: x1, x2, y."],
    ["1,2,1\n\n3,4", "Line 3 has 2 values, but 3 were expected: x1, x2, y."],
    ["1,2,1\n3,four,1", "Line 2: x2 is “four”, but a number was expected, such as -0.5."],
    ["1,2,1\n3,inf,1", "Line 2: x2 is “inf”, but a number was expected, such as -0.5."],
    ["x1,x2,y\n1,2,3", "Line 2: y is “3”, but 1 or -1 was expected, or 1 or 0."],
    ["1,2,1\n1,2,0\n1,2,-1", "The column y has 1, 0 and -1, but two classes were expected: 1 and -1, or 1 and 0."],
    ["a,b,c,d\n1,2,3,4", "The header has “a”, “b”, “c”, “d”, but x1, x2 and y were expected."],
    ["1,2,1\n".repeat(MOST + 1), "There are 2,001 points, but at most 2,000 are allowed."],
    ["1,1,1\n" + "a,1,1\n".repeat(6), `${[2, 3, 4, 5].map((line) => `Line ${line}: x1 is “a”, but a number was expected, such as -0.5.\n`).join("")}And 2 more lines with problems.`],
  ]) {
    assert.throws(() => read(text), (error) => error instanceof PointsError && (assert.equal(error.message, message), true), text);
  }
});

test("scaled points have mean 0 and deviation 1", () => {
  const draw = uniform(4);
  const points = Array.from({ length: 200 }, (_, i) => ({ x1: 500 + 90 * draw(), x2: -3 * draw(), y: i % 2 ? 1 : -1 }));
  assert(needsScaling(points));
  const made = scaled(points);
  assert(!needsScaling(made));
  for (const name of /** @type {const} */ (["x1", "x2"])) {
    const numbers = made.map((point) => point[name]);
    const mean = numbers.reduce((total, number) => total + number, 0) / 200;
    assert(Math.abs(mean) < 1e-3);
    assert(Math.abs(numbers.reduce((total, number) => total + (number - mean) ** 2, 0) / 200 - 1) < 1e-2);
  }
});

test("every network design is recognized from its program", () => {
  for (const hidden of HIDDEN) {
    for (const activation of ACTIVATIONS) {
      for (const loss of LOSSES) {
        const { program, values } = network({ hidden, activation, loss }, 9);
        assert.deepEqual(designOf(program), { hidden, activation: hidden.length ? activation : ACTIVATIONS[0], loss });
        assert.deepEqual(new Set(parse(program).names), new Set([...values.keys(), "x1", "x2", "y"]));
      }
    }
  }
  assert.equal(designOf("x1*x2"), null);
});

test("the output is the last node independent of the class", () => {
  const names = [NETWORK, "L = relu(1 - y*(a*x1 + b*x2))", "z = y*y; L = (x1*w - y)**2 + x2*z"].map((program) => {
    const graph = graphOf(program, Object.fromEntries(parse(program).names.map((name) => [name, 1])));
    return graph.nodes[outputOf(graph)].name;
  });
  assert.deepEqual(names, ["o", "a*x1 + b*x2", "x1*w"]);
  assert.equal(outputOf(graphOf("a*b", { a: 1, b: 2 })), -1);
});

test("gradients vanish layer by layer along a steep chain", () => {
  const { program, values } = chain(6);
  const graph = evaluate(parse(program), values);
  const found = gradients(graph);
  const layers = layersOf(graph, new Map(usualParameters(graph).map((name) => [name, found[graph.nodes.findIndex((node) => node.name === name)]])));
  assert.deepEqual(layers.map(({ behind, names }) => [behind, names]), [6, 5, 4, 3, 2, 1].map((i) => [7 - i, [`w${i}`]]));
  layers.slice(1).forEach(({ size }, i) => assert(size < 0.5 * layers[i].size));
  assert(layers.every(({ local }) => local !== null && local < 0.2));
  const first = layers[0];
  const h6 = graph.nodes.find(({ name }) => name === "h6");
  assert(h6 && first.local === h6.partials[0]);
});

test("contour lines separate positive and negative grid values", () => {
  const width = 21;
  const at = (/** @type {number} */ i) => i / 10 - 1;
  const circle = Array.from({ length: width * width }, (_, i) => at(i % width) ** 2 + at(Math.floor(i / width)) ** 2 - 0.5);
  const pieces = contour(circle, width);
  assert(pieces.length > 30);
  for (const [x, y] of pieces.flat()) assert(Math.abs(Math.hypot(at(x), at(y)) - Math.SQRT1_2) < 0.01);
  assert.deepEqual(contour([1, 1, 1, 1], 2), []);
  assert.deepEqual(contour([1, -1, -1, 1], 2).length, 2);
});

test("stored gradients are added to those of each moment", () => {
  const walk = new Walk(graphOf("a*a", { a: 3 }));
  const stored = new Map([[0, 10]]);
  const seen = [0, 1, 2, 3, 4].map((position) => onTop(walk.moment(position), stored).gradients[0]);
  assert.deepEqual(seen, [10, 10, 10, 10, 16]); // two values, the seed, two visits
  const moment = walk.moment(2);
  assert.equal(onTop(moment, new Map()), moment);
});

test("stored gradients appear only in training", () => {
  const start = { ...stateOf(/** @type {import("../src/model/presets.js").Preset} */ (presetOf("square"))), mode: /** @type {const} */ ("train"), position: Infinity };
  const training = { ...start.training, isZeroed: false, stored: new Map([["a", 4], ["nobody", 1]]), learned: ["a", "nobody"] };
  const model = modeler(null)({ ...start, training });
  assert.equal(model.moment.gradients[0], 10);
  assert.deepEqual([...model.state.training.stored.keys(), ...(model.state.training.learned ?? [])], ["a", "a"]);
  assert.equal(modeler(null)({ ...start, training, mode: "walk" }).moment.gradients[0], 6);
  assert.equal(modeler(null)({ ...start, training: { ...training, isZeroed: true } }).moment.gradients[0], 6);
});

test("points are dropped for graphs that cannot use them", () => {
  const { program, values } = network({ hidden: [2], activation: "tanh", loss: "square" }, 1);
  const training = { ...bare().training, data: /** @type {const} */ ("moons") };
  const at = { ...bare(), program, values: new Map([...values, ["x1", 1], ["x2", 1], ["y", 1]]), training };
  assert.equal(modeler(null)(at).state.training.data, "moons");
  assert.equal(modeler(null)({ ...at, program: "a*b", values: new Map() }).state.training.data, "");
  // A comparison is evaluated once, for a single point.
  assert.equal(modeler(null)({ ...at, program: "(x1 > 0)*w*x2 - y", values: new Map() }).state.training.data, "");
});

test("only graphs of known operations run on points", () => {
  const leaf = { data: 1, grad: 0, label: "x1" };
  const byHand = { symbol: "f", operands: [0], partials: [1], data: 1, grad: 1, by_hand: true };
  assert(!isRunnable(Graph.fromDocument({ gradwalk: "graph", version: 1, outputs: [1], nodes: [leaf, byHand] })));
  for (const { program, values } of PRESETS) assert(isRunnable(graphOf(program, values)));
});

test("links carry the training state", () => {
  const own = [{ x1: 0.5, x2: -1.25, y: 1 }, { x1: 1e-9, x2: 3, y: -1 }];
  const training = { rate: 0.03, learned: ["b", "w,1"], isZeroed: false, stored: new Map([["w,1", 2.5], ["b", NaN]]), data: /** @type {const} */ ("own"), seed: 12, own };
  const fragment = encoded({ ...bare(), program: "a", training });
  assert.match(fragment, /^[\w.~!*'()+%&=-]*$/);
  assert.deepEqual(decoded(fragment, stateOf(PRESETS[0])), { state: { ...bare(), program: "a", training }, framing: unframed(), problems: [] });
  const many = Array.from({ length: 201 }, () => own[0]);
  assert(!encoded({ ...bare(), training: { ...training, own: many } }).includes("points"));
  const senseless = "rate=-1&learn={}&zero=on&grads=[[1,2]]&data=stars&seed=x&points=1_2_3";
  const { state, problems } = decoded(senseless, bare());
  assert.deepEqual(state, bare());
  assert.equal(problems.length, 7);
});
