// Derivatives of a function of one number by difference quotients, with what is known of their error.
//
// A quotient over a step h is off by truncation, which shrinks with h, and by rounding, which grows as h shrinks. So
// many steps are tried, each an eighth of the one before, and the quotient with the smallest bound on both is taken:
// truncation is judged by how much the quotient changed from the step before, rounding by a bound on the function's own
// rounding error; and no quotient is believed that smaller steps contradict. (Numerical Recipes, 3rd edition, section
// 5.7, says why no step can be known to be good beforehand.)

/** @typedef {"central" | "forward"} Method */
/**
 * @typedef {(number: number) => { value: number, noise: number }} Noisy a function, with a bound on its rounding error
 */

/**
 * A derivative as found: `estimate`, within `bound` of the truth; slopes to the `left` and `right`.
 *
 * `resolution`: the rounding error of a smaller step that agrees: what differs by less from the estimate may be as
 * right. `h`: the step of the estimate. `steepest`: the largest slope that the smallest step showed. `shape`: "kink"
 * where the slopes to both sides differ, "jump" where the function does, "edge" where it has finite numbers on one side
 * only, "undefined" where on none, or no finite slope.
 * @typedef {object} Slope
 * @property {number} estimate
 * @property {number} bound
 * @property {number} resolution
 * @property {number} h
 * @property {number} left
 * @property {number} right
 * @property {"smooth" | "kink" | "jump" | "edge" | "undefined"} shape
 * @property {number} steepest
 */

/**
 * The quotients over one step, and a bound on the error that rounding makes in them.
 * @typedef {object} Trial
 * @property {number} h
 * @property {number} quotient
 * @property {number} left
 * @property {number} right
 * @property {number} rounding
 * @property {number} up the function's number above the middle
 * @property {number} down below it; nan where the method does not ask for it
 */

const RATIO = 8;
const STEPS = 9;
const MOST_STEPS = 16;
const SETTLED = 1e-3; // of the quotient: what changes by less from step to step has settled
const SHARP = 1e-5; // of the quotient: a bound that needs no more steps
const SIGNIFICANT = 20; // how many times its rounding error a difference of slopes has to be to mean something

/** The derivative of f at x. @param {Noisy} f @param {number} x @param {Method} method @returns {Slope} */
export function slope(f, x, method) {
  const scale = 0 < Math.abs(x) && Math.abs(x) < Infinity ? Math.abs(x) : 1;
  const middle = f(x);
  const tried = (/** @type {number} */ k) => trial(f, x, middle, scale / RATIO ** k, method);
  const trials = [];
  for (let k = 1; k <= MOST_STEPS; k++) {
    trials.push(tried(k));
    if (k >= STEPS && haveSettled(trials)) break;
  }
  const best = bestOf(trials);
  if (best.shape !== "undefined" && best.bound <= SHARP * Math.abs(best.estimate)) return best;
  const others = towardsOne(scale, trials.length).map(tried);
  return bestOf([...trials, ...others].sort((one, other) => other.h - one.h));
}

/**
 * The quotients over one step, by the steps that are really taken: x + h is rounded.
 * @param {Noisy} f @param {number} x @param {ReturnType<Noisy>} middle f(x) @param {number} h @param {Method} method
 * @returns {Trial}
 */
export function trial(f, x, middle, h, method) {
  const [above, below] = [x + h, x - h];
  const upper = f(above);
  const lower = above > x && x > below ? f(below) : { value: NaN, noise: 0 };
  const [up, down] = [upper.value, lower.value];
  const right = divided(up - middle.value, above - x);
  const left = divided(middle.value - down, x - below);
  // everything is rounded by the smallest number at least
  const noise = larger(larger(middle.noise, upper.noise), lower.noise) + Number.MIN_VALUE;
  if (method === "forward" || !(Number.isFinite(left) && Number.isFinite(right))) {
    const quotient = method === "forward" || Number.isFinite(right) ? right : left;
    return { h, quotient, left, right, rounding: divided(2 * noise, h), up, down };
  }
  return { h, quotient: divided(up - down, above - below), left, right, rounding: divided(noise, h), up, down };
}

/**
 * Powers of more steps, for functions that do not change on the scale of x but on that of 1: larger steps for a small
 * x, down from an eighth; smaller ones for a large x.
 * @param {number} scale @param {number} count how many were tried
 */
function towardsOne(scale, count) {
  const apart = Math.ceil(Math.abs(Math.log(scale) / Math.log(RATIO)));
  if (scale < 1) return range(1 - apart, Math.min(1, 1 - apart + MOST_STEPS));
  return range(count + 1, Math.max(count, Math.min(STEPS + apart, STEPS + MOST_STEPS)) + 1);
}

/** @param {number} start @param {number} end */
function range(start, end) {
  return Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i);
}

/** @param {number} difference @param {number} step */
function divided(difference, step) {
  return step > 0 ? difference / step : NaN;
}

/** The larger of two numbers; the first where the second is none. @param {number} one @param {number} other */
function larger(one, other) {
  return other > one ? other : one;
}

