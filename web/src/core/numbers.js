// Conversion between numbers and text, in Python's format.

const SPACE = "(?:(?!\\ufeff)\\s|\\x85)*"; // Python's whitespace around a number
const DIGITS = "\\d(?:_?\\d)*";
const FLOAT = `(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?`;
const NUMBER = new RegExp(`^${SPACE}(?:([+-]?${FLOAT})|([+-]?)(inf|infinity|nan))${SPACE}$`, "i");

/** Format a number for people: at most 6 significant digits, without trailing zeros. @param {number} number */
export function short(number) {
  return brief(general(number + 0)); // + 0 turns -0 into 0
}

/**
 * Format a number with `count` significant digits; the default of 10 is about the precision of a difference quotient.
 * @param {number} number @param {number} [count]
 */
export function digits(number, count = 10) {
  return Number.isFinite(number) ? String(Number(number.toPrecision(count))) : short(number);
}

/**
 * Format a number as Python's repr does: the shortest decimal that reads back as the same number.
 * @param {number} number
 */
export function plain(number) {
  if (!Number.isFinite(number)) return spelled(number);
  const [mantissa, exponent] = number.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) return scientific(mantissa, power);
  const text = Object.is(number, -0) ? "-0" : positional(mantissa, power);
  return text.includes(".") ? text : `${text}.0`;
}

/** Format a number as C's %g does. @param {number} number @param {number} [digits] */
export function general(number, digits = 6) {
  if (!Number.isFinite(number)) return spelled(number);
  const size = Math.abs(number);
  const [mantissa, exponent] = rounded(size, (count) => size.toExponential(count), digits - 1).split("e");
  const power = Number(exponent);
  const kept = mantissa.replace(/\.?0+$/, "");
  const sign = number < 0 || Object.is(number, -0) ? "-" : "";
  return sign + (-4 <= power && power < digits ? positional(kept, power) : scientific(kept, power));
}

/** Convert a number from JSON, where nan and infinities are strings. @param {number | "nan" | "inf" | "-inf"} given */
export function toNumber(given) {
  return typeof given === "number" ? given : { nan: NaN, inf: Infinity, "-inf": -Infinity }[given];
}

/**
 * Parse a number by the rules of Python's float(), also with a Unicode minus sign or an en dash; null if it is not a
 * number.
 * @param {string} text
 */
export function readNumber(text) {
  const found = NUMBER.exec(inAscii(text.replace(/[\u2212\u2013]/g, "-")));
  if (!found) return null;
  const [, decimal, sign, word] = found;
  if (decimal) return Number(decimal.replaceAll("_", ""));
  const number = word.toLowerCase() === "nan" ? NaN : Infinity;
  return sign === "-" ? -number : number;
}

/**
 * Print a positive number with `digits` digits after the point, rounding ties to even. `print` itself rounds ties up.
 * @param {number} size
 * @param {(digits: number) => string} print
 * @param {number} digits
 */
function rounded(size, print, digits) {
  const exact = print(100); // all digits, or enough to decide the rounding
  const point = exact.indexOf(".");
  const [kept, rest] = [exact.slice(0, point + 1 + digits), exact.slice(point + 1 + digits)];
  const isHalf = /^50*(e|$)/.test(rest);
  const isEven = "02468".includes(kept.at(-1) ?? "");
  return isHalf && isEven && size !== 0 ? kept + (/e.*/.exec(rest)?.[0] ?? "") : print(digits);
}

/** Format a mantissa d.ddd times a power of ten without an exponent. @param {string} mantissa @param {number} power */
function positional(mantissa, power) {
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  const rest = digits.slice(power + 1);
  return sign + whole + (rest && `.${rest}`);
}

/**
 * Format a mantissa times a power of ten as C and Python do, with at least two digits in the exponent.
 * @param {string} mantissa
 * @param {number} power
 */
function scientific(mantissa, power) {
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** @param {string} text printed number, whose exponent loses its leading zeros */
function brief(text) {
  return text.replace("e-0", "e-").replace("e+0", "e");
}

/** @param {number} number nan or infinite */
function spelled(number) {
  return Number.isNaN(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

/**
 * Convert digits of all scripts to ASCII. In Unicode, the ten digits of each script are consecutive, starting with
 * zero.
 * @param {string} text
 */
function inAscii(text) {
  return text.replace(/\p{Nd}/gu, (digit) => {
    let zero = /** @type {number} */ (digit.codePointAt(0));
    let value = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) {
      zero -= 1;
      value += 1;
    }
    return String(value % 10); // the digits of some scripts are adjacent in Unicode
  });
}
