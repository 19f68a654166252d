// The real functions used in formulas, with the semantics of C's math library. Division is JavaScript's own.

export { erf, erfc } from "./erf.js";

export const { exp, expm1, log, log2, log10, log1p, sqrt, abs: fabs, sign } = Math;
export const { sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, hypot } = Math;
export const { asinh, acosh, atanh, cbrt, floor, ceil, trunc } = Math;

/**
 * Compute x to the power of y. Squares are products, as in Python's gradwalk. C returns 1 where JavaScript returns nan:
 * for x = 1, and for x = -1 with an infinite y.
 * @param {number} x
 * @param {number} y
 */
export function pow(x, y) {
  if (y === 2) return x * x;
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  return x ** y;
}

/** @param {number} x */
export function exp2(x) {
  return 2 ** x;
}

/** Round to the nearest integer, ties to even. @param {number} x */
export function rint(x) {
  const below = Math.floor(x);
  const above = x - below > 0.5 || (x - below === 0.5 && below % 2 !== 0);
  return above ? Math.ceil(x) : below;
}

/** Compute the remainder of x / y truncated toward 0, with the sign of x. @param {number} x @param {number} y */
export function fmod(x, y) {
  return x % y;
}

/** Compute the remainder of floor division, with the sign of y, like Python's %. @param {number} x @param {number} y */
export function mod(x, y) {
  const m = x % y;
  return m === 0 ? copysign(0, y) : m < 0 !== y < 0 ? m + y : m;
}

/** Compute x / y rounded down, like Python's //. @param {number} x @param {number} y */
export function floor_divide(x, y) {
  const m = x % y;
  const q = (x - m) / y - (m !== 0 && m < 0 !== y < 0 ? 1 : 0);
  const below = Math.floor(q);
  return y === 0 ? x / y : q === 0 ? copysign(0, x / y) : q - below > 0.5 ? below + 1 : below;
}

/**
 * Compute the IEEE remainder of x / y, rounded to the nearest integer with ties to even. Follows CPython's m_remainder.
 * @param {number} x
 * @param {number} y
 */
export function remainder(x, y) {
  const size = Math.abs(y);
  if (!Number.isFinite(x) || !Number.isFinite(y) || y === 0) return Number.isFinite(x) && size === Infinity ? x : NaN;
  const m = Math.abs(x) % size;
  const rest = size - m;
  const r = m < rest ? m : m > rest ? -rest : m - 2 * ((0.5 * (Math.abs(x) - m)) % size);
  return copysign(1, x) * r;
}

/**
 * Return the absolute value of x with the sign of y. The sign of a nan is not visible in JavaScript.
 * @param {number} x
 * @param {number} y
 */
export function copysign(x, y) {
  return y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x);
}
