// Finds the arrays in a graph by the labels of its nodes: `query.3.5` or `query[3][5]` is an element of a matrix,
// `hidden.2` of a vector.
//
// Vectors whose names differ only in a number form the rows of a matrix: `layer.neurons[0].w[1]` is in row 0 of
// `layer.neurons.w`, and `place3.attention.weight.2` is in row `place3` of `attention.weight`.

import { isLabelPath, withBrackets } from "../core/names.js";

/** @typedef {import("../core/graph.js").Graph} Graph */

/**
 * @typedef {object} LabeledArray
 * @property {string} name
 * @property {readonly Row[]} rows
 * @property {number} width length of the longest row
 * @property {boolean} isCausal whether row i has i + 1 elements, as the weights of causal attention do
 */

/**
 * @typedef {object} Row
 * @property {string} name "" for a vector
 * @property {readonly number[]} places node index of each element; -1 for a missing element
 */

const INDEX = /^[0-9]{1,3}$/u;
const NUMBERED = /[0-9]$/u;

/** @param {Graph} graph @returns {readonly LabeledArray[]} arrays of two or more elements, latest in the graph first */
export function arraysOf(graph) {
  /** @type {Map<string, Map<string, number[]>>} */
  const found = new Map();
  for (const { place, label } of graph.nodes) {
    const cell = label ? cellNamed(label) : null;
    if (!cell) continue;
    const rows = found.get(cell.array) ?? new Map();
    const places = rows.get(cell.row) ?? [];
    places[cell.column] = place;
    found.delete(cell.array); // reinserts the array after those found before
    found.set(cell.array, rows.set(cell.row, places));
  }
  return [...found].reverse().map(([name, rows]) => arrayOf(name, rows)).filter(isArray);
}

/** Parse a label into an array and an element; null if it names neither. @param {string} label */
function cellNamed(label) {
  if (!isLabelPath(label)) return null;
  const path = label.replaceAll(/\[([0-9]+)\]/gu, ".$1").split(".");
  const last = path.pop() ?? "";
  if (!INDEX.test(last) || !path.length) return null;
  const index = path.findLastIndex((name) => INDEX.test(name));
  const at = index < 0 ? path.findIndex((name) => NUMBERED.test(name)) : index;
  const [row] = at < 0 || path.length < 2 ? [""] : path.splice(at, 1);
  return { array: withBrackets(path.join(".")), row, column: Number(last) };
}

/** @param {string} name @param {ReadonlyMap<string, number[]>} rows @returns {LabeledArray} */
function arrayOf(name, rows) {
  const sorted = [...rows].sort(([one], [other]) => numberOf(one) - numberOf(other));
  const made = sorted.map(([row, places]) => ({ name: row, places: Array.from(places, (place) => place ?? -1) }));
  return {
    name,
    rows: made,
    width: Math.max(...made.map(({ places }) => places.length)),
    isCausal: made.length > 1 && made.every(({ places }, i) => places.length === i + 1 && !places.includes(-1)),
  };
}

/** @param {string} row such as "place12" */
function numberOf(row) {
  return Number(/[0-9]*$/u.exec(row)?.[0]);
}

/** @param {LabeledArray} array */
function isArray({ rows }) {
  return rows.reduce((count, { places }) => count + places.filter((place) => place >= 0).length, 0) > 1;
}
