// A computation as a list of nodes, operands before results. A node is known by its place in it: 0 for the first.

/** @import { Formula, Gather, Node, Reduction, Row, SourceLine } from "../types.js" */

import { graphErrors as say, operations } from "../languages/languages.js";
import { toNumber } from "./numbers.js";
import { BY_NAME, GATHER_BY_NAME, REDUCTION_BY_NAME } from "./table.js";

const VERSION = 1; // of the JSON form
const CONSTANT = -1; // in place of an operand's place
const LONGEST_TEXT = 200; // letters of a line of the program
const KEYS = ["by_hand", "data", "grad", "label", "operands", "operation", "partials", "scope", "source", "symbol"];

/** What is wrong with a graph, and at which node. */
export class GraphError extends Error {
  name = "GraphError";
}

/** A number that remembers what it was made from, until `Graph.record` lays it out flat. */
export class Value {
  /**
   * @param {number} data
   * @param {string} label
   * @param {Row | null} row
   * @param {readonly (Value | number)[]} operands
   */
  constructor(data, label, row = null, operands = []) {
    this.data = data;
    this.label = label;
    this.row = row;
    this.operands = operands;
  }

  /**
   * An operation on Values and numbers: a Value if any operand is one, else a number.
   * @param {Row} row
   * @param {readonly (Value | number)[]} operands
   */
  static apply(row, operands) {
    const [x, y, z] = operands.map((operand) => (operand instanceof Value ? operand.data : operand));
    const data = row.forward(x, y, z);
    return operands.some((operand) => operand instanceof Value) ? new Value(data, "", row, operands) : data;
  }
}

export class Graph {
  /**
   * @param {readonly Node[]} nodes
   * @param {number} root its place
   */
  constructor(nodes, root) {
    this.nodes = nodes;
    this.root = root;
  }

  /**
   * What a Value was made from, and it.
   * @param {Value} root
   */
  static record(root) {
    const values = operandsFirst(root);
    const places = new Map(values.map((value, place) => [value, place]));
    const names = uniqueNames(values.map((value) => value.label));
    const nodes = values.map(({ data, label, row, operands }, place) => {
      const node = {
        place,
        name: names[place],
        label,
        operation: row?.name ?? "",
        row,
        reduction: null,
        gather: null,
        symbol: row?.symbol ?? "",
        operands: operands.map((operand) => (operand instanceof Value ? Number(places.get(operand)) : CONSTANT)),
        constants: operands.map((operand) => (operand instanceof Value ? NaN : operand)),
        partials: /** @type {number[]} */ ([]),
        data,
        source: null,
        byHand: false,
        scope: "",
      };
      const numbers = operands.map((operand) => (operand instanceof Value ? operand.data : operand));
      return { ...node, partials: partialsOf(node, numbers, data) };
    });
    return new Graph(nodes, nodes.length - 1);
  }

  /**
   * The graph that Python wrote, as docs/graph.schema.json has it. Throws `GraphError` for anything else, and for a
   * graph of several outputs, saying where it stops making sense.
   * @param {unknown} json
   */
  static fromDocument(json) {
    return readGraph(json);
  }

  /**
   * The same computation with other numbers in some of its leaves. Throws `GraphError` where a node that was made by
   * hand depends on one: there is no rule to compute it by.
   * @param {ReadonlyMap<number, number>} changes by place
   */
  withData(changes) {
    const data = this.nodes.map((node) => node.data);
    const changed = new Uint8Array(data.length);
    const nodes = this.nodes.map((node) => {
      const given = changes.get(node.place);
      if (given === undefined && !node.operands.some((place) => changed[place])) return node;
      changed[node.place] = 1;
      if (given !== undefined) {
        data[node.place] = given;
        return { ...node, data: given };
      }
      if (node.operation === "" || node.byHand) throw new GraphError(say.madeByHand(node.name, node.byHand));
      const numbers = numbersOf(node, data);
      data[node.place] = forward(node, numbers);
      return { ...node, data: data[node.place], partials: partialsOf(node, numbers, data[node.place]) };
    });
    return new Graph(nodes, this.root);
  }
}

