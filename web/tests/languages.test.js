// Every translation has the texts of English with the same arguments, and no English words.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { GATHERS, REDUCTIONS, TABLE } from "../src/core/table.js";
import { LANGUAGES } from "../src/languages/languages.js";

const { en: ENGLISH, ...OTHERS } = LANGUAGES;
const SOURCE = readFileSync(new URL("../src/languages/en.js", import.meta.url), "utf8");

/** Words that can be a whole text both in English and in another language. @type {Record<string, readonly string[]>} */
const SHARED = {
  de: ["auto", "backprop", "gradient", "graph", "html", "link", "operator", "gradwalk", "python", "softmax"],
  fr: ["auto", "contribution", "gradient", "gradwalk", "html", "menu", "pause", "passes", "points", "python", "question", "quotient", "verdict"],
};

/** English words that occur in no other language's sentences. */
const ENGLISH_WORDS = /\b(the|and|of|with|it|its|is|are|as|by|not|this|that|which|you|your|from|node|nodes|step|leaf|root|value|gets)\b/;

const SIGNS = "·²∂π–→←…−×÷•";

/** Letters that a language uses besides ASCII and SIGNS. @type {Record<string, string>} */
const LETTERS = {
  en: "“”",
  de: "äöüÄÖÜß„“",
  fr: "àâçéèêëîïôùûœÀÂÇÉÊŒ’«»\u00a0\u202f",
};

/** Sample arguments by their type in en.js. @type {Record<string, (i: number) => unknown[]>} */
const SAMPLES = {
  "string": (i) => [`name${i}`],
  "string | null": (i) => [null, `name${i}`],
  "number | null": (i) => [null, 71 + i],
  "readonly string[]": (i) => [[`name${i}`, `other${i}`]],
  "number": (i) => [0, 1, 71 + i, 12345 + i],
  "number | string": (i) => [1, 71 + i, `name${i}`],
  "bigint": (i) => [1n, 71n + BigInt(i), 12345n + BigInt(i)],
  "boolean": () => [true, false],
  "readonly boolean[]": () => [[], [true], [true, false, true]],
  "readonly number[]": () => [[], [0], [0, 1, 2]],
};

/** List all texts and functions of a catalog with their paths. @param {unknown} part @param {string} [path] @returns {[string, unknown][]} */
function entries(part, path = "") {
  if (typeof part !== "object" || part === null) return [[path, part]];
  return Object.entries(part).flatMap(([key, item]) => entries(item, path ? `${path}.${key}` : key));
}

/** @param {unknown} catalogue @param {string} path @returns {unknown} */
function at(catalogue, path) {
  return path.split(".").reduce((/** @type {any} */ part, key) => part?.[key], catalogue);
}

/** List arguments for an English function, by the types in its comment. @param {Function} f @param {string} path */
function samples(f, path) {
  const above = SOURCE.slice(0, SOURCE.indexOf(String(f)));
  const types = [...above.slice(above.lastIndexOf("/**")).matchAll(/@param \{([^}]*)\}/g)].map(([, type]) => type);
  assert.equal(types.length, f.length, `${path} has no comment with its types`);
  /** @type {unknown[][]} */
  let lists = [[]];
  for (const ways of types.map(choices)) lists = lists.flatMap((list) => ways.map((way) => [...list, way]));
  return lists;
}

/** @param {string} type @param {number} i */
function choices(type, i) {
  const words = [...type.matchAll(/"([^"]*)"/g)].map(([, word]) => word);
  if (!words.length) assert(SAMPLES[type], `no samples for the type ${type}`);
  return words.length ? words : SAMPLES[type](i);
}

/** @typedef {{ path: string, english: string, other: string, given: readonly unknown[] }} Pair */

