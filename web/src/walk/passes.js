// The forward and backward pass over a graph: one step per node, one contribution per edge.

import { passes, passing, selects } from "../core/graph.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Contribution} Contribution */
/** @typedef {import("../types.js").ForwardStep} ForwardStep */
/** @typedef {import("../types.js").BackwardStep} BackwardStep */

/** Build the key of the edge to a node from its operand at a position. @param {number} place @param {number} position */
export function edgeKey(place, position) {
  return `${place}:${position}`;
}

/** @type {WeakMap<import("../core/graph.js").Graph, readonly number[]>} */
const ORDERS = new WeakMap();

/**
 * Return the nodes that gradient reaches from the root, in the order of the backward pass: users before operands.
 * @param {import("../core/graph.js").Graph} graph @returns {readonly number[]} the same list for the same graph
 */
export function swept(graph) {
  const known = ORDERS.get(graph);
  if (known) return known;
  const reached = new Uint8Array(graph.nodes.length);
  reached[graph.root] = 1;
  const order = [];
  for (let place = graph.nodes.length - 1; place >= 0; place--) {
    if (!reached[place]) continue;
    order.push(place);
    const node = graph.nodes[place];
    for (let position = 0; position < node.operands.length; position++) {
      if (passes(node, position)) reached[node.operands[position]] = 1;
    }
  }
  ORDERS.set(graph, order);
  return order;
}

/**
 * Return the nodes that can be checked by a nudge, operands before users. Nodes that only select an operand, such as an
 * index, are excluded.
 * @param {import("../core/graph.js").Graph} graph @returns {readonly number[]}
 */
export function checkable(graph) {
  const found = new Set([graph.root]);
  for (const node of graph.nodes.toReversed()) {
    if (!found.has(node.place)) continue;
    const choosing = selects(node) ? ((node.row ?? node.gather)?.inert ?? []) : [];
    node.operands.forEach((place, position) => {
      if (place >= 0 && !choosing.includes(position)) found.add(place);
    });
  }
  return [...graph.nodes.keys()].filter((place) => found.has(place));
}

/** Return whether a selecting node ignores its operand at a position. @param {Node} node @param {number} position */
export function leavesOut(node, position) {
  return node.partials[position] === 0 && selects(node);
}

/**
 * Compute the contribution of a node to its operand at a position.
 * @param {Node} node @param {number} position @param {number} upstream
 */
export function contribution(node, position, upstream) {
  if (leavesOut(node, position)) return 0; // even if the upstream gradient is infinite
  return node.partials[position] * upstream;
}

/** Compute d root / d node for every node, by index. @param {import("../core/graph.js").Graph} graph @returns {readonly number[]} */
export function gradients(graph) {
  const found = new Array(graph.nodes.length).fill(0);
  found[graph.root] = 1;
  const hasGot = new Uint8Array(graph.nodes.length); // nodes that no selected path reaches propagate nothing
  hasGot[graph.root] = 1;
  for (const giver of swept(graph)) {
    const node = graph.nodes[giver];
    for (const { position, place } of hasGot[giver] ? passing(node) : []) {
      found[place] += contribution(node, position, found[giver]);
      if (!leavesOut(node, position)) hasGot[place] = 1;
    }
  }
  return found;
}

/** Return the steps of the forward pass: one per node, operands before results. @param {import("../core/graph.js").Graph} graph */
export function forwardSteps(graph) {
  return graph.nodes.map(({ place }) => /** @type {ForwardStep} */ ({ kind: "forward", place }));
}

/**
 * The backward pass in a given order. A step uses the node's gradient at that time and adds a contribution to each
 * operand. With `overwrite`, contributions replace the gradient (= instead of +=). The numbers of all steps are in
 * columns: a large graph has a million contributions, and readers look at few of them.
 */
export class BackwardPass {
  /** @type {(BackwardStep | undefined)[]} the steps that have been asked for */
  #steps = [];

