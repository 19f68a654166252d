// Descriptions of nodes for readers, derived from the node's name and the letters of the opened name.
//
// At place p, letter p of the name is read (the start at place 0), and letter p + 1 is predicted (the end at the last one).

/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./protocol.js").Opened} Opened */

/**
 * Functions that describe letters in titles.
 * @typedef {object} Speech
 * @property {(place: number) => string} read the letter that is read at a place
 * @property {(place: number) => string} next the letter that is predicted there
 * @property {(token: number) => string} letter
 */

/** Descriptions of the results of some operations. @type {Readonly<Record<string, string>>} */
const WORDS = { sumprod: "sum of products", take: "the one that is picked", maximum: "the larger of two" };
const MATRICES = { query: "query", key: "key", value: "value", mix: "mixing", widen: "widening", narrow: "narrowing" };

/**
 * Patterns of node names, and their descriptions. `#` matches a number; the function gets the numbers in order.
 * @type {readonly (readonly [string, (numbers: readonly number[], speech: Speech) => string])[]}
 */
const PATTERNS = [
  ["token.#", ([place], { read }) => `what is read: ${read(place)}`],
  ["target.#", ([place], { next }) => `what follows: ${next(place)}`],
  ["place#.embed.take.#", ([place, i], { read }) => `number ${i + 1} of the letter · ${read(place)}`],
  ["place#.embed.sum.#", ([place, i], { read }) => `number ${i + 1} of letter and place together · ${read(place)}`],
  ["place#.embed.x.#", ([place, i], { read }) => `number ${i + 1} after embedding · ${read(place)}`],
  ["place#.attention.query.#", ([place, i], { read }) => `number ${i + 1} of the query · ${read(place)}`],
  ["place#.attention.key.#", ([place, i], { read }) => `number ${i + 1} of the key · ${read(place)}`],
  ["place#.attention.value.#", ([place, i], { read }) => `number ${i + 1} of the value · ${read(place)}`],
  ["place#.attention.head#.score.#", ([place, head, seen], { read, next }) => `how well ${read(seen)} fits the query of head ${head + 1} · predicting ${next(place)}`],
  ["place#.attention.head#.weight.#", ([place, head, seen], { read, next }) => `how much head ${head + 1} looks at ${read(seen)} · predicting ${next(place)}`],
  ["place#.attention.head#.found.#", ([place, head, i], { next }) => `number ${i + 1} of what head ${head + 1} found · predicting ${next(place)}`],
  ["place#.attention.x.#", ([place, i], { next }) => `number ${i + 1} after attention · predicting ${next(place)}`],
  ["place#.mlp.hidden.#", ([place, i], { next }) => `neuron ${i + 1} · predicting ${next(place)}`],
  ["place#.mlp.x.#", ([place, i], { next }) => `number ${i + 1} after the neurons · predicting ${next(place)}`],
  ["place#.logit.#", ([place, token], { letter, next }) => `logit of ${letter(token)} · predicting ${next(place)}`],
  ["loss.#", ([place], { next }) => `loss of ${next(place)}`],
  ["loss", () => "the loss: the mean over all letters"],
  ["letters.#.#", ([token, i], { letter }) => `number ${i + 1} of the letter ${letter(token)} · weight`],
  ["unembed.#.#", ([token, i], { letter }) => `number ${i + 1} of what speaks for ${letter(token)} · weight`],
  ["places.#.#", ([place, i]) => `number ${i + 1} of place ${place + 1} · weight`],
  ...Object.entries(MATRICES).map(([name, words]) => /** @type {const} */ ([
    `${name}.#.#`,
    (/** @type {readonly number[]} */ [row, column]) => `row ${row + 1}, column ${column + 1} of the ${words} matrix · weight`,
  ])),
];

const EXPRESSIONS = PATTERNS.map(([pattern, say]) => /** @type {const} */ ([
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("#", "(\\d+)")}$`),
  say,
]));

/** @param {Lesson} lesson @param {Opened} opened @param {number} node */
export function titleOf(lesson, opened, node) {
  const name = lesson.program.names[node];
  const speech = speechOf(lesson, opened);
  for (const [expression, say] of EXPRESSIONS) {
    const found = expression.exec(name);
    if (found) return say(found.slice(1).map(Number), speech);
  }
  return stepOf(lesson, node, name, speech);
}

/** @param {Lesson} lesson @param {Opened} opened @returns {Speech} */
function speechOf(lesson, { tokens, targets }) {
  const letter = (/** @type {number} */ token) => (token === lesson.end ? "the end" : `“${lesson.letter(token)}”`);
  return {
    letter,
    read: (place) => (place ? `letter ${place}, ${letter(tokens[place])}` : "the start"),
    next: (place) => (targets[place] === lesson.end ? "the end" : `letter ${place + 1}, ${letter(targets[place])}`),
  };
}

/**
 * Describe an intermediate result that has no name: its operation and its scope.
 * @param {Lesson} lesson @param {number} node @param {string} name @param {Speech} speech
 */
function stepOf({ program }, node, name, { next }) {
  const row = program.rowOf(node);
  const words = WORDS[row?.name ?? ""] ?? row?.words ?? "";
  const number = /\.(\d+)$/.exec(name);
  const what = name.endsWith(".scale") ? "scale to one size" : `${words}${number ? ` ${Number(number[1]) + 1}` : ""}`;
  const scopes = program.scopes[node].split(".").filter(Boolean).reverse();
  return [what, ...scopes.map((scope) => said(scope, next))].join(" · ");
}

/** Describe a scope, such as head2, counted from 1. @param {string} scope @param {Speech["next"]} next */
function said(scope, next) {
  const [, word, number] = /^(\D+)(\d*)$/.exec(scope) ?? ["", scope, ""];
  if (word === "place") return `predicting ${next(Number(number))}`;
  return `${word.replace("mlp", "neurons")}${number && ` ${Number(number) + 1}`}`;
}
