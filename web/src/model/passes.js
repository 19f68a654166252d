// The passes of a program: every backward() that it called, with what leaves had as gradients before it.

import { Graph } from "../core/graph.js";
import { toNumber } from "../core/numbers.js";

/** @typedef {{ file: string, line: number, text: string }} Line */

/**
 * A gradient that a leaf had before a pass.
 * @typedef {object} Earlier
 * @property {number} place of the leaf
 * @property {number} grad what .grad was
 * @property {number} now what .grad was after the pass
 * @property {number} since the first of the passes that it comes from; 0 where it does not come from passes alone
 */

/**
 * One backward() of a program.
 * @typedef {object} Pass
 * @property {number} number counted from 1
 * @property {number} data the root's number, such as a loss
 * @property {number} nodes how many
 * @property {Line | null} line that called backward()
 * @property {string} root where the root was made: the file and the line; "" where that is not known
 * @property {readonly Earlier[]} earlier
 * @property {boolean} isKept whether it has a graph
 * @property {Graph | null} graph null where it was not kept
 */

/**
 * @typedef {object} Passes
 * @property {readonly Pass[]} all those that were kept, in order
 * @property {number} count how many there were
 * @property {number} own the number of the one that the document's graph is of; 0 where there is none
 */

/** Read the passes of a walk. @param {Record<string, unknown>} json @param {Graph} graph the document's own @returns {Passes} */
export function passesOf(json, graph) {
  const own = Number(json.pass) || 0;
  const listed = Array.isArray(json.passes) ? json.passes.filter(isItem) : [];
  const all = listed.map((item) => passOf(item, item.number === own ? graph : null));
  return { all, count: Number(json.calls) || all.length, own };
}

/** @param {Item} item @param {Graph | null} own its graph, where the document has read that already @returns {Pass} */
function passOf(item, own) {
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
      if (!graph && item.graph) graph = Graph.fromDocument(item.graph); // when it is first looked at
      return graph;
    },
  };
}

/** The passes whose roots the same line made as that of a pass. @param {readonly Pass[]} all @param {Pass} pass */
export function alike(all, pass) {
  return pass.root ? all.filter(({ root }) => root === pass.root) : [pass];
}

/** A number of JSON; NaN for what is none. @param {unknown} given */
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
