// A graph, run again from a node whose number is changed: checks rerun it many times.

import { forward } from "../core/rules.js";

/** @typedef {import("../types.js").Node} Node */

const TOLERANCE = 1e-9; // relative: functions of two languages differ by less, and numbers that were set by more

/**
 * `select(place)` chooses the node to change; `rootWith(number)` is then the root's number for a number of that node.
 */
export class Replay {
  /** @type {Float64Array} the numbers as they are, but for those being run again */
  #numbers;
  /** @type {Uint8Array} whether a node depends on the selected one */
  #reached;
  /** @type {readonly Node[]} those that do, up to the root */
  #dependents = [];
  #selected = 0;

  /** @param {import("../core/graph.js").Graph} graph */
  constructor(graph) {
    this.graph = graph;
    this.#numbers = Float64Array.from(graph.nodes, (node) => node.data);
    this.#reached = new Uint8Array(graph.nodes.length);
  }

  /**
   * Choose the node to change. Returns why what depends on it cannot be run again, if so: a node on the way to the root
   * was made by hand or with its local derivatives, or its number is not what its operation gives, for some number was set since.
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

  /** The root's number where the selected node has this one. @param {number} number */
  rootWith(number) {
    this.#numbers[this.#selected] = number;
    for (const node of this.#dependents) this.#numbers[node.place] = this.#evaluated(node);
    return this.#numbers[this.graph.root];
  }

  /** What depends on the selected node, where that has this number: their numbers by place. @param {number} number @returns {ReadonlyMap<number, number>} */
  followed(number) {
    this.rootWith(number);
    return new Map(this.#dependents.map(({ place }) => [place, this.#numbers[place]]));
  }

  /**
   * The sum of weight times size over the nodes that were run again, with the numbers that they have now. A weight of 0
   * makes 0, whatever the number.
   * @param {readonly number[]} weights by place
   */
  noise(weights) {
    let total = 0;
    for (const { place } of this.#dependents) {
      if (weights[place] !== 0) total += weights[place] * Math.abs(this.#numbers[place]);
    }
    return total;
  }

  /** Whether a node is the selected one or depends on it. @param {number} place */
  depends(place) {
    return this.#reached[place] === 1;
  }

  /**
   * What a node's own operation gives where the selected node has this number.
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

  /** The number of an operand; nan where there is none. @param {Node} node @param {number} position */
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
