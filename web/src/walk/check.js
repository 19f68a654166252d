// Gradients beside difference quotients: a node is nudged, and what depends on it is run again.

import { checkable, gradients, swept, usersOf } from "./passes.js";
import { slope, trial } from "./quotients.js";
import { Replay } from "./replay.js";
import { gradientErrors, noiseWeights } from "./rounding.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("./quotients.js").Method} Method */
/** @typedef {import("./quotients.js").Noisy} Noisy */
/** @typedef {import("./quotients.js").Slope} Slope */

/**
 * What a check says of a gradient. It "agrees" or it "differs"; or that cannot be told:
 *
 * - "kink": the slopes to both sides differ, and the gradient lies between them; or the way to the root leads through a
 *   kink, where rules choose;
 * - "jump": the root's number jumps;
 * - "rounding": rounding errors leave less than two digits of the quotient;
 * - "coarse": the step is so large that the quotient shows how the function bends; the gradient agrees with better
 *   ones;
 * - "not finite": the gradient or the slope is not, or the root has no number on one side and another slope on the
 *   other;
 * - "by hand": a hand-made node stands in between, which has no rule to compute it again by;
 * - "stored": the same of a node that was made with its number and its local derivatives;
 * - "stale": a number in between is not what its operation gives: some number was set since it was computed;
 * - "stopped": they differ, and a `stop_gradient` stands in between.
 * @typedef {"agrees" | "differs" | "kink" | "jump" | "rounding" | "coarse" | "not finite" | "by hand" | "stored"
 *   | "stale" | "stopped"} Verdict
 */

/**
 * A node nudged by a step h, and its gradient beside the quotient. Numbers that could not be computed are nan.
 * @typedef {object} Nudge
 * @property {number} place
 * @property {number} h
 * @property {number} base the root's number where the node is left as it is
 * @property {number} up the same where it is nudged up
 * @property {number | null} down and down; null by the forward method
 * @property {number | null} left slope to that side; null by the forward method
 * @property {number} right slope to that side
 * @property {number} quotient
 * @property {number} backprop the gradient
 * @property {number} error how far gradient and quotient are apart
 * @property {Verdict} verdict
 */

/**
 * What is known of a gradient. `found` is null where nothing can be run again.
 * @typedef {{ verdict: Verdict, found: Slope | null }} Judgement
 */

const TOLERANCE = 1e-7; // of the gradient: an error below that is no wrong derivative
const KINK_SLACK = 1e-3; // of the gap between the slopes at a kink: slopes over a finite step are off by that much
const TOO_VAGUE = 1e-2; // of the gradient: a quotient that is not known better than that says nothing

/** @type {ReadonlySet<string | undefined>} */
const COMPARISONS = new Set(["less", "less_equal", "equal"]);
const KINKS = new Set(["kink", "jump"]);
const NOTHING = { up: NaN, down: NaN, left: NaN, right: NaN, quotient: NaN, error: NaN };

/**
 * Nudge a node by a step of the reader's choice. The verdict is on the gradient: a bad step makes no wrong gradient.
 * @param {Graph} graph @param {number} place @param {number} h @param {Method} method
 */
export function nudge(graph, place, h, method) {
  return new Check(graph, method).nudged(place, h);
}

/**
 * Check gradients, all but of what only chooses if no places are given, each by a step that is found for it if none is given.
 * @param {Graph} graph @param {Method} method @param {readonly number[]} [places] @param {number} [h]
 */
export function checkAll(graph, method, places = checkable(graph), h) {
  const check = new Check(graph, method);
  return places.map((place) => check.nudged(place, h));
}

/**
 * A node nudged by one step after the other, which is quicker than one check each.
 * @param {Graph} graph @param {Method} method @param {number} place @param {readonly number[]} steps
 */
export function nudges(graph, method, place, steps) {
  const check = new Check(graph, method);
  return steps.map((h) => check.nudged(place, h));
}

/** A check in the middle: what is known of a graph, and the judgements so far. */
class Check {
  /** @type {Map<number, Judgement>} by place */
  #judgements = new Map();

  /** @param {Graph} graph @param {Method} method */
  constructor(graph, method) {
    this.graph = graph;
    this.method = method;
    this.replay = new Replay(graph);
    this.gradients = gradients(graph);
    this.users = usersOf(graph);
    this.weights = noiseWeights(graph, this.gradients);
    this.errors = gradientErrors(graph, this.gradients);
    const { nodes } = graph;
    /** Nodes that only decide, and are at the very point where the choice changes. */
    this.conditions = nodes.flatMap((node) => atThreshold(graph, node));
    this.stopped = nodes.flatMap(({ row, operands }) => (row?.isExact === false ? operands : []));
  }

