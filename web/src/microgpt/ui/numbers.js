// Numbers as the page says them: with a minus sign, and no more digits than one reads.

import { digits, short } from "../../core/numbers.js";

/** To six digits. @param {number} number */
export function six(number) {
  return signed(short(number));
}

/** To four digits. @param {number} number */
export function four(number) {
  return signed(digits(number, 4));
}

/** A share as a person would say it. @param {number} share */
export function percent(share) {
  const hundred = 100 * share;
  return `${hundred >= 9.95 || hundred === 0 ? hundred.toFixed(0) : hundred.toPrecision(hundred >= 0.995 ? 2 : 1)} %`;
}

/** @param {string} text of a number */
function signed(text) {
  return text.replace(/^-/, "−");
}
