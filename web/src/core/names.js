// Display names of nodes: on one line, and in parentheses inside a formula. Long names and long lists are folded.

import { folds } from "../languages/languages.js";

const MANY = 8; // longer lists are folded
const [FIRST, LAST] = [4, 2]; // items of a folded list
const MOST = 1000; // items of a list that is shown whole
const LONG = 80; // letters; longer names are folded
const BRIEF = 20; // letters of a name where there is little room
const INDEX = /\[[0-9]+\]/gu;
const PATH = /^(?!\p{Nd})[\p{L}\p{N}_][\p{L}\p{N}_.[\]]*$/u;

/** Format a name on one line; use a placeholder if nothing of it is visible. @param {string} name @param {boolean} [isWhole] */
export function said(name, isWhole = false) {
  const line = oneLine(name) || "?";
  return isWhole || line.length <= LONG ? line : shortened(line);
}

/** Replace unprintable characters, such as line breaks and direction marks, with spaces. @param {string} text */
export function oneLine(text) {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
}

/** Return whether a list is folded unless the reader asks for all of it. @param {readonly unknown[]} items */
export function isLong(items) {
  return items.length > MANY;
}

/**
 * Fold a long list: keep its first and last items, with an item between them for the number of omitted items.
 * @template T @template [Between=string]
 * @param {readonly T[]} items @param {boolean} isWhole whether the reader asked for all items
 * @param {(count: number) => Between} between by default "… 54 more …"
 * @returns {readonly (T | Between)[]}
 */
export function few(items, isWhole, between = /** @type {any} */ (folds.more)) {
  const [most, first] = isWhole ? [MOST, MOST - LAST] : [MANY, FIRST];
  if (items.length <= most) return items;
  return [...items.slice(0, first), between(items.length - first - LAST), ...items.slice(-LAST)];
}

/** List names in an error message, as Python does. @param {readonly string[]} names */
export function firstOf(names) {
  return names.slice(0, MANY).join(", ") + (isLong(names) ? ", ..." : "");
}

/** Shorten a name: a long sum loses its middle terms, any other name its middle letters. @param {string} line */
function shortened(line) {
  const terms = [""];
  let depth = 0;
  for (const letter of line) {
    depth += Number(letter === "(") - Number(letter === ")");
    if (depth === 0 && (letter === "+" || letter === "-") && terms[terms.length - 1].endsWith(" ")) terms.push("");
    terms[terms.length - 1] += letter;
  }
  const sum = few(terms, false, (count) => `+ ${folds.more(count)} `).join("");
  return isLong(terms) && sum.length <= 2 * LONG ? sum : cut(line, LONG);
}

/** Cut out the middle of a text. @param {string} text @param {number} most letters to keep */
function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most / 2).join("")}…${letters.slice(-most / 3).join("")}` : text;
}

/** Format a name for use inside a formula. @param {string} name */
export function bracketed(name) {
  return isIdentifier(name) ? name : `(${name})`;
}

/** Format a name for a path or a typeset formula, which have little room. @param {string} name */
export function brief(name) {
  return cut(said(name, true), BRIEF);
}

/** Return whether a name is a valid identifier. `a·b` is not: it is a product. @param {string} text */
export function isIdentifier(text) {
  return /^[\p{XID_Start}_](?:(?![\u00b7\u0387])\p{XID_Continue})*$/u.test(text);
}

/** Return whether a label is a path: names and indices, without spaces and operators. @param {string} label */
export function isLabelPath(label) {
  return PATH.test(label);
}

/** Write the indices of a label in brackets, as Python does: `w[1]` for `w.1`. @param {string} label */
export function withBrackets(label) {
  return label.includes(".") && isLabelPath(label) ? label.replace(/\.([0-9]+)(?=[.[]|$)/gu, "[$1]") : label;
}

/** Return whether a text needs no parentheses in an expression: a number, or a name with attributes and indices. @param {string} text */
export function isSingle(text) {
  return isIdentifier(text) || /^[\p{L}\p{Nd}]+$/u.test(text.replace(INDEX, "").replaceAll(".", ""));
}
