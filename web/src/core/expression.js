// Parse an arithmetic expression such as `tanh(x*w + b)` and build its graph. The text is only parsed, never run as
// code.
//
// A program has one or more parts, separated by semicolons or line breaks: `e = a + b; f = e*c`. Every part except the
// last assigns its result to a name, which later parts can use. The last part is the root.
//
// Python's expression.py has the same parser with the same error messages, for the command line. Change both together.

/** @import { Said } from "../languages/en.js" */

import { expressionErrors as say } from "../languages/languages.js";
import { Graph, Value } from "./graph.js";
import { firstOf } from "./names.js";
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

// Binary operators with their precedence. A sign binds less tightly than a power: -x**2 is -(x**2).
const BINARY = new Map([
  ...["<", "<=", ">", ">="].map((symbol) => /** @type {[string, number]} */ ([symbol, 1])),
  ...["+", "-"].map((symbol) => /** @type {[string, number]} */ ([symbol, 2])),
  ...["*", "/", "//", "%"].map((symbol) => /** @type {[string, number]} */ ([symbol, 3])),
  ["**", 5],
]);
const SIGN = 4;
const ROWS = new Map([["+", "add"], ["-", "sub"], ["*", "mul"], ["/", "div"], ["//", "floor_divide"], ["%", "mod"], ["**", "pow"]]);

