// `Walk`: the forward and backward pass over a graph, step by step, in a right or wrong order.

import { isLegal, legalOrders, lostContributions, wrongGradients } from "./losses.js";
import { BackwardPass, edgeKey, forwardSteps, gradients, swept, Users } from "./passes.js";

export { contribution, edgeKey, gradients, swept } from "./passes.js";

/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../types.js").Step} Step */

/**
 * The forward and backward pass over a graph. Properties are computed lazily and cached. Between the passes, the seed
 * is a separate step: the root gets the gradient 1.
 *
 * Contributions that arrive after a node has been visited are lost. (In a program they may still be added to `.grad`,
 * but they are not propagated.)
 */
export class Walk {
  /**
   * @param {import("../core/graph.js").Graph} graph
   * @param {readonly number[]} [order] node indices in the order in which the backward pass visits them
   * @param {boolean} [overwrite] whether contributions replace an operand's gradient, like = instead of +=
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
    return this.#kept("backward", this.order.map((_, i) => this.pass.step(i)));
  }

  /** The numbers of the backward pass. */
  get pass() {
    return this.#kept("pass", new BackwardPass(this.graph, this.order, this.overwrite));
  }

  /** The step between the passes. @returns {Step} */
  get seed() {
    return this.#kept("seed", /** @type {Step} */ ({ kind: "seed", place: this.graph.root }));
  }

  /** All steps: forward pass, seed, backward pass. @returns {readonly Step[]} */
  get steps() {
    return this.#kept("steps", [...this.forward, this.seed, ...this.backward]);
  }

  /** Return the step that leads to a position, without computing the backward pass for an earlier position. @param {number} position */
  step(position) {
    const index = position - this.seeded - 1;
    if (index >= this.order.length) return /** @type {Step} */ (/** @type {unknown} */ (undefined));
    if (index >= 0) return this.pass.step(index);
    return position === this.seeded ? this.seed : this.forward[position - 1];
  }

  /** Number of steps. */
  get length() {
    return this.seeded + this.order.length;
  }

  /** Position after the seed, where the backward pass begins. */
  get seeded() {
    return this.graph.nodes.length + 1;
  }

  /** Return the steps of the backward pass up to a position. @param {number} position */
  taken(position) {
    return position > this.seeded ? this.backward.slice(0, position - this.seeded) : [];
  }

  /** Whether no contribution is lost. */
  get isRight() {
    return this.isLegal && !this.overwrite;
  }

  /** Gradients as this walk computes them, by node index; null for nodes that it does not visit. */
  get gradients() {
    /** @type {(number | null)[]} */
    const found = new Array(this.graph.nodes.length).fill(null);
    this.order.forEach((place, i) => (found[place] = this.pass.upstream[i]));
    return this.#kept("gradients", /** @type {readonly (number | null)[]} */ (found));
  }

  /** Correct gradients, by node index; 0 if no gradient flows. */
  get right() {
    const isOwn = this.order === swept(this.graph) && !this.overwrite;
    return this.#kept("right", isOwn ? this.gradients.map((gradient) => gradient ?? 0) : gradients(this.graph));
  }

  /** Nodes with a wrong gradient, each with its losses. Empty for a correct walk. */
  get wrong() {
    const wrong = this.isRight ? [] : wrongGradients(this.graph, this.backward, this.right, this.overwrite);
    return this.#kept("wrong", wrong);
  }

  /** Whether the order visits every node after all its users. */
  get isLegal() {
    return this.#kept("isLegal", this.order === swept(this.graph) || isLegal(this.graph, this.order));
  }

  /** Number of legal orders; null if there are too many to count. */
  get legalOrders() {
    return this.#kept("legalOrders", legalOrders(this.graph, this.order));
  }

  /** Largest absolute value of a finite gradient or contribution, for scaling line widths. */
  get largest() {
    let largest = 0;
    const { upstream, amounts } = this.pass;
    for (const numbers of [upstream, amounts]) for (const number of numbers) largest = larger(largest, number);
    return this.#kept("largest", largest);
  }