/**
 * The operands that a node passes its gradient to. Not to constants, nor to those at inert positions of its row, such
 * as the condition of `where`. A rule made by hand does not tell the places of one operand apart: it passes to the
 * first of them.
 * @param {Node} node
 */
export function passing({ operands, row, gather, byHand }) {
  return operands
    .map((place, position) => ({ position, place }))
    .filter(({ position, place }) => {
      const isInert = byHand ? operands.indexOf(place) < position : (row ?? gather)?.inert.includes(position);
      return place !== CONSTANT && !isInert;
    });
}

/**
 * The positions of the operands that the derivative at a position calls x, y and z: all of them, or for a reduction
 * those of the same element; of what is taken from a table, the index. Its start, if it has one, is in no element.
 * @param {Node} node
 * @param {number} position
 */
export function elementOf({ reduction, gather, operands }, position) {
  if (gather) return [0];
  if (!reduction) return operands.map((_, i) => i);
  const { groups, starts } = reduction;
  if (position < starts) return [];
  const length = (operands.length - starts) / groups;
  const first = starts + ((position - starts) % length);
  return Array.from({ length: groups }, (_, group) => first + group * length);
}

/**
 * The local derivative at a position as a formula; null for nodes that have no rule of the table.
 * @param {Node} node
 * @param {number} position
 */
export function formulaOf(node, position) {
  const { row, reduction, gather } = node;
  if (row) return row.formulas[position];
  if (gather) return gatherFormula(position, node.operands.length);
  if (!reduction) return null;
  if (position < reduction.starts) return reduction.startFormula;
  return reduction.formulas[elementOf(node, position).indexOf(position)];
}

/**
 * The local derivative of what is taken from a table: 1 where the index x picks the operand, counted from either end.
 * @param {number} position
 * @param {number} count of operands, the index included
 * @returns {Formula}
 */
function gatherFormula(position, count) {
  if (position === 0) return 0;
  return ["where", ["==", "x", position - 1], 1, ["where", ["==", "x", position - count], 1, 0]];
}

/**
 * Whether an operation passes on some of its operands and leaves out the others.
 * @param {Node} node
 */
export function selects({ row, reduction, gather }) {
  return (row ?? reduction ?? gather)?.selects ?? false;
}

/**
 * What a Value was made from, operands from first to last and before what was made from them, and it.
 * @param {Value} root
 */
function operandsFirst(root) {
  const opened = new Set();
  /** @type {Set<Value>} */
  const closed = new Set();
  const pending = [root];
  while (pending.length > 0) {
    const value = pending[pending.length - 1];
    if (opened.has(value)) {
      pending.pop();
      closed.add(value);
    } else {
      opened.add(value);
      for (const operand of value.operands.toReversed()) {
        if (operand instanceof Value && !opened.has(operand)) pending.push(operand);
      }
    }
  }
  return [...closed];
}

/**
 * A name of its own for every node: its label, with a number where an earlier node has the same; for those without,
 * v1, v2 and so on, by place.
 * @param {readonly string[]} labels
 */
function uniqueNames(labels) {
  const wanted = labels.map((label, place) => label || `v${place + 1}`);
  const taken = new Set(wanted);
  /** @type {Map<string, number>} */
  const uses = new Map();
  return wanted.map((name) => {
    let use = (uses.get(name) ?? 0) + 1;
    uses.set(name, use);
    if (use === 1) return name;
    while (taken.has(`${name} (${use})`)) use += 1;
    taken.add(`${name} (${use})`);
    return `${name} (${use})`;
  });
}

/**
 * The numbers of a node's operands.
 * @param {Node} node
 * @param {readonly number[]} data by place
 */
function numbersOf({ operands, constants }, data) {
  return operands.map((place, position) => (place === CONSTANT ? constants[position] : data[place]));
}

/**
 * What a node's operation gives for numbers of its operands.
 * @param {Node} node
 * @param {readonly number[]} numbers
 */
