// Numbers as the page says them: with a minus sign, and no more digits than one reads.

import { digits, short } from "../../core/numbers.js";

/** To six digits; of a small number fewer, so that it is short without an exponent. @param {number} number */
export function six(number) {
  return Math.abs(number) < 1e-4 ? four(number) : signed(short(number));
}

/** To four digits. @param {number} number */
export function four(number) {
  return signed(digits(number, 4));
}

/** A share as a person would say it. @param {number} share */
export function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.001) return "<0.001 %";
  return `${hundred >= 9.95 || hundred === 0 ? hundred.toFixed(0) : hundred.toPrecision(hundred >= 0.995 ? 2 : 1)} %`;
}

/** @param {string} text of a number */
function signed(text) {
  return text.replace(/^-/, "−");
}
