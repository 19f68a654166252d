// A recorded program, and how it is run: both passes over arrays of numbers by node, for any operations of the table.
//
// A node's slot in the arrays is its number; the constants have the slots behind the nodes, so that an operand is
// always a slot. Operations that most of the time goes to are written out. They give the same bits as the table's.

import { forward, partial, picked } from "../core/rules.js";
import { BY_NAME, GATHER_BY_NAME, REDUCTION_BY_NAME } from "../core/table.js";

/** @import { Gather, Reduction, Row } from "../types.js" */

/**
 * @typedef {object} Columns by node
 * @property {readonly string[]} operations by kind
 * @property {Uint8Array} kinds
 * @property {Int32Array} offsets where a node's operands begin
 * @property {Int32Array} operands of all nodes: other nodes, or -1 less the place of a constant
 * @property {readonly number[]} constants
 * @property {readonly number[]} outputs
 * @property {readonly number[]} sums of the losses of the first places, by their number less 1
 * @property {Int32Array} lines of the source, from 1; 0 for none
 * @property {readonly string[]} scopes
 * @property {readonly string[]} names
 */

const [LEAF, ROW, REDUCTION, GATHER, ADD, MUL, SUMPROD] = Array(7).keys();
/** @type {ReadonlyMap<string, number>} */
const WRITTEN_OUT = new Map([["add", ADD], ["mul", MUL], ["sumprod", SUMPROD]]);

export class Program {
  /** @type {ReadonlyMap<string, number> | null} */
  #byName = null;
  /** @type {{ offsets: Int32Array, users: Int32Array, positions: Int32Array } | null} */
  #users = null;

