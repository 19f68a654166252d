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
  contents: "On this page",
  sections: { train: "Teach it", tokens: "A name", embedding: "Embedding", attention: "Attention", neurons: "Neurons", prediction: "Prediction", weights: "All weights" },
  menu: "Menu",
  theme: "Colors",
  themes: { auto: "as the system", light: "light", dark: "dark" },
  loading: "Unpacking the recorded program …",
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
    speed: "Speed",
    pace: (/** @type {number} */ pace) => (pace ? `${pace} ${pace === 1 ? "step" : "steps"}/s` : "full speed"),
    catching: (/** @type {number} */ step) => `training up to step ${step}, where the link leads …`,
    shows: "Cells show",
    kinds: { data: "values", grad: "gradients" },
  },

  train: {
    heading: "A GPT learns names",
    intro: "This is a whole GPT, small enough to see each of its *4,192 numbers*. It learns how names are spelled: at each step it reads one name and learns to predict each letter from the letters before it. Press *Train*: the loss falls, and the names that it writes look more and more like names.",
    names: "Names to learn from",
    hint: "A name has at most 15 letters, from a to z. Separate names by spaces, commas or line breaks. Your names replace the given ones.",
    use: "Use these names",
    given: "Back to the given names",
    count: (/** @type {number} */ count) => (count === 1 ? "It learns from 1 name." : `It learns from ${count.toLocaleString("en")} names.`),
    unused: "You have changed the names. When you use them, training starts again from the beginning.",
    more: (/** @type {number} */ count) => `… and ${count} more such problems.`,
    problem: /** @param {NameProblem} problem */ ({ kind, name, letters, used }) => {
      if (kind === "empty") return "There is no name to learn from: write at least one name with letters from a to z.";
      if (kind === "long") return `“${name}” is too long: it is read as “${used}”.`;
      return `“${name}” is left out: it has ${[...letters].map((letter) => `“${letter}”`).join(", ")}, but only the letters a to z are allowed.`;
    },
  },

  curve: {
    title: "Loss by step",
    name: "Step of the training",
    hint: "Drag, or use the arrow keys, to go back to any step.",
    to: "Go to step",
    go: "Go",
    chance: "guessing",
    dots: "a dot: one step",
    mean: (/** @type {number} */ count) => `line: mean of ${count} steps`,
    none: "No step has been taken yet.",
    at: (/** @type {number} */ step, /** @type {boolean} */ isTaken, /** @type {string} */ loss, /** @type {string} */ mean) => `step ${step}: ${isTaken ? "" : "last "}loss ${loss}, mean ${mean}`,
  },

  samples: {
    title: "Names it writes",
    more: "Write five",
    temperature: "Temperature",
    warmth: (/** @type {string} */ number) => `${number}: ${Number(number) < 0.4 ? "careful" : Number(number) > 0.9 ? "wild" : "balanced"}`,
    isNew: "new",
    isKnown: "in the data",
    counted: (/** @type {number} */ known, /** @type {number} */ fresh) =>
      `Of these ${known + fresh} names, ${known} ${known === 1 ? "is" : "are"} in the data and ${fresh} ${fresh === 1 ? "is" : "are"} new.`,
    memorized: (/** @type {number} */ count, /** @type {string} */ mean) =>
      `*It has memorized* ${count === 1 ? "the name" : `at least some of the ${count} names`}: its mean loss is ${mean}, far below what this model reaches on names that it has not read. Give it more names, and it has to learn how they are spelled.`,
    at: (/** @type {number} */ step) => `step ${step}`,
    nothing: "(nothing)",
  },

  tokens: {
    heading: "Open it at a name",
    intro: "The model reads a name from left to right and predicts each letter from the letters before it. Choose *the letter that it predicts*. All pictures below show this prediction.",
    name: "Look at a name",
    open: "Open",
    places: "The letter that is predicted",
    number: (/** @type {number} */ place, /** @type {boolean} */ isEnd) => (isEnd ? "end" : String(place + 1)),
    choice: (/** @type {number} */ place, /** @type {string} */ letter, /** @type {boolean} */ isEnd, /** @type {string} */ share) =>
      `${letterOf(place + 1, letter, isEnd)}: ${share}`,
    told: (/** @type {string} */ read, /** @type {number} */ place, /** @type {string} */ letter, /** @type {boolean} */ isEnd, /** @type {string} */ share) =>
      `${read ? `It has read “${read}”` : "It has read nothing yet"}, and predicts what comes next. The right answer is ${letterOf(place + 1, letter, isEnd)}, and the model gives it the probability *${share}*.`,
    refused: /** @param {NameProblem} problem */ ({ kind, letters, used }) => {
      if (kind === "empty") return "Type a name.";
      if (kind === "long") return `The name is too long: only “${used}” fits.`;
      return `Only the letters a to z are allowed, not ${[...letters].map((letter) => `“${letter}”`).join(", ")}.`;
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
    intro: "The model has 16 numbers for each letter, and 16 numbers for each place in a name. It adds the numbers of a letter and of its place, and scales all sums to the same size. The result is *one row for each letter it has read*.",
    pictures: { letters: "its letter", places: "its place", sums: "sum, scaled" },
    letter: (/** @type {string} */ letter, /** @type {number} */ i) => `number ${i + 1} of ${letter ? `“${letter}”` : "the start"}`,
    place: (/** @type {number} */ place, /** @type {number} */ i) => `number ${i + 1} of place ${place + 1}`,
    sum: (/** @type {number} */ place, /** @type {string} */ letter, /** @type {number} */ i) => `number ${i + 1} of ${letterOf(place, letter)}, after the sum`,
  },

  attention: {
    heading: "Four heads look back",
    intro: "To predict a letter, each head looks back at the letters read so far. *A weight between 0 and 1 tells how much it looks at each of them*. The weights of a row add up to 1.",
    axes: "Rows: the letter that is predicted. Columns: the letter looked at. Arcs: the marked row; a thicker arc is a larger weight.",
    head: (/** @type {number} */ head) => `Head ${head + 1}`,
    weight: (/** @type {number} */ head, /** @type {number} */ place, /** @type {string} */ target, /** @type {boolean} */ isEnd, /** @type {number} */ seen, /** @type {string} */ letter) =>
      `Head ${head + 1}, predicting ${letterOf(place + 1, target, isEnd)}, looks at ${letterOf(seen, letter)}`,
    told: (/** @type {number} */ head, /** @type {number} */ place, /** @type {boolean} */ isEnd, /** @type {string} */ name, /** @type {number} */ seen, /** @type {string} */ letter, /** @type {string} */ share) =>
      `Head ${head + 1}, predicting ${isEnd ? "the end" : `letter ${place + 1}`} of “${name}”, looks mostly at *${letterOf(seen, letter)}* (${share})`,
    ofLetters: (/** @type {number} */ seen, /** @type {string} */ letter, /** @type {string} */ share) => `, and among the letters mostly at *${letterOf(seen, letter)}* (${share})`,
    only: (/** @type {number} */ head) => `Head ${head + 1} has only the start to look at.`,
    inside: "How a head chooses where to look",
    why: "The head computes a *query* for the prediction, and a *key* and *values* for every letter read. Where a key is similar to the query, the score is high. Softmax turns the scores into weights. The result is the weighted sum of the letters’ values.",
    parts: { query: "query", key: "keys", score: "scores", weight: "weights", value: "values", found: "mixed" },
    cell: (/** @type {string} */ part, /** @type {number} */ head, /** @type {number} */ seen, /** @type {string} */ letter, /** @type {number} */ i) =>
      `${part} of head ${head + 1} for ${letterOf(seen, letter)}${i < 0 ? "" : `, number ${i + 1}`}`,
    own: (/** @type {string} */ part, /** @type {number} */ head, /** @type {number} */ i) => `${part} of head ${head + 1}, number ${i + 1}`,
  },

  neurons: {
    heading: "64 neurons think",
    intro: "Each neuron computes a weighted sum of the 16 numbers. If the sum is negative, the neuron outputs 0 instead: *it is asleep, its cell is empty*, and no gradient passes through it.",
    picture: "Neurons",
    neuron: (/** @type {number} */ i) => `neuron ${i + 1}`,
    told: (/** @type {number} */ awake, /** @type {number} */ all) => `${awake} of ${all} are awake at this place.`,
  },

  prediction: {
    heading: "What may come next",
    intro: "Every letter gets a score, its *logit*. Softmax turns the logits into probabilities. The loss is large if the letter that really follows has a low probability.",
    picture: "Logits",
    logit: (/** @type {string} */ letter) => `logit of ${letter || "the end"}`,
    target: "what follows",
    likeliest: (/** @type {string} */ list) => `Likeliest: ${list}.`,
    one: (/** @type {string} */ letter, /** @type {string} */ share) => `${letter || "end"} ${share}`,
    told: (/** @type {string} */ letter, /** @type {string} */ share, /** @type {number} */ rank, /** @type {string} */ loss) =>
      `${letter ? `“${letter}”` : "The end"} really follows. Its probability is *${share}*, rank ${rank}. The loss here is the negative logarithm of this probability, ${loss}.`,
    loss: "Open the loss at this place",
  },

  weights: {
    heading: "All 4,192 weights",
    intro: "Training changes these numbers. All other numbers are computed from them. A *gradient* tells how the loss of this name would change if the weight grew a little. Lines separate the four heads.",
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
    prompt: "Choose any cell to see its number here: the value, the gradient and where it comes from, the numbers it is computed from, and its line of the program.",
    begin: "Or start with one of these:",
    beginnings: { loss: "the loss of this name", weight: "where head 3 looks", parameter: "a weight of the query" },
    back: "Back",
    forward: "Forward",
    close: "Close",
    value: "Value",
    gradient: "Gradient",
    because: "Why this gradient",
    nudge: (/** @type {string} */ size, /** @type {number} */ sign) => {
      if (sign === 0) return "A small change of this number does not change the loss.";
      return `If this number grew a little, the loss would ${sign > 0 ? "grow" : "fall"} by ${size} times that amount.`;
    },
    isRoot: "This number is the loss itself, so its gradient is 1.",
    isUnused: "The loss of this name does not depend on this number, so no gradient is passed back to it.",
    isIdle: "The numbers computed from this number pass 0 back to it: each of their gradients, times the local derivative, is 0.",
    one: (/** @type {string} */ amount, /** @type {string} */ upstream, /** @type {string} */ partial) =>
      `One number passes gradient back to this number: its own gradient ${upstream} times the local derivative ${partial} = *${amount}*.`,
    many: (/** @type {number} */ count, /** @type {string} */ sum, /** @type {string} */ grad) =>
      `${count} numbers pass gradient back to this number. Each passes its own gradient times the local derivative. The chain rule adds up these contributions: ${sum} = *${grad}*.`,
    others: (/** @type {number} */ count) => `(${count} more)`,
    made: "What it is computed from",
    leaf: "This number is given, not computed.",
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
      `This path has ${steps} steps. The product of the local derivatives along it is ${product}. The sum over all paths is the gradient of the last number, ${grad}.`,
    both: (/** @type {string} */ data, /** @type {string} */ grad) => `value ${data}, gradient ${grad}`,
    gone: "This number is not part of this name’s computation.",
  },
};
