// Formulas of the table's local derivatives as data (see types.js): print them, evaluate them, and resolve their
// branches.

/** @import { Formula } from "../types.js" */

import * as ieee from "./ieee.js";
import { general } from "./numbers.js";

// Precedence of each operator, for parentheses. Calls, names and numbers bind most tightly.
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
 * Print a formula in mathematical notation, after replacing some names with other formulas.
 * @param {Formula} formula
 * @param {Readonly<Record<string, Formula>>} [names]
 */
export function text(formula, names = {}) {
  return printed(substituted(formula, names));
}

/**
 * Evaluate a formula for the given values of its names.
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
 * Replace every `where` with the branch that is taken for the given values.
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
 * Replace some names of a formula with other formulas.
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
 * Fold constant sums, differences and products, and replace `pow(x, 1)` with x.
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
 * Return the branch that a `where` selects.
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
 * Print an operand, in parentheses if it binds less tightly than the whole formula.
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