  /** @param {Columns} columns @param {boolean} [isPlain] whether no operation runs as written out here */
  constructor(columns, isPlain = false) {
    this.columns = columns;
    this.size = columns.kinds.length;
    this.operations = columns.operations;
    this.kinds = columns.kinds;
    this.offsets = columns.offsets;
    this.operands = columns.operands.map((operand) => (operand < 0 ? this.size - 1 - operand : operand));
    this.constants = columns.constants;
    this.outputs = columns.outputs;
    this.root = columns.outputs[0];
    this.lines = columns.lines;
    this.scopes = columns.scopes;
    this.names = columns.names;
    this.rules = columns.operations.map((name) => ({
      row: BY_NAME.get(name) ?? null,
      reduction: REDUCTION_BY_NAME.get(name) ?? null,
      gather: GATHER_BY_NAME.get(name) ?? null,
    }));
    this.selecting = columns.operations.map((_, kind) => this.rowOfKind(kind)?.selects ?? false);
    this.inert = this.rules.map(({ row, gather }) => (row ?? gather)?.inert ?? []);
    this.ways = Uint8Array.from(columns.operations, (name, kind) => this.#way(name, kind, isPlain));
    this.end = this.size; // where nodes begin that are not in it, but for the root
  }

  /**
   * The loss of a name that fills so many places: what is computed for the first ones, and their mean.
   * @param {number} places
   */
  upTo(places) {
    const { offsets, sums, constants } = this.columns;
    const operands = this.columns.operands.slice();
    operands[offsets[this.root]] = sums[places - 1];
    const shorter = new Program({ ...this.columns, operands, constants: [...constants.slice(0, -1), places] });
    shorter.ways = this.ways;
    shorter.end = sums[places - 1] + 1;
    return shorter;
  }

  /** The number of the node of a name; -1 for none. @param {string} name */
  find(name) {
    this.#byName ??= new Map(this.names.map((own, node) => [own, node]));
    return this.#byName.get(name) ?? -1;
  }

  /** Numbers by slot, as yet of constants only. */
  numbers() {
    const data = new Float64Array(this.size + this.constants.length).fill(NaN);
    data.set(this.constants, this.size);
    return data;
  }

  /** Whether a node is in it. @param {number} node */
  has(node) {
    return node === this.root || (node >= 0 && node < this.end);
  }

  /** What the table says of a node; null for leaves. @param {number} node */
  rowOf(node) {
    return this.rowOfKind(this.kinds[node]);
  }

  /** @param {number} kind @returns {Row | Reduction | Gather | null} */
  rowOfKind(kind) {
    const { row, reduction, gather } = this.rules[kind];
    return row ?? reduction ?? gather;
  }

  /** The slots of a node's operands. @param {number} node */
  operandsOf(node) {
    return this.operands.subarray(this.offsets[node], this.offsets[node + 1]);
  }

  /** Run all nodes, whose leaves have their numbers. @param {Float64Array} data @returns {number} that of the root */
  forward(data) {
    this.run(data, 0, this.end);
    this.run(data, this.root, this.root + 1);
    return data[this.root];
  }

  /** Run some nodes. @param {Float64Array} data @param {number} from @param {number} to the first that is not run */
  run(data, from, to) {
    for (let node = from; node < to; node += 1) data[node] = this.#value(node, data);
  }

  /**
   * The derivatives of the root by each slot that it is made from; 0 for all others. Before, the gradients must be 0.
   * @param {Float64Array} data after the forward pass @param {Float64Array} grad
   * @param {Uint8Array} [reached] what has got something: nothing else passes anything on, not even of what is infinite
   */
  backward(data, grad, reached = new Uint8Array(grad.length)) {
    reached.fill(0);
    grad[this.root] = 1;
    reached[this.root] = 1;
    this.#passBack(this.root, data, grad, reached);
    for (let node = Math.min(this.end, this.root) - 1; node >= 0; node -= 1) {
      if (reached[node]) this.#passBack(node, data, grad, reached);
    }
  }

  /** The derivatives of a node by its operands, by position. @param {number} node @param {Float64Array} data */
  partialsOf(node, data) {
    return Float64Array.from(this.operandsOf(node), (_, position) => this.partial(node, position, data));
  }

  /** Whether a node may pass something to the operand at a position. @param {number} node @param {number} position */
  passes(node, position) {
    return !this.inert[this.kinds[node]].includes(position);
  }

  /** The nodes that a node passes its gradient to, and those it gets it from: users, the last ones first. @param {number} node */
  usersOf(node) {
    const { offsets, users, positions } = (this.#users ??= this.#indexed());
    return Array.from({ length: offsets[node + 1] - offsets[node] }, (_, i) => {
      return { node: users[offsets[node] + i], position: positions[offsets[node] + i] };
    });
  }

  /** @param {string} name @param {number} kind @param {boolean} isPlain */
  #way(name, kind, isPlain) {
    const written = WRITTEN_OUT.get(name);
    if (written !== undefined && !isPlain) return written;
    const { row, reduction, gather } = this.rules[kind];
    return row ? ROW : reduction ? REDUCTION : gather ? GATHER : LEAF;
  }

  // Forward

  /** @param {number} node @param {Float64Array} data */
  #value(node, data) {
    const { operands } = this;
    const begin = this.offsets[node];
    switch (this.ways[this.kinds[node]]) {
      case LEAF:
        return data[node];
      case ADD:
        return data[operands[begin]] + data[operands[begin + 1]];
      case MUL:
        return data[operands[begin]] * data[operands[begin + 1]];
      case SUMPROD:
        return this.#sumOfProducts(begin, this.offsets[node + 1], data);
      case ROW:
        return this.#rowValue(node, data);
      default:
        return forward(this.rules[this.kinds[node]], this.numbersOf(node, data));
    }
  }

  /** The numbers of a node's operands. @param {number} node @param {Float64Array} data */
  numbersOf(node, data) {
    return Array.from(this.operandsOf(node), (slot) => data[slot]);
  }

