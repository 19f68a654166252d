// Compares gradients with difference quotients: nudges a node and recomputes the nodes that depend on it.

import { checkable, gradients, swept, Users } from "./passes.js";
import { slope, trial } from "./quotients.js";
import { Replay } from "./replay.js";
import { gradientErrors, noiseWeights } from "./rounding.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("./quotients.js").Method} Method */
/** @typedef {import("./quotients.js").Noisy} Noisy */
/** @typedef {import("./quotients.js").Slope} Slope */

/**
 * The verdict on a gradient: "agrees", "differs", or the reason why the quotient cannot decide:
 *
 * - "kink": the one-sided slopes differ and the gradient lies between them; or there is a kink between the node and the
 *   root, where the rule picks a subgradient;
 * - "jump": the root is discontinuous here;
 * - "rounding": rounding errors leave fewer than two significant digits of the quotient;
 * - "coarse": the step is so large that curvature dominates the error; quotients over smaller steps agree;
 * - "not finite": the gradient or the slope is infinite or nan; or the root is defined on one side only and the slope
 *   there differs from the gradient;
 * - "by hand": a node in between has a custom backward rule and cannot be recomputed;
 * - "stored": a node in between was made from its number and local derivatives and cannot be recomputed;
 * - "stale": the number of a node in between is not the result of its operation, because a number was set later;
 * - "stopped": gradient and quotient differ, and there is a `stop_gradient` in between.
 * @typedef {"agrees" | "differs" | "kink" | "jump" | "rounding" | "coarse" | "not finite" | "by hand" | "stored"
 *   | "stale" | "stopped"} Verdict
 */

/**
 * The effect of nudging a node by a step h, and its gradient beside the quotient. Numbers that could not be computed
 * are nan.
 * @typedef {object} Nudge
 * @property {number} place
 * @property {number} h
 * @property {number} base the root's number without the nudge
 * @property {number} up the root's number for +h
 * @property {number | null} down the root's number for -h; null for the forward method
 * @property {number | null} left slope on the left; null for the forward method
 * @property {number} right slope on the right
 * @property {number} quotient
 * @property {number} backprop the gradient
 * @property {number} error absolute difference of gradient and quotient
 * @property {Verdict} verdict
 */

/**
 * The verdict on a gradient, with the best slope; `found` is null if the nodes in between cannot be recomputed.
 * @typedef {{ verdict: Verdict, found: Slope | null }} Judgement
 */

const TOLERANCE = 1e-7; // relative to the gradient: a smaller error does not count as wrong
const KINK_SLACK = 1e-3; // relative to the gap between the slopes at a kink: the error of slopes over a finite step
const TOO_VAGUE = 1e-2; // relative to the gradient: a quotient with a larger error decides nothing

/** @type {ReadonlySet<string | undefined>} */
const COMPARISONS = new Set(["less", "less_equal", "equal"]);
const KINKS = new Set(["kink", "jump"]);
const NOTHING = { up: NaN, down: NaN, left: NaN, right: NaN, quotient: NaN, error: NaN };

/**
 * Nudge a node by a step that the reader chose. The verdict judges the gradient and not the step, so a badly chosen
 * step does not make the verdict "differs".
 * @param {Graph} graph @param {number} place @param {number} h @param {Method} method
 */
export function nudge(graph, place, h, method) {
  return new Check(graph, method).nudged(place, h);
}

/**
 * Check gradients, by default of all `checkable` nodes, each by the best step unless one is given.
 * @param {Graph} graph @param {Method} method @param {readonly number[]} [places] @param {number} [h]
 */
export function checkAll(graph, method, places = checkable(graph), h) {
  const check = new Check(graph, method);
  return places.map((place) => check.nudged(place, h));
}

/**
 * Nudge a node by several steps. This is faster than one `nudge` per step.
 * @param {Graph} graph @param {Method} method @param {number} place @param {readonly number[]} steps
 */
export function nudges(graph, method, place, steps) {
  const check = new Check(graph, method);
  return steps.map((h) => check.nudged(place, h));
}

/** A check of one graph. Caches the verdicts. */
class Check {
  /** @type {Map<number, Judgement>} by node index */
  #judgements = new Map();

  /** @param {Graph} graph @param {Method} method */
  constructor(graph, method) {
    this.graph = graph;
    this.method = method;
    this.replay = new Replay(graph);
    this.gradients = gradients(graph);
    this.users = new Users(graph);
    this.weights = noiseWeights(graph, this.gradients);
    this.errors = gradientErrors(graph, this.gradients);
    const { nodes } = graph;
    /** Operands that only decide which operand an operation selects, and whose number is exactly at the threshold. */
    this.conditions = nodes.flatMap((node) => atThreshold(graph, node));
    this.stopped = nodes.flatMap(({ row, operands }) => (row?.isExact === false ? operands : []));
  }

  /**
   * Nudge a node, by the best step unless one is given.
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

  /** Select a node and return the root's number as a function of that node's number. @param {number} place @returns {Noisy} */
  #rootNear(place) {
    this.replay.select(place);
    return (number) => ({ value: this.replay.rootWith(number), noise: this.replay.noise(this.weights) });
  }

  /**
   * Return whether a rule picked a subgradient at a kink on the way from the root. Used only if the slope is smooth but
   * differs from the gradient, because two kinks can cancel.
   * @param {number} place
   */
  #isChosen(place) {
    if (this.conditions.some((condition) => this.replay.depends(condition))) return true;
    for (const earlier of swept(this.graph)) {
      if (earlier === place) break;
      this.#judgement(earlier); // in backward order: keeps the recursion shallow
    }
    const users = this.users.of(place).map(({ user }) => user);
    if (users.some((user) => KINKS.has(this.#judgement(user).verdict))) return true;
    return users.some((user) => this.#isAtKink(this.graph.nodes[user], place));
  }

  /**
   * Return whether an operation has a kink at the current number of its operand.
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
 * Return the deciding operands of a node that are at the threshold of its choice. A comparison is 1 or 0, so it is
 * never at a threshold itself. Its operands are at the threshold if they are equal.
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
 * @param {number} gradient @param {Slope} found @param {number} bound bound on the error of gradient and slope together
 * @param {() => boolean} isChosen whether a rule picked a subgradient at a kink @returns {Verdict}
 */
function verdictOn(gradient, found, bound, isChosen) {
  if (found.shape === "undefined") return "not finite";
  const hasSettled = found.shape === "smooth" && found.bound < TOO_VAGUE * Math.abs(found.estimate);
  // for example sin at 1e99: the period is smaller than the distance between neighboring floats
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
