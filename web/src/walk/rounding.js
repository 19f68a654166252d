// How far rounding can put a graph's numbers and gradients off, to first order.

import { passing, selects } from "../core/graph.js";
import { swept } from "./passes.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Row} Row */
/** @typedef {import("../core/graph.js").Graph} Graph */

/** How far off the partials of the table are, in ulp, for the operands that they are computed from: docs/accuracy.md. */
const PARTIAL_ULPS = 4;

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
 * contribution has the relative error of its upstream gradient, and its partial is off by what the errors of the
 * operands change about it, and by its own rounding.
 * @param {Graph} graph @param {readonly number[]} gradients
 */
export function gradientErrors(graph, gradients) {
  const vague = numberErrors(graph);
  /** @type {number[]} */
  const errors = new Array(graph.nodes.length).fill(0);
  for (const place of swept(graph)) {
    const node = graph.nodes[place];
    for (const { position, place: operand } of passing(node)) {
      const passedOn = known(Math.abs(node.partials[position]) * errors[place]);
      errors[operand] += passedOn + known(Math.abs(gradients[place]) * partialError(graph, node, position, vague));
    }
  }
  return errors;
}

/** How far off the number of every node can be. Leaves are exact. @param {Graph} graph */
function numberErrors(graph) {
  /** @type {number[]} */
  const errors = [];
  for (const node of graph.nodes) {
    const passed = passing(node).map(({ position, place }) => known(Math.abs(node.partials[position]) * errors[place]));
    errors.push(passed.reduce((sum, error) => sum + error, node.operands.length ? known(ulp(node.data)) : 0));
  }
  return errors;
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
 * How far off a partial can be: by its formula, for operands that are larger or smaller by their errors; where there is
 * none, by their relative errors.
 * @param {Graph} graph @param {Node} node @param {number} position @param {readonly number[]} vague
 */
function partialError(graph, node, position, vague) {
  const { row, operands, constants, partials } = node;
  const size = Math.abs(partials[position]);
  const numbers = operands.map((place, i) => (place < 0 ? constants[i] : graph.nodes[place].data));
  if (selects(node)) return size * Number.EPSILON;
  if (!row) {
    const relative = operands.map((place, i) => (place < 0 || !numbers[i] ? 0 : known(vague[place] / Math.abs(numbers[i]))));
    return relative.reduce((sum, error) => sum + error, Number.EPSILON) * size;
  }
  const changes = operands.map((place, i) => (place < 0 ? 0 : change(row, position, numbers, i, vague[place])));
  return changes.reduce((sum, error) => sum + error, size * PARTIAL_ULPS * Number.EPSILON);
}

/**
 * By how much a partial changes where one of the operands is an error larger or smaller.
 * @param {Row} row @param {number} position @param {readonly number[]} numbers
 * @param {number} operand @param {number} error
 */
function change(row, position, numbers, operand, error) {
  if (!error) return 0;
  /** @param {number} nudge */
  const partial = (nudge) => {
    const [x, y, z] = numbers.map((number, i) => (i === operand ? number + nudge : number));
    return row.partials[position](x, y, z, row.forward(x, y, z));
  };
  return Math.max(...[error, -error].map((nudge) => known(Math.abs(partial(nudge) - partial(0)))));
}