// Python's whitespace: \s without U+FEFF, with the ASCII separators.
const SPACE = "(?:(?!\\ufeff)\\s|[\\x1c-\\x1f\\x85])";
// Typeset formulas use other characters for the same operators, and superscript digits for powers. Python allows the
// middle dots in names, but here they are products. Many keyboards have an en dash for a minus sign.
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
    "(?<other>\\*\\*=|//=|<<|>>|->|[-+*/%=!:]=)", // before the shorter symbols that they begin with
    "(?<symbol>\\*\\*|//|<=|>=|[-+*/%<>(),=^])",
    `(?<sign>[${[...SIGNS.keys()].join("")}])`,
    "(?<exponent>\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)",
  ].join("|"),
  "uy",
);
const NAME = /[\p{XID_Start}_](?:(?![\u00b7\u0387])\p{XID_Continue})*/uy;
const BRACKET = new RegExp(`(?:(?!\\n)${SPACE})*\\(`, "uy");
const CONSTANT_WORDS = ["True", "False", "None"];
const KEYWORDS = new Set( // Python's keywords; they cannot be used as names
  (
    "and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

// Maps function names of other languages and packages to the equivalent expression here.
const ELSEWHERE = new Map(Object.entries({
  absolute: "abs", expit: "sigmoid", gammaln: "lgamma", int: "trunc", ln: "log", logistic: "sigmoid", sigm: "sigmoid",
  max: "maximum", min: "minimum", ndtr: "norm_cdf", ndtri: "norm_ppf", power: "pow", probit: "norm_ppf",
  psi: "digamma", round: "rint", sgn: "sign", swish: "silu",
  clip: "minimum(maximum(x, low), high)", interp: "a + (b - a)*t",
  log_softmax: "x - logaddexp(x, y)", logsigmoid: "-softplus(-x)", logsumexp: "logaddexp(x, y)", norm: "hypot(x, y)",
  prod: "x*y",
  softmax: "exp(x) / (exp(x) + exp(y))", square: "x**2", sum: "x + y",
}));

// Functions of two operands whose calls can be nested for more operands.
const NESTED = new Set(["fmax", "fmin", "hypot", "logaddexp", "maximum", "minimum"]);
const SHOWN = 100; // characters of the line in an error message
const LONGEST = 1000; // maximum length of a label; without it the labels of a long chain take quadratic memory

/** A syntax error in an expression. The message shows the line with a caret under the error. */
export class ExpressionError extends Error {
  name = "ExpressionError";

  /**
   * @param {Said} said
   * @param {string} text whole expression; "" for an error without a position
   * @param {number} line counted from 1
   * @param {number} column counted from 0, in characters
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
 * An instruction of the stack machine that evaluates a program, with the range of text it came from. A number or a name
 * is pushed; an operation or a comparison replaces its operands on top of the stack with its result; an assignment
 * names the top of the stack.
 * @typedef {object} Step
 * @property {"number" | "name" | "operation" | "comparison" | "assignment"} kind
 * @property {string} what
 * @property {number} start
 * @property {number} end
 */

/**
 * A parsed program: its steps, and the names that need values, in order of appearance.
 * @typedef {{ text: string, steps: readonly Step[], names: readonly string[] }} Program
 */

/** Trim whitespace by scanning from both ends; a regular expression would take quadratic time. @param {string} text */
function trimmed(text) {
  const isSpace = new RegExp(SPACE);
  let [start, end] = [0, text.length];
  while (start < end && isSpace.test(text[start])) start += 1;
  while (end > start && isSpace.test(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/**
 * Parse a program of numbers, names, the operators + - * / // % **, parentheses, comparisons and functions of the
 * table. Precedence is as in Python. Throws `ExpressionError` for anything else.
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
 * Evaluate a program and return its graph. Every node is labeled with its name or its part of the text. Throws
 * `ExpressionError` if the value of a name is missing, or if a value is given for an unknown name.
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
      named.set(step.what, labeled(results[results.length - 1], step.what));
    } else if (step.kind === "comparison") {
      const [left, right] = results.splice(-2).map((operand) => (operand instanceof Value ? operand.data : operand));
      results.push(Number(COMPARISONS.get(step.what)?.(left, right)));
    } else {
      const row = /** @type {import("../types.js").Row} */ (BY_NAME.get(step.what));
      results.push(labeled(Value.apply(row, results.splice(-row.arity)), source(step, text)));
    }
  }
  const root = results[results.length - 1];
  return Graph.record(root instanceof Value ? root : new Value(root, labelOfConstant(program)));
}

/**
 * Throw if a value is given for a name that the program does not use, or that it assigns itself.
 * @param {Program} program
 * @param {ReadonlyMap<string, number>} values
 */
function checkValues({ steps, names }, values) {
  const made = new Set(steps.filter(({ kind }) => kind === "assignment").map(({ what }) => what));
  const known = new Set(names);
  for (const [name, value] of values) {
    if (made.has(name)) throw new ExpressionError(say.madeItself(name, general(value)));
    if (!known.has(name)) throw new ExpressionError(say.noSuchName(name, general(value), firstOf(names)));
  }
}

/** Look up the value of a name. @param {Step} step @param {ReadonlyMap<string, Value | number>} named @param {string} text */
function found({ what, start }, named, text) {
  const value = named.get(what);
  if (value === undefined) throw errorAt(say.noValue(what, plain(CONSTANTS.get(what) ?? 1)), text, start);
  return value;
}

/** @param {Value | number} result @param {string} label */
function labeled(result, label) {
  if (result instanceof Value) result.label = label;
  return result;
}

/** Return the label of a root that was computed from numbers alone. @param {Program} program */
function labelOfConstant({ text, steps }) {
  const last = steps[steps.length - 1];
  return last.kind === "assignment" ? last.what : source(last, text);
}

/** Return the part of the text that a step came from, or "" if that is too long for a label. @param {Step} step @param {string} text */
function source({ start, end }, text) {
  return end - start <= LONGEST ? text.slice(start, end) : "";
}

/** Normalize a name as Python does: NFKC, which unifies letters that differ only in appearance. @param {string} name */
function normal(name) {
  return name.normalize("NFKC");
}

/** Build an error for a position in the text. @param {Said} said @param {string} text @param {number} offset */
function errorAt(said, text, offset) {
  const before = text.slice(0, offset).split("\n");
  return new ExpressionError(said, text, before.length, [...before[before.length - 1]].length);
}

/** Format a line with a caret under a column. @param {string} line @param {number} column in characters */
function pointed(line, column) {
  const start = Math.max(0, column - SHOWN / 2);
  const shown = [...line].slice(start, start + SHOWN);
  return `\n  ${shown.join("")}\n  ${" ".repeat(width(shown.slice(0, column - start)))}^`;
}

/**
 * Count the terminal columns of some characters: East Asian characters and emoji take two, combining marks none.
 * @param {readonly string[]} letters
 */
function width(letters) {
  const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60]/u;
  return letters.reduce((sum, letter) => sum + (/\p{Mn}/u.test(letter) ? 0 : wide.test(letter) ? 2 : 1), 0);
}

// Tokens

/**
 * A token of the text, with typeset operators replaced by Python's. An "exponent" is a number in superscript digits, a
 * "function" is a name with its opening parenthesis, a "constant" is a literal that is not a real number, an "end"
 * terminates a part, and "other" is anything outside this grammar.
 * @typedef {{ kind: string, text: string, start: number, end: number }} Token
 */

/** Split a text into the tokens of its parts, each with its end token. Empty parts are skipped. @param {string} text */
function partsOf(text) {
  /** @type {Token[][]} */
  const parts = [[]];
  for (const token of tokensOf(text)) {
    parts[parts.length - 1].push(token);
    if (token.kind === "end") parts.push([]);
  }
  return parts.filter((part) => part.length > 1);
}

/** Yield the tokens of a text, skipping whitespace and line breaks inside parentheses. @param {string} text */
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

/** Return the token, or the whitespace, at a position. @param {string} text @param {number} start @returns {Token} */
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

/** @param {string} text @param {string} word @param {number} start */
function wordAt(text, word, start) {
  if (CONSTANT_WORDS.includes(word)) return token("constant", word, start);
  if (KEYWORDS.has(word)) return token("other", word, start);
  const end = start + word.length;
  const bracket = matchAt(BRACKET, text, end);
  return { ...token(bracket ? "function" : "name", normal(word), start), end: end + (bracket?.[0].length ?? 0) };
}

/** @param {string} kind @param {string} text @param {number} start */
function token(kind, text, start) {
  return { kind, text, start, end: start + text.length };
}

/** @param {RegExp} pattern sticky @param {string} text @param {number} start */
function matchAt(pattern, text, start) {
  pattern.lastIndex = start;
  return pattern.exec(text);
}

// Parsing

/**
 * An operator or an opening parenthesis on the parser's stack, still without its right operand.
 * @typedef {object} Waiting
 * @property {string} what name of the row, comparison or function; "+" for a unary plus, "(" for a parenthesis
 * @property {Token} token
 * @property {number} binding precedence; 0 for parentheses and functions
 * @property {number} operands number of operands; for a function, the number read so far
 */

/**
 * Parser for the parts of a program, left to right: Dijkstra's shunting-yard algorithm. Operators and parentheses stay
 * on an explicit stack until their operands are read, so nesting depth is unlimited.
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
  /** @type {{ start: number, end: number }[]} text ranges of the operands on the stack, including their parentheses */
  #spans = [];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** Read a part, including its end token. @param {readonly Token[]} tokens @param {boolean} isLast */
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

  /** Assign the result of a part to a name. @param {Token} token @param {readonly Step[]} steps */
  #assign(token, steps) {
    const name = token.text;
    if (this.names.has(name)) throw this.#error(say.usedBefore(name), token);
    if (steps.every(({ kind }) => kind !== "name")) throw this.#error(say.numbersAlone(name), token);
    if (steps.length === 1) throw this.#error(say.anotherName(name, steps[0].what), token);
    this.#made.add(name);
    this.steps.push({ kind: "assignment", what: name, start: token.start, end: token.end });
  }

  /** Read a token where an operand is expected; return whether an operand is still expected. @param {Token} token */
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
        throw this.#error(say.unknownFunction(text, meant(text.toLowerCase())), token);
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

  /** Read a token after an operand; return whether another operand is expected. @param {Token} token */
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

  /** @param {"number" | "name"} kind @param {Token} token */
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

  /** Apply an exponent to the preceding operand immediately; nothing binds more tightly. @param {Token} token */
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

  /** Apply the operators on the stack with at least this precedence; all their operands have been read. @param {number} binding */
  #reduce(binding) {
    for (let operator = this.#waiting.at(-1); operator && operator.binding >= binding; operator = this.#waiting.at(-1)) {
      this.#waiting.pop();
      const start = operator.operands === 1 ? operator.token.start : this.#spans[this.#spans.length - 2].start;
      this.#apply(operator, start, this.#spans[this.#spans.length - 1].end);
    }
  }

  /** @param {Waiting} operator @param {number} start @param {number} end */
  #apply({ what, operands }, start, end) {
    this.#spans.splice(-operands, operands, { start, end });
    if (what !== "+") this.steps.push({ kind: COMPARISONS.has(what) ? "comparison" : "operation", what, start, end });
  }

  // Errors

  /** @param {Waiting} opened @param {number} given */
  #checkArity({ what, token }, given) {
    const takes = Number(FUNCTIONS.get(what)?.arity);
    if (given !== takes) throw this.#error(say.arity(what, takes, given, NESTED.has(what)), token);
  }

  /** Build the error for a token where an operand is expected. @param {Token} token */
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

  /** Build the error for a token that cannot follow an operand. @param {Token} token */
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

  /** Return the innermost open parenthesis or function call. */
  #bracket() {
    return this.#waiting.findLast(({ binding }) => binding === 0);
  }

  /** @param {Waiting} opened */
  #neverClosed({ token }) {
    return errorAt(say.syntax.neverClosed, this.text, token.end - 1);
  }

  /** @param {Said} said @param {Token} token */
  #error(said, token) {
    return errorAt(said, this.text, token.start);
  }
}

// Suggestions for misspelled functions, as in Python's difflib.get_close_matches

const CLOSE = 0.6; // minimum share of matching characters
const MOST_MEANT = 3; // functions to suggest

/** Return the functions that a word may have been meant as, the likeliest first. @param {string} word in small letters */
function meant(word) {
  const elsewhere = ELSEWHERE.get(word);
  if (elsewhere || FUNCTIONS.has(word)) return [elsewhere ?? word];
  const letters = [...word];
  return [...FUNCTIONS.keys()]
    .map((name) => ({ name, ratio: likeness([...name], letters) }))
    .filter(({ ratio }) => ratio >= CLOSE)
    .sort((one, other) => other.ratio - one.ratio || (one.name < other.name ? 1 : -1))
    .slice(0, MOST_MEANT)
    .map(({ name }) => name);
}

/** Compute the share of matching characters of two words, from 0 to 1. @param {readonly string[]} one @param {readonly string[]} other */
function likeness(one, other) {
  const letters = one.length + other.length;
  const most = (2 * Math.min(one.length, other.length)) / letters;
  return most < CLOSE ? 0 : (2 * common(one, other)) / letters;
}

/**
 * Count the matching characters of two words: the longest common run, plus the matches on both sides of it.
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
