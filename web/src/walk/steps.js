// `Walk`: both passes over a graph, step by step, in the right order or in a wrong one.

import { isLegal, legalOrders, lostContributions, wrongGradients } from "./losses.js";
import { backwardSteps, edgeKey, forwardSteps, gradients, swept, usersOf } from "./passes.js";

export { contribution, edgeKey, gradients, swept } from "./passes.js";

/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../types.js").Step} Step */

/**
 * The forward and the backward pass over a graph. Nothing is worked out before it is asked for, and then only once.
 * Between the passes, the seed is a step of its own: the root gets the gradient 1.
 *
 * A node that has been visited is done with: what comes to it later is lost. (In a program it may still land in
 * `.grad`; it is not passed on.)
 */
export class Walk {
  /**
   * @param {import("../core/graph.js").Graph} graph
   * @param {readonly number[]} [order] the places in the order in which the backward pass visits them
   * @param {boolean} [overwrite] whether a contribution is written over what an operand has, as = does
   */
  constructor(graph, order = swept(graph), overwrite = false) {
    this.graph = graph;
    this.order = order;
    this.overwrite = overwrite;
  }

  get forward() {
    return this.#kept("forward", forwardSteps(this.graph));
  }

  get backward() {
    return this.#kept("backward", backwardSteps(this.graph, this.order, this.overwrite));
  }

  /** The step between the passes. @returns {Step} */
  get seed() {
    return this.#kept("seed", /** @type {Step} */ ({ kind: "seed", place: this.graph.root }));
  }

  /** Both passes, one after the other; between them the seed. @returns {readonly Step[]} */
  get steps() {
    return this.#kept("steps", [...this.forward, this.seed, ...this.backward]);
  }

  /** The step that leads to a position; of the backward pass nothing is worked out for one before it. @param {number} position */
  step(position) {
    if (position > this.seeded) return this.backward[position - this.seeded - 1];
    return position === this.seeded ? this.seed : this.forward[position - 1];
  }

  /** How many steps there are. */
  get length() {
    return this.seeded + this.order.length;
  }

  /** The position after the seed, where the backward pass begins. */
  get seeded() {
    return this.graph.nodes.length + 1;
  }

  /** The steps of the backward pass that have been taken at a position. @param {number} position */
  taken(position) {
    return position > this.seeded ? this.backward.slice(0, position - this.seeded) : [];
  }

  /** The gradient of every node by place, as this walk has it; null where the walk does not go. */
  get gradients() {
    /** @type {(number | null)[]} */
    const found = new Array(this.graph.nodes.length).fill(null);
    for (const { place, upstream } of this.backward) found[place] = upstream;
    return this.#kept("gradients", /** @type {readonly (number | null)[]} */ (found));
  }

  /** The same as they should be; 0 where no gradient flows. */
  get right() {
    return this.#kept("right", gradients(this.graph));
  }

  /** The nodes whose gradient is wrong, each with what it lost. Empty for a right walk. */
  get wrong() {
    const isRight = this.isLegal && !this.overwrite;
    const wrong = isRight ? [] : wrongGradients(this.graph, this.backward, this.right, this.overwrite);
    return this.#kept("wrong", wrong);
  }

  /** Whether the order visits every node after all nodes that it is an operand of. */
  get isLegal() {
    return this.#kept("isLegal", isLegal(this.graph, this.order));
  }

  /** How many legal orders there are; null where they are too many to count. */
  get legalOrders() {
    return this.#kept("legalOrders", legalOrders(this.graph, this.order));
  }

  /** The largest size of a finite gradient or contribution, by which lines are drawn. */
  get largest() {
    let largest = 0;
    for (const { upstream, contributions } of this.backward) {
      largest = larger(largest, upstream);
      for (const { amount } of contributions) largest = larger(largest, amount);
    }
    return this.#kept("largest", largest);
  }

  /** By place, when the backward pass visits a node, counted from 0. */
  get visits() {
    const found = new Int32Array(this.graph.nodes.length).fill(-1);
    this.order.forEach((place, i) => (found[place] = i));
    return this.#kept("visits", found);
  }

  /** By place, the edges to the nodes that use it, through which gradient flows back to it. */
  get users() {
    return this.#kept("users", usersOf(this.graph));
  }

  /**
   * What is known after so many steps; in the middle of the last of them, where only some of what it brings has landed.
   * @param {number} position @param {number} [landed] how much of it, of so many as `landings` says @returns {Moment}
   */
  moment(position, landed = Infinity) {
    const size = this.graph.nodes.length;
    const last = this.step(position);
    const isWhole = !last || landed >= landings(last);
    const done = isWhole || last.kind === "backward" ? position : position - 1;
    const filled = Math.min(done, size);
    const taken = this.taken(done).map((step) => {
      return isWhole || step !== last ? step : { ...step, contributions: step.contributions.slice(0, landed) };
    });
    /** @type {(number | null)[]} */
    const found = new Array(size).fill(null);
    const visited = new Array(size).fill(false);
    if (done >= this.seeded) found[this.graph.root] = 1;
    for (const { place, upstream, contributions: given } of taken) {
      visited[place] = true;
      found[place] ??= upstream;
      for (const contribution of given) {
        found[contribution.place] = contribution.after;
      }
    }
    const lost = this.isLegal && !this.overwrite ? [] : lostContributions(taken, this.overwrite);
    return {
      position,
      phase: this.#phase(position, isWhole),
      known: new Array(size).fill(true, 0, filled).fill(false, filled),
      gradients: found,
      visited,
      contributions: new Contributions(taken, this.visits),
      lost: new Set(lost.map((loss) => edgeKey(loss.giver, loss.position))),
      active: last?.place ?? null,
    };
  }

  /** @param {number} position @param {boolean} isWhole @returns {Moment["phase"]} */
  #phase(position, isWhole) {
    if (position === this.length && isWhole) return "end";
    return this.step(position)?.kind ?? "start";
  }

  /**
   * Put a value in place of the getter that worked it out.
   * @template T @param {string} name @param {T} value @returns {T}
   */
  #kept(name, value) {
    Object.defineProperty(this, name, { value });
    return value;
  }
}

/** Contributions by the edge that they came along, of steps that have been taken. */
class Contributions {
  #taken;
  #visits;

  /** @param {readonly import("../types.js").BackwardStep[]} taken @param {Int32Array} visits by place, when each node is visited */
  constructor(taken, visits) {
    this.#taken = taken;
    this.#visits = visits;
  }

  /** @param {import("../types.js").EdgeKey} key */
  get(key) {
    const [place, position] = key.split(":").map(Number);
    return this.#taken[this.#visits[place]]?.contributions.find((given) => given.position === position);
  }

  /** @returns {Generator<[import("../types.js").EdgeKey, import("../types.js").Contribution]>} */
  *[Symbol.iterator]() {
    for (const { place, contributions } of this.#taken) {
      for (const contribution of contributions) yield [edgeKey(place, contribution.position), contribution];
    }
  }
}

/** How much a step brings, one thing after the other: a number, or a contribution to each operand. @param {Step} step */
export function landings(step) {
  return step.kind === "backward" ? step.contributions.length : 1;
}

/** @param {number} size @param {number} number */
function larger(size, number) {
  return Number.isFinite(number) ? Math.max(size, Math.abs(number)) : size;
}
