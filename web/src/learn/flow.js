// Gradient flow through the layers: parameters grouped by the number of functions between them and the root.

import { passing } from "../core/graph.js";
import { swept } from "../walk/passes.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */

/**
 * @typedef {object} Layer
 * @property {number} behind number of functions on the shortest path from the root
 * @property {readonly string[]} names of the parameters
 * @property {number} size mean absolute gradient
 * @property {number | null} local mean absolute local derivative of the functions after this layer; null without functions
 */

/** Return whether a node is a function of one operand, such as tanh. @param {Node} node */
function isFunction({ row }) {
  return row?.arity === 1 && row.isFunction;
}

/**
 * Group the parameters of a graph into layers, starting at the root.
 * @param {Graph} graph @param {ReadonlyMap<string, number>} gradients by parameter name @returns {readonly Layer[]}
 */
export function layersOf(graph, gradients) {
  const depths = depthsOf(graph);
  /** @type {Map<number, { names: string[], sizes: number[] }>} */
  const layers = new Map();
  for (const { name, place } of graph.nodes) {
    const gradient = gradients.get(name);
    if (gradient === undefined || !Number.isFinite(depths[place])) continue;
    const layer = layers.get(depths[place]) ?? { names: [], sizes: [] };
    layers.set(depths[place], layer);
    layer.names.push(name);
    layer.sizes.push(Math.abs(gradient));
  }
  return [...layers]
    .sort(([one], [other]) => one - other)
    .map(([behind, { names, sizes }]) => ({ behind, names, size: mean(sizes), local: localAt(graph, depths, behind) }));
}

/** Compute the minimum number of functions between each node and the root; infinite if no gradient flows. @param {Graph} graph */
function depthsOf(graph) {
  const depths = new Array(graph.nodes.length).fill(Infinity);
  depths[graph.root] = 0;
  for (const place of swept(graph)) {
    const node = graph.nodes[place];
    const depth = depths[place] + Number(isFunction(node));
    for (const operand of passing(node)) depths[operand.place] = Math.min(depths[operand.place], depth);
  }
  return depths;
}

/** @param {Graph} graph @param {readonly number[]} depths @param {number} behind */
function localAt({ nodes }, depths, behind) {
  const functions = nodes.filter((node) => isFunction(node) && depths[node.place] === behind - 1);
  return functions.length ? mean(functions.map(({ partials }) => Math.abs(partials[0]))) : null;
}

/** @param {readonly number[]} numbers */
function mean(numbers) {
  return numbers.reduce((total, number) => total + number, 0) / numbers.length;
}
