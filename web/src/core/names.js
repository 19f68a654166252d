// The names of nodes as they are shown: on one line, and in brackets where they are part of a formula.

import { sentences } from "../languages/languages.js";

/** A name on one line, or what stands for one that has nothing to show. @param {string} name */
export function said(name) {
  return oneLine(name) || sentences.unnamed;
}

/**
 * Text with what does not print, such as line ends and marks that turn its direction, as spaces.
 * @param {string} text
 */
export function oneLine(text) {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
}

/** A name as a part of a formula. @param {string} name */
export function bracketed(name) {
  return isIdentifier(name) ? name : `(${name})`;
}

/** Whether a program could have it as a name; `a·b` is a product. @param {string} text */
export function isIdentifier(text) {
  return /^[\p{XID_Start}_](?:(?![\u00b7\u0387])\p{XID_Continue})*$/u.test(text);
}
