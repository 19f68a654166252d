// The arrays that a graph has, by the labels of its nodes: `query.3.5` is a cell of a matrix, and `hidden.2` one of a row.
//
// Rows that differ in a number are the rows of a matrix: `layer.neurons.0.w.1` is in row 0 of `layer.neurons.w`, and
// `place3.attention.weight.2` in row `place3` of `attention.weight`.

/** @typedef {import("../core/graph.js").Graph} Graph */

/**
 * @typedef {object} LabelledArray
 * @property {string} name
 * @property {readonly Row[]} rows
 * @property {number} width of the longest row
 * @property {boolean} isCausal whether each row has one cell more than that before it: what looks back from each place
 */

/**
 * @typedef {object} Row
 * @property {string} name "" where it is the only one
 * @property {readonly number[]} places of the nodes in its cells; -1 where there is none
 */

const INDEX = /^[0-9]{1,3}$/u;
const NUMBERED = /[0-9]$/u;

/** @param {Graph} graph @returns {readonly LabelledArray[]} of two cells or more, in the order of their last nodes, the last first */
export function arraysOf(graph) {
  /** @type {Map<string, Map<string, number[]>>} */
  const found = new Map();
  for (const { place, label } of graph.nodes) {
    const cell = label ? cellNamed(label) : null;
    if (!cell) continue;
    const rows = found.get(cell.array) ?? new Map();
    const places = rows.get(cell.row) ?? [];
    places[cell.column] = place;
    found.delete(cell.array); // to stand behind what was met before
    found.set(cell.array, rows.set(cell.row, places));
  }
  return [...found].reverse().map(([name, rows]) => arrayOf(name, rows)).filter(isArray);
}

/**
 * The array that a label names, and the cell in it; null where it names none.
 * @param {string} label
 */
function cellNamed(label) {
  const path = label.split(".");
  const last = path.pop() ?? "";
  if (!INDEX.test(last) || !path.length) return null;
  const index = path.findLastIndex((name) => INDEX.test(name));
  const at = index < 0 ? path.findIndex((name) => NUMBERED.test(name)) : index;
  const [row] = at < 0 || path.length < 2 ? [""] : path.splice(at, 1);
  return { array: path.join("."), row, column: Number(last) };
}

/** @param {string} name @param {ReadonlyMap<string, number[]>} rows @returns {LabelledArray} */
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

/** @param {LabelledArray} array */
function isArray({ rows }) {
  return rows.reduce((count, { places }) => count + places.filter((place) => place >= 0).length, 0) > 1;
}
