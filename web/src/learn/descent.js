// Gradient descent: what one pass over a graph tells its parameters, and where a step takes them.

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Moment} Moment */

import { CONSTANTS } from "../core/expression.js";
import { gradients as gradientsOf } from "../walk/passes.js";

/** @type {ReadonlyMap<string, number>} */
export const NONE = new Map();

const DATA = /^(?:[xy][\d_]*|inputs?|targets?|labels?)$/i; // names that data have, in whatever language
const LOSS = /^(?:l|j|e|loss|cost|error|err|mse|nll)(?:$|[\d_ ])/i;

/**
 * What a step does with one leaf. `gradient` is what `.grad` holds after the pass: what the pass gave, on top of what
 * was stored.
 * @typedef {object} Move
 * @property {string} name
 * @property {boolean} isParameter
 * @property {number} before the leaf's number
 * @property {number} stored what `.grad` held before the pass: 0 where it was zeroed
 * @property {number} fresh what the pass gave
 * @property {number} gradient
 * @property {number} after the leaf's number after the step; as before where it is no parameter
 */

/**
 * @typedef {object} Descent
 * @property {number} loss before the step
 * @property {readonly Move[]} moves of all leaves that keep a gradient, in the order of the graph
 * @property {ReadonlyMap<string, number>} values of the parameters after the step
 * @property {ReadonlyMap<string, number>} gradients that the leaves hold after the pass
 */

/**
 * Many points that share a graph: their mean loss, with its gradients. See batch.js.
 * @typedef {object} Points
 * @property {ReadonlyMap<string, ArrayLike<number>>} columns by name of the leaf that holds a point's number
 * @property {(graph: Graph) => { loss: number, gradients: ArrayLike<number> }} pass with the graph's parameters; gradients by place
 */

/** Whether a leaf's name says that it is data. @param {string} name */
export function isData(name) {
  return DATA.test(name);
}

/** Whether a root's name says that it is a loss. @param {string} name */
export function isLoss(name) {
  return LOSS.test(name);
}

/** @param {Graph} graph */
export function leavesOf(graph) {
  return graph.nodes.filter(({ operands }) => operands.length === 0);
}

/**
 * The names of the leaves that are learned where nobody has chosen: those with a name, but for data and constants such
 * as pi; all of them where nothing is left.
 * @param {Graph} graph @returns {readonly string[]}
 */
export function usualParameters(graph) {
  const leaves = leavesOf(graph);
  const likely = leaves.filter(({ label, data }) => label && !isData(label) && CONSTANTS.get(label) !== data);
  return (likely.length ? likely : leaves).map(({ name }) => name);
}

/**
 * One step: the gradients of one pass, on top of those stored unless they are zeroed before it, and every parameter
 * less rate times its gradient. The graph is left as it is: `graph.withData` makes the next one.
 * @param {Graph} graph
 * @param {object} options
 * @param {Iterable<string>} options.parameters names of leaves
 * @param {number} options.rate
 * @param {boolean} [options.isZeroed] whether the gradients are zeroed before the pass
 * @param {ReadonlyMap<string, number>} [options.stored] gradients that the last pass has left, by name
 * @param {Points | null} [options.points] the loss is the mean over them; else it is the root's own number
 * @returns {Descent}
 */
export function descend(graph, { parameters, rate, isZeroed = true, stored = NONE, points = null }) {
  const { loss, gradients } = points?.pass(graph) ?? { loss: graph.nodes[graph.root].data, gradients: gradientsOf(graph) };
  const learned = new Set(parameters);
  const keeping = leavesOf(graph).filter(({ name }) => !points?.columns.has(name)); // every point has other data
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

/** The graph after a step. Throws `GraphError` where a node made by hand depends on a parameter. @param {Graph} graph @param {Descent} descent */
export function descended(graph, { values }) {
  return graph.withData(new Map(leavesOf(graph).flatMap(({ name, place }) => (values.has(name) ? [[place, Number(values.get(name))]] : []))));
}

/**
 * A moment of a walk where leaves hold gradients from before: what has arrived stands on top of that.
 * @param {Moment} moment @param {ReadonlyMap<number, number>} stored by place @returns {Moment}
 */
export function onTop(moment, stored) {
  if (!stored.size) return moment;
  const gradients = moment.gradients.map((gradient, place) => (stored.has(place) ? (gradient ?? 0) + Number(stored.get(place)) : gradient));
  return { ...moment, gradients };
}
