// First-order bounds on the rounding errors of a graph's numbers and gradients.

import { passing, selects } from "../core/graph.js";
import { swept } from "./passes.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Row} Row */
/** @typedef {import("../core/graph.js").Graph} Graph */

/** Maximum error of the table's partials in ulp, for exact operands; see docs/accuracy.md. */
const PARTIAL_ULPS = 4;

/**
 * Compute the effect of a node's rounding on the root, per unit of the node's number: machine epsilon times the
 * gradient. Leaves are exact.
 * @param {Graph} graph @param {readonly number[]} gradients
 */
export function noiseWeights(graph, gradients) {
  return graph.nodes.map(({ place, operands }) => {
    const weight = Math.abs(gradients[place]) * Number.EPSILON;
    return operands.length && !Number.isNaN(weight) ? weight : 0;
  });
}

/**
 * Bound the rounding error of each gradient. Cancellation in a number makes the derivatives that use it inaccurate.
 *
 * Forward, an operation propagates the errors of its operands, multiplied by its partials, and adds its own rounding
 * error. Backward, a contribution has the relative error of its upstream gradient; its partial has the error caused by
 * the errors of the operands, plus its own rounding error.
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

/** Bound the error of every node's number. Leaves are exact. @param {Graph} graph */
function numberErrors(graph) {
  /** @type {number[]} */
  const errors = [];
  for (const node of graph.nodes) {
    const passed = passing(node).map(({ position, place }) => known(Math.abs(node.partials[position]) * errors[place]));
    errors.push(passed.reduce((sum, error) => sum + error, node.operands.length ? known(ulp(node.data)) : 0));
  }
  return errors;
}

/** Return the distance to the next number, within a factor of two. @param {number} number */
function ulp(number) {
  return Math.max(Math.abs(number) * Number.EPSILON, Number.MIN_VALUE);
}

/** Return an error, or 0 if it is nan or infinite. @param {number} error */
function known(error) {
  return Number.isFinite(error) ? error : 0;
}

/**
 * Bound the error of a partial: by evaluating its formula for perturbed operands; without a formula, by the relative
 * errors of the operands.
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
 * Compute the change of a partial when one operand changes by an error in either direction.
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
