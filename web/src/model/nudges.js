// Texts of a nudge on the stage: its effect in each box, and in the root's box the quotient beside the gradient.

import { checks as say, stage as stageWords } from "../languages/languages.js";
import { bracketed } from "../core/names.js";
import { digits, short } from "../core/numbers.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("../stage/quotient.js").NudgeMarks} NudgeMarks */
/** @typedef {import("../stage/quotient.js").Quotient} Quotient */
/** @typedef {import("../stage/quotient.js").Trace} Trace */
/** @typedef {import("../walk/nudged.js").Nudged} Nudged */

const LONGEST = 4; // maximum characters of the root's name in a short numerator
const DIGITS = 12; // significant digits of a number that a nudge has changed only slightly

/** @type {WeakMap<Model, NudgeMarks>} cached, because each box asks for them */
const made = new WeakMap();

/** Return the texts of a nudge; null if no node is nudged or the forward pass is incomplete. @param {Model} model @returns {NudgeMarks | null} */
export function nudgeMarks(model) {
  const { nudge, moment, graph } = model;
  if (!nudge || !moment.known[graph.root]) return null;
  const marks = made.get(model) ?? { traces: tracesOf(model, nudge), quotient: quotientOf(model, nudge) };
  made.set(model, marks);
  return marks;
}

/** Describe the effect of a nudge on a node for screen readers; "" for none. @param {Model} model @param {number} place */
export function nudgeCaption(model, place) {
  const marks = nudgeMarks(model);
  const trace = marks?.traces.get(place);
  const told = trace ? say.traces[trace.kind](trace.data, trace.change) : "";
  if (!marks || place !== model.graph.root) return told;
  const { value, gradient, verdict } = marks.quotient;
  return [told, say.quotient(value, gradient, verdict)].filter(Boolean).join(", ");
}

/** @param {Model} model @param {Nudged} nudge @returns {ReadonlyMap<number, Trace>} */
function tracesOf({ graph, state }, { place, h, follows }) {
  const step = h > 0 ? short(h) : say.none;
  const mark = state.method === "central" ? "±h" : "+h";
  /** @type {Trace} */
  const own = { kind: "own", key: stageWords.data, data: short(graph.nodes[place].data), mark, change: step, turn: 0 };
  const traces = new Map([[place, own]]);
  for (const [user, data] of follows) {
    const { data: before, operands } = graph.nodes[user];
    const turn = 1 + Math.max(...operands.map((operand) => traces.get(operand)?.turn ?? 0));
    const kind = Object.is(data, before) || data === before ? "still" : "moved";
    traces.set(user, { kind, key: "+h", data: digits(data, DIGITS), mark: "Δ", change: kind === "still" ? "0" : signed(data - before), turn });
  }
  return traces;
}

/** @param {Model} model @param {Nudged} nudge @returns {Quotient} */
function quotientOf({ graph, moment, asks }, nudge) {
  const { place, quotient, backprop, verdict, follows } = nudge;
  const [root, name] = [graph.root, place].map((index) => bracketed(graph.nodes[index].name));
  const isKnown = (moment.visited[place] || moment.phase === "end") && !asks;
  const isRun = follows.size > 0 || !Number.isNaN(quotient);
  const kind = verdict === "agrees" || verdict === "differs" ? verdict : "unclear";
  return {
    ...fraction(root, name, nudge),
    value: asks ? say.secret : isRun ? digits(quotient) : say.none,
    name: `∂${root}/∂${name}`,
    gradient: isKnown ? digits(backprop) : say.secret,
    verdict: isKnown ? say.verdicts[verdict] : "",
    kind: isKnown ? kind : "",
  };
}

/**
 * Format the quotient that was computed: one-sided for the forward method, or if the other side is not finite.
 * @param {string} root @param {string} name @param {Nudged} nudge
 */
function fraction(root, name, { left, right }) {
  const [up, down] = [`${root}(${name}+h)`, `${root}(${name}−h)`];
  const own = root.length <= LONGEST ? root : ""; // can be omitted in the root's own box
  const isOneSided = left === null || (!Number.isFinite(left) && Number.isFinite(right));
  if (isOneSided) return { above: `${up} − ${root}(${name})`, brief: `${own}(+h) − ${own || "(0)"}`, below: "h" };
  if (Number.isFinite(left) && !Number.isFinite(right)) return { above: `${root}(${name}) − ${down}`, brief: `${own || "(0)"} − ${own}(−h)`, below: "h" };
  return { above: `${up} − ${down}`, brief: `${own}(+h) − ${own}(−h)`, below: "2h" };
}

/** Format a change with its sign. @param {number} number */
function signed(number) {
  return `${number > 0 ? "+" : ""}${short(number)}`;
}
