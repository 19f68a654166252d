// The functions of real numbers that formulas are written in, as C has them. Division is the language's own.

import erf from "@stdlib/math-base-special-erf";

export { erf };

export const { exp, expm1, log, log2, log10, log1p, sqrt, abs: fabs, sign } = Math;
export const { sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, hypot } = Math;

/**
 * x to the power of y. Squares are products, as in Python's gradwalk. Where an operand is nan and the other decides
 * alone, or x is 1 or -1 and y infinite, C has a number and JavaScript nan.
 * @param {number} x
 * @param {number} y
 */
export function pow(x, y) {
  if (y === 2) return x * x;
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  return x ** y;
}
