// Gradients as sums over paths, and the diagnosis of wrong answers; compared on random graphs with results computed here.

import assert from "node:assert/strict";
import { test } from "node:test";

import { diagnoses } from "../src/languages/languages.js";
import { evaluate, parse } from "../src/core/expression.js";
import { Graph, Value } from "../src/core/graph.js";
import { short } from "../src/core/numbers.js";
import { BY_NAME } from "../src/core/table.js";
import { diagnose, mistakeIn } from "../src/walk/diagnosis.js";
import { gradients } from "../src/walk/passes.js";
import { pathCounts, pathName, pathsFrom } from "../src/walk/paths.js";

const OPERATIONS = ["add", "mul", "sub", "mul", "add", "neg", "tanh", "relu", "maximum", "abs"];
const GRAPHS = 400;

/** @typedef {(sides: number) => number} Roll */

/** Return a die with reproducible rolls. @param {number} seed @returns {Roll} */
function dice(seed) {
  let state = (seed + 1) * 2654435761;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    return (state >>> 8) % sides;
  };
}

/** @param {string} name @param {...(Value | number)} operands @returns {Value} */
function apply(name, ...operands) {
  const row = BY_NAME.get(name);
  assert(row, name);
  return /** @type {Value} */ (Value.apply(row, operands));
}

/** Build a graph whose later nodes use earlier ones, often twice. @param {number} seed */
function random(seed) {
  const roll = dice(seed);
  const nodes = [0, 1, 2].map((i) => new Value([-3, -2, -1.5, 0.5, 1.25, 2, 3, 4][roll(8)], "abc"[i]));
  for (let i = 0; i < 3 + roll(6); i++) {
    const row = BY_NAME.get(OPERATIONS[roll(OPERATIONS.length)]);
    assert(row);
    const operands = Array.from({ length: row.arity }, () => nodes[nodes.length - 1 - roll(Math.min(nodes.length, 4))]);
    nodes.push(/** @type {Value} */ (Value.apply(row, operands)));
  }
  return Graph.record(nodes[nodes.length - 1]);
}

/** Compute the products of all paths by recursion from the root. @param {Graph} graph @param {number} to @returns {number[]} */
function products({ nodes, root }, to) {
  const below = (/** @type {number} */ at, /** @type {number} */ product) => {
    /** @type {number[]} */
    const found = at === to ? [product] : [];
    nodes[at].operands.forEach((place, i) => {
      if (place >= 0) found.push(...below(place, product * nodes[at].partials[i]));
    });
    return found;
  };
  return below(root, 1);
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((all, number) => all + number, 0);
}

/** @param {number} one @param {number} other @param {number} [scale] */
function near(one, other, scale = 1) {
  return Math.abs(one - other) <= 1e-9 * (Math.abs(one) + Math.abs(other) + scale);
}

test("a gradient is the sum of all path products", () => {
  for (let seed = 0; seed < GRAPHS; seed++) {
    const graph = random(seed);
    const [right, counts] = [gradients(graph), pathCounts(graph)];
    graph.nodes.forEach(({ place }) => {
      const paths = pathsFrom(graph, place, Infinity);
      const expected = products(graph, place);
      assert.equal(paths.length, expected.length);
      assert.equal(counts[place], expected.length);
      const sorted = (/** @type {number[]} */ numbers) => [...numbers].sort((one, other) => one - other);
      sorted(paths.map(({ product }) => product)).forEach((product, i) => assert(near(product, sorted(expected)[i])));
      const size = sum(expected.map(Math.abs));
      assert(near(sum(paths.map(({ product }) => product)), right[place], size), `${seed}: node ${place}`);
    });
  }
});

test("paths have names, edges, local derivatives and products", () => {
  const graph = evaluate(parse("d = a*b; e = a + b; f = d*e"), new Map([["a", -2], ["b", 3]]));
  const found = pathsFrom(graph, 0).map((path) => [pathName(graph, path), path.edges, path.locals, path.product]);
  const expected = [
    ["a → d → f", ["2:0", "4:0"], [3, 1], 3],
    ["a → e → f", ["3:0", "4:1"], [1, -6], -6],
  ];
  assert.deepEqual(found, expected);
  assert.deepEqual(pathsFrom(graph, 4), [{ places: [4], edges: [], locals: [], product: 1 }]);
  const twice = evaluate(parse("a*a"), new Map([["a", 3]]));
  assert.deepEqual(pathsFrom(twice, 0).map(({ edges }) => edges), [["1:0"], ["1:1"]]);
  assert.deepEqual(pathsFrom(evaluate(parse("where(a, b, 1)"), new Map([["a", 1], ["b", 2]])), 0), []);
});

test("at most 64 paths are listed, but all are counted", () => {
  let value = new Value(1, "a");
  for (let i = 0; i < 1500; i++) value = apply("add", value, value);
  const graph = Graph.record(value);
  assert.equal(pathsFrom(graph, 0).length, 64);
  assert.deepEqual([pathCounts(graph)[1490], pathCounts(graph)[0]], [1024, Infinity]);
});

test("unselected operands get zero gradient despite infinite derivatives", () => {
  const zero = new Value(0, "x");
  const graph = Graph.record(apply("where", new Value(0, "c"), apply("log", zero), 2));
  const place = graph.nodes.findIndex(({ name }) => name === "x");
  assert.deepEqual([pathsFrom(graph, place)[0].locals, pathsFrom(graph, place)[0].product, gradients(graph)[place]], [[Infinity, 0], 0, 0]);
});

/**
 * The gradient where one local derivative is another, by paths.
 * @param {Graph} graph @param {number} by @param {number} giver @param {readonly number[]} partials
 */