  /** @param {number} begin @param {number} end @param {Float64Array} data */
  #sumOfProducts(begin, end, data) {
    const { operands } = this;
    const length = (end - begin - 1) >> 1;
    let total = data[operands[begin]];
    for (let i = begin + 1; i <= begin + length; i += 1) total += data[operands[i]] * data[operands[i + length]];
    return total;
  }

  /** @param {number} node @param {Float64Array} data */
  #rowValue(node, data) {
    const row = /** @type {Row} */ (this.rules[this.kinds[node]].row);
    return row.forward(this.#operand(node, 0, data), this.#operand(node, 1, data), this.#operand(node, 2, data));
  }

  /** The number of an operand; for positions that the node does not have, of the last one. @param {number} node @param {number} position @param {Float64Array} data */
  #operand(node, position, data) {
    return data[this.operands[Math.min(this.offsets[node] + position, this.offsets[node + 1] - 1)]];
  }

  /** The position of the operand that the first one picks from those after it; below 1 for none. @param {number} node @param {Float64Array} data */
  picked(node, data) {
    return picked(this.numbersOf(node, data));
  }

  // Backward

  /** @param {number} node @param {Float64Array} data @param {Float64Array} grad @param {Uint8Array} reached */
  #passBack(node, data, grad, reached) {
    const { operands } = this;
    const [begin, end, upstream] = [this.offsets[node], this.offsets[node + 1], grad[node]];
    switch (this.ways[this.kinds[node]]) {
      case LEAF:
        return;
      case ADD:
        give(operands[begin], upstream, grad, reached);
        give(operands[begin + 1], upstream, grad, reached);
        return;
      case MUL:
        give(operands[begin], data[operands[begin + 1]] * upstream, grad, reached);
        give(operands[begin + 1], data[operands[begin]] * upstream, grad, reached);
        return;
      case SUMPROD:
        this.#passProducts(begin, end, upstream, data, grad, reached);
        return;
      case GATHER:
        this.#passPicked(node, data, grad, reached);
        return;
      default:
        this.#passByRule(node, data, grad, reached);
    }
  }

  /** @param {number} begin @param {number} end @param {number} upstream @param {Float64Array} data @param {Float64Array} grad @param {Uint8Array} reached */
  #passProducts(begin, end, upstream, data, grad, reached) {
    const { operands } = this;
    const length = (end - begin - 1) >> 1;
    give(operands[begin], upstream, grad, reached);
    for (let i = begin + 1; i <= begin + length; i += 1) give(operands[i], data[operands[i + length]] * upstream, grad, reached);
    for (let i = begin + 1; i <= begin + length; i += 1) give(operands[i + length], data[operands[i]] * upstream, grad, reached);
  }

  /** @param {number} node @param {Float64Array} data @param {Float64Array} grad @param {Uint8Array} reached */
  #passPicked(node, data, grad, reached) {
    const picked = this.picked(node, data);
    if (picked > 0) give(this.operands[this.offsets[node] + picked], grad[node], grad, reached);
  }

  /** @param {number} node @param {Float64Array} data @param {Float64Array} grad @param {Uint8Array} reached */
  #passByRule(node, data, grad, reached) {
    const [begin, end, upstream] = [this.offsets[node], this.offsets[node + 1], grad[node]];
    const isSelecting = this.selecting[this.kinds[node]];
    for (let position = 0; position < end - begin; position += 1) {
      if (!this.passes(node, position)) continue;
      const local = this.partial(node, position, data);
      if (isSelecting && local === 0) continue;
      give(this.operands[begin + position], local * upstream, grad, reached);
    }
  }

  /** The derivative of a node by the operand at a position. @param {number} node @param {number} position @param {Float64Array} data @returns {number} */
  partial(node, position, data) {
    const rules = this.rules[this.kinds[node]];
    if (rules.row) return rules.row.partials[position](this.#operand(node, 0, data), this.#operand(node, 1, data), this.#operand(node, 2, data), data[node]);
    return partial(rules, position, this.numbersOf(node, data), data[node]);
  }

  /** The users of all nodes: those of each stand together. */
  #indexed() {
    const offsets = new Int32Array(this.size + this.constants.length + 1);
    this.#eachEdge((slot) => (offsets[slot + 1] += 1));
    for (let slot = 0; slot + 1 < offsets.length; slot += 1) offsets[slot + 1] += offsets[slot];
    const free = offsets.slice();
    const [users, positions] = [new Int32Array(this.operands.length), new Int32Array(this.operands.length)];
    this.#eachEdge((slot, node, position) => {
      const at = free[slot]++;
      users[at] = node;
      positions[at] = position;
    });
    return { offsets, users, positions };
  }

  /** Over all that is passed back, in the order in which it is. @param {(slot: number, node: number, position: number) => void} visit */
  #eachEdge(visit) {
    for (let node = this.root; node >= 0; node -= 1) {
      if (!this.has(node)) continue;
      this.operandsOf(node).forEach((slot, position) => this.passes(node, position) && visit(slot, node, position));
    }
  }
}

/** @param {number} slot @param {number} amount @param {Float64Array} grad @param {Uint8Array} reached */
function give(slot, amount, grad, reached) {
  grad[slot] += amount;
  reached[slot] = 1;
}
