// Layered layout with dagre: boxes in columns from left to right, or in rows from top to bottom, operands before
// results.

import { Graph, layout } from "@dagrejs/dagre";
import { fittedScale, LEAST_READABLE } from "./fit.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./fit.js").Size} Size */

/**
 * Sizes of the boxes, and the edges between them as pairs of indices into `sizes`. The order of the edges is the order
 * in which they enter a box, from top to bottom (or from left to right in a drawing that runs downward).
 * @typedef {object} Request
 * @property {readonly Size[]} sizes
 * @property {readonly (readonly [from: number, to: number])[]} edges
 * @property {Size} [room] room for the drawing
 * @property {boolean} [isDown] direction of the drawing; by default the one with the larger scale
 * @property {number} [gain] minimum gain in scale from running downward
 */

/**
 * Direction and spacing of a drawing.
 * @typedef {object} Manner
 * @property {boolean} isDown whether values flow downward, in rows; otherwise to the right, in columns
 * @property {number} betweenColumns
 * @property {number} betweenBoxes within a column
 * @property {number} betweenLines
 */

/**
 * @typedef {object} Layout
 * @property {Manner} manner
 * @property {readonly Point[]} corners upper left corner of each box
 * @property {readonly Span[]} columns column of each box
 * @property {readonly (readonly Point[])[]} routes points of each edge between the columns of its ends
 * @property {number} width
 * @property {number} height
 */

/** Extent of a column along the flow. @typedef {{ start: number, end: number }} Span */

const ROOMY = { betweenColumns: 76, betweenBoxes: 20, betweenLines: 16 };
const TIGHT = { betweenColumns: 40, betweenBoxes: 12, betweenLines: 12 };
const ROOMY_ROWS = { betweenColumns: 52, betweenBoxes: 28, betweenLines: 16 };
const TIGHT_ROWS = { betweenColumns: 36, betweenBoxes: 12, betweenLines: 12 };

/** Layout options with wide spacing, in both directions. @type {readonly Manner[]} */
const WIDE = [
  { isDown: false, ...ROOMY },
  { isDown: true, ...ROOMY_ROWS },
];
/** The same with tight spacing, where tags of contributions overlap the boxes. @type {readonly Manner[]} */
const CLOSE = [
  { isDown: false, ...TIGHT },
  { isDown: true, ...TIGHT_ROWS },
];

const LARGE = 1.25; // scale above which larger gains nothing
const GAIN = 1.1; // minimum gain in scale from running downward, which reads less well

/**
 * Choose the layout with the largest scale. Tight spacing is used only if it makes the whole drawing legible and wide
 * spacing does not.
 * @param {Request} request @returns {Layout}
 */
export function arranged(request) {
  const { room, isDown } = request;
  if (!room?.width || !room.height) return layered(request);
  const [allWide, allClose] = [WIDE, CLOSE].map((manners) => manners.filter((manner) => (isDown ?? manner.isDown) === manner.isDown));
  const wide = largest(request, room, allWide);
  if (wide.size >= LEAST_READABLE) return wide.layout;
  const close = largest(request, room, allClose);
  return close.size >= LEAST_READABLE ? close.layout : wide.layout;
}

/**
 * Lay out with each of these options and return the layout with the largest scale.
 * @param {Request} request @param {Size} room @param {readonly Manner[]} manners
 */
function largest(request, room, manners) {
  let best = { layout: layered(request, manners[0]), size: 0 };
  best.size = Math.min(fittedScale(best.layout, room), LARGE);
  for (const manner of manners.slice(1)) {
    if (best.size === LARGE) break;
    const layout = layered(request, manner);
    const size = Math.min(fittedScale(layout, room), LARGE);
    if (size > best.size * (request.gain ?? GAIN)) best = { layout, size };
  }
  return best;
}

/** @param {Request} request @param {Manner} [manner] @returns {Layout} */
export function layered({ sizes, edges }, manner = WIDE[0]) {
  if (!manner.isDown) return inColumns(sizes, edges, manner);
  // Rows are columns with x and y swapped.
  const made = inColumns(sizes.map(({ width, height }) => ({ width: height, height: width })), edges, manner);
  return {
    ...made,
    corners: made.corners.map(mirrored),
    routes: made.routes.map((route) => route.map(mirrored)),
    width: made.height,
    height: made.width,
  };
}

