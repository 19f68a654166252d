// A computation as a list of nodes, operands before results. A node's index in the list is called its `place`.

/** @import { Formula, Node, Row } from "../types.js" */
/** @import { Item } from "./reading.js" */

import { firstOf, withBrackets } from "./names.js";
import { graphErrors as say } from "../languages/languages.js";
import { columnNodes } from "./columns.js";
import { groupsIn } from "./groups.js";
import { listedNodes } from "./listed.js";
import { CONSTANT, GraphError, isItem, listed, readPlace, shown } from "./reading.js";
import { elementOf, forward, partial } from "./rules.js";

export { GraphError } from "./reading.js";

const [LISTED, COLUMNS] = [1, 2]; // versions of the JSON form

/** A number that remembers its operation and operands until `Graph.record` flattens them into a list. */
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
   * Apply an operation to Values and numbers. The result is a Value if any operand is one, else a number.
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
   * @param {number} root index of the root in `nodes`
   * @param {import("./groups.js").Groups | null} [groups] null if the nodes are not grouped
   */
  constructor(nodes, root, groups = null) {
    this.nodes = nodes;
    this.root = root;
    this.groups = groups;
  }

  /** Build the graph of a Value and everything it was computed from. @param {Value} root */
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
        grad: 0,
        source: null,
        byHand: false,
      };
      const numbers = operands.map((operand) => (operand instanceof Value ? operand.data : operand));
      return { ...node, partials: partialsOf(node, numbers, data) };
    });
    return new Graph(nodes, nodes.length - 1);
  }

  /**
   * Read a graph that Python wrote, in the format of docs/graph.schema.json. Throws a `GraphError` that names the
   * invalid part for anything else, and for a graph with several outputs.
   * @param {unknown} json @param {unknown} [groups] the groups of the nodes @param {unknown} [overview] a picture of the groups
   */
  static fromDocument(json, groups, overview) {
    const { nodes, root } = readGraph(json);
    return new Graph(nodes, root, groupsIn(groups, overview, nodes.length));
  }

  /**
   * Recompute the graph with new numbers in some of its leaves. Throws `GraphError` if a custom node depends on a
   * changed leaf, because only nodes with a rule in the table can be recomputed.
   * @param {ReadonlyMap<number, number>} changes new numbers by node index
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
    return new Graph(nodes, this.root, this.groups);
  }
}

/**
 * Return the operands that receive gradient from a node. Constants receive none, nor do inert positions such as the
 * condition of `where`. A custom backward rule does not distinguish the positions of a repeated operand, so only the
 * first of these positions counts.
 * @param {Node} node
 */
export function passing(node) {
  const found = [];
  for (let position = 0; position < node.operands.length; position++) {
    if (passes(node, position)) found.push({ position, place: node.operands[position] });
  }
  return found;
}

/** Return whether the operand at a position receives gradient from the node. @param {Node} node @param {number} position */
export function passes({ operands, row, gather, byHand }, position) {
  const place = operands[position];
  if (place === CONSTANT) return false;
  return byHand ? operands.indexOf(place) === position : !(row ?? gather)?.inert.includes(position);
}

/**
 * Return the formula of the local derivative at a position; null for leaves and custom nodes.
 * @param {Node} node
 * @param {number} position
 */
export function formulaOf(node, position) {
  const { row, reduction, gather } = node;
  if (row) return row.formulas[position];
  if (gather) return gatherFormula(position, node.operands.length);
  if (!reduction) return null;
  if (position < reduction.starts) return reduction.startFormula;
  return reduction.formulas[elementOf(node, position, node.operands.length).indexOf(position)];
}

/**
 * Build the local derivative of a table lookup: 1 if the index x selects this operand (counted from either end), else
 * 0.
 * @param {number} position
 * @param {number} count of operands, the index included
 * @returns {Formula}
 */
function gatherFormula(position, count) {
  if (position === 0) return 0;
  return ["where", ["==", "x", position - 1], 1, ["where", ["==", "x", position - count], 1, 0]];
}

/**
 * Return whether an operation, such as `where` or `maximum`, returns one of its operands and ignores the rest.
 * @param {Node} node
 */
export function selects({ row, reduction, gather }) {
  return (row ?? reduction ?? gather)?.selects ?? false;
}

/** Sort a Value and all Values it was computed from topologically, operands first and in order. @param {Value} root */
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
 * Make names unique: a label gets a number if an earlier node has the same label; nodes without a label are called v1,
 * v2, ... by index. Indices of labels are written in brackets.
 * @param {readonly string[]} given labels
 */
function uniqueNames(given) {
  const labels = given.map(withBrackets);
  const wanted = labels.map((label, place) => label || `v${place + 1}`);
  const taken = new Set(labels.filter(Boolean));
  const isFree = !labels.some((label) => /^v[0-9]+$/u.test(label)); // no label is like the name of a node without a label
  /** @type {Map<string, number>} */
  const uses = new Map();
  return wanted.map((name, place) => {
    if ((isFree && !labels[place]) || !taken.has(name)) return name; // such as v7, if no label is v7
    let use = (uses.get(name) ?? 0) + 1;
    uses.set(name, use);
    if (use === 1) return name;
    while (taken.has(`${name} (${use})`)) use += 1;
    taken.add(`${name} (${use})`);
    return `${name} (${use})`;
  });
}

/** Return the numbers of a node's operands. @param {Node} node @param {readonly number[]} data numbers by node index */
function numbersOf({ operands, constants }, data) {
  return operands.map((place, position) => (place === CONSTANT ? constants[position] : data[place]));
}

/**
 * Compute the local derivatives of a node's operation, by position; NaN for constants.
 * @param {Node} node
 * @param {readonly number[]} numbers of its operands
 * @param {number} out
 */
function partialsOf(node, numbers, out) {
  return node.operands.map((place, position) => (place === CONSTANT ? NaN : partial(node, position, numbers, out)));
}

/** @param {unknown} json */
function readGraph(json) {
  const document = /** @type {Item} */ (json);
  if (!isItem(json) || document.gradwalk !== "graph") throw new GraphError(say.notAGraph);
  const { version } = document;
  if (version !== LISTED && version !== COLUMNS) throw new GraphError(say.otherVersion(shown(version), LISTED, COLUMNS));
  const nodes = version === LISTED ? listedNodes(document) : columnNodes(document);
  const names = uniqueNames(nodes.map((node) => node.label));
  for (const node of nodes) node.name = names[node.place];
  const outputs = listed(document, "outputs", say.theGraph).map((place) => readPlace(place, say.anOutput));
  const outside = outputs.find((place) => place >= nodes.length);
  if (outside !== undefined) throw new GraphError(say.outputOutside(outside, nodes.length));
  if (outputs.length === 0) throw new GraphError(say.noOutput);
  if (outputs.length > 1) throw new GraphError(say.severalOutputs(outputs.length, firstOf(outputs.map((place) => names[place]))));
  return new Graph(nodes, outputs[0]);
}
