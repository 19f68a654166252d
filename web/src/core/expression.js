// Arithmetic written as text, such as `tanh(x*w + b)`, made into a graph. It is parsed against the table, never run.
//
// A program has one part or several, between semicolons or on lines of their own: `e = a + b; f = e*c`. All but the
// last have a name, by which later parts use their result. The last is the root.
//
// Python's expression.py is the same parser for the command line, and says the same of what is wrong: they change
// together.

/** @import { Said } from "../languages/en.js" */

import { expressionErrors as say } from "../languages/languages.js";
import { Graph, Value } from "./graph.js";
import { general, plain } from "./numbers.js";
import { BY_NAME, TABLE } from "./table.js";

const FUNCTIONS = new Map(TABLE.filter((row) => row.isFunction).map((row) => [row.name, row]));
export const CONSTANTS = new Map([["pi", Math.PI], ["e", Math.E], ["tau", 2 * Math.PI]]);

/** @type {ReadonlyMap<string, (left: number, right: number) => boolean>} */
const COMPARISONS = new Map([
  ["<", (left, right) => left < right],
  ["<=", (left, right) => left <= right],
  [">", (left, right) => left > right],
  [">=", (left, right) => left >= right],
]);

// What stands between two operands, and how tightly it binds. A sign binds less tightly than a power: -x**2 is -(x**2).
const BINARY = new Map([
  ...["<", "<=", ">", ">="].map((symbol) => /** @type {[string, number]} */ ([symbol, 1])),
  ...["+", "-"].map((symbol) => /** @type {[string, number]} */ ([symbol, 2])),
  ...["*", "/", "//", "%"].map((symbol) => /** @type {[string, number]} */ ([symbol, 3])),
  ["**", 5],
]);
const SIGN = 4;
const ROWS = new Map([["+", "add"], ["-", "sub"], ["*", "mul"], ["/", "div"], ["//", "floor_divide"], ["%", "mod"], ["**", "pow"]]);

// What Python takes for a space: \s has U+FEFF besides, and lacks the separators of ASCII.
const SPACE = "(?:(?!\\ufeff)\\s|[\\x1c-\\x1f\\x85])";
// How formulas are typeset: other signs for the same operators, and powers by raised digits. Unicode counts the middle
// dots among the letters of a name. An en dash is what many keyboards have for a minus sign.
const SIGNS = new Map([
  ["\u00b7", "*"],
  ["\u0387", "*"],
  ["\u22c5", "*"],
  ["\u00d7", "*"],
  ["\u2212", "-"],
  ["\u2013", "-"],
  ["\u00f7", "/"],
  ["\u2264", "<="],
  ["\u2265", ">="],
]);
const RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b";

