// What is said of a graph or an expression that makes no sense: what was given, what was expected, how to mend it.

// A graph in JSON. `where` is a node, such as "node 3"; `what` one of its parts; `given` is shown as JSON.

export const NOT_A_GRAPH = 'this is not a graph: it has no "gradwalk": "graph"';
export const NO_OUTPUT = "the graph has no output";
export const THE_GRAPH = "the graph";
export const AN_OUTPUT = "an output";

/** @param {string} given @param {number} known */
export const otherVersion = (given, known) => `this graph has version ${given}; version ${known} can be read`;

/** @param {readonly string[]} names */
export const severalOutputs = (names) =>
  `this needs a graph with one root, and this one has ${names.length}: ${names.join(", ")}`;

/** @param {number} place @param {number} count */
export const outputOutside = (place, count) => `an output is that of node ${place}, and there are ${count} nodes`;

/** @param {string} where @param {string} key @param {readonly string[]} known */
export const unknownKey = (where, key, known) => `${where} has '${key}'; known: ${known.join(", ")}`;

/** @param {string} where @param {string} key */
export const noList = (where, key) => `${where} has no list of ${key}`;

/** @param {number} place */
export const nodeAt = (place) => `node ${place}`;

/** @param {string} where @param {string} given */
export const notAnObject = (where, given) => `${where} is ${given}, not an object`;

/** @param {string} where */
export const operationAndSymbol = (where) =>
  `${where} has both an operation of the table and a symbol of a hand-made one`;

/** @param {string} where @param {string} given */
export const unknownOperation = (where, given) => `${where} has the unknown operation ${given}`;

/** @param {string} where @param {number} operands @param {number} partials */
export const unequalLists = (where, operands, partials) =>
  `${where} has ${operands} operands and ${partials} partials`;

/** @param {string} where @param {string} operation @param {number | string} takes in words where it is not one number @param {number} given */
export const miscounted = (where, operation, takes, given) =>
  `${where} (${operation}) takes ${takes} operands, not ${given}`;

/** @param {string} where @param {number} given */
export const noOperation = (where, given) => `${where} has operands (${given}) but no operation`;

/** @param {string} where @param {number} operand */
export const notEarlier = (where, operand) =>
  `${where} has node ${operand} as operand, which is no earlier node`;

/** @param {string} where @param {string} given */
export const constantWithPartial = (where, given) => `a constant of ${where} has the partial ${given}, not null`;

/** @param {string} where @param {string} given */
export const badByHand = (where, given) => `by_hand of ${where} is ${given}, and can only be true`;

/** @param {string} where */
export const emptyLabel = (where) => `the label of ${where} is empty: leave it out`;

/** @param {string} where @param {string} given */
export const badSource = (where, given) => `the source of ${where} is ${given}, not a file and a line`;

/** @param {string} where @param {number} letters @param {number} most */
export const longText = (where, letters, most) => `the text of ${where} has ${letters} letters, and at most ${most} are read`;

/** @param {string} what @param {string} given */
export const notAPlace = (what, given) => `${what} is ${given}, not the place of a node`;

/** @param {string} what @param {string} given */
export const notANumber = (what, given) => `${what} is ${given}, not a number`;

/** @param {string} what */
export const tooLarge = (what) => `${what} is too large for a float`;

/** @param {string} what @param {string} given */
export const notAText = (what, given) => `${what} is ${given}, not a text`;

/** A part of a node, as the messages above call it. @param {string} part @param {string} where */
export const partOf = (part, where) => `${part} of ${where}`;

export const PARTS = {
  data: "the data",
  gradient: "the gradient",
  label: "the label",
  symbol: "the symbol",
  line: "the line",
  file: "the file",
  text: "the text",
  operand: "an operand",
  partial: "a partial",
  constant: "a constant",
};

/** @param {string} name @param {boolean} byHand */
export const madeByHand = (name, byHand) =>
  `${name} was made ${byHand ? "by hand" : "with its derivatives"}: nothing is known of how it is computed, so what it was made from cannot be changed`;

