// Display names of nodes: on one line, and in parentheses inside a formula.

import { sentences } from "../languages/languages.js";

/** Format a name on one line; use a placeholder if nothing of it is visible. @param {string} name */
export function said(name) {
  return oneLine(name) || sentences.unnamed;
}

/** Replace unprintable characters, such as line breaks and direction marks, with spaces. @param {string} text */
export function oneLine(text) {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
}

/** Format a name for use inside a formula. @param {string} name */
export function bracketed(name) {
  return isIdentifier(name) ? name : `(${name})`;
}

/** Return whether a name is a valid identifier. `a·b` is not: it is a product. @param {string} text */
export function isIdentifier(text) {
  return /^[\p{XID_Start}_](?:(?![\u00b7\u0387])\p{XID_Continue})*$/u.test(text);
}