/** How far the slopes to both sides are apart. @param {Trial} trial */
function gap({ left, right }) {
  return Math.abs(right - left);
}

/**
 * Whether the last step changed the quotient by little, or by no more than rounding does; the slopes likewise.
 * @param {readonly Trial[]} trials
 */
function haveSettled(trials) {
  if (trials.length < 3) return false;
  const [before, last] = trials.slice(-2);
  // left and right do not come together: x may lie on something narrower than the step
  if (gap(last) > larger(gap(before) / 2, 2 * SIGNIFICANT * last.rounding)) return false;
  const change = Math.abs(last.quotient - before.quotient);
  return change <= larger(SETTLED * Math.abs(last.quotient), 4 * last.rounding);
}

/**
 * What the quotients, from the largest step to the smallest, say together.
 * @param {readonly Trial[]} tried @returns {Slope}
 */
function bestOf(tried) {
  const trials = tried.filter(({ quotient }) => Number.isFinite(quotient));
  if (!trials.length) {
    const nothing = { estimate: NaN, bound: Infinity, resolution: Infinity, h: 0, left: NaN, right: NaN };
    return { ...nothing, shape: "undefined", steepest: Infinity };
  }
  const bounds = boundsOf(trials);
  const at = bounds.reduce((least, bound, i) => (bound < bounds[least] ? i : least), 0);
  const kept = trials[at];
  const smaller = trials.slice(at + 1);
  const others = smaller.length || !haveSettled(trials) ? smaller : [kept];
  const seen = shapeOf(trials);
  const { left, right } = seen.where;
  const isVague = bounds[at] > SETTLED * Math.abs(kept.quotient);
  const diverges = (seen.shape === "smooth" || seen.shape === "edge") && isVague && diverge(trials);
  const last = trials[trials.length - 1];
  return {
    estimate: kept.quotient,
    bound: bounds[at],
    resolution: others.reduce((least, { rounding }) => (rounding < least ? rounding : least), Infinity),
    h: kept.h,
    left,
    right,
    shape: diverges ? "undefined" : seen.shape,
    steepest: Math.max(...[last.quotient, last.left, last.right].filter(Number.isFinite).map(Math.abs)),
  };
}

/**
 * How far off each quotient can be: by its truncation and rounding, or by what smaller steps say of it.
 * @param {readonly Trial[]} trials
 */
function boundsOf(trials) {
  return trials.map((trial, i) => {
    let bound = Infinity;
    if (i > 0) {
      const ratio = trials[i - 1].h / trial.h;
      const change = Math.abs(trials[i - 1].quotient - trial.quotient);
      bound = (ratio > 1 ? change / (ratio - 1) : Infinity) + trial.rounding;
    }
    for (const smaller of trials.slice(i + 1)) {
      bound = larger(bound, Math.abs(smaller.quotient - trial.quotient) - 4 * smaller.rounding);
    }
    return bound;
  });
}

/**
 * Whether the quotients tend to infinity as the step shrinks, as those of x log x at 0: ever on, by equal steps.
 * @param {readonly Trial[]} trials
 */
function diverge(trials) {
  /** @type {number[]} */
  const changes = [];
  for (let i = 1; i < trials.length; i++) {
    // from here on, rounding would hide it
    if (changes.length && SIGNIFICANT * trials[i].rounding > changes[changes.length - 1] / 2) break;
    changes.push(Math.abs(trials[i].quotient - trials[i - 1].quotient));
  }
  const last = changes.slice(-4);
  return last.length === 4 && last[3] > 0 && last.every((change, i) => i === 0 || change > 0.8 * last[i - 1]);
}

/**
 * Whether the slopes to both sides come together as the step shrinks; and the step where that was seen. Where f is
 * smooth their gap shrinks with the step, at a kink it stays, at a jump it grows.
 * @param {readonly Trial[]} trials @returns {{ shape: Slope["shape"], where: Trial }}
 */
function shapeOf(trials) {
  const finite = trials.filter((trial) => Number.isFinite(gap(trial)));
  for (let i = finite.length - 1; i > 0; i--) {
    const [before, trial] = [finite[i - 1], finite[i]];
    const slopes = Math.abs(trial.left) + Math.abs(trial.right);
    if (gap(trial) <= SIGNIFICANT * 2 * trial.rounding || gap(trial) <= 1e-9 * slopes) continue;
    // the gap would be seen with a smaller step too, were it there: the kink lies beside x
    if (finite.slice(i + 1).some((smaller) => gap(trial) / 2 > SIGNIFICANT * 2 * smaller.rounding)) break;
    const ratio = before.h / trial.h;
    if (gap(trial) > gap(before) * Math.max(ratio / 2, 1.1)) return { shape: "jump", where: trial };
    return { shape: gap(trial) > 0.4 * gap(before) ? "kink" : "smooth", where: trial };
  }
  return { shape: finite.length ? "smooth" : "edge", where: trials[trials.length - 1] };
}
