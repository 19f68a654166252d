// Numerical derivatives of a function of one number by difference quotients, with error bounds.
//
// The error of a quotient over a step h is the truncation error, which shrinks with h, plus the rounding error, which
// grows as h shrinks. Steps decrease by a factor of 8, and the quotient with the smallest bound on the total error is
// taken. The truncation error is estimated from the change since the previous step, the rounding error from a bound on
// the rounding error of the function. A quotient that contradicts quotients over smaller steps is rejected. Numerical
// Recipes, 3rd edition, section 5.7, explains why a good step cannot be known in advance.

/** @typedef {"central" | "forward"} Method */
/** @typedef {(number: number) => { value: number, noise: number }} Noisy function with a bound on its rounding error */

/**
 * A numerical derivative: `estimate`, within `bound` of the truth, and the slopes on the `left` and `right`.
 *
 * `resolution`: rounding error of a smaller step that agrees; any value this close to the estimate may be right. `h`:
 * step of the estimate. `steepest`: largest absolute slope at the smallest step. `shape`: "kink" if the slopes on both
 * sides differ, "jump" if the function is discontinuous, "edge" if it is finite on one side only, "undefined" if it is
 * finite on neither side or its slope is infinite.
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
 * The quotients over one step, with a bound on their rounding error.
 * @typedef {object} Trial
 * @property {number} h
 * @property {number} quotient
 * @property {number} left
 * @property {number} right
 * @property {number} rounding
 * @property {number} up function value at x + h
 * @property {number} down function value at x - h; nan if the method does not need it
 */

const RATIO = 8;
const STEPS = 9;
const MOST_STEPS = 16;
const SETTLED = 1e-3; // relative change between steps below which a quotient has converged
const SHARP = 1e-5; // relative bound below which no more steps are needed
const SIGNIFICANT = 20; // minimum ratio of a slope difference to its rounding error to be significant

/** Compute the derivative of f at x. @param {Noisy} f @param {number} x @param {Method} method @returns {Slope} */
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
 * Compute the quotients over one step, divided by the actual difference because x + h is rounded.
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
  // the rounding error is at least the smallest positive number
  const noise = larger(larger(middle.noise, upper.noise), lower.noise) + Number.MIN_VALUE;
  if (method === "forward" || !(Number.isFinite(left) && Number.isFinite(right))) {
    const quotient = method === "forward" || Number.isFinite(right) ? right : left;
    return { h, quotient, left, right, rounding: divided(2 * noise, h), up, down };
  }
  return { h, quotient: divided(up - down, above - below), left, right, rounding: divided(noise, h), up, down };
}

/**
 * Return the exponents of additional steps, for functions that vary on a scale of 1 instead of x. For a small x these
 * are larger steps, from 1/8 down. For a large x they are smaller steps.
 * @param {number} scale @param {number} count number of steps tried so far
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

/** Return the larger of two numbers; the first if the second is nan. @param {number} one @param {number} other */
function larger(one, other) {
  return other > one ? other : one;
}

/** Compute the difference of the slopes on both sides. @param {Trial} trial */
function gap({ left, right }) {
  return Math.abs(right - left);
}

/**
 * Return whether the last step changed the quotient and the slopes by little, or by no more than the rounding error.
 * @param {readonly Trial[]} trials
 */
function haveSettled(trials) {
  if (trials.length < 3) return false;
  const [before, last] = trials.slice(-2);
  // left and right do not converge: x may lie on a feature narrower than the step
  if (gap(last) > larger(gap(before) / 2, 2 * SIGNIFICANT * last.rounding)) return false;
  const change = Math.abs(last.quotient - before.quotient);
  return change <= larger(SETTLED * Math.abs(last.quotient), 4 * last.rounding);
}

/**
 * Combine the quotients over all steps, from the largest to the smallest, into a slope.
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
 * Bound the error of each quotient by truncation plus rounding. The bound is raised if a quotient over a smaller step
 * differs by more than this, apart from its own rounding.
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
 * Return whether the quotients diverge to infinity as the step shrinks, as for x log x at 0, where they grow by equal
 * amounts.
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
 * Classify f by the gap between the slopes on both sides, and return the step where this shows. As the step shrinks,
 * the gap shrinks if f is smooth, stays at a kink, and grows at a jump.
 * @param {readonly Trial[]} trials @returns {{ shape: Slope["shape"], where: Trial }}
 */
function shapeOf(trials) {
  const finite = trials.filter((trial) => Number.isFinite(gap(trial)));
  for (let i = finite.length - 1; i > 0; i--) {
    const [before, trial] = [finite[i - 1], finite[i]];
    const slopes = Math.abs(trial.left) + Math.abs(trial.right);
    if (gap(trial) <= SIGNIFICANT * 2 * trial.rounding || gap(trial) <= 1e-9 * slopes) continue;
    // a kink at x would also show over a smaller step, so this kink lies beside x
    if (finite.slice(i + 1).some((smaller) => gap(trial) / 2 > SIGNIFICANT * 2 * smaller.rounding)) break;
    const ratio = before.h / trial.h;
    if (gap(trial) > gap(before) * Math.max(ratio / 2, 1.1)) return { shape: "jump", where: trial };
    return { shape: gap(trial) > 0.4 * gap(before) ? "kink" : "smooth", where: trial };
  }
  return { shape: finite.length ? "smooth" : "edge", where: trials[trials.length - 1] };
}
