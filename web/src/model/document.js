// A walk or a graph that was handed in: by a page's own data, by a notebook, or as a file that the reader opens.

import { files as say } from "../english/page.js";
import { Graph, GraphError } from "../core/graph.js";
import { swept } from "../walk/steps.js";

const VERSION = 1;

/**
 * @typedef {object} Document
 * @property {string} of what it is of: an expression or the name of a script
 * @property {Graph} graph
 * @property {readonly number[] | null} order of the visits; null for the right one
 * @property {boolean} overwrite
 * @property {ReadonlyMap<string, readonly string[]>} files the lines of the program's files, by name
 */

/** Read the JSON of a graph or of a walk. Throws `GraphError` for anything else. @param {string} text @returns {Document} */
export function read(text) {
  const json = parsed(text);
  if (isObject(json) && json.gradwalk === "walk") return walkOf(json);
  return { of: "", graph: Graph.fromDocument(json), order: null, overwrite: false, files: new Map() };
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GraphError(say.notJson(error instanceof Error ? error.message : ""));
  }
}

/** @param {Record<string, unknown>} json @returns {Document} */
function walkOf(json) {
  if (json.version !== VERSION) throw new GraphError(say.version(JSON.stringify(json.version) ?? "none", VERSION));
  const graph = Graph.fromDocument(json.graph);
  return {
    of: typeof json.of === "string" ? json.of : "",
    graph,
    order: json.order === undefined ? null : orderOf(json.order, graph),
    overwrite: json.overwrite === true,
    files: filesOf(json.files),
  };
}

/** @param {unknown} order @param {Graph} graph @returns {readonly number[]} */
function orderOf(order, graph) {
  const expected = new Set(swept(graph));
  const isOrder = Array.isArray(order) && order.length === expected.size && new Set(order).size === order.length;
  if (!isOrder || !order.every((place) => expected.has(place))) throw new GraphError(say.noOrder);
  return order;
}

/** @param {unknown} files @returns {Map<string, readonly string[]>} */
function filesOf(files) {
  const entries = isObject(files) ? Object.entries(files) : [];
  return new Map(entries.map(([name, text]) => [name, String(text).replace(/\r?\n$/, "").split(/\r\n|\r|\n/)]));
}

/** @param {unknown} item @returns {item is Record<string, unknown>} */
function isObject(item) {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}
