// What readers answer: a number, or arithmetic that makes one.

import { evaluate, parse } from "../../core/expression.js";

const COMMA = /^\s*[-+\u2212\u2013]?\d+,\d+\s*$/; // as in 0,5

/** The number that an answer such as -1.5, 0,5 or 3*2 stands for; null for anything else. @param {string} text */
export function numberIn(text) {
  try {
    const graph = evaluate(parse(pointed(text).replace(/[\u2212\u2013]/g, "-")), new Map());
    const number = graph.nodes[graph.root].data;
    return Number.isFinite(number) ? number : null;
  } catch {
    return null;
  }
}

/** With a point for a comma. @param {string} text */
export function pointed(text) {
  return COMMA.test(text) ? text.replace(",", ".") : text;
}