  /** @param {import("../core/graph.js").Graph} graph @param {readonly number[]} order @param {boolean} overwrite */
  constructor(graph, order, overwrite) {
    this.graph = graph;
    this.order = order;
    const size = graph.nodes.length;
    const count = order.reduce((sum, place) => sum + graph.nodes[place].operands.length, 0);
    /** By step: the index of its first contribution. */
    this.starts = new Int32Array(order.length + 1);
    /** By step. */
    this.upstream = new Float64Array(order.length);
    this.ofNothing = new Uint8Array(order.length);
    /** By contribution. */
    this.positions = new Int32Array(count);
    this.amounts = new Float64Array(count);
    this.befores = new Float64Array(count);
    this.afters = new Float64Array(count);
    this.isLate = new Uint8Array(count);
    this.isAgain = new Uint8Array(count);
    const [found, visited, touched, hasGot] = [new Float64Array(size), new Uint8Array(size), new Uint8Array(size), new Uint8Array(size)];
    found[graph.root] = hasGot[graph.root] = 1;
    let i = 0;
    for (let step = 0; step < order.length; step++) {
      const node = graph.nodes[order[step]];
      const upstream = (this.upstream[step] = found[node.place]);
      const isReached = hasGot[node.place];
      this.ofNothing[step] = 1 - isReached;
      visited[node.place] = 1;
      for (let position = 0; position < node.operands.length; position++) {
        if (!passes(node, position)) continue;
        const place = node.operands[position];
        this.positions[i] = position;
        this.amounts[i] = isReached ? contribution(node, position, upstream) : 0;
        this.befores[i] = found[place];
        this.isLate[i] = visited[place];
        this.isAgain[i] = touched[place];
        if (!visited[place]) found[place] = overwrite ? this.amounts[i] : found[place] + this.amounts[i];
        this.afters[i++] = found[place];
        touched[place] = 1;
        if (isReached && !leavesOut(node, position)) hasGot[place] = 1;
      }
      this.starts[step + 1] = i;
    }
  }

  /** Return the step at an index. @param {number} index @returns {BackwardStep} */
  step(index) {
    return (this.#steps[index] ??= this.#made(index));
  }

  /** @param {number} index @returns {BackwardStep} */
  #made(index) {
    const giver = this.order[index];
    const { operands, partials } = this.graph.nodes[giver];
    const [upstream, ofNothing] = [this.upstream[index], this.ofNothing[index] === 1];
    const start = this.starts[index];
    const contributions = Array.from(this.positions.subarray(start, this.starts[index + 1]), (position, k) => ({
      giver,
      place: operands[position],
      position,
      upstream,
      ofNothing,
      local: partials[position],
      amount: this.amounts[start + k],
      before: this.befores[start + k],
      after: this.afters[start + k],
      late: this.isLate[start + k] === 1,
      again: this.isAgain[start + k] === 1,
    }));
    return { kind: "backward", place: giver, upstream, contributions };
  }
}

/**
 * The users of the nodes, in the order of the backward pass. Only edges that propagate gradient count.
 */
export class Users {
  /** @param {import("../core/graph.js").Graph} graph */
  constructor(graph) {
    this.starts = new Int32Array(graph.nodes.length + 1);
    const each = (/** @type {(user: number, position: number, place: number) => void} */ visit) => {
      for (const user of swept(graph)) {
        const node = graph.nodes[user];
        for (let position = 0; position < node.operands.length; position++) {
          if (passes(node, position)) visit(user, position, node.operands[position]);
        }
      }
    };
    each((_, __, place) => (this.starts[place + 1] += 1));
    for (let place = 0; place < graph.nodes.length; place++) this.starts[place + 1] += this.starts[place];
    const next = this.starts.slice();
    this.users = new Int32Array(this.starts[graph.nodes.length]);
    this.positions = new Int32Array(this.users.length);
    each((user, position, place) => {
      const i = next[place]++;
      [this.users[i], this.positions[i]] = [user, position];
    });
  }

  /** Return the users of a node: each user and the operand position. @param {number} place */
  of(place) {
    const start = this.starts[place];
    return Array.from(this.users.subarray(start, this.starts[place + 1]), (user, i) => ({ user, position: this.positions[start + i] }));
  }
}
