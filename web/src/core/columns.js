// Read the column form of docs/graph.schema.json, which is fast to parse: arrays of numbers as base64 bytes, and sparse
// lists of the properties that only some nodes have.

/** @import { Node } from "../types.js" */
/** @import { Item } from "./reading.js" */

import { graphErrors as say } from "../languages/languages.js";
import { checkOperands, CONSTANT, GraphError, isItem, listed, readSource, readText, refuseUnknown, rowsOf } from "./reading.js";

const NUMBERS = ["data", "grad", "offsets", "opcodes", "operands", "partials"];
const NOTES = ["labels", "scopes", "sources", "symbols"];
/** Lists of constants of nodes that have none, by number of operands. @type {(readonly number[])[]} */
const WITHOUT = [];
const KEYS = ["by_hand", "gradwalk", "operations", "outputs", "version", ...NUMBERS, ...NOTES].sort();

/** Read the nodes of a document; names are added later. @param {Item} document @returns {readonly Node[]} */
export function columnNodes(document) {
  refuseUnknown(document, KEYS, say.theGraph);
  const rows = listed(document, "operations", say.theGraph).map((name) => rowsOf(name, say.theGraph));
  const opcodes = integers(document, "opcodes");
  const [offsets, operands] = [integers(document, "offsets"), integers(document, "operands")];
  const [partials, data, grad] = [floats(document, "partials"), floats(document, "data"), floats(document, "grad")];
  const size = opcodes.length;
  checkLengths({ offsets, data, grad, partials, operands }, size);
  const labels = noted(document, "labels", size, readText);
  noted(document, "scopes", size, readText); // only Python uses them
  const symbols = noted(document, "symbols", size, readText);
  const sources = noted(document, "sources", size, readSource);
  const byHand = new Set(integers(document, "by_hand"));
  return Array.from(opcodes, (opcode, place) => {
    const kind = rows[opcode];
    if (!kind) throw new GraphError(say.badColumn("opcodes"));
    const own = edgesOf(operands, partials, offsets[place], offsets[place + 1]);
    const row = kind.row ?? kind.reduction ?? kind.gather;
    const symbol = symbols[place];
    checkOperands(own.operands, row, place, symbol !== undefined);
    return {
      place,
      name: "",
      label: labels[place] ?? "",
      operation: kind.operation,
      row: kind.row,
      reduction: kind.reduction,
      gather: kind.gather,
      symbol: symbol ?? row?.symbol ?? "",
      operands: own.operands,
      constants: own.constants,
      partials: own.partials,
      data: data[place],
      grad: grad[place],
      source: sources[place] ?? null,
      byHand: byHand.has(place),
    };
  });
}

/**
 * Throw if the lengths of the columns do not match the number of nodes and operands.
 * @param {{ offsets: Int32Array, operands: Int32Array, partials: Float64Array, data: Float64Array, grad: Float64Array }} columns
 * @param {number} size number of nodes
 */
function checkLengths({ offsets, data, grad, partials, operands }, size) {
  if (data.length !== size) throw new GraphError(say.badColumn("data"));
  if (grad.length !== size) throw new GraphError(say.badColumn("grad"));
  if (partials.length !== operands.length) throw new GraphError(say.badColumn("partials"));
  const isWhole = offsets.length === size + 1 && offsets[0] === 0 && offsets[size] === operands.length;
  if (!isWhole || offsets.some((offset, i) => offset < offsets[i - 1])) throw new GraphError(say.badColumn("offsets"));
}

/**
 * Read the operands of a node. The value of a constant is stored in the partials column.
 * @param {Int32Array} places @param {Float64Array} locals @param {number} start @param {number} end
 */
function edgesOf(places, locals, start, end) {
  const count = end - start;
  const [operands, partials] = [new Array(count), new Array(count)];
  /** @type {readonly number[]} nodes without constants share one list */
  let constants = (WITHOUT[count] ??= new Array(count).fill(NaN));
  for (let i = 0; i < count; i++) {
    const [place, local] = [places[start + i], locals[start + i]];
    if (place < CONSTANT) throw new GraphError(say.badColumn("operands"));
    operands[i] = place;
    partials[i] = place === CONSTANT ? NaN : local;
    if (place === CONSTANT) constants = constants.with(i, local);
  }
  return { operands, constants, partials };
}

/**
 * Expand a sparse property into a list by node index.
 * @template T @param {Item} document @param {string} key @param {number} size @param {(item: unknown, what: string) => T} reader
 * @returns {readonly (T | undefined)[]}
 */
function noted(document, key, size, reader) {
  const notes = document[key];
  if (!isItem(notes)) throw new GraphError(say.badColumn(key));
  refuseUnknown(notes, ["items", "nodes", "which"], key);
  const items = listed(notes, "items", key).map((item) => reader(item, key));
  const [nodes, which] = [integers(notes, "nodes"), integers(notes, "which")];
  const isEmpty = key !== "symbols" && items.some((item) => /** @type {unknown} */ (item) === "");
  const isAstray = nodes.some((place) => place < 0 || place >= size) || which.some((i) => i < 0 || i >= items.length);
  if (isEmpty || isAstray || nodes.length !== which.length) throw new GraphError(say.badColumn(key));
  const found = new Array(size);
  nodes.forEach((place, i) => (found[place] = items[which[i]]));
  return found;
}

/** @param {Item} document @param {string} key */
export function integers(document, key) {
  return new Int32Array(bytes(document, key, Int32Array.BYTES_PER_ELEMENT));
}

/** @param {Item} document @param {string} key */
function floats(document, key) {
  return new Float64Array(bytes(document, key, Float64Array.BYTES_PER_ELEMENT));
}

/**
 * Read the bytes of a column, which are little-endian, as on all machines that run a browser.
 * @param {Item} document @param {string} key @param {number} size bytes per number
 */
function bytes(document, key, size) {
  const letters = decoded(document[key]);
  if (letters === null || letters.length % size) throw new GraphError(say.badColumn(key));
  const found = new Uint8Array(letters.length);
  for (let i = 0; i < found.length; i++) found[i] = letters.charCodeAt(i);
  return found.buffer;
}

/** Decode base64 to a string of bytes; null if it is invalid. @param {unknown} text */
function decoded(text) {
  try {
    return typeof text === "string" ? atob(text) : null;
  } catch {
    return null;
  }
}
