// The layout of a drawing: boxes in columns from left to right, each after all that lead to it; or in rows downwards.

import { Graph, layout } from "@dagrejs/dagre";
import { fittedScale, LEAST_READABLE } from "./fit.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./fit.js").Size} Size */

/**
 * Boxes by their sizes, and the pairs of boxes that lines join, by position in `sizes`. Lines enter a box in the order
 * in which they stand here, from top to bottom (or from left to right in a drawing that runs downwards).
 * @typedef {object} Request
 * @property {readonly Size[]} sizes
 * @property {readonly (readonly [from: number, to: number])[]} edges
 * @property {Size} [room] that there is for the drawing
 */

/**
 * How a drawing is made: which way values flow in it, and how far its boxes stand apart.
 * @typedef {object} Manner
 * @property {boolean} isDown whether values flow downwards, in rows; else to the right, in columns
 * @property {number} betweenColumns
 * @property {number} betweenBoxes of a column
 * @property {number} betweenLines
 */

/**
 * @typedef {object} Layout
 * @property {Manner} manner
 * @property {readonly Point[]} corners the upper left corner of each box
 * @property {readonly Span[]} columns by box: the one that it stands in
 * @property {readonly (readonly Point[])[]} routes the points that each line passes on its way between the columns of
 *   its ends
 * @property {number} width
 * @property {number} height
 */

/** From where to where a column reaches, along the flow. @typedef {{ start: number, end: number }} Span */

const ROOMY = { betweenColumns: 76, betweenBoxes: 20, betweenLines: 16 };
const TIGHT = { betweenColumns: 40, betweenBoxes: 12, betweenLines: 12 };
const ROOMY_ROWS = { betweenColumns: 52, betweenBoxes: 28, betweenLines: 16 };
const TIGHT_ROWS = { betweenColumns: 36, betweenBoxes: 12, betweenLines: 12 };

/** The manners in which a drawing can be made, to the right and downwards. @type {readonly Manner[]} */
const WIDE = [
  { isDown: false, ...ROOMY },
  { isDown: true, ...ROOMY_ROWS },
];
/** The same with less between the boxes: flags of contributions lie over them there. @type {readonly Manner[]} */
const CLOSE = [
  { isDown: false, ...TIGHT },
  { isDown: true, ...TIGHT_ROWS },
];

const LARGE = 1.25; // so large that a drawing gains little by being larger
const GAIN = 1.1; // how much larger it must be for running downwards, which reads less well

/**
 * The layout that shows a drawing largest in its room; boxes stand close only where that lets all of it be read at once.
 * @param {Request} request @returns {Layout}
 */
export function arranged(request) {
  const { room } = request;
  if (!room?.width || !room.height) return layered(request);
  const wide = largest(request, room, WIDE);
  if (wide.size >= LEAST_READABLE) return wide.layout;
  const close = largest(request, room, CLOSE);
  return close.size >= LEAST_READABLE ? close.layout : wide.layout;
}

/** The layout of the manner in which a drawing is largest. @param {Request} request @param {Size} room @param {readonly Manner[]} manners */
function largest(request, room, manners) {
  let best = { layout: layered(request, manners[0]), size: 0 };
  best.size = Math.min(fittedScale(best.layout, room), LARGE);
  for (const manner of manners.slice(1)) {
    if (best.size === LARGE) break;
    const layout = layered(request, manner);
    const size = Math.min(fittedScale(layout, room), LARGE);
    if (size > best.size * GAIN) best = { layout, size };
  }
  return best;
}

/** @param {Request} request @param {Manner} [manner] @returns {Layout} */
export function layered({ sizes, edges }, manner = WIDE[0]) {
  if (!manner.isDown) return inColumns(sizes, edges, manner);
  // Rows are columns, seen in a mirror.
  const made = inColumns(sizes.map(({ width, height }) => ({ width: height, height: width })), edges, manner);
  return {
    ...made,
    corners: made.corners.map(mirrored),
    routes: made.routes.map((route) => route.map(mirrored)),
    width: made.height,
    height: made.width,
  };
}

/** A point with its coordinates exchanged. @param {Point} point @returns {Point} */
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

  const centres = sizes.map((_, i) => graph.node(String(i)));
  const columns = columnsOf(centres, sizes);
  const { width = 0, height = 0 } = graph.graph();
  return {
    manner,
    corners: sizes.map((size, i) => ({
      x: Math.round(columnAt(columns, centres[i].x).end - size.width),
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

/** @typedef {Map<number, Span>} Columns by the middle, which all boxes of a column share */

/** @param {readonly Point[]} centres @param {readonly Size[]} sizes @returns {Columns} */
function columnsOf(centres, sizes) {
  /** @type {Map<number, number>} */
  const widths = new Map();
  centres.forEach(({ x }, i) => {
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
 * A line crosses a column at one height, so that it passes by what is wide there; it turns only between columns.
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
