// All texts of the microgpt page. Numbers and names are passed in as formatted text. A translation would be another such file.

/** @typedef {import("./protocol.js").NameProblem} NameProblem */

/** Describe a letter of a name; letter 0 is the start. @param {number} number @param {string} letter @param {boolean} isEnd */
function letterOf(number, letter, isEnd = false) {
  if (isEnd) return "the end";
  return number ? `letter ${number}, “${letter}”` : "the start";
}

export const say = {
  language: "en",
  title: "microgpt",
  promise: "every scalar in sight",
  page: "microgpt: every scalar in sight · gradwalk",
  lead: [
    "This is a whole GPT, small enough to see: *4,192 numbers* learn how names are spelled, here in your browser, from the names you give them.",
    "Stop it at any step and open it. Every cell below is one number of the computation: choose it, and see where it came from and what the loss wants of it.",
  ],
  contents: "On this page",
  sections: { train: "Teach it", tokens: "A name", embedding: "Embedding", attention: "Attention", neurons: "Neurons", prediction: "Prediction", weights: "All weights" },
  menu: "Menu",
  theme: "Colors",
  themes: { auto: "as the system", light: "light", dark: "dark" },
  loading: "The recorded program is unpacked …",
  broken: (/** @type {string} */ text) => `Something went wrong: ${text}`,

  transport: {
    title: "Training",
    train: "Train",
    pause: "Pause",
    step: "Step",
    back: "Step back",
    restart: "Restart",
    at: (/** @type {number} */ step, /** @type {number} */ steps) => `step ${step} of ${steps}`,
    loss: (/** @type {string} */ loss) => `loss ${loss}`,
    rate: (/** @type {number} */ rate) => `${rate} steps/s`,
    catching: (/** @type {number} */ step) => `training up to step ${step}, where the link leads …`,
    shows: "Cells show",
    kinds: { data: "values", grad: "gradients" },
  },

  train: {
    heading: "Teach it names",
    intro: "A step reads one name, letter by letter, guesses each next letter, and nudges all 4,192 numbers so that it would have guessed a little better.",
    names: "Names to learn from",
    hint: "Letters a to z, at most 15 of them; separated by spaces, commas or lines. Yours replace these.",
    use: "Use these names",
    given: "Back to the given names",
    count: (/** @type {number} */ count) => (count === 1 ? "It learns from 1 name." : `It learns from ${count.toLocaleString("en")} names.`),
    unused: "You have changed the names: use them, and training begins anew.",
    more: (/** @type {number} */ count) => `… and ${count} more of that kind.`,
    problem: /** @param {NameProblem} problem */ ({ kind, name, letters, used }) => {
      if (kind === "empty") return "There is no name to learn from: give at least one, of letters a to z.";
      if (kind === "long") return `“${name}” is too long: it is read as “${used}”.`;
      return `“${name}” is left out: it has ${[...letters].map((letter) => `“${letter}”`).join(", ")}, and only a to z are known.`;
    },
  },

  curve: {
    title: "Loss by step",
    name: "Step, by the curve of the loss",
    hint: "Drag, or use the arrow keys, to go back to any step.",
    pace: "Speed",
    paces: { 0: "as fast as it can", 20: "20 steps a second", 3: "3 steps a second" },
    chance: "guessing",
    dots: "a dot: one step",
    mean: (/** @type {number} */ count) => `line: mean of ${count} steps`,
    none: "No step has been taken yet.",
    at: (/** @type {number} */ step, /** @type {boolean} */ isTaken, /** @type {string} */ loss, /** @type {string} */ mean) => `step ${step}: ${isTaken ? "" : "last "}loss ${loss}, mean ${mean}`,
  },

  samples: {
    title: "Names it invents",
    intro: "“new” are those that it was not taught.",
    more: "Invent five",
    temperature: "Temperature",
    warmth: (/** @type {string} */ number) => `${number}: ${Number(number) < 0.4 ? "careful" : Number(number) > 0.9 ? "wild" : "balanced"}`,
    isNew: "new",
    none: "They come as it learns.",
    at: (/** @type {number} */ step) => `step ${step}`,
    nothing: "(nothing)",
  },

  tokens: {
    heading: "Open it at a name",
    intro: "The model reads a name from left to right and predicts each next letter from those before it. Choose *what it predicts*; all pictures below are of that moment.",
    name: "Look at a name",
    open: "Open",
    places: "The letter that is predicted",
    number: (/** @type {number} */ place, /** @type {boolean} */ isEnd) => (isEnd ? "end" : String(place + 1)),
    choice: (/** @type {number} */ place, /** @type {string} */ letter, /** @type {boolean} */ isEnd, /** @type {string} */ share) =>
      `${letterOf(place + 1, letter, isEnd)}: ${share}`,
    told: (/** @type {string} */ read, /** @type {number} */ place, /** @type {string} */ letter, /** @type {boolean} */ isEnd, /** @type {string} */ share) =>
      `${read ? `It has read “${read}”` : "It has read nothing yet"}, and is to predict ${letterOf(place + 1, letter, isEnd)}. It gives it *${share}*.`,
    refused: /** @param {NameProblem} problem */ ({ kind, letters, used }) => {
      if (kind === "empty") return "Type a name.";
      if (kind === "long") return `That is too long: it has room for “${used}”.`;
      return `Only letters a to z are known, not ${[...letters].map((letter) => `“${letter}”`).join(", ")}.`;
    },
  },

  cells: {
    help: "Arrow keys move, Enter opens a number.",
    at: (/** @type {string} */ what, /** @type {string} */ data, /** @type {string} */ grad) => `${what}: value ${data}, gradient ${grad}`,
    hint: "Point at a cell to read it; click it, or press Enter, to open it.",
    shares: "share",
    scale: { data: "value", grad: "gradient" },
    negative: "cells with a stroke are negative",
  },

  embedding: {
    heading: "Letters become numbers",
    intro: "The model knows a letter as 16 numbers, and a place in the name as 16 others. Their sums, scaled to one size, are what goes on: *a row for each letter it has read*.",
    pictures: { letters: "its letter", places: "its place", sums: "sum, scaled" },
    letter: (/** @type {string} */ letter, /** @type {number} */ i) => `number ${i + 1} of ${letter ? `“${letter}”` : "the start"}`,
    place: (/** @type {number} */ place, /** @type {number} */ i) => `number ${i + 1} of place ${place + 1}`,
    sum: (/** @type {number} */ place, /** @type {string} */ letter, /** @type {number} */ i) => `number ${i + 1} of ${letterOf(place, letter)}, after the sum`,
  },

  attention: {
    heading: "Four heads look back",
    intro: "To predict a letter, each head looks back at what was read and mixes it: *how much it looks where* is a weight between 0 and 1, and the weights of a row add up to 1.",
    axes: "Rows: the letter that is predicted. Columns: the letter looked at. Arcs: the marked row, thick for much.",
    head: (/** @type {number} */ head) => `Head ${head + 1}`,
    weight: (/** @type {number} */ head, /** @type {number} */ place, /** @type {string} */ target, /** @type {boolean} */ isEnd, /** @type {number} */ seen, /** @type {string} */ letter) =>
      `Head ${head + 1}, predicting ${letterOf(place + 1, target, isEnd)}, looks at ${letterOf(seen, letter)}`,
    told: (/** @type {number} */ head, /** @type {number} */ place, /** @type {boolean} */ isEnd, /** @type {string} */ name, /** @type {number} */ seen, /** @type {string} */ letter, /** @type {string} */ share) =>
      `Head ${head + 1}, predicting ${isEnd ? "the end" : `letter ${place + 1}`} of “${name}”, looks mostly at *${letterOf(seen, letter)}* (${share})`,
    ofLetters: (/** @type {number} */ seen, /** @type {string} */ letter, /** @type {string} */ share) => `, and of the letters at *${letterOf(seen, letter)}* (${share})`,
    only: (/** @type {number} */ head) => `Head ${head + 1} has only the start to look at.`,
    inside: "How a head comes to look there",
    why: "It asks with a *query*; every letter answers with a *key*. Where they fit, the score is high, and softmax makes weights of the scores. By these it mixes the letters’ *values*.",
    parts: { query: "query", key: "keys", score: "scores", weight: "weights", value: "values", found: "mixed" },
    cell: (/** @type {string} */ part, /** @type {number} */ head, /** @type {number} */ seen, /** @type {string} */ letter, /** @type {number} */ i) =>
      `${part} of head ${head + 1} for ${letterOf(seen, letter)}${i < 0 ? "" : `, number ${i + 1}`}`,
    own: (/** @type {string} */ part, /** @type {number} */ head, /** @type {number} */ i) => `${part} of head ${head + 1}, number ${i + 1}`,
  },

  neurons: {
    heading: "64 neurons think",
    intro: "Each neuron weighs the 16 numbers and answers only where the sum is positive: *an empty cell is asleep*, and no gradient passes through it.",
    picture: "Neurons",
    neuron: (/** @type {number} */ i) => `neuron ${i + 1}`,
    told: (/** @type {number} */ awake, /** @type {number} */ all) => `${awake} of ${all} are awake at this place.`,
  },

  prediction: {
    heading: "What may come next",
    intro: "Every letter gets a score, its *logit*; softmax makes probabilities of them. The loss is how surprised the model is by the letter that really follows.",
    picture: "Logits",
    logit: (/** @type {string} */ letter) => `logit of ${letter || "the end"}`,
    target: "what follows",
    likeliest: (/** @type {string} */ list) => `Likeliest: ${list}.`,
    one: (/** @type {string} */ letter, /** @type {string} */ share) => `${letter || "end"} ${share}`,
    told: (/** @type {string} */ letter, /** @type {string} */ share, /** @type {number} */ rank, /** @type {string} */ loss) =>
      `${letter ? `“${letter}”` : "The end"} really follows. It got *${share}*, rank ${rank}: the loss here, −log of that share, is ${loss}.`,
    loss: "Open the loss at this place",
  },

  weights: {
    heading: "All 4,192 weights",
    intro: "These are the numbers that training changes; all else is computed from them. A *gradient* says how the loss of this name would change if the weight grew. Lines part the four heads.",
    titles: /** @type {Record<string, string>} */ ({
      letters: "letters", places: "places", query: "query", key: "key", value: "value", mix: "mix", widen: "widen", narrow: "narrow", unembed: "unembed",
    }),
    about: /** @type {Record<string, string>} */ ({
      letters: "a row for each letter",
      places: "a row for each place",
      query: "what heads ask",
      key: "what letters answer",
      value: "what letters give",
      mix: "heads, joined",
      widen: "16 numbers to 64 neurons: a column for each neuron",
      narrow: "64 neurons to 16 numbers: a column for each neuron",
      unembed: "a row for each next letter",
    }),
    matrix: (/** @type {string} */ name) => `${name} matrix`,
    cell: (/** @type {string} */ matrix, /** @type {number} */ row, /** @type {number} */ column) => `${matrix}, row ${row + 1}, column ${column + 1}`,
    find: "Find a number by its name",
    example: "such as query.3.5 or place3.logit.4",
    go: "Find",
    unknown: (/** @type {string} */ name) => `There is no “${name}” in this name’s computation.`,
  },

  inspector: {
    title: "The number you chose",
    prompt: "Choose any cell, and its whole story stands here: its value, its gradient and why it is so, what it is made from, and its line of the program.",
    begin: "Or begin at one of these:",
    beginnings: { loss: "the loss of this name", weight: "where head 3 looks", parameter: "a weight of the query" },
    back: "Back",
    forward: "Forward",
    close: "Close",
    value: "Value",
    gradient: "Gradient",
    because: "Why this gradient",
    nudge: (/** @type {string} */ size, /** @type {number} */ sign) => {
      if (sign === 0) return "A small change of it leaves the loss as it is.";
      return `If it grew a little, the loss would ${sign > 0 ? "grow" : "fall"} by ${size} times as much.`;
    },
    isRoot: "It is the loss itself: if it grows, the loss grows as much.",
    isUnused: "No number of this name’s loss depends on it, so nothing is passed back to it.",
    isIdle: "What is made from it passes nothing back: each gradient there times its derivative is 0.",
    one: (/** @type {string} */ amount, /** @type {string} */ upstream, /** @type {string} */ partial) =>
      `One number passes gradient back to it: its own gradient ${upstream} times its derivative ${partial} = *${amount}*.`,
    many: (/** @type {number} */ count, /** @type {string} */ sum, /** @type {string} */ grad) =>
      `${count} numbers pass gradient back to it: each its own gradient times its derivative by this one, and the chain rule adds them up: ${sum} = *${grad}*.`,
    others: (/** @type {number} */ count) => `(${count} more)`,
    made: "What it is made from",
    leaf: "It is given, not computed.",
    used: "What passes gradient back to it",
    gets: (/** @type {string} */ partial, /** @type {string} */ amount) => `derivative ${partial}, so it gets ${amount}`,
    gives: (/** @type {string} */ upstream, /** @type {string} */ partial) => `its gradient ${upstream} × derivative ${partial}`,
    constant: "a constant: it gets nothing",
    formulas: "In formulas",
    all: (/** @type {number} */ count) => `Show all ${count}`,
    fewer: "Show the largest",

    line: (/** @type {string} */ file, /** @type {number} */ line) => `${file}, line ${line}`,
    path: "Strongest path from the loss",
    pathHere: "To this number",
    pathToken: "To the letter just read",
    pathHide: "Hide the path",
    pathTold: (/** @type {number} */ steps, /** @type {string} */ product, /** @type {string} */ grad) =>
      `${steps} steps. The derivatives along it, multiplied, are ${product}; all paths together make the last number’s gradient, ${grad}.`,
    both: (/** @type {string} */ data, /** @type {string} */ grad) => `value ${data}, gradient ${grad}`,
    gone: "It is not part of this name’s computation.",
  },
};