const DIGITS = "[0-9](?:_?[0-9])*";
const NUMBER = `(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?`;
const TOKEN = new RegExp(
  [
    `(?<space>(?:(?!\\n)${SPACE})+|#[^\\n]*)`,
    `(?<constant>${NUMBER}[jJ]|'[^'\\n]*'|"[^"\\n]*")`,
    `(?<number>${NUMBER})`,
    "(?<end>[;\\n])",
    "(?<other>\\*\\*=|//=|<<|>>|->|[-+*/%=!:]=)", // before what they begin with
    "(?<symbol>\\*\\*|//|<=|>=|[-+*/%<>(),=^])",
    `(?<sign>[${[...SIGNS.keys()].join("")}])`,
    "(?<exponent>\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)",
  ].join("|"),
  "uy",
);
const NAME = /[\p{XID_Start}_](?:(?![\u00b7\u0387])\p{XID_Continue})*/uy;
const BRACKET = new RegExp(`(?:(?!\\n)${SPACE})*\\(`, "uy");
const CONSTANT_WORDS = ["True", "False", "None"];
const KEYWORDS = new Set( // Python's: its programs cannot have them as names either
  (
    "and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

// What other languages and packages call functions, and how these are written here.
const ELSEWHERE = new Map(Object.entries({
  absolute: "abs", expit: "sigmoid", gammaln: "lgamma", int: "trunc", ln: "log", logistic: "sigmoid", sigm: "sigmoid",
  max: "maximum", min: "minimum", ndtr: "norm_cdf", ndtri: "norm_ppf", power: "pow", probit: "norm_ppf",
  psi: "digamma", round: "rint", sgn: "sign", swish: "silu",
  clip: "minimum(maximum(x, low), high)", interp: "a + (b - a)*t",
  log_softmax: "x - logaddexp(x, y)", logsigmoid: "-softplus(-x)", logsumexp: "logaddexp(x, y)", norm: "hypot(x, y)",
  prod: "x*y",
  softmax: "exp(x) / (exp(x) + exp(y))", square: "x**2", sum: "x + y",
}));

// Of two operands, and of more by calls within calls.
const NESTED = new Set(["fmax", "fmin", "hypot", "logaddexp", "maximum", "minimum"]);
const SHOWN = 100; // letters of a line that an error shows
const LONGEST = 1000; // letters of a label: those of a long chain would take the square of its length

/** What is wrong with an expression, and where: the message shows the line with a caret under the place. */
export class ExpressionError extends Error {
  name = "ExpressionError";

  /**
   * @param {Said} said
   * @param {string} text that it is in; "" where it has no place
   * @param {number} line counted from 1
   * @param {number} column counted from 0, in letters
   */
  constructor({ problem, hint = "" }, text = "", line = 1, column = 0) {
    super(problem + (text && pointed(text.split("\n")[line - 1], column)) + (hint && `\n${hint}`));
    this.problem = problem;
    this.hint = hint;
    this.text = text;
    this.line = line;
    this.column = column;
  }
}

/**
 * A step of the evaluation, which has a stack of results, and the part of the text that it came from. A number or a
 * name is put on top; an operation or a comparison, which takes the topmost as its operands, puts its own result there;
 * an assignment names the topmost.
 * @typedef {object} Step
 * @property {"number" | "name" | "operation" | "comparison" | "assignment"} kind
 * @property {string} what
 * @property {number} start
 * @property {number} end
 */

/**
 * A program that has been found to be arithmetic: its steps, and its names that need values, as they appear.
 * @typedef {{ text: string, steps: readonly Step[], names: readonly string[] }} Program
 */

/** Text without the space around it. Looked for from both ends: an expression for it takes the square of what is inside. @param {string} text */
function trimmed(text) {
  const isSpace = new RegExp(SPACE);
  let [start, end] = [0, text.length];
  while (start < end && isSpace.test(text[start])) start += 1;
  while (end > start && isSpace.test(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/**
 * Read a program: numbers, names, + - * / // % **, brackets, comparisons, and the functions of the table. Operators bind as
 * in Python. Throws `ExpressionError` for anything else.
 * @param {string} given
 * @returns {Program}
 */
export function parse(given) {
  const text = trimmed(given.replace(/\r\n?/g, "\n"));
  const parts = partsOf(text);
  if (parts.length === 0) throw new ExpressionError(say.syntax.empty);
  const parser = new Parser(text);
  for (const part of parts) parser.read(part, part === parts[parts.length - 1]);
  return { text, steps: parser.steps, names: [...parser.names] };
}

/**
 * The graph of a program. Every node is labelled with its name or its part of the text. Throws `ExpressionError` where
 * a name has no value, or a value no name in the program.
 * @param {Program} program
 * @param {ReadonlyMap<string, number>} given values by name
 */
export function evaluate(program, given) {
  const { text, steps } = program;
  const values = new Map([...given].map(([name, value]) => [normal(name), value]));
  checkValues(program, values);
  /** @type {Map<string, Value | number>} */
  const named = new Map([...values].map(([name, value]) => [name, new Value(value, name)]));
  /** @type {(Value | number)[]} */
  const results = [];
  for (const step of steps) {
    if (step.kind === "number") {
      results.push(Number(step.what.replaceAll("_", "")));
    } else if (step.kind === "name") {
      results.push(found(step, named, text));
    } else if (step.kind === "assignment") {
      named.set(step.what, labelled(results[results.length - 1], step.what));
    } else if (step.kind === "comparison") {
      const [left, right] = results.splice(-2).map((operand) => (operand instanceof Value ? operand.data : operand));
      results.push(Number(COMPARISONS.get(step.what)?.(left, right)));
    } else {
      const row = /** @type {import("../types.js").Row} */ (BY_NAME.get(step.what));
      results.push(labelled(Value.apply(row, results.splice(-row.arity)), source(step, text)));
    }
  }
  const root = results[results.length - 1];
  return Graph.record(root instanceof Value ? root : new Value(root, labelOfConstant(program)));
}

/**
 * Throw where a value is given for no name, or for one that the program makes.
 * @param {Program} program
 * @param {ReadonlyMap<string, number>} values
 */
function checkValues({ steps, names }, values) {
  const made = new Set(steps.filter(({ kind }) => kind === "assignment").map(({ what }) => what));
  const known = new Set(names);
  for (const [name, value] of values) {
    if (made.has(name)) throw new ExpressionError(say.madeItself(name, general(value)));
    if (!known.has(name)) throw new ExpressionError(say.noSuchName(name, general(value), names));
  }
}

/**
 * What a name stands for.
 * @param {Step} step
 * @param {ReadonlyMap<string, Value | number>} named
 * @param {string} text
 */
function found({ what, start }, named, text) {
  const value = named.get(what);
  if (value === undefined) throw errorAt(say.noValue(what, plain(CONSTANTS.get(what) ?? 1)), text, start);
  return value;
}

/**
 * @param {Value | number} result
 * @param {string} label
 */
function labelled(result, label) {
  if (result instanceof Value) result.label = label;
  return result;
}

/**
 * What to call a root that was made from numbers alone.
 * @param {Program} program
 */
function labelOfConstant({ text, steps }) {
  const last = steps[steps.length - 1];
  return last.kind === "assignment" ? last.what : source(last, text);
}

/**
 * The part of the text that a step came from; nothing where it is too long for a label.
 * @param {Step} step
 * @param {string} text
 */
function source({ start, end }, text) {
  return end - start <= LONGEST ? text.slice(start, end) : "";
}

/**
 * A name as Python reads it: letters that only look different are the same.
 * @param {string} name
 */
function normal(name) {
  return name.normalize("NFKC");
}

/**
 * An error at a place in the text.
 * @param {Said} said
 * @param {string} text
 * @param {number} offset
 */
function errorAt(said, text, offset) {
  const before = text.slice(0, offset).split("\n");
  return new ExpressionError(said, text, before.length, [...before[before.length - 1]].length);
}

/**
 * A line with a caret under a place.
 * @param {string} line
 * @param {number} column in letters
 */
function pointed(line, column) {
  const start = Math.max(0, column - SHOWN / 2);
  const shown = [...line].slice(start, start + SHOWN);
  return `\n  ${shown.join("")}\n  ${" ".repeat(width(shown.slice(0, column - start)))}^`;
}

/**
 * How many columns letters take on a terminal: those of East Asia take two, marks on other letters none.
 * @param {readonly string[]} letters
 */
function width(letters) {
  const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60]/u;
  return letters.reduce((sum, letter) => sum + (/\p{Mn}/u.test(letter) ? 0 : wide.test(letter) ? 2 : 1), 0);
}

// Tokens

/**
 * A word or a sign of the text, other signs than Python's as what Python has. An "exponent" is a number of raised
 * digits, a "function" a name with the bracket behind it, a "constant" one that is no real number, "end" stands behind a
 * part, and "other" is what is not of this grammar.
 * @typedef {{ kind: string, text: string, start: number, end: number }} Token
 */

/**
 * The tokens of each part, its end among them. Empty parts are left out.
 * @param {string} text
 */
function partsOf(text) {
  /** @type {Token[][]} */
  const parts = [[]];
  for (const token of tokensOf(text)) {
    parts[parts.length - 1].push(token);
    if (token.kind === "end") parts.push([]);
  }
  return parts.filter((part) => part.length > 1);
}

/**
 * The tokens of a text, without spaces; line ends in brackets are such.
 * @param {string} text
 */
function* tokensOf(text) {
  let depth = 0;
  let position = 0;
  while (position < text.length) {
    const token = tokenAt(text, position);
    position = token.end;
    if (token.kind === "space" || (token.text === "\n" && depth > 0)) continue;
    if (token.kind === "function" || token.text === "(") depth += 1;
    if (token.text === ")") depth = Math.max(0, depth - 1);
    yield token;
  }
  yield { kind: "end", text: "", start: text.length, end: text.length };
}

/**
 * The token that begins at a place, or the space.
 * @param {string} text
 * @param {number} start
 * @returns {Token}
 */
function tokenAt(text, start) {
  const word = matchAt(NAME, text, start);
  if (word) return wordAt(text, word[0], start);
  const attribute = text[start] === "." && matchAt(NAME, text, start + 1);
  if (attribute) return token("attribute", `.${attribute[0]}`, start);
  const match = matchAt(TOKEN, text, start);
  if (!match) return token("other", String.fromCodePoint(Number(text.codePointAt(start))), start);
  const [kind] = Object.entries(match.groups ?? {}).filter(([, matched]) => matched !== undefined)[0];
  const found = token(kind, match[0], start);
  if (kind === "sign") return { ...found, kind: "symbol", text: String(SIGNS.get(match[0])) };
  if (kind === "exponent") return { ...found, text: match[0].replace(/./g, (letter) => "0123456789-"[RAISED.indexOf(letter)]) };
  return found;
}

/**
 * @param {string} text
 * @param {string} word
 * @param {number} start
 */
function wordAt(text, word, start) {
  if (CONSTANT_WORDS.includes(word)) return token("constant", word, start);
  if (KEYWORDS.has(word)) return token("other", word, start);
  const end = start + word.length;
  const bracket = matchAt(BRACKET, text, end);
  return { ...token(bracket ? "function" : "name", normal(word), start), end: end + (bracket?.[0].length ?? 0) };
}

/**
 * @param {string} kind
 * @param {string} text
 * @param {number} start
 */
function token(kind, text, start) {
  return { kind, text, start, end: start + text.length };
}

/**
 * @param {RegExp} pattern a sticky one
 * @param {string} text
 * @param {number} start
 */
function matchAt(pattern, text, start) {
  pattern.lastIndex = start;
  return pattern.exec(text);
}

// Parsing

/**
 * An operator or an opening bracket that waits for what stands behind it.
 * @typedef {object} Waiting
 * @property {string} what the row or comparison or function that it stands for, "+" for a sign that does nothing, "("
 * @property {Token} token
 * @property {number} binding how tightly, 0 for brackets and functions
 * @property {number} operands how many it takes; of a function, those so far
 */

/**
 * Reads parts from left to right. Operators and brackets wait on a stack until all of their operands have been read, so
 * that no depth is too deep: Dijkstra's shunting-yard algorithm.
 */
class Parser {
  /** @type {Step[]} */
  steps = [];
  /** @type {Set<string>} */
  names = new Set();
  /** @type {Set<string>} */
  #made = new Set();
  /** @type {Waiting[]} */
  #waiting = [];
  /** @type {{ start: number, end: number }[]} where the operands stand that wait, with their brackets */
  #spans = [];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /**
   * Read a part, its end included.
   * @param {readonly Token[]} tokens
   * @param {boolean} isLast
   */
  read(tokens, isLast) {
    const [begin, second] = tokens;
    if (begin.kind === "name" && second.text === "=") {
      if (this.#made.has(begin.text)) throw this.#error(say.madeTwice(begin.text), begin);
      const first = this.steps.length;
      this.#readExpression(tokens.slice(2));
      this.#assign(begin, this.steps.slice(first));
    } else {
      this.#readExpression(tokens);
      if (!isLast) throw this.#error(say.syntax.unused, begin);
    }
  }

  /** @param {readonly Token[]} tokens */
  #readExpression(tokens) {
    let wantsOperand = true;
    for (const token of tokens) wantsOperand = wantsOperand ? this.#operand(token) : this.#operator(token);
    this.#spans = [];
  }

  /**
   * Name the result of a part.
   * @param {Token} token
   * @param {readonly Step[]} steps
   */
  #assign(token, steps) {
    const name = token.text;
    if (this.names.has(name)) throw this.#error(say.usedBefore(name), token);
    if (steps.every(({ kind }) => kind !== "name")) throw this.#error(say.numbersAlone(name), token);
    if (steps.length === 1) throw this.#error(say.anotherName(name, steps[0].what), token);
    this.#made.add(name);
    this.steps.push({ kind: "assignment", what: name, start: token.start, end: token.end });
  }

  /**
   * Take a token where an operand begins; whether one is still to come.
   * @param {Token} token
   */
  #operand(token) {
    const { kind, text } = token;
    if (kind === "number") {
      if (/^[0-9_]+$/.test(text) && !Number.isFinite(Number(text.replaceAll("_", "")))) {
        throw this.#error(say.syntax.tooLarge, token);
      }
      this.#push("number", token);
      return false;
    }
    if (kind === "name") {
      if (!this.#made.has(text)) this.names.add(text);
      this.#push("name", token);
      return false;
    }
    if (kind === "function") {
      if (!FUNCTIONS.has(text)) {
        const [word, known] = [text.toLowerCase(), [...FUNCTIONS.keys()]];
        throw this.#error(say.unknownFunction(text, ELSEWHERE.get(word) ?? closest(word, known), known), token);
      }
      this.#waiting.push({ what: text, token, binding: 0, operands: 1 });
    } else if (text === "(") {
      this.#waiting.push({ what: "(", token, binding: 0, operands: 1 });
    } else if (text === "+" || text === "-") {
      this.#waiting.push({ what: text === "-" ? "neg" : "+", token, binding: SIGN, operands: 1 });
    } else {
      throw this.#noOperand(token);
    }
    return true;
  }

  /**
   * Take a token behind an operand; whether another operand is to come.
   * @param {Token} token
   */
  #operator(token) {
    const { kind, text } = token;
    if (BINARY.has(text)) {
      this.#binary(token);
      return true;
    }
    if (kind === "exponent") {
      this.#raise(token);
      return false;
    }
    if (text === ",") {
      this.#comma(token);
      return true;
    }
    if (text === ")") {
      this.#close(token);
    } else if (kind === "end") {
      this.#reduce(1);
      if (this.#waiting.length > 0) throw this.#neverClosed(this.#waiting[this.#waiting.length - 1]);
    } else {
      throw this.#noOperator(token);
    }
    return false;
  }

  /**
   * @param {"number" | "name"} kind
   * @param {Token} token
   */
  #push(kind, { text, start, end }) {
    this.steps.push({ kind, what: text, start, end });
    this.#spans.push({ start, end });
  }

  /** @param {Token} token */
  #binary(token) {
    const symbol = token.text;
    const binding = Number(BINARY.get(symbol));
    const isComparison = COMPARISONS.has(symbol);
    this.#reduce(symbol === "**" || isComparison ? binding + 1 : binding);
    if (isComparison && COMPARISONS.has(this.#waiting.at(-1)?.what ?? "")) throw this.#error(say.syntax.chained, token);
    this.#waiting.push({ what: ROWS.get(symbol) ?? symbol, token, binding, operands: 2 });
  }

  /** Apply an exponent to the operand before it, at once: nothing binds tighter. @param {Token} token */
  #raise(token) {
    this.#push("number", token);
    const { start } = this.#spans[this.#spans.length - 2];
    this.#apply({ what: "pow", token, binding: Number(BINARY.get("**")), operands: 2 }, start, token.end);
  }

  /** @param {Token} token */
  #comma(token) {
    this.#reduce(1);
    const opened = this.#waiting.at(-1);
    if (!opened || opened.what === "(") throw this.#error(say.syntax.comma, token);
    opened.operands += 1;
  }

  /** @param {Token} token */
  #close(token) {
    this.#reduce(1);
    const opened = this.#waiting.pop();
    if (!opened) throw this.#error(say.syntax.unmatched, token);
    if (opened.what === "(") {
      this.#spans[this.#spans.length - 1] = { start: opened.token.start, end: token.end };
    } else {
      this.#checkArity(opened, opened.operands);
      this.#apply(opened, opened.token.start, token.end);
    }
  }

  /**
   * Apply the operators that bind that tightly: all of their operands have been read.
   * @param {number} binding
   */
  #reduce(binding) {
    for (let operator = this.#waiting.at(-1); operator && operator.binding >= binding; operator = this.#waiting.at(-1)) {
      this.#waiting.pop();
      const start = operator.operands === 1 ? operator.token.start : this.#spans[this.#spans.length - 2].start;
      this.#apply(operator, start, this.#spans[this.#spans.length - 1].end);
    }
  }

  /**
   * @param {Waiting} operator
   * @param {number} start
   * @param {number} end
   */
  #apply({ what, operands }, start, end) {
    this.#spans.splice(-operands, operands, { start, end });
    if (what !== "+") this.steps.push({ kind: COMPARISONS.has(what) ? "comparison" : "operation", what, start, end });
  }

  // What can be wrong

  /**
   * @param {Waiting} opened
   * @param {number} given
   */
  #checkArity({ what, token }, given) {
    const takes = Number(FUNCTIONS.get(what)?.arity);
    if (given !== takes) throw this.#error(say.arity(what, takes, given, NESTED.has(what)), token);
  }

  /**
   * What is wrong with a token where an operand should begin.
   * @param {Token} token
   */
  #noOperand(token) {
    const bracket = this.#bracket();
    const beginsArgument = bracket && bracket === this.#waiting.at(-1) && bracket.what !== "(";
    if (token.kind === "constant") return this.#error(say.notReal(token.text), token);
    if (token.kind === "other" || token.kind === "attribute") return this.#error(say.syntax.notArithmetic, token);
    if (token.kind === "end" && bracket) return this.#neverClosed(bracket);
    if ((token.text === "*" || token.text === "**") && beginsArgument) return this.#error(say.syntax.star, token);
    if (token.text === ")" && beginsArgument && bracket.operands === 1) this.#checkArity(bracket, 0);
    return this.#error(say.syntax.noOperand, token);
  }

  /**
   * What is wrong with a token that cannot stand behind an operand.
   * @param {Token} token
   */
  #noOperator(token) {
    const bracket = this.#bracket();
    const operand = { ...token, start: this.#spans[this.#spans.length - 1].start };
    if (token.kind === "other") return this.#error(say.syntax.notArithmetic, token);
    if (token.kind === "attribute") return this.#error(say.attribute(token.text), operand);
    if (token.text === "^") return this.#error(say.syntax.caret, token);
    if (token.text === "(") return this.#error(say.syntax.notAFunction, operand);
    if (token.text === "=" && bracket && bracket.what !== "(") {
      return this.#error(say.namedArgument(bracket.what), token);
    }
    if (token.text === "=") return this.#error(say.syntax.noName, token);
    return this.#error(say.syntax.noOperator, token);
  }

  /** The innermost bracket that is open. */
  #bracket() {
    return this.#waiting.findLast(({ binding }) => binding === 0);
  }

  /** @param {Waiting} opened */
  #neverClosed({ token }) {
    return errorAt(say.syntax.neverClosed, this.text, token.end - 1);
  }

  /**
   * @param {Said} said
   * @param {Token} token
   */
  #error(said, token) {
    return errorAt(said, this.text, token.start);
  }
}

