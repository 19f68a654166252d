// How far rounding can put a graph's numbers and gradients off, to first order.

import { passing } from "../core/graph.js";
import { contribution, swept } from "./passes.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Formula} Formula */
/** @typedef {import("../core/graph.js").Graph} Graph */

/**
 * By place: what the root can be off by for each unit of a node's number, because that is rounded. An ulp of the
 * number, times the node's gradient. Leaves are exact.
 * @param {Graph} graph @param {readonly number[]} gradients
 */
export function noiseWeights(graph, gradients) {
  return graph.nodes.map(({ place, operands }) => {
    const weight = Math.abs(gradients[place]) * Number.EPSILON;
    return operands.length && !Number.isNaN(weight) ? weight : 0;
  });
}

/**
 * How far off each gradient can be by rounding: cancellation in a number makes the derivatives behind it vague.
 *
 * Forward, an operation passes on the errors of its operands, times its partials, and adds one of its own. Backward, a
 * contribution has the relative errors of its upstream gradient and of all that its partial is computed from.
 * @param {Graph} graph @param {readonly number[]} gradients
 */
export function gradientErrors(graph, gradients) {
  const relative = relativeErrors(graph);
  /** @type {number[]} */
  const errors = new Array(graph.nodes.length).fill(0);
  for (const place of swept(graph)) {
    const node = graph.nodes[place];
    for (const { position, place: operand } of passing(node)) {
      const vague = needed(node, position).reduce((sum, x) => sum + relative[x], Number.EPSILON);
      const passedOn = known(Math.abs(node.partials[position]) * errors[place]);
      errors[operand] += passedOn + known(Math.abs(contribution(node, position, gradients[place])) * vague);
    }
  }
  return errors;
}

/** How far off the number of every node can be, in relation to it. @param {Graph} graph */
function relativeErrors(graph) {
  /** @type {number[]} */
  const errors = [];
  for (const node of graph.nodes) {
    const passed = passing(node).map(({ position, place }) => known(Math.abs(node.partials[position]) * errors[place]));
    errors.push(passed.reduce((sum, error) => sum + error, node.operands.length ? known(ulp(node.data)) : 0));
  }
  return errors.map((error, place) => {
    const size = Math.abs(graph.nodes[place].data);
    return size ? known(error / size) : 0;
  });
}

/** The distance to the next number, within a factor of two. @param {number} number */
function ulp(number) {
  return Math.max(Math.abs(number) * Number.EPSILON, Number.MIN_VALUE);
}

/**
 * An error, or nothing where it is not a number: what is nan or inf is not judged by its rounding.
 * @param {number} error
 */
function known(error) {
  return Number.isFinite(error) ? error : 0;
}

/**
 * The nodes whose numbers a partial is computed from: operands, or the node itself.
 * @param {Node} node @param {number} position
 */
function needed({ place, row, operands }, position) {
  if (!row) return operands.filter((operand) => operand >= 0);
  if (row.selects) return [];
  const places = [...variables(row.formulas[position])].map((name) => {
    return name === "out" ? place : operands["xyz".indexOf(name)];
  });
  return places.filter((operand) => operand >= 0);
}

/** The names in a formula. @param {Formula} formula @returns {Set<string>} */
function variables(formula) {
  if (typeof formula === "string") return new Set([formula]);
  if (typeof formula === "number") return new Set();
  const [, ...parts] = formula;
  return new Set(parts.flatMap((part) => [...variables(part)]));
}
