// Number formats of the page: a typographic minus sign and few digits.

import { digits, short } from "../../core/numbers.js";

/** Format with six digits; small numbers get four, to stay short without an exponent. @param {number} number */
export function six(number) {
  return Math.abs(number) < 1e-4 ? four(number) : signed(short(number));
}

/** Format with four digits. @param {number} number */
export function four(number) {
  return signed(digits(number, 4));
}

/** Format a share as a percentage. @param {number} share */
export function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.001) return "<0.001 %";
  return `${hundred >= 9.95 || hundred === 0 ? hundred.toFixed(0) : hundred.toPrecision(hundred >= 0.995 ? 2 : 1)} %`;
}

/** @param {string} text of a number */
function signed(text) {
  return text.replace(/^-/, "−");
}
