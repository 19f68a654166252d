// The local derivatives of the table as data: printed, evaluated, and with their choices made. See types.js.

/** @import { Formula } from "../types.js" */

import * as ieee from "./ieee.js";
import { general } from "./numbers.js";

// How tightly an operator binds, for brackets. Calls, names and numbers bind tightest.
/** @type {Record<string, number>} */
const BINDING = { and: 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, negative: 6 };
const TIGHTEST = 9;

/** @type {Record<string, (left: number, right: number) => number>} */
const OPERATORS = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  negative: (operand) => -operand,
  "<": (left, right) => Number(left < right),
  "<=": (left, right) => Number(left <= right),
  ">": (left, right) => Number(left > right),
  ">=": (left, right) => Number(left >= right),
  "==": (left, right) => Number(left === right),
  and: (left, right) => Number(left !== 0 && right !== 0),
};
const FUNCTIONS = /** @type {Record<string, (...operands: number[]) => number>} */ ({ ...ieee });

/**
 * The formula as a person would write it, with other formulas in place of some of its names.
 * @param {Formula} formula
 * @param {Readonly<Record<string, Formula>>} [names]
 */
export function text(formula, names = {}) {
  return printed(substituted(formula, names));
}

/**
 * The number that a formula gives for numbers of its names.
 * @param {Formula} formula
 * @param {Readonly<Record<string, number>>} values
 * @returns {number}
 */
export function valueOf(formula, values) {
  if (!Array.isArray(formula)) return typeof formula === "string" ? values[formula] : formula;
  const [operator, ...parts] = formula;
  if (operator === "where") return valueOf(branch(parts, values), values);
  const [left, right] = parts.map((part) => valueOf(part, values));
  return (OPERATORS[operator] ?? FUNCTIONS[operator])(left, right);
}

/**
 * The formula with its choices made, as they are for these numbers.
 * @param {Formula} formula
 * @param {Readonly<Record<string, number>>} values
 * @returns {Formula}
 */
export function resolved(formula, values) {
  if (!Array.isArray(formula)) return formula;
  const [operator, ...parts] = formula;
  if (operator === "where") return resolved(branch(parts, values), values);
  return [operator, ...parts.map((part) => resolved(part, values))];
}

/**
 * The formula with other formulas in place of some of its names.
 * @param {Formula} formula
 * @param {Readonly<Record<string, Formula>>} values
 * @returns {Formula}
 */
export function substituted(formula, values) {
  if (typeof formula === "string") return Object.hasOwn(values, formula) ? values[formula] : formula;
  if (!Array.isArray(formula)) return formula;
  const [operator, ...parts] = formula;
  return [operator, ...parts.map((part) => substituted(part, values))];
}

/**
 * The formula with sums and products of its numbers worked out, and a first power as what it is a power of.
 * @param {Formula} formula
 * @returns {Formula}
 */
export function folded(formula) {
  if (!Array.isArray(formula)) return formula;
  const [operator, ...given] = formula;
  const parts = given.map(folded);
  const [left, right] = parts;
  const isSum = operator === "+" || operator === "-" || operator === "*";
  if (isSum && typeof left === "number" && typeof right === "number") return OPERATORS[operator](left, right);
  if (operator === "pow" && right === 1) return left;
  return [operator, ...parts];
}

/**
 * The side that a choice takes.
 * @param {Formula[]} parts condition, chosen, otherwise
 * @param {Readonly<Record<string, number>>} values
 */
function branch([condition, chosen, otherwise], values) {
  return valueOf(condition, values) !== 0 ? chosen : otherwise;
}

/**
 * @param {Formula} formula
 * @returns {string}
 */
function printed(formula) {
  if (typeof formula === "string") return formula;
  if (typeof formula === "number") return formula === Math.PI ? "π" : general(formula);
  const [operator, ...parts] = formula;
  const [left, right] = parts;
  if (operator === "where") return `${printed(right)} if ${printed(left)}, else ${printed(parts[2])}`;
  if (operator === "negative") return `-${bracketed(left, formula, false)}`;
  if (operator === "*" && left === right && typeof left === "string") return `${left}²`;
  if (operator in BINDING) {
    const sign = operator.replace("==", "=").replace("*", "·");
    return `${bracketed(left, formula, false)} ${sign} ${bracketed(right, formula, true)}`;
  }
  return `${operator}(${parts.map(printed).join(", ")})`;
}

/**
 * A part printed as an operand of the whole, in brackets where it binds less tightly.
 * @param {Formula} part
 * @param {Formula} whole
 * @param {boolean} isRight
 */
function bracketed(part, whole, isRight) {
  const [inside, outside] = [binding(part), binding(whole)];
  const isAssociative = operatorOf(part) === operatorOf(whole) && ["+", "*", "and"].includes(operatorOf(whole));
  const isNeeded = inside < outside || (isRight && inside === outside && !isAssociative);
  return isNeeded ? `(${printed(part)})` : printed(part);
}

/** @param {Formula} formula */
function binding(formula) {
  if (typeof formula === "number" && formula < 0) return BINDING.negative;
  return operatorOf(formula) === "where" ? 0 : (BINDING[operatorOf(formula)] ?? TIGHTEST);
}

/** @param {Formula} formula */
function operatorOf(formula) {
  return Array.isArray(formula) ? formula[0] : "";
}