  /** Position of each node in the order of the backward pass, counted from 0, by node index. */
  get visits() {
    const found = new Int32Array(this.graph.nodes.length).fill(-1);
    this.order.forEach((place, i) => (found[place] = i));
    return this.#kept("visits", found);
  }

  /** Users from which gradient flows back to each node, by node index. */
  get users() {
    return this.#kept("users", new Users(this.graph));
  }

  /**
   * Return the state after some steps, or in the middle of the last step.
   * @param {number} position @param {number} [landed] how many of its `landings` have arrived @returns {Moment}
   */
  moment(position, landed = Infinity) {
    const size = this.graph.nodes.length;
    const last = this.step(position);
    const isWhole = !last || landed >= landings(last);
    const done = isWhole || last.kind === "backward" ? position : position - 1;
    const filled = Math.min(done, size);
    const steps = Math.max(done - this.seeded, 0);
    const part = isWhole || last.kind !== "backward" ? Infinity : landed; // contributions of the last step
    /** @type {(number | null)[]} */
    const found = new Array(size).fill(null);
    const visited = new Array(size).fill(false);
    if (done >= this.seeded) found[this.graph.root] = 1;
    for (let i = 0; i < steps; i++) {
      const { place, operands } = this.graph.nodes[this.order[i]];
      const { starts, positions, afters, upstream } = this.pass;
      visited[place] = true;
      found[place] ??= upstream[i];
      const end = i === steps - 1 ? Math.min(starts[i] + part, starts[i + 1]) : starts[i + 1];
      for (let k = starts[i]; k < end; k++) found[operands[positions[k]]] = afters[k];
    }
    const contributions = new Contributions(this, steps, part);
    const lost = this.isRight ? [] : lostContributions(contributions.taken, this.overwrite);
    return {
      position,
      phase: this.#phase(position, isWhole),
      known: new Array(size).fill(true, 0, filled).fill(false, filled),
      gradients: found,
      visited,
      contributions,
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
   * Cache a value by replacing the getter that computed it.
   * @template T @param {string} name @param {T} value @returns {T}
   */
  #kept(name, value) {
    Object.defineProperty(this, name, { value });
    return value;
  }
}

/** Contributions of the steps so far, by edge. */
class Contributions {
  #walk;
  #steps;
  #part;

  /** @param {Walk} walk @param {number} steps of the backward pass @param {number} part number of contributions of the last step */
  constructor(walk, steps, part) {
    this.#walk = walk;
    this.#steps = steps;
    this.#part = part;
  }

  /** The steps, of which the last one may be incomplete. */
  get taken() {
    return Array.from({ length: this.#steps }, (_, i) => this.#step(i));
  }

  /** @param {number} index */
  #step(index) {
    const step = this.#walk.pass.step(index);
    return index < this.#steps - 1 || this.#part === Infinity ? step : { ...step, contributions: step.contributions.slice(0, this.#part) };
  }

  /** @param {import("../types.js").EdgeKey} key */
  get(key) {
    const [place, position] = key.split(":").map(Number);
    const index = this.#walk.visits[place];
    return index < 0 || index >= this.#steps ? undefined : this.#step(index).contributions.find((given) => given.position === position);
  }

  /** @param {number} giver @param {number} position */
  amount(giver, position) {
    const index = this.#walk.visits[giver];
    if (index < 0 || index >= this.#steps) return null;
    const { starts, positions, amounts } = this.#walk.pass;
    const end = index === this.#steps - 1 ? Math.min(starts[index] + this.#part, starts[index + 1]) : starts[index + 1];
    for (let i = starts[index]; i < end; i++) if (positions[i] === position) return amounts[i];
    return null;
  }

  /** @returns {Generator<[import("../types.js").EdgeKey, import("../types.js").Contribution]>} */
  *[Symbol.iterator]() {
    for (const { place, contributions } of this.taken) {
      for (const contribution of contributions) yield [edgeKey(place, contribution.position), contribution];
    }
  }
}

/** Count the landings of a step: one number, or a contribution to each operand. @param {Step} step */
export function landings(step) {
  return step.kind === "backward" ? step.contributions.length : 1;
}

/** @param {number} size @param {number} number */
function larger(size, number) {
  return Number.isFinite(number) ? Math.max(size, Math.abs(number)) : size;
}
