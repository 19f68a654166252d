// `Batch`: one graph run on many points at once. Every node has a column of numbers, one a point.

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Row} Row */

import { passing, selects } from "../core/graph.js";

/** Whether every operation of a graph is one of the table with a fixed number of operands. @param {Graph} graph */
export function isRunnable({ nodes }) {
  return nodes.every(({ operands, row, byHand }) => !operands.length || (row !== null && !byHand));
}

/**
 * The graph can be any with the same nodes: only the numbers in its leaves are read. Leaves with a column have one
 * number a point, the others the same for all.
 */
export class Batch {
  /** @type {Float64Array[]} by place */
  #numbers;
  /** @type {Float64Array[]} by place: d root / d node, of each point */
  #gradients;
  /** @type {Uint8Array[]} by place: whether gradient has reached it, of each point */
  #reached;
  /** @type {Float64Array[][]} by place: those of the operands */
  #operands;
  /** @type {readonly { node: Node, positions: readonly { position: number, place: number }[] }[]} from the root back */
  #givers;
  /** @type {readonly Node[]} */
  #nodes;
  #root;

  /**
   * @param {Graph} graph that `isRunnable`
   * @param {ReadonlyMap<string, ArrayLike<number>>} columns by name of the leaf
   * @param {number} count of the points
   * @param {number} [root] the place of the node that is wanted
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

  /** The numbers of a node, one a point. @param {number} place @returns {Float64Array} */
  column(place) {
    return this.#numbers[place];
  }

  /** Run the graph on all points, with its own numbers in the leaves that have no column. @param {Graph} graph */
  forward({ nodes }) {
    for (const { place, name, row } of this.#nodes) {
      const out = this.#numbers[place];
      if (row) run(row, this.#operands[place], out);
      else if (!this.columns.has(name)) out.fill(nodes[place].data);
    }
  }

  /** The mean of a node over the points. @param {number} [place] */
  mean(place = this.#root) {
    return sum(this.#numbers[place]) / this.count;
  }

  /**
   * Forward and backward: the mean of the root over all points, and its gradients by place; 0 for what has a column.
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

  /** What passes.js does for one point, for all. @param {Node} node @param {number} position @param {number} to the operand's place */
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
      if (isSelecting && local === 0) continue; // not even of an infinite gradient
      gradients[i] += local * upstream[i];
      reached[i] = 1;
    }
  }
}

/** @param {Row} row @param {readonly Float64Array[]} operands @param {Float64Array} out */
function run({ forward }, [x, y = x, z = x], out) {
  for (let i = 0; i < out.length; i += 1) out[i] = forward(x[i], y[i], z[i]);
}

/** The nodes that a node was made from, and it, operands first. @param {Graph} graph @param {number} root */
function needed({ nodes }, root) {
  const isNeeded = new Uint8Array(nodes.length);
  isNeeded[root] = 1;
  for (let place = root; place >= 0; place -= 1) {
    if (isNeeded[place]) for (const operand of nodes[place].operands) if (operand >= 0) isNeeded[operand] = 1;
  }
  return nodes.filter(({ place }) => isNeeded[place]);
}

/**
 * The nodes that lead from the root back to what has no column, with the operands that they pass to on the way.
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
