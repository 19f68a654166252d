// Nudges in a walk: the numbers that follow up to the root, and the quotient beside the walk's own gradient.

import { checkAll, nudges } from "./check.js";
import { Replay } from "./replay.js";

/** @typedef {import("./check.js").Nudge} Nudge */
/** @typedef {import("./quotients.js").Method} Method */
/** @typedef {import("./steps.js").Walk} Walk */

/** @typedef {Nudge & { follows: ReadonlyMap<number, number> }} Nudged new data of the nodes that depend on the nudged node, by index, for +h */

/**
 * Check gradients of a walk, each by the best step unless one is given.
 * @param {Walk} walk @param {Method} method @param {readonly number[]} places @param {number} [h]
 */
export function checkWalk(walk, method, places, h) {
  return checkAll(walk.graph, method, places, h || undefined).map((found) => asWalked(found, walk));
}

/** Nudge a node by several steps. @param {Walk} walk @param {Method} method @param {number} place @param {readonly number[]} steps */
export function nudgesOf(walk, method, place, steps) {
  return nudges(walk.graph, method, place, steps).map((found) => asWalked(found, walk));
}

/**
 * Nudge a node and recompute the nodes that depend on it, if possible.
 * @param {Walk} walk @param {Method} method @param {number} place @param {number} h 0 for the best step @returns {Nudged}
 */
export function nudged(walk, method, place, h) {
  const [found] = checkWalk(walk, method, [place], h);
  const replay = new Replay(walk.graph);
  const canFollow = replay.select(place) === null && found.h > 0;
  return { ...found, follows: canFollow ? replay.followed(walk.graph.nodes[place].data + found.h) : new Map() };
}

/**
 * Replace the correct gradient by the gradient that the walk computed, if that is wrong.
 * @param {Nudge} found @param {Walk} walk @returns {Nudge}
 */
function asWalked(found, walk) {
  const wrong = walk.wrong.find(({ place }) => place === found.place);
  if (!wrong) return found;
  return { ...found, backprop: wrong.got, error: Math.abs(wrong.got - found.quotient), verdict: "differs" };
}
