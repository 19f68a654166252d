// Read the node-list form of docs/graph.schema.json, which is easy for people to read.

/** @import { Node } from "../types.js" */
/** @import { Item } from "./reading.js" */

import { graphErrors as say } from "../languages/languages.js";
import {
  checkOperands,
  CONSTANT,
  GraphError,
  isItem,
  listed,
  readNumber,
  readPlace,
  readSource,
  readText,
  refuseUnknown,
  rowsOf,
  shown,
} from "./reading.js";

const KEYS = ["by_hand", "data", "grad", "label", "operands", "operation", "partials", "scope", "source", "symbol"];

/** Read the nodes of a document; names are added later. @param {Item} document @returns {readonly Node[]} */
export function listedNodes(document) {
  refuseUnknown(document, ["gradwalk", "nodes", "outputs", "version"], say.theGraph);
  return listed(document, "nodes", say.theGraph).map(readNode);
}

/** Read a node; its name is added later. @param {unknown} given @param {number} place @returns {Node} */
function readNode(given, place) {
  const where = say.nodeAt(place);
  if (!isItem(given)) throw new GraphError(say.notAnObject(where, shown(given)));
  refuseUnknown(given, KEYS, where);
  if ("operation" in given && "symbol" in given) throw new GraphError(say.operationAndSymbol(where));
  const rows = rowsOf("operation" in given ? given.operation : "", where);
  const row = rows.row ?? rows.reduction ?? rows.gather;
  const part = /** @param {keyof typeof say.parts} key */ (key) => say.partOf(say.parts[key], where);
  const read = readOperands(given, where);
  checkOperands(read.operands, row, place, "symbol" in given);
  for (const key of /** @type {const} */ (["label", "scope"])) {
    if (given[key] === "") throw new GraphError(say.empty(part(key)));
    if (key in given) readText(given[key], part(key));
  }
  if ("by_hand" in given && given.by_hand !== true) throw new GraphError(say.badByHand(where, shown(given.by_hand)));
  return {
    place,
    name: "",
    label: "label" in given ? readText(given.label, part("label")) : "",
    ...rows,
    symbol: "symbol" in given ? readText(given.symbol, part("symbol")) : (row?.symbol ?? ""),
    ...read,
    data: readNumber(given.data, part("data")),
    grad: readNumber(given.grad, part("gradient")),
    source: "source" in given ? readSource(given.source, where) : null,
    byHand: "by_hand" in given,
  };
}

/**
 * @param {Item} node
 * @param {string} where
 */
function readOperands(node, where) {
  const operands = "operands" in node ? listed(node, "operands", where) : [];
  const partials = "partials" in node ? listed(node, "partials", where) : [];
  if (operands.length !== partials.length) {
    throw new GraphError(say.unequalLists(where, operands.length, partials.length));
  }
  const part = /** @param {keyof typeof say.parts} key */ (key) => say.partOf(say.parts[key], where);
  const constants = operands.map((operand, position) => {
    if (!isItem(operand)) return NaN;
    refuseUnknown(operand, ["constant"], part("constant"));
    if (partials[position] !== null) throw new GraphError(say.constantWithPartial(where, shown(partials[position])));
    return readNumber(operand.constant, part("constant"));
  });
  return {
    operands: operands.map((operand) => (isItem(operand) ? CONSTANT : readPlace(operand, part("operand")))),
    constants,
    partials: operands.map((operand, i) => (isItem(operand) ? NaN : readNumber(partials[i], part("partial")))),
  };
}
