// Descriptions of nodes for readers, derived from the node's name and the letters of the opened name.

import { operations } from "../languages/languages.js";
import { say } from "./texts.js";

/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./languages/en.js").Speech} Speech */
/** @typedef {import("./protocol.js").Opened} Opened */

const { titles: words, weights } = say;

const EXPRESSIONS = Object.entries(words.names).map(([pattern, tell]) => /** @type {const} */ ([
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("#", "(\\d+)")}$`),
  tell,
]));

/** @param {Lesson} lesson @param {Opened} opened @param {number} node */
export function titleOf(lesson, opened, node) {
  const name = lesson.program.names[node];
  const speech = speechOf(lesson, opened);
  for (const [expression, tell] of EXPRESSIONS) {
    const found = expression.exec(name);
    if (found) return tell(found.slice(1).map(Number), speech);
  }
  const [matrix, row, column] = name.split(".");
  if (Object.hasOwn(weights.titles, matrix)) return `${weights.cell(weights.matrix(weights.titles[matrix]), Number(row), Number(column))} · ${words.weight}`;
  return stepOf(lesson, node, name, speech);
}

/** @param {Lesson} lesson @param {Opened} opened @returns {Speech} */
function speechOf(lesson, { tokens, targets }) {
  const letter = (/** @type {number} */ token) => (token === lesson.end ? "" : lesson.letter(token));
  return {
    letter: (token) => words.quoted(letter(token)),
    read: (place) => words.letterOf(place, letter(tokens[place])),
    next: (place) => words.letterOf(place + 1, letter(targets[place]), targets[place] === lesson.end),
  };
}

/**
 * Describe an intermediate result that has no name: its operation and its scope.
 * @param {Lesson} lesson @param {number} node @param {string} name @param {Speech} speech
 */
function stepOf({ program }, node, name, { next }) {
  const row = program.rowOf(node);
  const told = row ? words.operations[row.name] ?? operations.words(row.name, row.words) : "";
  const number = /\.(\d+)$/.exec(name);
  const what = name.endsWith(".scale") ? words.scale : `${told}${number ? ` ${Number(number[1]) + 1}` : ""}`;
  const scopes = program.scopes[node].split(".").filter(Boolean).reverse();
  return [what, ...scopes.map((scope) => said(scope, next))].join(" · ");
}

/** Describe a scope, such as head2, counted from 1. @param {string} scope @param {Speech["next"]} next */
function said(scope, next) {
  const [, word, number] = /^(\D+)(\d*)$/.exec(scope) ?? ["", scope, ""];
  if (word === "place") return words.predicting(next(Number(number)));
  return `${words.scopes[word] ?? word}${number && ` ${Number(number) + 1}`}`;
}