/** Call a function and return its text, or an error's problem and hint. @param {unknown} f @param {readonly unknown[]} given @returns {string} */
function saidBy(f, given) {
  assert(typeof f === "function");
  const told = f(...given);
  const text = typeof told === "string" ? told : [told.problem, told.hint].filter(Boolean).join("\n");
  assert.equal(typeof text, "string");
  assert.doesNotMatch(text, /undefined|NaN|\[object|=>/);
  return text;
}

/** Pair every text with the English one; functions are called with many arguments. @param {string} code @returns {Generator<Pair>} */
function* pairs(code) {
  for (const [path, english] of entries(ENGLISH)) {
    const other = at(LANGUAGES[code], path);
    if (typeof english === "string") yield { path, english, other: String(other), given: [] };
    if (typeof english !== "function") continue;
    for (const given of path.startsWith("operations") ? tabled(path) : samples(english, path)) {
      yield { path, english: saidBy(english, given), other: saidBy(other, given), given };
    }
  }
}

/** List arguments for the texts about operations. @param {string} path @returns {unknown[][]} */
function tabled(path) {
  const all = [...REDUCTIONS, ...GATHERS];
  if (path === "operations.takes") return all.map(({ takes }) => [takes]);
  return [...TABLE, ...all].map(({ name, words }) => [name, words]);
}

/** List the forms in which a text of this language may show an argument. @param {unknown} given @param {string} code @returns {string[]} */
function shown(given, code) {
  if (typeof given === "number" || typeof given === "bigint") return [String(given), given.toLocaleString(code)];
  return [String(given)];
}

test("every language has all texts of English", () => {
  const paths = entries(ENGLISH).map(([path]) => path).sort();
  assert(paths.length > 300);
  for (const [code, catalogue] of Object.entries(LANGUAGES)) {
    assert.deepEqual(entries(catalogue).map(([path]) => path).sort(), paths);
    for (const [path, text] of entries(catalogue)) {
      const kind = typeof at(ENGLISH, path);
      assert.equal(typeof text, kind, `${code}: ${path}`);
      assert(kind === "function" || text !== "", `${code}: ${path} is empty`);
    }
    assert.equal(catalogue.language.code, code);
    assert.doesNotThrow(() => new Intl.Locale(code));
  }
});

for (const code of Object.keys(OTHERS)) {
  test(`${code}: texts contain their arguments, as in English`, () => {
    for (const { path, english, other, given } of pairs(code)) {
      if (path.startsWith("operations")) continue;
      for (const argument of given.flat().filter((item) => Number(item) > 1 || typeof item === "string")) {
        const isSaid = shown(argument, "en").some((text) => english.includes(text));
        if (isSaid) assert(shown(argument, code).some((text) => other.includes(text)), `${path}: ${other} lacks ${argument}`);
      }
    }
  });

  test(`${code}: no text is in English`, () => {
    const code_ = new Set([...TABLE.map(({ name }) => name), "out", "topo", "grad", "name", "other"]);
    for (const { path, english, other } of pairs(code)) {
      if (path === "operations.words" && other === english) continue; // a new operation, not translated yet
      assert.doesNotMatch(other.replaceAll(/`[^`]*`/g, ""), ENGLISH_WORDS, path);
      const words = [...other.toLowerCase().matchAll(/\p{L}{3,}/gu)].map(([word]) => word);
      const isShared = words.every((word) => SHARED[code].includes(word) || code_.has(word));
      if (english === other) assert(isShared, `${path}: ${other}`);
    }
  });
}

test("the lesson has equal code, formulas and numbers everywhere", () => {
  const marked = (/** @type {string} */ text) => [...text.matchAll(/\$[^$]*\$/g)].map(([formula]) => formula);
  const coded = (/** @type {string} */ text) => [...text.matchAll(/`[^`]*`/g)].map(([code]) => code);
  const numbers = (/** @type {string} */ text) => new Set(text.match(/−?\d+(\.\d+)?/g));
  for (const code of Object.keys(OTHERS)) {
    for (const { path, english, other } of [...pairs(code)].filter((pair) => pair.path.startsWith("lesson"))) {
      assert.deepEqual(marked(other), marked(english), `${code}: ${path}`);
      assert.equal(other.split("`").length % 2, 1, `${code}: ${path}`);
      assert.equal(other.split("*").length % 2, english.split("*").length % 2, `${code}: ${path}`);
      const [unknown] = coded(other).filter((text) => !coded(english).includes(text) && text !== "`local`");
      assert.equal(unknown, undefined, `${code}: ${path}`);
      assert.deepEqual([...numbers(other)].sort(), [...numbers(english)].sort(), `${code}: ${path}: ${other}`);
    }
  }
});

test("texts use only letters and signs of their language", () => {
  for (const code of Object.keys(LANGUAGES)) {
    for (const { path, other } of pairs(code)) {
      const strange = [...other].filter((letter) => !/[\n -~]/.test(letter) && !`${SIGNS}${LETTERS[code]}`.includes(letter));
      assert.deepEqual(strange, [], `${code}: ${path}: ${other}`);
      assert.doesNotMatch(other, / {2}/, `${code}: ${path}`);
    }
  }
});

test("French punctuation is preceded by a no-break space", () => {
  for (const { path, other } of pairs("fr")) assert.doesNotMatch(other, / [:;!?»](?!\w)|« /, path);
});