// Expressions. Python's expression.py says the same. Each has the problem and, where there is one, a hint.

const CALLS = "call functions by their bare names, as in exp(x)";

/** @typedef {{ problem: string, hint?: string }} Said */

/** @type {Record<string, Said>} */
export const EXPRESSION = {
  empty: { problem: "the expression is empty", hint: "write one such as tanh(x*w + b)" },
  unused: {
    problem: "the result of this part is not used",
    hint: "give it a name, as in e = a + b, and use that",
  },
  tooLarge: { problem: "this integer is too large for a float" },
  chained: {
    problem: "comparisons cannot be chained",
    hint: "compare twice and multiply, as in (0 < x) * (x < 1)",
  },
  comma: { problem: "syntax error: a comma can only stand between arguments" },
  unmatched: { problem: "syntax error: unmatched ')'" },
  neverClosed: { problem: "syntax error: '(' was never closed" },
  notArithmetic: {
    problem: "this is not arithmetic",
    hint: "there are numbers, names, + - * / // % **, one of < <= > >=, brackets and functions such as exp(x)",
  },
  star: { problem: "* cannot stand before an argument here" },
  noOperand: { problem: "syntax error: a number or a name is missing" },
  noOperator: {
    problem: "syntax error: an operator is missing",
    hint: "for a product write *, and for a function brackets, as in 2*exp(x)",
  },
  caret: { problem: "^ is not an operation here", hint: "for powers write **" },
  notAFunction: {
    problem: "only functions called by name are part of an expression",
    hint: `${CALLS}; for a product write *`,
  },
  noName: { problem: "syntax error: only a part can be given a name", hint: "as in e = a + b; f = e*c" },
};

/** @param {string} attribute with its point @returns {Said} */
export const attribute = (attribute) => ({
  problem: `attributes such as ${attribute} are not part of an expression`,
  hint: CALLS,
});

/** @param {string} text @returns {Said} */
export const notReal = (text) => ({ problem: `${text} is not a real number` });

/** @param {string} name @param {string | null} close @param {readonly string[]} known @returns {Said} */
export const unknownFunction = (name, close, known) => ({
  problem: `unknown function '${name}'`,
  hint: `${close ? `did you mean ${close}? ` : ""}known: ${known.join(", ")}`,
});

/** @param {string} name @param {number} takes @param {number} given @returns {Said} */
export const arity = (name, takes, given) => ({
  problem: `${name}() takes ${takes} ${takes === 1 ? "argument" : "arguments"}, not ${given}`,
});

/** @param {string} name @returns {Said} */
export const namedArgument = (name) => ({ problem: `${name}() takes no named arguments` });

/** @param {string} name @returns {Said} */
export const madeTwice = (name) => ({ problem: `'${name}' is made twice`, hint: "give one of the two another name" });

/** @param {string} name @returns {Said} */
export const usedBefore = (name) => ({
  problem: `'${name}' is used before it is made`,
  hint: "a name is made once, before it is used",
});

/** @param {string} name @returns {Said} */
export const numbersAlone = (name) => ({
  problem: `'${name}' is made from numbers alone`,
  hint: `leave this part out, and give ${name} its value as you do for other names`,
});

/** @param {string} name @param {string} other @returns {Said} */
export const anotherName = (name, other) => ({
  problem: `'${name}' would be another name of '${other}'`,
  hint: `use ${other} itself`,
});

/** @param {string} name @param {string} suggested @returns {Said} */
export const noValue = (name, suggested) => ({
  problem: `no value is given for the name '${name}'`,
  hint: `give it one: ${name}=${suggested}`,
});

/** @param {string} name @param {string} value @returns {Said} */
export const madeItself = (name, value) => ({
  problem: `${name}=${value} is given, but the program makes ${name} itself`,
});

/** @param {string} name @param {string} value @param {readonly string[]} known @returns {Said} */
export const noSuchName = (name, value, known) => ({
  problem: `${name}=${value} is given, but the expression has no '${name}'; it has: ${known.join(", ") || "none"}`,
});
