// The contributions that a backward pass loses in a wrong order or by overwriting, and the count of right orders.
//
// A contribution is lost if the operand was visited before it arrived, or if a later contribution overwrote it. Then
// the gradient of the operand lacks the contribution, and the gradients of all nodes that the operand depends on lack
// the contribution times d operand / d node. The error of a gradient is the sum of these amounts over all lost
// contributions. This is exact, because both passes are linear.

import { passes, passing } from "../core/graph.js";
import { contribution } from "./passes.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").BackwardStep} BackwardStep */

/**
 * A contribution from `giver` that `taker` lost.
 * @typedef {object} LostContribution
 * @property {number} giver
 * @property {number} taker
 * @property {number} position
 * @property {number} amount
 * @property {{ giver: number, amount: number } | null} overwrittenBy null if it arrived too late
 */

/**
 * The effect of a lost contribution on a node: `missing` = `amount` · `derivative`, where `derivative` is d taker / d
 * node.
 * @typedef {LostContribution & { derivative: number, missing: number }} Loss
 */

/**
 * A wrong gradient, and the losses that add up to `right` - `got`.
 * @typedef {{ place: number, got: number, right: number, losses: readonly Loss[] }} WrongGradient
 */

const MOST_PLACES = 64; // for more nodes, orders are not counted
const MOST_STATES = 50_000;

/**
 * Find the nodes with a wrong gradient, in the order of the visits, each with its losses.
 * @param {Graph} graph @param {readonly BackwardStep[]} steps @param {readonly number[]} right
 * @param {boolean} overwrite
 * @returns {readonly WrongGradient[]}
 */
export function wrongGradients(graph, steps, right, overwrite) {
  const lost = lostContributions(steps, overwrite);
  const wrong = [];
  for (const { place, upstream: got } of steps) {
    if (!lost.length || got === right[place]) continue;
    const losses = lossesOf(place, lost, graph);
    if (losses.length && differ(got, right[place], losses)) wrong.push({ place, got, right: right[place], losses });
  }
  return wrong;
}

/**
 * Find the contributions that were lost.
 * @param {readonly BackwardStep[]} steps @param {boolean} overwrite @returns {readonly LostContribution[]}
 */
export function lostContributions(steps, overwrite) {
  /** @type {LostContribution[]} */
  const lost = [];
  /** @type {Map<number, import("../types.js").Contribution>} */
  const kept = new Map();
  for (const step of steps) {
    for (const given of step.contributions) {
      const { giver, place: taker, position, amount } = given;
      if (given.late) {
        lost.push({ giver, taker, position, amount, overwrittenBy: null });
        continue;
      }
      if (!overwrite) continue;
      const before = kept.get(taker);
      if (before) {
        const overwrittenBy = { giver, amount };
        lost.push({ giver: before.giver, taker, position: before.position, amount: before.amount, overwrittenBy });
      }
      kept.set(taker, given);
    }
  }
  return lost.filter((loss) => loss.amount !== 0);
}

/**
 * Return whether two gradients differ by more than rounding. Losses can cancel.
 * @param {number} got @param {number} right @param {readonly Loss[]} losses
 */
function differ(got, right, losses) {
  if (Number.isFinite(got) && Number.isFinite(right)) {
    const missing = losses.reduce((sum, loss) => sum + Math.abs(loss.missing), 0);
    return Math.abs(got - right) > 1e-13 * missing;
  }
  return got !== right && !(Number.isNaN(got) && Number.isNaN(right));
}

/**
 * Count the orders that visit these nodes without a loss; null if the count takes too long.
 *
 * An order is legal if every node comes after all nodes that use it. Dynamic programming over the sets of visited nodes
 * counts the orders that lead to each set. A set is a 64-bit mask in two halves.
 * @param {Graph} graph @param {readonly number[]} places @returns {bigint | null}
 */
export function legalOrders(graph, places) {
  if (places.length > MOST_PLACES) return null;
  const bits = places.map((_, i) => (i < 32 ? { low: 1 << i, high: 0 } : { low: 0, high: 1 << (i - 32) }));
  const position = new Map(places.map((place, i) => [place, i]));
  const users = places.map(() => ({ low: 0, high: 0 }));
  places.forEach((place, i) => {
    for (const operand of passing(graph.nodes[place])) {
      const of = users[position.get(operand.place) ?? 0];
      of.low |= bits[i].low;
      of.high |= bits[i].high;
    }
  });
  let states = [{ low: 0, high: 0, ways: 1n }];
  for (let visited = 0; visited < places.length; visited++) {
    /** @type {Map<string, { low: number, high: number, ways: bigint }>} */
    const following = new Map();
    for (const { low, high, ways } of states) {
      users.forEach((before, i) => {
        const isVisited = (low & bits[i].low) | (high & bits[i].high);
        if (isVisited || before.low & ~low || before.high & ~high) return;
        const next = { low: low | bits[i].low, high: high | bits[i].high, ways };
        const key = `${next.low},${next.high}`;
        const known = following.get(key);
        if (known) known.ways += ways;
        else following.set(key, next);
      });
      if (following.size > MOST_STATES) return null;
    }
    states = [...following.values()];
  }
  return states[0].ways;
}

/** Return whether every node is visited after all its users. @param {Graph} graph @param {readonly number[]} order */
export function isLegal(graph, order) {
  const visit = new Int32Array(graph.nodes.length);
  order.forEach((place, i) => (visit[place] = i));
  return order.every((place) => {
    const node = graph.nodes[place];
    return node.operands.every((operand, position) => !passes(node, position) || visit[place] < visit[operand]);
  });
}

/**
 * Compute the losses that affect one node.
 * @param {number} place @param {readonly LostContribution[]} lost @param {Graph} graph @returns {readonly Loss[]}
 */
function lossesOf(place, lost, graph) {
  const derivatives = derivativesBy(place, graph);
  return lost
    .filter((loss) => derivatives[loss.taker] !== 0)
    .map((loss) => {
      const derivative = derivatives[loss.taker];
      return { ...loss, derivative, missing: loss.taker === place ? loss.amount : loss.amount * derivative };
    });
}

/**
 * Compute d node / d place for every node by a forward pass with tangent 1 at `place`; 0 for nodes that do not depend
 * on it.
 * @param {number} place @param {Graph} graph
 */
function derivativesBy(place, graph) {
  const tangents = new Float64Array(graph.nodes.length);
  const reached = new Uint8Array(graph.nodes.length);
  tangents[place] = 1;
  reached[place] = 1;
  for (let i = place + 1; i < tangents.length; i++) {
    const node = graph.nodes[i];
    for (const operand of passing(node)) {
      if (!reached[operand.place]) continue; // avoids 0 · inf
      reached[i] = 1;
      tangents[i] += contribution(node, operand.position, tangents[operand.place]);
    }
  }
  return tangents;
}
