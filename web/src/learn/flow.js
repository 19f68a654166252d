// How much gradient reaches each layer: parameters, grouped by how many functions stand between them and the root.

import { passing } from "../core/graph.js";
import { swept } from "../walk/passes.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */

/**
 * @typedef {object} Layer
 * @property {number} behind how many functions the gradient passes through on the shortest way from the root
 * @property {readonly string[]} names of the parameters
 * @property {number} size the mean of the sizes of their gradients
 * @property {number | null} local the mean size of the local derivatives of the functions that lead into it; null for none
 */

/** Whether a node is a function of one operand, such as tanh. @param {Node} node */
function isFunction({ row }) {
  return row?.arity === 1 && row.isFunction;
}

/**
 * The layers of a graph's parameters, that of the root first.
 * @param {Graph} graph @param {ReadonlyMap<string, number>} gradients of the parameters, by name @returns {readonly Layer[]}
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

/** By place, the fewest functions between a node and the root; infinite where no gradient flows. @param {Graph} graph */
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
