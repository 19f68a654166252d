// A recorded program and its interpreter: forward and backward passes over arrays of numbers indexed by node.
//
// The slot of a node in the arrays is its index; constants use the slots after the nodes, so every operand is a slot.
// The most frequent operations are written out for speed, with bitwise the same results as the rules of the table.

import { forward, partial, picked } from "../core/rules.js";
import { BY_NAME, GATHER_BY_NAME, REDUCTION_BY_NAME } from "../core/table.js";

/** @import { Gather, Reduction, Row } from "../types.js" */

/**
 * @typedef {object} Columns by node
 * @property {readonly string[]} operations by kind
 * @property {Uint8Array} kinds
 * @property {Int32Array} offsets where the operands of a node begin
 * @property {Int32Array} operands of all nodes: the index of a node, or -1 minus the index of a constant
 * @property {readonly number[]} constants
 * @property {readonly number[]} outputs
 * @property {readonly number[]} sums the nodes that add up the losses of the first n places, at index n - 1
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

  /** @param {Columns} columns @param {boolean} [isPlain] whether to use the rules of the table only, without the operations written out here */
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
    this.end = this.size; // nodes from here on are not part of this program, except for the root
  }

  /**
   * Return the program for the first `places` places: it computes their losses and the mean of these.
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

  /** Return the index of the node with a name; -1 for none. @param {string} name */
  find(name) {
    this.#byName ??= new Map(this.names.map((own, node) => [own, node]));
    return this.#byName.get(name) ?? -1;
  }

  /** Allocate an array of numbers by slot: the constants, and NaN for all nodes. */
  numbers() {
    const data = new Float64Array(this.size + this.constants.length).fill(NaN);
    data.set(this.constants, this.size);
    return data;
  }

  /** Return whether a node is part of this program. @param {number} node */
  has(node) {
    return node === this.root || (node >= 0 && node < this.end);
  }

  /** Return the table entry of a node's operation; null for leaves. @param {number} node */
  rowOf(node) {
    return this.rowOfKind(this.kinds[node]);
  }

  /** @param {number} kind @returns {Row | Reduction | Gather | null} */
  rowOfKind(kind) {
    const { row, reduction, gather } = this.rules[kind];
    return row ?? reduction ?? gather;
  }

  /** Return the slots of a node's operands. @param {number} node */
  operandsOf(node) {
    return this.operands.subarray(this.offsets[node], this.offsets[node + 1]);
  }

  /** Run all nodes. @param {Float64Array} data must hold the values of the leaves @returns {number} the value of the root */
  forward(data) {
    this.run(data, 0, this.end);
    this.run(data, this.root, this.root + 1);
    return data[this.root];
  }

  /** Run the nodes from `from` up to, but not including, `to`. @param {Float64Array} data @param {number} from @param {number} to */
  run(data, from, to) {
    for (let node = from; node < to; node += 1) data[node] = this.#value(node, data);
  }

  /**
   * Compute the derivatives of the root with respect to each slot.
   * @param {Float64Array} data after the forward pass @param {Float64Array} grad must be all 0
   * @param {Uint8Array} [reached] slots that received a contribution; other nodes are skipped, since 0 times an infinite partial is NaN
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

  /** Compute the partial derivatives of a node with respect to its operands, by position. @param {number} node @param {Float64Array} data */
  partialsOf(node, data) {
    return Float64Array.from(this.operandsOf(node), (_, position) => this.partial(node, position, data));
  }

  /** Return whether a node can pass a gradient to the operand at a position. @param {number} node @param {number} position */
  passes(node, position) {
    return !this.inert[this.kinds[node]].includes(position);
  }

  /**
   * Return the users of a node with the positions of the node among their operands, last user first. The node's
   * gradient comes from them.
   * @param {number} node
   */
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

  /** Return the values of a node's operands. @param {number} node @param {Float64Array} data */
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

  /** Return the value of an operand; for positions past the last operand, the value of the last one. @param {number} node @param {number} position @param {Float64Array} data */
  #operand(node, position, data) {
    return data[this.operands[Math.min(this.offsets[node] + position, this.offsets[node + 1] - 1)]];
  }

  /**
   * Return the position of the operand that the first operand selects; less than 1 if it selects none.
   * @param {number} node @param {Float64Array} data
   */
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

  /** Compute the partial derivative of a node with respect to the operand at a position. @param {number} node @param {number} position @param {Float64Array} data @returns {number} */
  partial(node, position, data) {
    const rules = this.rules[this.kinds[node]];
    if (rules.row) return rules.row.partials[position](this.#operand(node, 0, data), this.#operand(node, 1, data), this.#operand(node, 2, data), data[node]);
    return partial(rules, position, this.numbersOf(node, data), data[node]);
  }

  /** Build the index of users: the users of each node are contiguous. */
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

  /** Visit all edges in the order of the backward pass. @param {(slot: number, node: number, position: number) => void} visit */
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
