// `Batch`: runs a graph on many points at once, with one column of numbers per node.

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Row} Row */

import { passing, selects } from "../core/graph.js";

/** Return whether each operation of a graph is in the table and has a fixed number of operands. @param {Graph} graph */
export function isRunnable({ nodes }) {
  return nodes.every(({ operands, row, byHand }) => !operands.length || (row !== null && !byHand));
}

/**
 * Evaluates any graph with the same nodes; only the numbers in its leaves are read. A leaf with a column has one number
 * per point; other leaves have one number for all points.
 */
export class Batch {
  /** @type {Float64Array[]} by node index */
  #numbers;
  /** @type {Float64Array[]} by node index: d root / d node at each point */
  #gradients;
  /** @type {Uint8Array[]} by node index: whether gradient has reached the node, at each point */
  #reached;
  /** @type {Float64Array[][]} by node index: columns of the operands */
  #operands;
  /** @type {readonly { node: Node, positions: readonly { position: number, place: number }[] }[]} from the root backward */
  #givers;
  /** @type {readonly Node[]} */
  #nodes;
  #root;

  /**
   * @param {Graph} graph for which `isRunnable` is true
   * @param {ReadonlyMap<string, ArrayLike<number>>} columns by leaf name
   * @param {number} count number of points
   * @param {number} [root] index of the output node
   */
  constructor(graph, columns, count, root = graph.root) {
    this.columns = columns;
    this.count = count;
    this.#root = root;
    this.#nodes = needed(graph, root);
    const column = () => new Float64Array(count);
    const places = new Set(this.#nodes.map(({ place }) => place));
    this.#numbers = graph.nodes.map(({ name, place }) => (columns.has(name) ? Float64Array.from(columns.get(name) ?? []) : places.has(place) ? column() : new Float64Array(0)));
    this.#gradients = this.#numbers.map(({ length }) => new Float64Array(length));
    this.#reached = this.#numbers.map(({ length }) => new Uint8Array(length));
    this.#operands = graph.nodes.map(({ place, operands, constants }) =>
      places.has(place) ? operands.map((operand, i) => (operand < 0 ? column().fill(constants[i]) : this.#numbers[operand])) : [],
    );
    this.#givers = giversOf(this.#nodes, columns);
  }

  /** Return the numbers of a node, one per point. @param {number} place @returns {Float64Array} */
  column(place) {
    return this.#numbers[place];
  }

  /** Evaluate the graph at all points, with its own numbers in the leaves without a column. @param {Graph} graph */
  forward({ nodes }) {
    for (const { place, name, row } of this.#nodes) {
      const out = this.#numbers[place];
      if (row) run(row, this.#operands[place], out);
      else if (!this.columns.has(name)) out.fill(nodes[place].data);
    }
  }

  /** Compute the mean of a node over the points. @param {number} [place] */
  mean(place = this.#root) {
    return sum(this.#numbers[place]) / this.count;
  }

  /**
   * Run both passes; return the mean of the root over all points and its gradients by node index, 0 for leaves with a
   * column.
   * @param {Graph} graph
   */
  pass(graph) {
    this.forward(graph);
    for (const { place } of this.#nodes) {
      this.#gradients[place].fill(0);
      this.#reached[place].fill(0);
    }
    this.#gradients[this.#root].fill(1);
    this.#reached[this.#root].fill(1);
    for (const { node, positions } of this.#givers) for (const { position, place } of positions) this.#passBack(node, position, place);
    const gradients = new Float64Array(graph.nodes.length);
    for (const { place } of this.#nodes) gradients[place] = sum(this.#gradients[place]) / this.count;
    return { loss: this.mean(), gradients };
  }

  /**
   * Propagate a contribution at all points, by the rules of passes.js.
   * @param {Node} node @param {number} position @param {number} to operand's index
   */
  #passBack(node, position, to) {
    const partial = /** @type {Row} */ (node.row).partials[position];
    const isSelecting = selects(node);
    const [x, y = x, z = x] = this.#operands[node.place];
    const out = this.#numbers[node.place];
    const [upstream, hasGot] = [this.#gradients[node.place], this.#reached[node.place]];
    const [gradients, reached] = [this.#gradients[to], this.#reached[to]];
    for (let i = 0; i < this.count; i += 1) {
      if (!hasGot[i]) continue;
      const local = partial(x[i], y[i], z[i], out[i]);
      if (isSelecting && local === 0) continue; // even if the upstream gradient is infinite
      gradients[i] += local * upstream[i];
      reached[i] = 1;
    }
  }
}

/** @param {Row} row @param {readonly Float64Array[]} operands @param {Float64Array} out */
function run({ forward }, [x, y = x, z = x], out) {
  for (let i = 0; i < out.length; i += 1) out[i] = forward(x[i], y[i], z[i]);
}

/** Return a node and all nodes it was computed from, operands first. @param {Graph} graph @param {number} root */
function needed({ nodes }, root) {
  const isNeeded = new Uint8Array(nodes.length);
  isNeeded[root] = 1;
  for (let place = root; place >= 0; place -= 1) {
    if (isNeeded[place]) for (const operand of nodes[place].operands) if (operand >= 0) isNeeded[operand] = 1;
  }
  return nodes.filter(({ place }) => isNeeded[place]);
}

/**
 * Return the nodes on the paths from the root to the leaves without a column, each with its operands on these paths.
 * @param {readonly Node[]} nodes operands first @param {ReadonlyMap<string, unknown>} columns
 */
function giversOf(nodes, columns) {
  const leads = new Set(nodes.filter(({ operands, name }) => !operands.length && !columns.has(name)).map(({ place }) => place));
  const givers = nodes.map((node) => {
    const positions = passing(node).filter(({ place }) => leads.has(place));
    if (positions.length) leads.add(node.place);
    return { node, positions };
  });
  return givers.filter(({ positions }) => positions.length).reverse();
}

/** @param {Float64Array} numbers */
function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
