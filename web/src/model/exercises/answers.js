// Parses readers' answers: a number, or arithmetic that gives one.

import { evaluate, parse } from "../../core/expression.js";

const COMMA = /^\s*[-+\u2212\u2013]?\d+,\d+\s*$/; // such as 0,5

/** Parse an answer such as -1.5, 0,5 or 3*2; null for anything else. @param {string} text */
export function numberIn(text) {
  try {
    const graph = evaluate(parse(pointed(text).replace(/[\u2212\u2013]/g, "-")), new Map());
    const number = graph.nodes[graph.root].data;
    return Number.isFinite(number) ? number : null;
  } catch {
    return null;
  }
}

/** Replace a decimal comma by a point. @param {string} text */
export function pointed(text) {
  return COMMA.test(text) ? text.replace(",", ".") : text;
}
