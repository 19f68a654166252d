// The flights of numbers along edges that the stage animates in the steps of a walk.

import { motion } from "../languages/languages.js";
import { short } from "../core/numbers.js";
import { edgeKey } from "./passes.js";

/** @typedef {import("../types.js").Flight} Flight */
/** @typedef {import("../types.js").Contribution} Contribution */

/**
 * Return the animation of the steps between two positions of a walk.
 * @param {import("./steps.js").Walk} walk @param {number} from @param {number} to
 * @returns {Pick<import("../types.js").Happening, "flights" | "moment">}
 */
export function animationOf(walk, from, to) {
  const steps = Array.from({ length: to - from }, (_, i) => flightsOf(walk, walk.step(from + i + 1)));
  const shown = steps.flatMap((landings, i) => landings.map((_, landed) => [from + i + 1, landed]));
  return {
    flights: steps.flat(),
    moment: (landed) => (landed < shown.length ? walk.moment(shown[landed][0], shown[landed][1]) : walk.moment(to)),
  };
}

/**
 * Return the flights of a step, grouped by landing. Forward, the operands' numbers fly into a node together; backward,
 * contributions land one after the other.
 * @param {import("./steps.js").Walk} walk @param {import("../types.js").Step} step
 * @returns {readonly (readonly Flight[])[]}
 */
function flightsOf({ graph, overwrite }, step) {
  if (step.kind === "backward") return step.contributions.map((given) => [contributed(given, overwrite)]);
  const { place, data, operands } = graph.nodes[step.place];
  if (step.kind === "seed") return [[{ ...PLAIN, edge: null, place, carries: short(1), becomes: short(1), amount: 1 }]];
  const given = short(data);
  if (!operands.length) return [[{ ...PLAIN, edge: null, place, carries: given, becomes: given }]];
  const flights = operands.flatMap((operand, position) => {
    if (operand < 0) return [];
    const number = short(graph.nodes[operand].data);
    return [{ ...PLAIN, edge: edgeKey(place, position), place, carries: number, becomes: number }];
  });
  return [flights];
}

const PLAIN = { isBackward: false, factor: "", told: "", falls: "", amount: null, isLost: false, harms: false };

/** @param {Contribution} given @param {boolean} overwrite @returns {Flight} */
function contributed(given, overwrite) {
  const [before, amount, after] = [given.before, given.amount, given.after].map(short);
  const isAgain = given.again && !given.late;
  const harms = isAgain && overwrite;
  const told = given.late ? motion.landed.late : isAgain ? (overwrite ? motion.landed.overwrites(before, amount) : motion.landed.added(before, bracketed(amount), after)) : "";
  return {
    edge: edgeKey(given.giver, given.position),
    place: given.place,
    isBackward: true,
    carries: short(given.upstream),
    factor: given.ofNothing ? "" : motion.factor(bracketed(short(given.local))),
    becomes: amount,
    told,
    falls: given.late ? amount : harms ? before : "",
    amount: given.amount,
    isLost: given.late,
    harms,
  };
}

/** Put a negative number in parentheses. @param {string} number */
function bracketed(number) {
  return number.startsWith("-") ? `(${number})` : number;
}