/** Swap the coordinates of a point. @param {Point} point @returns {Point} */
function mirrored({ x, y }) {
  return { x: y, y: x };
}

/** @param {readonly Size[]} sizes @param {Request["edges"]} edges @param {Manner} manner @returns {Layout} */
function inColumns(sizes, edges, manner) {
  const graph = new Graph({ multigraph: true });
  const { betweenColumns, betweenBoxes, betweenLines } = manner;
  graph.setGraph({ rankdir: "LR", ranksep: betweenColumns, nodesep: betweenBoxes, edgesep: betweenLines });
  sizes.forEach(({ width, height }, i) => graph.setNode(String(i), { width, height }));
  edges.forEach(([from, to], i) => graph.setEdge(String(from), String(to), {}, String(i)));
  layout(graph, { customOrder: order });

  const centers = sizes.map((_, i) => graph.node(String(i)));
  const columns = columnsOf(centers, sizes);
  const { width = 0, height = 0 } = graph.graph();
  return {
    manner,
    corners: sizes.map((size, i) => ({
      x: Math.round(columnAt(columns, centers[i].x).end - size.width),
      y: Math.round(centers[i].y - size.height / 2),
    })),
    columns: centers.map(({ x }) => columnAt(columns, x)),
    routes: edges.map(([from, to], i) => {
      const { points } = graph.edge(String(from), String(to), String(i));
      return straightThroughColumns(points.slice(1, -1), columns);
    }),
    width: Math.ceil(width),
    height: Math.ceil(height),
  };
}

/**
 * Order the boxes of each column. Dagre's order ignores where lines enter a box, so it may swap the operands of an
 * expression. The order of the expression is used unless it has more crossings.
 * @param {any} graph ranked, with a dummy node for each edge in each column that it crosses
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

/** Group the nodes by rank, in the order of the operands in the expression. @param {any} graph */
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

/** Return the predecessors of a node in the order in which they enter it. @param {any} graph @param {string} key @returns {string[]} */
function entries(graph, key) {
  const line = (/** @type {string} */ before) => {
    const { edgeObj, edgeLabel } = graph.node(before);
    return Number(edgeLabel?.forwardName ?? edgeObj?.name);
  };
  return graph.predecessors(key).sort((/** @type {string} */ a, /** @type {string} */ b) => line(a) - line(b));
}

/** Count the crossings of lines, including crossings of lines into the same box. @param {any} graph @param {Map<number, string[]>} columns */
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

/** @typedef {Map<number, Span>} Columns by center x, which is the same for all boxes of a column */

/** @param {readonly Point[]} centers @param {readonly Size[]} sizes @returns {Columns} */
function columnsOf(centers, sizes) {
  /** @type {Map<number, number>} */
  const widths = new Map();
  centers.forEach(({ x }, i) => {
    const widest = widths.get(Math.round(x)) ?? 0;
    widths.set(Math.round(x), Math.max(widest, sizes[i]?.width ?? 0));
  });
  return new Map(Array.from(widths, ([x, width]) => [x, { start: x - width / 2, end: x + width / 2 }]));
}

/** @param {Columns} columns @param {number} x */
function columnAt(columns, x) {
  return columns.get(Math.round(x)) ?? { start: x, end: x };
}

/**
 * Route a line straight through each column, past its widest box; the line bends only between columns.
 * @param {readonly Point[]} points @param {Columns} columns @returns {Point[]}
 */
function straightThroughColumns(points, columns) {
  const leftward = points.length > 1 && (points[0]?.x ?? 0) > (points.at(-1)?.x ?? 0);
  return points.flatMap(({ x, y }) => {
    const column = columns.get(Math.round(x));
    if (!column) return [];
    const ends = [
      { x: column.start, y },
      { x: column.end, y },
    ];
    return leftward ? ends.reverse() : ends;
  });
}