export function forward({ row, reduction, gather }, numbers) {
  if (row) return row.forward(numbers[0], numbers[1], numbers[2]);
  if (gather) return numbers[picked(numbers)] ?? NaN;
  if (!reduction) return NaN;
  const { groups, starts, first, step } = reduction;
  const length = (numbers.length - starts) / groups;
  let total = starts ? numbers[0] : first;
  for (let i = starts; i < starts + length; i += 1) {
    total = step(total, numbers[i], numbers[i + length], numbers[i + 2 * length]);
  }
  return total;
}

/**
 * The position of the operand that an index picks, which is the first of the numbers; 0 or -1 where it is none.
 * @param {readonly number[]} numbers
 */
function picked([index, ...table]) {
  const at = index < 0 ? index + table.length : index;
  return at in table ? at + 1 : -1;
}

/**
 * The local derivatives of a node's operation, by position.
 * @param {Node} node
 * @param {readonly number[]} numbers of its operands
 * @param {number} out
 */
function partialsOf(node, numbers, out) {
  const { row, reduction, gather, operands } = node;
  return operands.map((place, position) => {
    if (place === CONSTANT) return NaN;
    if (row) return row.partials[position](numbers[0], numbers[1], numbers[2], out);
    if (gather) return position === picked(numbers) ? 1 : 0;
    if (!reduction) return NaN;
    if (position < reduction.starts) return reduction.startPartial?.(out) ?? NaN;
    const element = elementOf(node, position);
    const [x, y, z] = element.map((i) => numbers[i]);
    return reduction.partials[element.indexOf(position)](x, y, z, out);
  });
}

// Reading JSON

/** @typedef {Record<string, unknown>} Item */

/** @param {unknown} json */
function readGraph(json) {
  const document = /** @type {Item} */ (json);
  if (!isItem(json) || document.gradwalk !== "graph") throw new GraphError(say.notAGraph);
  if (document.version !== VERSION) throw new GraphError(say.otherVersion(shown(document.version), VERSION));
  refuseUnknown(document, ["gradwalk", "nodes", "outputs", "version"], say.theGraph);
  const read = listed(document, "nodes", say.theGraph).map(readNode);
  const names = uniqueNames(read.map((node) => node.label));
  const nodes = read.map((node, place) => ({ ...node, name: names[place] }));
  const outputs = listed(document, "outputs", say.theGraph).map((place) => readPlace(place, say.anOutput));
  const outside = outputs.find((place) => place >= nodes.length);
  if (outside !== undefined) throw new GraphError(say.outputOutside(outside, nodes.length));
  if (outputs.length === 0) throw new GraphError(say.noOutput);
  if (outputs.length > 1) throw new GraphError(say.severalOutputs(outputs.map((place) => names[place])));
  return new Graph(nodes, outputs[0]);
}

/**
 * A node, as yet without a name.
 * @param {unknown} given
 * @param {number} place
 * @returns {Node}
 */
