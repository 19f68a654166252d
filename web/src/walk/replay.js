// Recomputes a graph after a change to one node. Checks do this many times.

import { forward } from "../core/rules.js";

/** @typedef {import("../types.js").Node} Node */

const TOLERANCE = 1e-9; // relative: Python and JavaScript differ by less, and numbers that were set by more

/** `select(place)` chooses the node to change; then `rootWith(number)` computes the root for a number of that node. */
export class Replay {
  /** @type {Float64Array} by node index: the current numbers of the recomputed nodes, the original numbers of all other nodes */
  #numbers;
  /** @type {Uint8Array} whether each node depends on the selected one */
  #reached;
  /** @type {readonly Node[]} dependents of the selected node, up to the root */
  #dependents = [];
  #selected = 0;

  /** @param {import("../core/graph.js").Graph} graph */
  constructor(graph) {
    this.graph = graph;
    this.#numbers = Float64Array.from(graph.nodes, (node) => node.data);
    this.#reached = new Uint8Array(graph.nodes.length);
  }

  /**
   * Choose the node to change. If its dependents cannot be recomputed, return the reason: "by hand" for a custom
   * backward rule or "stored" for stored local derivatives on the way to the root, "stale" for a number that is not the
   * result of its operation because a number was set later.
   * @param {number} place @returns {"by hand" | "stored" | "stale" | null}
   */
  select(place) {
    const { nodes, root } = this.graph;
    for (const { place: changed, data } of [nodes[this.#selected], ...this.#dependents]) this.#numbers[changed] = data;
    this.#selected = place;
    this.#reached.fill(0);
    this.#reached[place] = 1;
    this.#dependents = nodes.slice(place + 1, root + 1).filter(({ place: user, operands }) => {
      const depends = operands.some((operand) => this.#reached[operand] === 1);
      this.#reached[user] = Number(depends);
      return depends;
    });
    if (!this.#reached[root]) return null;
    const blocked = this.#dependents.findLast((node) => !node.operation);
    if (blocked) return blocked.byHand ? "by hand" : "stored";
    return this.#dependents.some((node) => !isClose(this.#evaluated(node), node.data)) ? "stale" : null;
  }

  /** Compute the root's number for a number of the selected node. @param {number} number */
  rootWith(number) {
    this.#numbers[this.#selected] = number;
    for (const node of this.#dependents) this.#numbers[node.place] = this.#evaluated(node);
    return this.#numbers[this.graph.root];
  }

  /**
   * Compute the numbers of all dependents, by index, for a number of the selected node.
   * @param {number} number @returns {ReadonlyMap<number, number>}
   */
  followed(number) {
    this.rootWith(number);
    return new Map(this.#dependents.map(({ place }) => [place, this.#numbers[place]]));
  }

  /**
   * Compute the sum of weight times absolute value over the recomputed nodes. A weight of 0 gives 0, even for an
   * infinite number.
   * @param {readonly number[]} weights by node index
   */
  noise(weights) {
    let total = 0;
    for (const { place } of this.#dependents) {
      if (weights[place] !== 0) total += weights[place] * Math.abs(this.#numbers[place]);
    }
    return total;
  }

  /** Return whether a node is the selected one or depends on it. @param {number} place */
  depends(place) {
    return this.#reached[place] === 1;
  }

  /**
   * Compute the result of a node's own operation for a number of the selected node.
   * @param {Node} node @param {number} number
   */
  local(node, number) {
    this.#numbers[this.#selected] = number;
    return this.#evaluated(node);
  }

  /** @param {Node} node */
  #evaluated(node) {
    const { row } = node;
    if (row) return row.forward(this.#operand(node, 0), this.#operand(node, 1), this.#operand(node, 2));
    return forward(node, node.operands.map((_, position) => this.#operand(node, position)));
  }

  /** Return the number of an operand, or nan if the operand is missing. @param {Node} node @param {number} position */
  #operand({ operands, constants }, position) {
    const place = operands[position];
    return place >= 0 ? this.#numbers[place] : constants[position];
  }
}

/** @param {number} one @param {number} other */
function isClose(one, other) {
  if (Object.is(one, other) || one === other) return true;
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
}