// Names that were meant: as Python's difflib.get_close_matches finds them

const CLOSE = 0.6; // of the letters

/**
 * The name that most resembles a word, if any does.
 * @param {string} word
 * @param {readonly string[]} names
 */
function closest(word, names) {
  const letters = [...word];
  const [best] = names
    .map((name) => ({ name, ratio: likeness([...name], letters) }))
    .filter(({ ratio }) => ratio >= CLOSE)
    .sort((one, other) => other.ratio - one.ratio || (one.name < other.name ? 1 : -1));
  return best?.name ?? null;
}

/**
 * How many of the letters of two words are in common, from 0 to 1.
 * @param {readonly string[]} one
 * @param {readonly string[]} other
 */
function likeness(one, other) {
  const letters = one.length + other.length;
  const most = (2 * Math.min(one.length, other.length)) / letters;
  return most < CLOSE ? 0 : (2 * common(one, other)) / letters;
}

/**
 * The letters of the longest run that two words have in common, and of those on both sides of it.
 * @param {readonly string[]} one
 * @param {readonly string[]} other
 * @returns {number}
 */
function common(one, other) {
  let [length, i, j] = [0, 0, 0];
  for (let a = 0; a < one.length; a += 1) {
    for (let b = 0; b < other.length; b += 1) {
      let run = 0;
      while (a + run < one.length && one[a + run] === other[b + run]) run += 1;
      if (run > length) [length, i, j] = [run, a, b];
    }
  }
  if (length === 0) return 0;
  const before = common(one.slice(0, i), other.slice(0, j));
  return before + length + common(one.slice(i + length), other.slice(j + length));
}
