// What readers answer: a number, or arithmetic that makes one.

import { evaluate, parse } from "../core/expression.js";

/** The number that an answer such as -1.5 or 3*2 stands for; null for anything else. @param {string} text */
export function numberIn(text) {
  try {
    const graph = evaluate(parse(text.replace(/[\u2212\u2013]/g, "-")), new Map());
    const number = graph.nodes[graph.root].data;
    return Number.isFinite(number) ? number : null;
  } catch {
    return null;
  }
}
