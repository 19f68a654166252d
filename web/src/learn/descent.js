// Gradient descent: the gradients of a pass, and the parameters after a step.

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Moment} Moment */

import { CONSTANTS } from "../core/expression.js";
import { gradients as gradientsOf } from "../walk/passes.js";

/** @type {ReadonlyMap<string, number>} */
export const NONE = new Map();

const DATA = /^(?:[xy][\d_]*|inputs?|targets?|labels?)$/i; // usual names of data, in several languages
const LOSS = /^(?:l|j|e|loss|cost|error|err|mse|nll)(?:$|[\d_ ])/i;

/**
 * The effect of a step on one leaf. `gradient` is the content of `.grad` after the pass: the new gradient plus the
 * stored one.
 * @typedef {object} Move
 * @property {string} name
 * @property {boolean} isParameter
 * @property {number} before the leaf's number before the step
 * @property {number} stored content of `.grad` before the pass: 0 if it was zeroed
 * @property {number} fresh gradient from this pass
 * @property {number} gradient
 * @property {number} after the leaf's number after the step; unchanged unless it is a parameter
 */

/**
 * @typedef {object} Descent
 * @property {number} loss before the step
 * @property {readonly Move[]} moves one per leaf with a gradient, in the order of the graph
 * @property {ReadonlyMap<string, number>} values values of the parameters after the step
 * @property {ReadonlyMap<string, number>} gradients contents of `.grad` after the pass
 */

/**
 * Many points that share a graph, with their mean loss and its gradients; see batch.js.
 * @typedef {object} Points
 * @property {ReadonlyMap<string, ArrayLike<number>>} columns by the name of the leaf for a point's coordinate
 * @property {(graph: Graph) => { loss: number, gradients: ArrayLike<number> }} pass uses the graph's parameters;
 *   gradients by node index
 */

/** Return whether a leaf's name is a common name for data, such as x1 or target. @param {string} name */
export function isData(name) {
  return DATA.test(name);
}

/** Return whether a root's name is a common name for a loss. @param {string} name */
export function isLoss(name) {
  return LOSS.test(name);
}

/** @param {Graph} graph */
export function leavesOf(graph) {
  return graph.nodes.filter(({ operands }) => operands.length === 0);
}

/**
 * Return the names of the default parameters: the labeled leaves except data and constants such as pi, or all leaves
 * if none is left.
 * @param {Graph} graph @returns {readonly string[]}
 */
export function usualParameters(graph) {
  const leaves = leavesOf(graph);
  const likely = leaves.filter(({ label, data }) => label && !isData(label) && CONSTANTS.get(label) !== data);
  return (likely.length ? likely : leaves).map(({ name }) => name);
}

/**
 * Compute one step: the gradients of a pass, added to the stored ones unless they are zeroed, and each parameter minus
 * the rate times its gradient. The graph is not changed; `graph.withData` makes the next one.
 * @param {Graph} graph
 * @param {object} options
 * @param {Iterable<string>} options.parameters names of leaves
 * @param {number} options.rate
 * @param {boolean} [options.isZeroed] whether the stored gradients are zeroed before the pass
 * @param {ReadonlyMap<string, number>} [options.stored] gradients from the last pass, by name
 * @param {Points | null} [options.points] points to average the loss over; without points the loss is the root's number
 * @returns {Descent}
 */
export function descend(graph, { parameters, rate, isZeroed = true, stored = NONE, points = null }) {
  const { loss, gradients } = points?.pass(graph) ?? { loss: graph.nodes[graph.root].data, gradients: gradientsOf(graph) };
  const learned = new Set(parameters);
  const keeping = leavesOf(graph).filter(({ name }) => !points?.columns.has(name)); // data differ from point to point
  const moves = keeping.map(({ name, place, data }) => {
    const isParameter = learned.has(name);
    const held = isZeroed ? 0 : (stored.get(name) ?? 0);
    const gradient = gradients[place] + held;
    return { name, isParameter, before: data, stored: held, fresh: gradients[place], gradient, after: isParameter ? data - rate * gradient : data };
  });
  return {
    loss,
    moves,
    values: new Map(moves.filter(({ isParameter }) => isParameter).map(({ name, after }) => [name, after])),
    gradients: new Map(moves.map(({ name, gradient }) => [name, gradient])),
  };
}

/** Return the graph after a step. Throws `GraphError` if a custom node depends on a parameter. @param {Graph} graph @param {Descent} descent */
export function descended(graph, { values }) {
  return graph.withData(new Map(leavesOf(graph).flatMap(({ name, place }) => (values.has(name) ? [[place, Number(values.get(name))]] : []))));
}

/**
 * Add the gradients stored from earlier passes to a moment of a walk.
 * @param {Moment} moment @param {ReadonlyMap<number, number>} stored by node index @returns {Moment}
 */
export function onTop(moment, stored) {
  if (!stored.size) return moment;
  const gradients = moment.gradients.map((gradient, place) => (stored.has(place) ? (gradient ?? 0) + Number(stored.get(place)) : gradient));
  return { ...moment, gradients };
}
