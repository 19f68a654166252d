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

/**
 * Return the nodes that gradient reaches from the root, in the order of the backward pass: users before operands.
 * @param {import("../core/graph.js").Graph} graph @returns {readonly number[]}
 */
export function swept(graph) {
  const reached = new Uint8Array(graph.nodes.length);
  reached[graph.root] = 1;
  const order = [];
  for (let place = graph.nodes.length - 1; place >= 0; place--) {
    if (!reached[place]) continue;
    order.push(place);
    const node = graph.nodes[place];
    node.operands.forEach((operand, position) => {
      if (passes(node, position)) reached[operand] = 1;
    });
  }
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
 * Return the steps of the backward pass in a given order. A step uses the node's gradient at that time and adds a
 * contribution to each operand. With `overwrite`, contributions replace the gradient (= instead of +=).
 * @param {import("../core/graph.js").Graph} graph @param {readonly number[]} order @param {boolean} overwrite
 * @returns {readonly BackwardStep[]}
 */
export function backwardSteps(graph, order, overwrite) {
  const found = new Float64Array(graph.nodes.length);
  found[graph.root] = 1;
  const visited = new Uint8Array(graph.nodes.length);
  const touched = new Uint8Array(graph.nodes.length);
  const hasGot = new Uint8Array(graph.nodes.length);
  hasGot[graph.root] = 1;
  return order.map((giver) => {
    visited[giver] = 1;
    const upstream = found[giver];
    const node = graph.nodes[giver];
    const ofNothing = !hasGot[giver];
    const contributions = [];
    for (let position = 0; position < node.operands.length; position++) {
      if (!passes(node, position)) continue;
      const place = node.operands[position];
      const amount = ofNothing ? 0 : contribution(node, position, upstream);
      const [before, late, again] = [found[place], visited[place] === 1, touched[place] === 1];
      const after = late ? before : overwrite ? amount : before + amount;
      found[place] = after;
      touched[place] = 1;
      if (!ofNothing && !leavesOut(node, position)) hasGot[place] = 1;
      const local = node.partials[position];
      contributions.push({ giver, place, position, upstream, ofNothing, local, amount, before, after, late, again });
    }
    return { kind: "backward", place: giver, upstream, contributions };
  });
}

/**
 * Return the users of each node, by node index: each user and the operand position. Only edges that propagate gradient
 * count.
 * @param {import("../core/graph.js").Graph} graph @returns {readonly (readonly { user: number, position: number }[])[]}
 */
export function usersOf(graph) {
  /** @type {{ user: number, position: number }[][]} */
  const users = graph.nodes.map(() => []);
  for (const user of swept(graph)) {
    for (const { position, place } of passing(graph.nodes[user])) users[place].push({ user, position });
  }
  return users;
}