function planted(graph, by, giver, partials) {
  const nodes = graph.nodes.map((node) => (node.place === giver ? { ...node, partials } : node));
  return sum(products(new Graph(nodes, graph.root), by));
}

/** List common mistakes and the numbers that they give. @param {Graph} graph @param {number} by @returns {[string, number][]} */
function plantedIn(graph, by) {
  const paths = products(graph, by);
  const right = sum(paths);
  /** @type {[string, number][]} */
  const found = [["sign", -right], ["reciprocal", 1 / right], ["data", graph.nodes[by].data], ["data", graph.nodes[graph.root].data]];
  if (paths.length > 1 && paths.length <= 8) {
    paths.forEach((path) => found.push(["missing", right - path], ["missing", path]));
    found.push(["between", paths.reduce((all, path) => all * path, 1)]);
  }
  for (const { place, operands, partials, row } of graph.nodes) {
    const numbers = operands.map((operand) => graph.nodes[operand]?.data);
    if (row?.name === "mul") found.push(["swapped", planted(graph, by, place, numbers)]);
    if (row?.name === "add") found.push(["sum as product", planted(graph, by, place, [numbers[1], numbers[0]])]);
    if (row?.name === "sub") found.push(["one sign", planted(graph, by, place, [1, 1])]);
    operands.forEach((_, i) => found.push(["factor", planted(graph, by, place, partials.map((local, at) => (at === i ? 1 : local)))]));
  }
  return found;
}

test("mistakes are identified by their numbers", () => {
  /** @type {Map<string, number>} */
  const met = new Map();
  let told = 0;
  for (let seed = 0; seed < GRAPHS; seed++) {
    const graph = random(seed);
    const by = graph.nodes.find(({ operands, place }) => !operands.length && pathCounts(graph)[place])?.place ?? 0;
    const right = gradients(graph)[by];
    if (pathCounts(graph)[by] > 60 || graph.nodes.length < 2) continue;
    for (const [kind, answer] of plantedIn(graph, by)) {
      if (!Number.isFinite(answer) || Math.abs(answer) < 1e-9) continue; // skip rounding errors
      if (Math.abs(answer - right) <= 0.01 * Math.abs(right)) continue;
      const mistake = mistakeIn(graph, graph.root, by, answer);
      assert(mistake, `${seed}: ${kind} ${answer}`);
      if (mistake.kind !== kind) assert(Math.abs(mistake.value - answer) <= 0.0101 * Math.abs(answer), `${seed}: ${kind} taken for ${mistake.kind}`);
      assert.equal(diagnose(graph, graph.root, by, answer), mistake.told(short(answer)));
      told += 1;
      if (mistake.kind === kind) met.set(kind, (met.get(kind) ?? 0) + 1);
    }
  }
  assert(told > 2000, `${told}`);
  for (const kind of ["sign", "missing", "swapped", "sum as product", "one sign", "factor", "data", "reciprocal", "between"]) {
    assert((met.get(kind) ?? 0) > 10, `${kind}: ${met.get(kind)}`);
  }
});

test("overwriting is identified on graphs with many paths", () => {
  const graph = evaluate(parse("b = a + a; c = b + b; d = c + c; e = d + d; f = e*e"), new Map([["a", 3]]));
  const { kind, value } = mistakeIn(graph, graph.root, 0, 48) ?? {};
  assert.deepEqual([kind, value], ["overwritten", 48]);
});

test("messages for wrong answers", () => {
  const diamond = evaluate(parse("b = a + 1; c = a*3; d = b*c"), new Map([["a", 2]]));
  const at = (/** @type {number} */ answer) => diagnose(diamond, 3, 0, answer);
  assert.equal(at(9), "9 comes from a → c → d only. Missing: a → b → d (6). Add the contributions of all paths.");
  const six = "6 comes from a → b → d only. Missing: a → c → d (9). Add the contributions of all paths; with = instead of +=, only the last contribution is kept.";
  assert.equal(at(6), six);
  assert.equal(at(-15), "Not -15. Look at the sign.");
  assert.equal(at(2), "2 is the value of a. The question asks how fast the root changes.");
  assert.equal(at(18), "18 is the value of d. The question asks how fast the root changes.");
  assert.equal(at(54), "54 multiplies the paths together. Multiply along each path, then add the products.");
  assert.equal(at(123), diagnoses.general("123"));
  assert.equal(at(4), "4 adds up the local derivatives of all nodes that use a. First multiply each local derivative by the gradient of its node.");
  assert.equal(at(0), diagnoses.general("0"));
  const chain = evaluate(parse("e = a + b; f = e*c"), new Map([["a", 2], ["b", -3], ["c", 10]]));
  assert.equal(diagnose(chain, 4, 0, 1), "1 is only the local derivative ∂e/∂a. Multiply it by the gradient of e.");
  assert.match(diagnose(chain, 4, 0, -30), /^-30 treats e as a product/);
  assert.match(diagnose(chain, 4, 3, 10), /^10 uses an operand's own value at f/);
  assert.match(diagnose(chain, 2, 0, -1), /sign/); // another root: e
  const cube = evaluate(parse("a*a*a"), new Map([["a", 2]]));
  assert.match(diagnose(cube, cube.root, 0, 19), /^19 is the difference quotient/); // 27 - 8
  const deep = evaluate(parse("b = a + a; c = b*b"), new Map([["a", 3]]));
  assert.match(diagnose(deep, 2, 0, 6), /Missing: /);
  const difference = evaluate(parse("a*b - c"), new Map([["a", 2], ["b", 3], ["c", 5]]));
  assert.match(diagnose(difference, difference.root, 3, 1), /sign/);
});
