// Readers for the parts of a graph's JSON forms. They throw `GraphError` for invalid input.

/** @import { Gather, Reduction, Row, SourceLine } from "../types.js" */

import { graphErrors as say, operations } from "../languages/languages.js";
import { toNumber } from "./numbers.js";
import { BY_NAME, GATHER_BY_NAME, REDUCTION_BY_NAME } from "./table.js";

/** @typedef {Record<string, unknown>} Item */

export const CONSTANT = -1; // replaces the index of an operand that is a constant
const LONGEST_TEXT = 200; // characters in a source line

/** An invalid graph document; the message names the node. */
export class GraphError extends Error {
  name = "GraphError";
}

/**
 * Look up an operation among the table's rows, reductions and gathers; all three are null for leaves and custom nodes.
 * @param {unknown} operation @param {string} where
 */
export function rowsOf(operation, where) {
  const name = String(operation);
  const row = BY_NAME.get(name) ?? null;
  const reduction = REDUCTION_BY_NAME.get(name) ?? null;
  const gather = GATHER_BY_NAME.get(name) ?? null;
  if (typeof operation !== "string" || !(row || reduction || gather || operation === "")) {
    throw new GraphError(say.unknownOperation(where, shown(operation)));
  }
  return { operation, row, reduction, gather };
}

/**
 * Throw if a node has the wrong number of operands for its operation, or an operand that is not an earlier node.
 * @param {readonly number[]} operands
 * @param {Row | Reduction | Gather | null} row
 * @param {number} place
 * @param {boolean} hasSymbol
 */
export function checkOperands(operands, row, place, hasSymbol) {
  const count = operands.length;
  if (row === null && count > 0 && !hasSymbol) throw new GraphError(say.noOperation(say.nodeAt(place), count));
  if (row !== null && !accepts(row, count)) {
    const takes = "arity" in row ? row.arity : operations.takes(row.takes);
    throw new GraphError(say.miscounted(say.nodeAt(place), row.name, takes, count));
  }
  for (const operand of operands) if (operand >= place) throw new GraphError(say.notEarlier(say.nodeAt(place), operand));
}

/**
 * Return whether an operation accepts this number of operands.
 * @param {Row | Reduction | Gather} row
 * @param {number} count
 */
function accepts(row, count) {
  if ("arity" in row) return count === row.arity;
  if (!("groups" in row)) return count > 1;
  return count > 0 && (count - row.starts) % row.groups === 0;
}

/**
 * @param {Item} given
 * @param {readonly string[]} known
 * @param {string} where
 */
export function refuseUnknown(given, known, where) {
  const [unknown] = Object.keys(given).filter((key) => !known.includes(key)).sort();
  if (unknown !== undefined) throw new GraphError(say.unknownKey(where, unknown, known));
}

/**
 * @param {Item} given
 * @param {string} key
 * @param {string} where
 * @returns {unknown[]}
 */
export function listed(given, key, where) {
  const list = given[key];
  if (!Array.isArray(list)) throw new GraphError(say.noList(where, key));
  return list;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
export function readPlace(given, what) {
  if (typeof given !== "number" || !Number.isInteger(given) || given < 0 || given >= 2 ** 31) {
    throw new GraphError(say.notAPlace(what, shown(given)));
  }
  return given;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
export function readNumber(given, what) {
  if (given === "nan" || given === "inf" || given === "-inf") return toNumber(given);
  if (typeof given !== "number") throw new GraphError(say.notANumber(what, shown(given)));
  if (!Number.isFinite(given)) throw new GraphError(say.tooLarge(what));
  return given;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
export function readText(given, what) {
  if (typeof given !== "string") throw new GraphError(say.notAText(what, shown(given)));
  return given;
}

/**
 * Read the source line that made a node. Its text is missing in documents of earlier versions.
 * @param {unknown} given
 * @param {string} where
 * @returns {SourceLine}
 */
export function readSource(given, where) {
  if (!isItem(given) || !["file,line", "file,line,text"].includes(Object.keys(given).sort().join())) {
    throw new GraphError(say.badSource(where, shown(given)));
  }
  const line = readPlace(given.line, say.partOf(say.parts.line, where));
  const text = "text" in given ? readText(given.text, say.partOf(say.parts.text, where)) : "";
  const letters = [...text].length; // counts code points, as Python does
  if (letters > LONGEST_TEXT) throw new GraphError(say.longText(where, letters, LONGEST_TEXT));
  return { file: readText(given.file, say.partOf(say.parts.file, where)), line, text };
}

/**
 * @param {unknown} given
 * @returns {given is Item}
 */
export function isItem(given) {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

const MOST_SHOWN = 80; // characters of an invalid entry

/** Format an invalid entry for an error message. @param {unknown} given */
export function shown(given) {
  if (Array.isArray(given)) return say.aList(given.length);
  if (isItem(given)) return "an object";
  const text = JSON.stringify(given) ?? say.missing;
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}
