// A nudge as a walk shows it: what follows from it up to the root, and the quotient beside the gradient that the walk has.

import { checkAll, nudges } from "./check.js";
import { Replay } from "./replay.js";

/** @typedef {import("./check.js").Nudge} Nudge */
/** @typedef {import("./quotients.js").Method} Method */
/** @typedef {import("./steps.js").Walk} Walk */

/** @typedef {Nudge & { follows: ReadonlyMap<number, number> }} Nudged with the data, by place, of what depends on the node where it is nudged up */

/** Every gradient of a walk checked, by a step that is found for each if none is given. @param {Walk} walk @param {Method} method @param {readonly number[]} places @param {number} [h] */
export function checkWalk(walk, method, places, h) {
  return checkAll(walk.graph, method, places, h || undefined).map((found) => asWalked(found, walk));
}

/** One node nudged by several steps. @param {Walk} walk @param {Method} method @param {number} place @param {readonly number[]} steps */
export function nudgesOf(walk, method, place, steps) {
  return nudges(walk.graph, method, place, steps).map((found) => asWalked(found, walk));
}

/** A node nudged, with what follows from that; of what cannot be run again nothing does. @param {Walk} walk @param {Method} method @param {number} place @param {number} h 0 for one that is found @returns {Nudged} */
export function nudged(walk, method, place, h) {
  const [found] = checkWalk(walk, method, [place], h);
  const replay = new Replay(walk.graph);
  const canFollow = replay.select(place) === null && found.h > 0;
  return { ...found, follows: canFollow ? replay.followed(walk.graph.nodes[place].data + found.h) : new Map() };
}

/** The same with the gradient that a walk has, where that is a wrong one. @param {Nudge} found @param {Walk} walk @returns {Nudge} */
function asWalked(found, walk) {
  const wrong = walk.wrong.find(({ place }) => place === found.place);
  if (!wrong) return found;
  return { ...found, backprop: wrong.got, error: Math.abs(wrong.got - found.quotient), verdict: "differs" };
}
