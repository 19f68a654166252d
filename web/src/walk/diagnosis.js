// Diagnoses a wrong answer to "what is d root / d node?": finds the mistake that gives this number.

import { diagnoses as say } from "../languages/languages.js";
import { Graph } from "../core/graph.js";
import { said } from "../core/names.js";
import { short } from "../core/numbers.js";
import { nudge } from "./check.js";
import { BackwardPass, gradients, swept, Users } from "./passes.js";
import { pathName, pathsFrom } from "./paths.js";

/** @typedef {import("../types.js").Path} Path */
/** @typedef {import("../types.js").Node} Node */

/**
 * A mistake, the number it gives, and the feedback for that answer.
 * @typedef {object} Mistake
 * @property {"sign" | "missing" | "overwritten" | "swapped" | "sum as product" | "one sign" | "factor" | "upstream" | "along"
 *   | "between" | "data" | "reciprocal" | "quotient"} kind
 * @property {number} value
 * @property {(answer: string) => string} told
 */

const TOLERANCE = 0.01; // relative, as for right answers, because answers are worked out by hand
const MOST_PATHS = 10; // maximum number of paths; all their subsets are tried
const MOST_NODES = 100; // maximum number of nodes on the paths; mistakes are tried at each of them
const STEPS = [1, 0.5, 0.1, 0.01]; // steps of difference quotients that a person would use

/**
 * Return the feedback for a wrong answer: for the mistake that gives it, or else a general hint.
 * @param {Graph} graph @param {number} root @param {number} by @param {number} answer
 */
export function diagnose(graph, root, by, answer) {
  return mistakeIn(graph, root, by, answer)?.told(short(answer)) ?? say.general(short(answer));
}

/**
 * Return the first mistake that gives a number, trying simple mistakes first; null if none does.
 * @param {Graph} graph @param {number} root @param {number} by @param {number} answer @returns {Mistake | null}
 */
export function mistakeIn(graph, root, by, answer) {
  const part = root === graph.root ? graph : new Graph(graph.nodes.slice(0, root + 1), root);
  for (const mistake of mistakes(new Question(part, by))) {
    const isGuess = answer === 0 && mistake.kind !== "missing"; // many mistakes give 0, and so does a guess
    if (!isGuess && isClose(answer, mistake.value)) return mistake;
  }
  return null;
}

/** A question, with the gradients and paths to check answers against. */
class Question {
  /** @param {Graph} graph @param {number} by */
  constructor(graph, by) {
    this.graph = graph;
    this.by = by;
    this.users = new Users(graph);
    this.right = gradients(graph)[by];
    this.paths = pathsFrom(graph, by, MOST_PATHS + 1, this.users);
    const behind = reachedFrom(by, this.users);
    /** The nodes on the paths, without the node in question. */
    this.passed = behind.size <= MOST_NODES ? [...behind].map((place) => graph.nodes[place]) : [];
  }

  /** @param {number} place */
  name(place) {
    return said(this.graph.nodes[place].name);
  }

  /** @param {Path} path */
  way(path) {
    return pathName(this.graph, path);
  }

  /** Compute the gradient with other local derivatives of a node. @param {Node} node @param {readonly number[]} partials */
  with(node, partials) {
    const nodes = [...this.graph.nodes];
    nodes[node.place] = { ...node, partials };
    return gradients(new Graph(nodes, this.graph.root))[this.by];
  }

  /** Compute the gradient with one local derivative of a node replaced. @param {Node} node @param {number} position @param {number} local */
  withLocal(node, position, local) {
    return this.with(node, node.partials.map((partial, i) => (i === position ? local : partial)));
  }
}

/** Yield all known mistakes, simple ones first. @param {Question} asked @returns {Generator<Mistake>} */
function* mistakes(asked) {
  const { right } = asked;
  yield { kind: "sign", value: -right, told: say.sign };
  yield* missing(asked);
  yield* atProducts(asked);
  yield* atSums(asked);
  yield* upstreamForgotten(asked);
  yield* factorsForgotten(asked);
  yield* asData(asked);
  yield* overwritten(asked);
  yield* wrongOperations(asked);
  yield { kind: "reciprocal", value: 1 / right, told: say.reciprocal };
  yield* quotients(asked);
}

/**
 * Yield the sums that omit some of the paths, starting with the fewest omitted paths.
 * @param {Question} asked @returns {Generator<Mistake>}
 */
function* missing(asked) {
  const { paths } = asked;
  if (paths.length > MOST_PATHS) return;
  const [{ value: lastWritten }] = overwritten(asked);
  for (const left of subsets(paths)) {
    const kept = paths.filter((path) => !left.includes(path));
    const missed = left.map((path) => say.brings(asked.way(path), short(path.product)));
    const value = kept.reduce((sum, { product }) => sum + product, 0);
    const told = (/** @type {string} */ answer) => say.missing(answer, kept.map(asked.way, asked), missed, isClose(value, lastWritten));
    yield { kind: "missing", value, told };
  }
}

/** Yield the error at products: the operand's own number instead of the other operand's. @param {Question} asked @returns {Generator<Mistake>} */
function* atProducts(asked) {
  for (const node of asked.passed) {
    if (node.row?.name !== "mul") continue;
    const told = (/** @type {string} */ answer) => say.swapped(answer, said(node.name));
    yield { kind: "swapped", value: asked.with(node, numbersAt(node, asked.graph)), told };
  }
}

