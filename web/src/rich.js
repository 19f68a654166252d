// Converts texts of the language files to elements: `x` is code, *x* is emphasized, and $…$ is a formula, typeset as
// MathML.
//
// In a formula [a/b] is a fraction and ^2 an exponent; letters are variables.

import { element } from "./dom.js";
import { fraction, math, name, number, power, row, sign } from "./mathml.js";

const MARKED = /`([^`]*)`|\*([^*]+)\*|\$([^$]*)\$/g;
const PIECES = /\[|\]|\/|\^|\d+(?:\.\d+)?|[d∂](?=[\p{L}•])|\p{L}[\p{L}\p{Nd}_]*|\S/gu;

/** @param {string} text @returns {(string | Element)[]} */
export function rich(text) {
  /** @type {(string | Element)[]} */
  const found = [];
  let from = 0;
  for (const match of text.matchAll(MARKED)) {
    found.push(text.slice(from, match.index));
    const [whole, code, stressed, formula] = match;
    if (code !== undefined) found.push(element("code", {}, code));
    else if (stressed !== undefined) found.push(element("em", {}, ...rich(stressed)));
    else found.push(typeset(formula));
    from = match.index + whole.length;
  }
  found.push(text.slice(from));
  return found.filter((part) => part !== "");
}

/** Typeset a formula in a text. @param {string} formula */
function typeset(formula) {
  const pieces = formula.match(PIECES) ?? [];
  return math(formula.replaceAll(/[[\]]/g, ""), ...parts(pieces, 0, pieces.length));
}

/** @param {readonly string[]} pieces @param {number} from @param {number} to @returns {Element[]} */
function parts(pieces, from, to) {
  /** @type {Element[]} */
  const line = [];
  for (let i = from; i < to; i += 1) {
    const piece = pieces[i];
    if (piece === "[") {
      const [bar, end] = ["/", "]"].map((mark) => pieces.indexOf(mark, i));
      line.push(fraction(row(...parts(pieces, i + 1, bar)), row(...parts(pieces, bar + 1, end))));
      i = end;
    } else if (piece === "^") {
      i += 1;
      line.push(power(line.pop() ?? row(), atom(pieces[i])));
    } else {
      line.push(atom(piece));
    }
  }
  return line;
}

/** @param {string} piece */
function atom(piece) {
  if (/^\d/.test(piece)) return number(piece);
  return /^[\p{L}•∂]/u.test(piece) ? name(piece) : sign(piece);
}