  /**
   * A node nudged, by the step that was found for it if none is given.
   * @param {number} place @param {number} [step] @returns {Nudge}
   */
  nudged(place, step) {
    const { verdict, found } = this.#judgement(place);
    const backprop = this.gradients[place];
    const h = step ?? found?.h ?? 0;
    if (!found) return { ...NOTHING, place, h, base: this.graph.nodes[this.graph.root].data, backprop, verdict };
    const [f, x] = [this.#rootNear(place), this.graph.nodes[place].data];
    const middle = f(x);
    const { up, down, left, right, quotient, rounding } = trial(f, x, middle, h, this.method);
    const error = Math.abs(backprop - quotient);
    const isFar = !(error <= TOO_VAGUE * Math.max(Math.abs(backprop), Math.abs(quotient)));
    const onStep = error > 4 * rounding ? "coarse" : "rounding";
    const sides = this.method === "central" ? { down, left } : { down: null, left: null };
    const shown = { place, h, base: middle.value, up, ...sides, right, quotient, backprop, error };
    return { ...shown, verdict: verdict === "agrees" && isFar ? onStep : verdict };
  }

  /** @param {number} place @returns {Judgement} */
  #judgement(place) {
    const known = this.#judgements.get(place) ?? this.#judged(place);
    this.#judgements.set(place, known);
    return known;
  }

  /** @param {number} place @returns {Judgement} */
  #judged(place) {
    const blocked = this.replay.select(place);
    if (blocked) return { verdict: blocked, found: null };
    const isStopped = this.stopped.some((operand) => this.replay.depends(operand));
    const found = slope(this.#rootNear(place), this.graph.nodes[place].data, this.method);
    const bound = found.bound + this.errors[place];
    const verdict = verdictOn(this.gradients[place], found, bound, () => !isStopped && this.#isChosen(place));
    return { verdict: verdict === "differs" && isStopped ? "stopped" : verdict, found };
  }

  /** The root's number as a function of a node's, which is selected for that. @param {number} place @returns {Noisy} */
  #rootNear(place) {
    this.replay.select(place);
    return (number) => ({ value: this.replay.rootWith(number), noise: this.replay.noise(this.weights) });
  }

  /**
   * Whether a gradient has come by way of a kink, where a rule chose it. That is asked where the slope is smooth and
   * another one: two kinks can undo each other.
   * @param {number} place
   */
  #isChosen(place) {
    if (this.conditions.some((condition) => this.replay.depends(condition))) return true;
    for (const earlier of swept(this.graph)) {
      if (earlier === place) break;
      this.#judgement(earlier); // in this order, so that none has to ask for a chain of others
    }
    const users = this.users[place].map(({ user }) => user);
    if (users.some((user) => KINKS.has(this.#judgement(user).verdict))) return true;
    return users.some((user) => this.#isAtKink(this.graph.nodes[user], place));
  }

  /**
   * Whether an operation has a kink just where its operand is; there its rule chooses a derivative.
   * @param {Node} user @param {number} operand
   */
  #isAtKink(user, operand) {
    this.replay.select(operand);
    /** @type {Noisy} */
    const local = (number) => {
      const value = this.replay.local(user, number);
      return { value, noise: Number.EPSILON * Math.abs(value) };
    };
    return KINKS.has(slope(local, this.graph.nodes[operand].data, "central").shape);
  }
}

/**
 * The operands of a node that only decide, and are where its choice changes. A comparison is 1 or 0, and is never at a
 * threshold itself: its operands are, where they are equal.
 * @param {Graph} graph @param {Node} node
 */
function atThreshold({ nodes }, { row, gather, operands, constants }) {
  const deciding = ((row ?? gather)?.inert ?? []).map((position) => operands[position]).filter((place) => place >= 0);
  if (COMPARISONS.has(row?.name)) {
    const [left, right] = operands.map((place, i) => (place < 0 ? constants[i] : nodes[place].data));
    return left === right ? deciding : [];
  }
  return deciding.filter((place) => !COMPARISONS.has(nodes[place].row?.name) && nodes[place].data === 0);
}

/**
 * @param {number} gradient @param {Slope} found @param {number} bound on the errors of gradient and slope together
 * @param {() => boolean} isChosen whether a rule chose the gradient at a kink @returns {Verdict}
 */
function verdictOn(gradient, found, bound, isChosen) {
  if (found.shape === "undefined") return "not finite";
  const hasSettled = found.shape === "smooth" && found.bound < TOO_VAGUE * Math.abs(found.estimate);
  // such as sin at 1e99: the function changes faster than numbers near x follow each other
  if (!hasSettled && Math.abs(gradient) > 2 * found.steepest && found.steepest > 0) return "rounding";
  if (found.shape === "jump") return "jump";
  if (found.shape === "kink") return verdictAtKink(gradient, found);
  if (!Number.isFinite(gradient)) return hasSettled ? "differs" : "not finite";
  const size = Math.max(Math.abs(gradient), Math.abs(found.estimate));
  const error = Math.abs(gradient - found.estimate);
  if (error <= 4 * bound + TOLERANCE * size) {
    return error > 0 && 4 * bound > TOO_VAGUE * size ? "rounding" : "agrees";
  }
  if (found.shape === "edge") return "not finite";
  if (error <= 4 * found.resolution) return "rounding";
  return isChosen() ? "kink" : "differs";
}

/** @param {number} gradient @param {Slope} found @returns {Verdict} */
function verdictAtKink(gradient, { left, right }) {
  const [low, high] = left < right ? [left, right] : [right, left];
  const slack = KINK_SLACK * (high - low);
  if (low - slack <= gradient && gradient <= high + slack) return "kink";
  return Number.isFinite(gradient) ? "differs" : "not finite";
}
