// Reads walks and graphs from a page's own data, a notebook, or a file that the reader opens.

import { files as say } from "../languages/languages.js";
import { Graph, GraphError } from "../core/graph.js";
import { swept } from "../walk/steps.js";
import { passesOf } from "./passes.js";

const VERSION = 1;

/** @typedef {ReadonlyMap<string, ReadonlyMap<number, string>>} Files lines by file name and line number, in order */

/**
 * @typedef {object} Document
 * @property {string} of what it shows: an expression or the name of a script
 * @property {Graph} graph
 * @property {readonly number[] | null} order order of the visits; null for the default order
 * @property {boolean} overwrite
 * @property {Files} files source lines of the program
 * @property {import("./passes.js").Passes} passes of the program that this walk is part of
 * @property {readonly Told[]} findings problems
 * @property {Facts | null} summary of a large graph
 */

/** A sentence about some nodes. @typedef {{ sentence: string, places: readonly number[] }} Told */

/**
 * Facts that Python found, as docs/walk.schema.json describes them.
 * @typedef {{ nodes: number, depth: number, parameters: number, largest: readonly { place: number, grad: number }[], zeros: readonly Told[] }} Facts
 */

/** Read the JSON of a graph or a walk. Throws `GraphError` for anything else. @param {string} text @returns {Document} */
export function read(text) {
  const json = parsed(text);
  if (isObject(json) && json.gradwalk === "walk") return walkOf(json);
  const graph = Graph.fromDocument(json);
  return { of: "", graph, order: null, overwrite: false, files: filesOf({}, graph), passes: passesOf({}, graph), findings: [], summary: null };
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
  if (json.version !== VERSION) throw new GraphError(say.version(JSON.stringify(json.version) ?? say.noVersion, VERSION));
  const graph = Graph.fromDocument(json.graph, json.groups, json.overview);
  return {
    of: typeof json.of === "string" ? json.of : "",
    graph,
    order: json.order === undefined ? null : orderOf(json.order, graph),
    overwrite: json.overwrite === true,
    files: filesOf(json.files, graph),
    passes: passesOf(json, graph),
    findings: toldIn(json.findings, graph),
    summary: factsIn(json.summary, graph),
  };
}

/** @param {unknown} order @param {Graph} graph @returns {readonly number[]} */
function orderOf(order, graph) {
  const expected = swept(graph);
  const isAwaited = new Uint8Array(graph.nodes.length);
  for (const place of expected) isAwaited[place] = 1;
  if (!Array.isArray(order) || order.length !== expected.length) throw new GraphError(say.noOrder);
  for (const place of order) {
    if (isAwaited[place] !== 1) throw new GraphError(say.noOrder);
    isAwaited[place] = 0;
  }
  return order.every((place, i) => place === expected[i]) ? expected : order;
}

/** Read sentences about nodes, without those that do not fit the graph. @param {unknown} items @param {Graph} graph @returns {readonly Told[]} */
function toldIn(items, graph) {
  if (!Array.isArray(items)) return [];
  const isKnown = (/** @type {unknown} */ place) => graph.nodes[Number(place)] !== undefined;
  return items.filter((item) => isObject(item) && typeof item.sentence === "string" && Array.isArray(item.places) && item.places.length && item.places.every(isKnown));
}

/** @param {unknown} facts @param {Graph} graph @returns {Facts | null} */
function factsIn(facts, graph) {
  if (!isObject(facts)) return null;
  const [nodes, depth, parameters] = [facts.nodes, facts.depth, facts.parameters].map(Number);
  const largest = Array.isArray(facts.largest) ? facts.largest.filter((item) => isObject(item) && graph.nodes[Number(item.place)]) : [];
  return { nodes, depth, parameters, largest, zeros: toldIn(facts.zeros, graph) };
}

/**
 * Collect source lines: all lines of the files in the document; of other files only the lines stored in nodes.
 * @param {unknown} files
 * @param {Graph} graph
 * @returns {Files}
 */
function filesOf(files, graph) {
  /** @type {Map<string, Map<number, string>>} */
  const found = new Map();
  const made = [...new Set(graph.nodes.map(({ source }) => source))].flatMap((source) => (source?.text ? [source] : []));
  for (const { file, line, text } of made.sort((one, other) => one.line - other.line)) {
    found.set(file, (found.get(file) ?? new Map()).set(line, text));
  }
  for (const [name, text] of isObject(files) ? Object.entries(files) : []) found.set(name, linesOf(String(text)));
  return found;
}

/** Split a text into lines by number, from 1. @param {string} text */
function linesOf(text) {
  const lines = text.replace(/\r?\n$/, "").split(/\r\n|\r|\n/);
  return new Map(lines.map((line, i) => [i + 1, line]));
}

/** @param {unknown} item @returns {item is Record<string, unknown>} */
function isObject(item) {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}
