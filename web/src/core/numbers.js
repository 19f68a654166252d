// Numbers as text and text as numbers, as Python has them.

const SPACE = "(?:(?!\\ufeff)\\s|\\x85)*"; // what Python takes for one around a number
const DIGITS = "\\d(?:_?\\d)*";
const FLOAT = `(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?`;
const NUMBER = new RegExp(`^${SPACE}(?:([+-]?${FLOAT})|([+-]?)(inf|infinity|nan))${SPACE}$`, "i");

/**
 * A number as a person would say it: six digits at most, and none that say nothing.
 * @param {number} number
 */
export function short(number) {
  return brief(general(number + 0)); // + 0 makes -0 plain
}

/** A number to so many digits: ten, as far as a difference quotient is worth them, if not told. @param {number} number @param {number} [count] */
export function digits(number, count = 10) {
  return Number.isFinite(number) ? String(Number(number.toPrecision(count))) : short(number);
}

/**
 * A number as Python prints it: the fewest digits that tell it from its neighbours.
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

/**
 * A number as C's %g prints it.
 * @param {number} number
 * @param {number} [digits]
 */
export function general(number, digits = 6) {
  if (!Number.isFinite(number)) return spelled(number);
  const size = Math.abs(number);
  const [mantissa, exponent] = rounded(size, (count) => size.toExponential(count), digits - 1).split("e");
  const power = Number(exponent);
  const kept = mantissa.replace(/\.?0+$/, "");
  const sign = number < 0 || Object.is(number, -0) ? "-" : "";
  return sign + (-4 <= power && power < digits ? positional(kept, power) : scientific(kept, power));
}

/**
 * A number of JSON: nan and inf, which it lacks, are texts there.
 * @param {number | "nan" | "inf" | "-inf"} given
 */
export function toNumber(given) {
  return typeof given === "number" ? given : { nan: NaN, inf: Infinity, "-inf": -Infinity }[given];
}

/**
 * The number that a person wrote, by the rules of Python's float(), or with the minus sign of printed text, or an en dash; null where
 * it is none.
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
 * A positive number as `print` gives it with so many digits after the point, halves to the even digit: it takes the
 * larger.
 * @param {number} size
 * @param {(digits: number) => string} print
 * @param {number} digits
 */
function rounded(size, print, digits) {
  const exact = print(100); // all of it, or so much that the rest cannot tell
  const point = exact.indexOf(".");
  const [kept, rest] = [exact.slice(0, point + 1 + digits), exact.slice(point + 1 + digits)];
  const isHalf = /^50*(e|$)/.test(rest);
  const isEven = "02468".includes(kept.at(-1) ?? "");
  return isHalf && isEven && size !== 0 ? kept + (/e.*/.exec(rest)?.[0] ?? "") : print(digits);
}

/**
 * A mantissa d.ddd times a power of ten, without an exponent.
 * @param {string} mantissa
 * @param {number} power
 */
function positional(mantissa, power) {
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  const rest = digits.slice(power + 1);
  return sign + whole + (rest && `.${rest}`);
}

/**
 * A mantissa times a power of ten, as C and Python write it: with two digits at least of the exponent.
 * @param {string} mantissa
 * @param {number} power
 */
function scientific(mantissa, power) {
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** @param {string} text of a number, to lose the zeros before its exponent */
function brief(text) {
  return text.replace("e-0", "e-").replace("e+0", "e");
}

/** @param {number} number nan or infinite */
function spelled(number) {
  return Number.isNaN(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

/**
 * The digits of all scripts as those of ASCII. Each script has its ten in a row, from zero on.
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
    return String(value % 10); // some scripts stand next to each other
  });
}
