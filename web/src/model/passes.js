// The passes of a program: each backward() call, with the gradients that leaves had before it.

import { Graph } from "../core/graph.js";
import { toNumber } from "../core/numbers.js";

/** @typedef {{ file: string, line: number, text: string }} Line */

/**
 * A gradient that a leaf had before a pass.
 * @typedef {object} Earlier
 * @property {number} place leaf's index
 * @property {number} grad .grad before the pass
 * @property {number} now .grad after the pass
 * @property {number} since first pass that contributed to it; 0 if it has other sources, too
 */

/**
 * One backward() call of a program.
 * @typedef {object} Pass
 * @property {number} number counted from 1
 * @property {number} data root's number, such as a loss
 * @property {number} nodes number of nodes
 * @property {Line | null} line line of the backward() call
 * @property {string} root file and line that made the root; "" if unknown
 * @property {readonly Earlier[]} earlier
 * @property {boolean} isKept whether its graph is in the document
 * @property {Graph | null} graph null if it is not in the document
 */

/**
 * @typedef {object} Passes
 * @property {readonly Pass[]} all passes in the document, in order
 * @property {number} count number of all passes
 * @property {number} own number of the pass of the document's graph; 0 for none
 */

/** Read the passes of a walk. @param {Record<string, unknown>} json @param {Graph} graph document's own @returns {Passes} */
export function passesOf(json, graph) {
  const own = Number(json.pass) || 0;
  const listed = Array.isArray(json.passes) ? json.passes.filter(isItem) : [];
  const all = listed.map((item) => passOf(item, item.number === own ? graph : null, json));
  return { all, count: Number(json.calls) || all.length, own };
}

/** @param {Item} item @param {Graph | null} own its graph, if already read @param {Item} walk @returns {Pass} */
function passOf(item, own, walk) {
  let graph = own;
  const nodes = /** @type {readonly { grad: unknown }[]} */ (own?.nodes ?? /** @type {Item} */ (item.graph)?.nodes ?? []);
  const earlier = Array.isArray(item.earlier) ? item.earlier.filter(isItem) : [];
  return {
    number: Number(item.number),
    data: numberOf(item.data),
    nodes: Number(item.nodes),
    line: lineOf(item.line),
    root: placeOf(lineOf(item.root)),
    earlier: earlier
      .filter(({ place }) => isItem(nodes[Number(place)]))
      .map(({ place, grad, since }) => ({
        place: Number(place),
        grad: numberOf(grad),
        now: numberOf(nodes[Number(place)].grad),
        since: Number(since) || 0,
      })),
    isKept: Boolean(graph ?? item.graph),
    get graph() {
      if (!graph && item.graph) graph = Graph.fromDocument(item.graph, item.groups, overviewOf(item, walk)); // read on first access
      return graph;
    },
  };
}

/** Return the overview of a walk if it also shows a pass: if both have the same groups. @param {Item} pass @param {Item} walk */
function overviewOf(pass, walk) {
  return JSON.stringify(pass.groups) === JSON.stringify(walk.groups) ? walk.overview : undefined;
}

/** Return the passes whose roots were made by the same line. @param {readonly Pass[]} all @param {Pass} pass */
export function alike(all, pass) {
  return pass.root ? all.filter(({ root }) => root === pass.root) : [pass];
}

/** Read a number from JSON; NaN if it is invalid. @param {unknown} given */
function numberOf(given) {
  return given === "inf" || given === "-inf" || typeof given === "number" ? toNumber(given) : NaN;
}

/** @param {unknown} given @returns {Line | null} */
function lineOf(given) {
  if (!isItem(given)) return null;
  return { file: String(given.file), line: Number(given.line), text: String(given.text ?? "") };
}

/** @param {Line | null} line */
function placeOf(line) {
  return line ? `${line.file}:${line.line}` : "";
}

/** @typedef {Record<string, unknown>} Item */

/** @param {unknown} given @returns {given is Item} */
function isItem(given) {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