function readNode(given, place) {
  const where = say.nodeAt(place);
  if (!isItem(given)) throw new GraphError(say.notAnObject(where, shown(given)));
  refuseUnknown(given, KEYS, where);
  if ("operation" in given && "symbol" in given) throw new GraphError(say.operationAndSymbol(where));
  const operation = "operation" in given ? given.operation : "";
  const row = BY_NAME.get(String(operation)) ?? null;
  const reduction = REDUCTION_BY_NAME.get(String(operation)) ?? null;
  const gather = GATHER_BY_NAME.get(String(operation)) ?? null;
  if (typeof operation !== "string" || !(row || reduction || gather || operation === "")) {
    throw new GraphError(say.unknownOperation(where, shown(operation)));
  }
  const part = /** @param {keyof typeof say.parts} key */ (key) => say.partOf(say.parts[key], where);
  const read = readOperands(given, where);
  checkOperands(read.operands, row ?? reduction ?? gather, place, "symbol" in given);
  readNumber(given.grad, part("gradient"));
  for (const key of /** @type {const} */ (["label", "scope"])) {
    if (given[key] === "") throw new GraphError(say.empty(part(key)));
  }
  if ("by_hand" in given && given.by_hand !== true) throw new GraphError(say.badByHand(where, shown(given.by_hand)));
  return {
    place,
    name: "",
    label: "label" in given ? readText(given.label, part("label")) : "",
    operation,
    row,
    reduction,
    gather,
    symbol:
      "symbol" in given ? readText(given.symbol, part("symbol")) : ((row ?? reduction ?? gather)?.symbol ?? operation),
    ...read,
    data: readNumber(given.data, part("data")),
    source: "source" in given ? readSource(given.source, where) : null,
    byHand: "by_hand" in given,
    scope: "scope" in given ? readText(given.scope, part("scope")) : "",
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

/**
 * Throw where a node has not as many operands as its operation takes, or one that is no earlier node.
 * @param {readonly number[]} operands
 * @param {Row | Reduction | Gather | null} row
 * @param {number} place
 * @param {boolean} hasSymbol
 */
function checkOperands(operands, row, place, hasSymbol) {
  const where = say.nodeAt(place);
  const count = operands.length;
  if (row === null && count > 0 && !hasSymbol) throw new GraphError(say.noOperation(where, count));
  if (row !== null && !accepts(row, count)) {
    throw new GraphError(say.miscounted(where, row.name, "arity" in row ? row.arity : operations.takes(row.takes), count));
  }
  const later = operands.find((operand) => operand >= place);
  if (later !== undefined) throw new GraphError(say.notEarlier(where, later));
}

/**
 * Whether a row takes so many operands.
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
function refuseUnknown(given, known, where) {
  const [unknown] = Object.keys(given).filter((key) => !known.includes(key)).sort();
  if (unknown !== undefined) throw new GraphError(say.unknownKey(where, unknown, known));
}

/**
 * @param {Item} given
 * @param {string} key
 * @param {string} where
 * @returns {unknown[]}
 */
function listed(given, key, where) {
  const list = given[key];
  if (!Array.isArray(list)) throw new GraphError(say.noList(where, key));
  return list;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
function readPlace(given, what) {
  if (typeof given !== "number" || !Number.isInteger(given) || given < 0 || given >= 2 ** 31) {
    throw new GraphError(say.notAPlace(what, shown(given)));
  }
  return given;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
function readNumber(given, what) {
  if (given === "nan" || given === "inf" || given === "-inf") return toNumber(given);
  if (typeof given !== "number") throw new GraphError(say.notANumber(what, shown(given)));
  if (!Number.isFinite(given)) throw new GraphError(say.tooLarge(what));
  return given;
}

/**
 * @param {unknown} given
 * @param {string} what
 */
function readText(given, what) {
  if (typeof given !== "string") throw new GraphError(say.notAText(what, shown(given)));
  return given;
}

/**
 * The line that made a node. Documents of earlier versions have no text there.
 * @param {unknown} given
 * @param {string} where
 * @returns {SourceLine}
 */
function readSource(given, where) {
  if (!isItem(given) || !["file,line", "file,line,text"].includes(Object.keys(given).sort().join())) {
    throw new GraphError(say.badSource(where, shown(given)));
  }
  const line = readPlace(given.line, say.partOf(say.parts.line, where));
  const text = "text" in given ? readText(given.text, say.partOf(say.parts.text, where)) : "";
  const letters = [...text].length; // as Python counts them
  if (letters > LONGEST_TEXT) throw new GraphError(say.longText(where, letters, LONGEST_TEXT));
  return { file: readText(given.file, say.partOf(say.parts.file, where)), line, text };
}

/**
 * @param {unknown} given
 * @returns {given is Item}
 */
function isItem(given) {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

const MOST_SHOWN = 80; // letters of a wrong entry

/** A wrong entry, for a message. @param {unknown} given */
function shown(given) {
  if (Array.isArray(given)) return say.aList(given.length);
  if (isItem(given)) return "an object";
  const text = JSON.stringify(given) ?? say.missing;
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}
