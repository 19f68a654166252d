// What a node is, for a reader: said from its name, counting from 1.

/** @typedef {import("./document.js").Lesson} Lesson */

const OF_WORDS = { query: "query", key: "key", value: "value", mix: "mixing", widen: "widening", narrow: "narrowing" };

/** @typedef {(numbers: readonly number[], letter: (token: number) => string) => string} Say */

/**
 * What the names of nodes look like, and what each is. `#` stands for a number; they come as they are, in order.
 * @type {readonly (readonly [string, Say])[]}
 */
const PATTERNS = [
  ["token.#", ([place]) => `the letter that is read · place ${place + 1}`],
  ["target.#", ([place]) => `the letter that follows · place ${place + 1}`],
  ["place#.embed.take.#", ([place, i]) => `number ${i + 1} of the letter's embedding · place ${place + 1}`],
  ["place#.embed.sum.#", ([place, i]) => `number ${i + 1} of letter and place together · place ${place + 1}`],
  ["place#.embed.x.#", ([place, i]) => `number ${i + 1} after embedding · place ${place + 1}`],
  ["place#.attention.query.#", ([place, i]) => `number ${i + 1} of the query · attention · place ${place + 1}`],
  ["place#.attention.key.#", ([place, i]) => `number ${i + 1} of the key · attention · place ${place + 1}`],
  ["place#.attention.value.#", ([place, i]) => `number ${i + 1} of the value · attention · place ${place + 1}`],
  ["place#.attention.head#.score.#", ([place, head, seen]) => `how well place ${seen + 1} fits place ${place + 1} · head ${head + 1} · attention`],
  ["place#.attention.head#.weight.#", ([place, head, seen]) => `place ${place + 1} looks at place ${seen + 1} · head ${head + 1} · attention`],
  ["place#.attention.head#.found.#", ([place, head, i]) => `number ${i + 1} of what was found · head ${head + 1} · attention · place ${place + 1}`],
  ["place#.attention.x.#", ([place, i]) => `number ${i + 1} after attention · place ${place + 1}`],
  ["place#.mlp.hidden.#", ([place, i]) => `neuron ${i + 1} · place ${place + 1}`],
  ["place#.mlp.x.#", ([place, i]) => `number ${i + 1} after the neurons · place ${place + 1}`],
  ["place#.logit.#", ([place, token], letter) => `logit of ${letter(token)} · place ${place + 1}`],
  ["loss.#", ([place]) => `loss of place ${place + 1}`],
  ["loss", () => "the loss: the mean over all places"],
  ["letters.#.#", ([token, i], letter) => `number ${i + 1} of the embedding of ${letter(token)} · weight`],
  ["unembed.#.#", ([token, i], letter) => `number ${i + 1} of what speaks for ${letter(token)} · weight`],
  ["places.#.#", ([place, i]) => `number ${i + 1} of the embedding of place ${place + 1} · weight`],
  ...Object.entries(OF_WORDS).map(([name, words]) => /** @type {const} */ ([
    `${name}.#.#`,
    (/** @type {readonly number[]} */ [row, column]) => `row ${row + 1}, column ${column + 1} of the ${words} matrix · weight`,
  ])),
];

const EXPRESSIONS = PATTERNS.map(([pattern, say]) => /** @type {const} */ ([
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("#", "(\\d+)")}$`),
  say,
]));

/** @param {Lesson} lesson @param {number} node */
export function titleOf(lesson, node) {
  const name = lesson.program.names[node];
  const letter = (/** @type {number} */ token) => (token === lesson.end ? "the end" : `“${lesson.letter(token)}”`);
  for (const [expression, say] of EXPRESSIONS) {
    const found = expression.exec(name);
    if (found) return say(found.slice(1).map(Number), letter);
  }
  return stepOf(lesson, node, name);
}

/** What is said of a step that has no name of its own: what it is, and where. @param {Lesson} lesson @param {number} node @param {string} name */
function stepOf({ program }, node, name) {
  const { words } = program.rowOf(node) ?? { words: "" };
  const number = /\.(\d+)$/.exec(name);
  const what = name.endsWith(".scale") ? "scale to one size" : `${words}${number ? ` ${Number(number[1]) + 1}` : ""}`;
  return [what, ...program.scopes[node].split(".").filter(Boolean).reverse().map(counted)].join(" · ");
}

/** A scope, such as head2, counted from 1. @param {string} scope */
function counted(scope) {
  return scope.replace(/(\d+)$/, (number) => ` ${Number(number) + 1}`).replace("mlp", "neurons");
}