/**
 * Yield the errors at sums: a sum taken for a product, or a minus sign forgotten.
 * @param {Question} asked @returns {Generator<Mistake>}
 */
function* atSums(asked) {
  for (const node of asked.passed) {
    const name = node.row?.name ?? "";
    if (name === "sub" || name === "neg") {
      const told = (/** @type {string} */ answer) => say.oneSign(answer, said(node.name));
      yield { kind: "one sign", value: asked.with(node, node.partials.map(Math.abs)), told };
    }
    if (name !== "add" && name !== "sub") continue;
    const told = (/** @type {string} */ answer) => say.sumAsProduct(answer, said(node.name), said(node.symbol));
    yield { kind: "sum as product", value: asked.with(node, numbersAt(node, asked.graph).reverse()), told };
  }
}

/** Yield the local derivatives of the users without their upstream gradients. @param {Question} asked @returns {Generator<Mistake>} */
function* upstreamForgotten({ graph, by, users }) {
  const locals = users.of(by).map(({ user, position }) => graph.nodes[user].partials[position]);
  const [first] = users.of(by);
  if (!first || first.user === graph.root) return;
  const named = (/** @type {number} */ place) => said(graph.nodes[place].name);
  const told = (/** @type {string} */ answer) => say.upstream(answer, named(first.user), named(by));
  yield { kind: "upstream", value: locals[0], told };
  const sum = locals.reduce((all, local) => all + local, 0);
  if (locals.length > 1) yield { kind: "upstream", value: sum, told: (answer) => say.upstreams(answer, named(by)) };
}

/** Yield products with one local derivative omitted. @param {Question} asked @returns {Generator<Mistake>} */
function* factorsForgotten(asked) {
  for (const node of asked.passed) {
    for (const [position, local] of node.partials.entries()) {
      const operand = node.operands[position];
      if (operand < 0 || local === 1) continue;
      const told = (/** @type {string} */ answer) => say.factor(answer, said(node.name), asked.name(operand), short(local));
      yield { kind: "factor", value: asked.withLocal(node, position, 1), told };
    }
  }
}

/** Yield the numbers of the node and the root themselves. @param {Question} asked @returns {Generator<Mistake>} */
function* asData({ graph, by }) {
  for (const place of new Set([by, graph.root])) {
    const { data, name } = graph.nodes[place];
    yield { kind: "data", value: data, told: (answer) => say.data(answer, said(name)) };
  }
}

/** Yield the gradient that = gives instead of +=. @param {Question} asked @returns {Generator<Mistake>} */
function* overwritten({ graph, by }) {
  const pass = new BackwardPass(graph, swept(graph), true);
  const value = pass.upstream[pass.order.indexOf(by)] ?? NaN;
  yield { kind: "overwritten", value, told: say.overwritten };
}

/**
 * Yield the result of adding along the paths, and the result of multiplying the paths.
 * @param {Question} asked @returns {Generator<Mistake>}
 */
function* wrongOperations({ paths }) {
  if (paths.length > MOST_PATHS) return;
  const products = paths.map(({ product }) => product);
  if (paths.length > 1) yield { kind: "between", value: products.reduce((all, product) => all * product, 1), told: say.between };
  const sums = paths.map(({ locals }) => locals.reduce((sum, local) => sum + local, 0));
  yield { kind: "along", value: sums.reduce((sum, each) => sum + each, 0), told: say.along };
}

/** Yield the change of the root per step. @param {Question} asked @returns {Generator<Mistake>} */
function* quotients({ graph, by }) {
  const [root, name] = [graph.root, by].map((place) => said(graph.nodes[place].name));
  for (const h of STEPS) {
    const { up, base, down } = nudge(graph, by, h, "central");
    const slopes = [(up - base) / h, (base - Number(down)) / h];
    const told = (/** @type {string} */ answer) => say.quotient(answer, root, name, short(h));
    for (const value of slopes) yield { kind: "quotient", value, told };
  }
}

/** Return the nodes between a node and the root, including the root. @param {number} place @param {Users} users */
function reachedFrom(place, users) {
  /** @type {Set<number>} */
  const reached = new Set();
  const open = [place];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { user } of users.of(at)) {
      if (reached.has(user)) continue;
      reached.add(user);
      open.push(user);
    }
  }
  return reached;
}

/**
 * Return all subsets except the empty set and the whole set, small subsets first.
 * @template T @param {readonly T[]} items @returns {T[][]}
 */
function subsets(items) {
  const found = Array.from({ length: Math.max(2 ** items.length - 2, 0) }, (_, i) => items.filter((_, bit) => (i + 1) & (1 << bit)));
  return found.sort((one, other) => one.length - other.length);
}

/** @param {number} answer @param {number} value */
function isClose(answer, value) {
  return Number.isFinite(value) && Math.abs(answer - value) <= TOLERANCE * Math.abs(value);
}

/** Return the numbers of a node's operands. @param {Node} node @param {Graph} graph */
function numbersAt({ operands, constants }, { nodes }) {
  return operands.map((place, position) => (place < 0 ? constants[position] : nodes[place].data));
}
