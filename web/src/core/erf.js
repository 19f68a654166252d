// The error functions, by the rational approximations of FreeBSD's s_erf.c, whose errors are below 1 unit in the last
// place.
//
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
// Developed at SunPro, a Sun Microsystems, Inc. business.
// Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
// preserved.

/** @typedef {readonly [numerator: readonly number[], denominator: readonly number[]]} Rational coefficients, lowest first */

/** @type {Rational} of (erf(x) - x) / x in x², for |x| < 0.84375 */
const NEAR_0 = [
  [0.12837916709551256, -0.3250421072470015, -0.02848174957559851, -0.005770270296489442, -0.000023763016656650163],
  [1, 0.39791722395915535, 0.0650222499887673, 0.005081306281875766, 0.00013249473800432164, -0.000003960228278775368],
];
/** @type {Rational} of erf(1 + s) - AT_1 in s, for 0.84375 <= 1 + s < 1.25 */
const NEAR_1 = [
  [-0.0023621185607526594, 0.41485611868374833, -0.3722078760357013, 0.31834661990116175, -0.11089469428239668, 0.035478304325618236, -0.002166375594868791],
  [1, 0.10642088040084423, 0.540397917702171, 0.07182865441419627, 0.12617121980876164, 0.01363708391202905, 0.011984499846799107],
];
/** @type {Rational} of log(x erfc(x)) + x² + 0.5625 in 1/x², for 1.25 <= x < 1 / 0.35 */
const FARTHER = [
  [-0.009864944034847148, -0.6938585727071818, -10.558626225323291, -62.375332450326006, -162.39666946257347, -184.60509290671104, -81.2874355063066, -9.814329344169145],
  [1, 19.651271667439257, 137.65775414351904, 434.56587747522923, 645.3872717332679, 429.00814002756783, 108.63500554177944, 6.570249770319282, -0.0604244152148581],
];
/** @type {Rational} of the same for larger x */
const FARTHEST = [
  [-0.0098649429247001, -0.799283237680523, -17.757954917754752, -160.63638485582192, -637.5664433683896, -1025.0951316110772, -483.5191916086514],
  [1, 30.33806074348246, 325.7925129965739, 1536.729586084437, 3199.8582195085955, 2553.0504064331644, 474.52854120695537, -22.44095244658582],
];
const AT_1 = 0.8450629115104675; // erf(1), rounded to 24 bits
const SMALL = 2 ** -28; // erf is linear below

/** Compute the error function. @param {number} x @returns {number} */
export function erf(x) {
  const far = Math.abs(x);
  if (far < SMALL) return 0.125 * (8 * x + 1.0270333367641007 * x); // scaled, because x may be subnormal
  if (far < 0.84375) return x + x * ratio(NEAR_0, x * x);
  return Math.sign(x) * (far < 1.25 ? AT_1 + ratio(NEAR_1, far - 1) : 1 - tail(far));
}

/** Compute 1 - erf(x) without cancellation. @param {number} x @returns {number} */
export function erfc(x) {
  const far = Math.abs(x);
  if (far < 2 ** -56) return 1 - x;
  if (far < 0.84375) {
    const y = ratio(NEAR_0, x * x);
    return x < 0.25 ? 1 - (x + x * y) : 0.5 - (x * y + (x - 0.5));
  }
  if (far < 1.25) return x < 0 ? 1 + AT_1 + ratio(NEAR_1, far - 1) : 1 - AT_1 - ratio(NEAR_1, far - 1);
  return x < 0 ? 2 - tail(far) : tail(far);
}

/** Compute erfc(x) for x >= 1.25. @param {number} x */
function tail(x) {
  if (x >= 28) return 0;
  const start = new Float64Array([x]);
  new Uint32Array(start.buffer)[0] = 0; // its square is exact
  const [z] = start;
  const logarithm = ratio(x < 1 / 0.35 ? FARTHER : FARTHEST, 1 / (x * x));
  return (Math.exp(-(z * z) - 0.5625) * Math.exp((z - x) * (z + x) + logarithm)) / x;
}

/** @param {Rational} of @param {number} x */
function ratio([numerator, denominator], x) {
  const at = (/** @type {readonly number[]} */ coefficients) => coefficients.reduceRight((sum, coefficient) => coefficient + x * sum, 0);
  return at(numerator) / at(denominator);
}
