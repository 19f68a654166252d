// Formulas typeset as MathML: fractions, exponents, roots. Each has a text alternative.

import { bracketed as operand, brief } from "./core/names.js";

/** @typedef {import("./types.js").Formula} Formula */

const MATHML = "http://www.w3.org/1998/Math/MathML";
const SIGNS = { "*": "·", "==": "=", "<=": "≤", ">=": "≥", "-": "−" };
const BINDING = { and: 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, negative: 6, pow: 7 };
const TIGHTEST = 9; // names, numbers, calls and fractions; the bar of a fraction groups like parentheses

/** @param {string} tag @param {...(Element | string)} children @returns {Element} */
function made(tag, ...children) {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
}

/** Build a formula from its parts. @param {string} said text alternative @param {...Element} parts */
export function math(said, ...parts) {
  const element = made("math", ...parts);
  element.setAttribute("alttext", said);
  return element;
}

/** @param {string} text */
export function sign(text) {
  return made("mo", text);
}

/** @param {string} text */
export function number(text) {
  const isNegative = /^[-−]/.test(text);
  return isNegative ? row(sign("−"), made("mn", text.slice(1))) : made("mn", text);
}

/** Build the name of a node; names that are not a single word are set upright. @param {string} text */
export function name(text) {
  return /^\p{L}[\p{L}\p{Nd}_]*$/u.test(text) ? made("mi", text) : made("mtext", text);
}

/** @param {Element} over @param {Element} under */
export function fraction(over, under) {
  return made("mfrac", over, under);
}

/** @param {Element} base @param {Element} exponent */
export function power(base, exponent) {
  return made("msup", base, exponent);
}

/** @param {...Element} parts */
export function row(...parts) {
  return parts.length === 1 ? parts[0] : made("mrow", ...parts);
}

/**
 * Build the derivative of `of` with respect to `by` as a fraction.
 * @param {"d" | "∂"} d @param {string} of @param {string} by
 */
export function derivative(d, of, by) {
  return fraction(row(made("mi", d), name(operand(brief(of)))), row(made("mi", d), name(operand(brief(by)))));
}

/** Join parts with an operator. @param {readonly Element[]} parts @param {string} between */
export function joined(parts, between) {
  return row(...parts.flatMap((part, i) => (i ? [sign(between), part] : [part])));
}

/** Typeset a formula of the table, in its own variables or in names of nodes. @param {Formula} formula @returns {Element} */
export function typeset(formula) {
  if (typeof formula === "string") return name(formula);
  if (typeof formula === "number") return formula === Math.PI ? made("mi", "π") : number(String(formula));
  const [operator, ...parts] = formula;
  const [left, right] = parts;
  if (operator === "negative") return row(sign("−"), bracketed(left, formula));
  if (operator === "/") return fraction(typeset(left), typeset(right));
  if (operator === "pow") return power(bracketed(left, formula), typeset(right));
  if (operator === "*" && left === right && typeof left === "string") return power(name(left), number("2"));
  if (operator === "sqrt") return made("msqrt", typeset(left));
  if (operator === "abs") return row(sign("|"), typeset(left), sign("|"));
  if (operator in BINDING) {
    const between = SIGNS[/** @type {keyof typeof SIGNS} */ (operator)] ?? operator;
    return row(bracketed(left, formula), sign(between), bracketed(right, formula, true));
  }
  return row(made("mi", operator), sign("("), joined(parts.map(typeset), ","), sign(")"));
}

/**
 * Typeset an operand, in parentheses if it binds less tightly than the whole formula.
 * @param {Formula} part @param {Formula} whole @param {boolean} [isRight]
 */
function bracketed(part, whole, isRight = false) {
  const [inside, outside] = [binding(part), binding(whole)];
  const isNeeded = inside < outside || (isRight && inside === outside && Array.isArray(whole) && whole[0] === "-");
  return isNeeded ? row(sign("("), typeset(part), sign(")")) : typeset(part);
}

/** @param {Formula} formula */
function binding(formula) {
  if (typeof formula === "number" && formula < 0) return BINDING.negative;
  const operator = Array.isArray(formula) ? formula[0] : "";
  return BINDING[/** @type {keyof typeof BINDING} */ (operator)] ?? TIGHTEST;
}
