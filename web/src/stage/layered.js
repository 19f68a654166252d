// The layout of a drawing: boxes in columns from left to right, each after all that lead to it.

import { Graph, layout } from "@dagrejs/dagre";

/** @typedef {import("./svg.js").Point} Point */

/**
 * Boxes by their sizes, and the pairs of boxes that lines join, by position in `sizes`. Lines enter a box in the order
 * in which they stand here, from top to bottom.
 * @typedef {object} Request
 * @property {readonly { width: number, height: number }[]} sizes
 * @property {readonly (readonly [from: number, to: number])[]} edges
 */

/**
 * @typedef {object} Layout
 * @property {readonly Point[]} corners the upper left corner of each box
 * @property {readonly { left: number, right: number }[]} columns by box: that of the column it stands in
 * @property {readonly (readonly Point[])[]} routes the points that each line passes on its way between the columns of
 *   its ends
 * @property {number} width
 * @property {number} height
 */

const BETWEEN_COLUMNS = 84;
const BETWEEN_BOXES = 22;
const BETWEEN_LINES = 16;

/** @param {Request} request @returns {Layout} */
export function layered({ sizes, edges }) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", ranksep: BETWEEN_COLUMNS, nodesep: BETWEEN_BOXES, edgesep: BETWEEN_LINES });
  sizes.forEach(({ width, height }, i) => graph.setNode(String(i), { width, height }));
  edges.forEach(([from, to], i) => graph.setEdge(String(from), String(to), {}, String(i)));
  layout(graph, { customOrder: order });

  const centres = sizes.map((_, i) => graph.node(String(i)));
  const columns = columnsOf(centres, sizes);
  const { width = 0, height = 0 } = graph.graph();
  return {
    corners: sizes.map((size, i) => ({
      x: Math.round(columnAt(columns, centres[i].x).right - size.width),
      y: Math.round(centres[i].y - size.height / 2),
    })),
    columns: centres.map(({ x }) => columnAt(columns, x)),
    routes: edges.map(([from, to], i) => {
      const { points } = graph.edge(String(from), String(to), String(i));
      return straightThroughColumns(points.slice(1, -1), columns);
    }),
    width: Math.ceil(width),
    height: Math.ceil(height),
  };
}

/**
 * Order the boxes of each column. Dagre's order knows nothing of where lines enter a box, and turns the operands of an
 * expression around as it happens; that of the expression is taken where it gives no more crossings.
 * @param {any} graph ranked, with a dummy node on every line between two columns
 * @param {(graph: any) => void} usual
 */
function order(graph, usual) {
  const written = asWritten(graph);
  usual(graph);
  const found = ranked(graph, graph.nodes());
  for (const column of found.values()) column.sort((a, b) => graph.node(a).order - graph.node(b).order);
  const best = crossings(graph, written) <= crossings(graph, found) ? written : found;
  for (const column of best.values()) column.forEach((key, i) => (graph.node(key).order = i));
}

/** The nodes of each rank in the order in which an expression has its operands. @param {any} graph */
function asWritten(graph) {
  /** @type {Set<string>} */
  const seen = new Set();
  const pending = [...graph.sinks()].reverse();
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    if (seen.has(key)) continue;
    seen.add(key);
    pending.push(...entries(graph, key).reverse());
  }
  return ranked(graph, seen);
}

/** @param {any} graph @param {Iterable<string>} keys @returns {Map<number, string[]>} */
function ranked(graph, keys) {
  const columns = new Map();
  for (const key of keys) {
    const { rank } = graph.node(key);
    if (!columns.has(rank)) columns.set(rank, []);
    columns.get(rank).push(key);
  }
  return columns;
}

/** What leads to a node, in the order in which it enters. @param {any} graph @param {string} key @returns {string[]} */
function entries(graph, key) {
  const line = (/** @type {string} */ before) => {
    const { edgeObj, edgeLabel } = graph.node(before);
    return Number(edgeLabel?.forwardName ?? edgeObj?.name);
  };
  return graph.predecessors(key).sort((/** @type {string} */ a, /** @type {string} */ b) => line(a) - line(b));
}

/** How many lines cross, those at one box included. @param {any} graph @param {Map<number, string[]>} columns */
function crossings(graph, columns) {
  let count = 0;
  for (const [rank, column] of columns) {
    const heights = new Map((columns.get(rank - 1) ?? []).map((key, i) => [key, i]));
    const starts = column.flatMap((key) => entries(graph, key).map((before) => heights.get(before) ?? 0));
    starts.forEach((start, i) => {
      for (let j = 0; j < i; j += 1) if ((starts[j] ?? 0) > start) count += 1;
    });
  }
  return count;
}

/** @typedef {Map<number, { left: number, right: number }>} Columns by the middle, which all boxes of a column share */

/** @param {readonly Point[]} centres @param {Request["sizes"]} sizes @returns {Columns} */
function columnsOf(centres, sizes) {
  /** @type {Map<number, number>} */
  const widths = new Map();
  centres.forEach(({ x }, i) => {
    const widest = widths.get(Math.round(x)) ?? 0;
    widths.set(Math.round(x), Math.max(widest, sizes[i]?.width ?? 0));
  });
  return new Map(Array.from(widths, ([x, width]) => [x, { left: x - width / 2, right: x + width / 2 }]));
}

/** @param {Columns} columns @param {number} x */
function columnAt(columns, x) {
  return columns.get(Math.round(x)) ?? { left: x, right: x };
}

/**
 * A line crosses a column at one height, so that it passes by what is wide there; it turns only between columns.
 * @param {readonly Point[]} points @param {Columns} columns @returns {Point[]}
 */
function straightThroughColumns(points, columns) {
  const leftward = points.length > 1 && (points[0]?.x ?? 0) > (points.at(-1)?.x ?? 0);
  return points.flatMap(({ x, y }) => {
    const column = columns.get(Math.round(x));
    if (!column) return [];
    const ends = [
      { x: column.left, y },
      { x: column.right, y },
    ];
    return leftward ? ends.reverse() : ends;
  });
}
