// Every translation of the microgpt page has the texts of English with the same arguments, and no English words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LANGUAGES } from "../src/languages/languages.js";
import { CATALOGUES } from "../src/microgpt/texts.js";

const { en: ENGLISH, ...OTHERS } = CATALOGUES;
const ENGLISH_WORDS = /\b(the|and|of|with|it|its|is|are|as|by|not|this|that|which|you|your|letter|number|step|name|names|value|weight|gets|looks)\b/;

/** Texts that are the same in English. @type {Record<string, readonly string[]>} */
const SHARED = {
  de: ["title", "transport.title", "cells.scale.grad", "embedding", "prediction.picture", "titles.scopes.norm", "titles.scopes.logits", "inspector.gradient"],
  fr: ["title", "menu", "attention.parts.score", "transport.pause", "transport.kinds.grad", "sections.attention", "cells.scale.grad", "prediction.picture", "titles.scopes.attention", "titles.scopes.logits", "inspector.gradient"],
};

const speech = { read: (/** @type {number} */ place) => `read${place}`, next: (/** @type {number} */ place) => `next${place}`, letter: (/** @type {number} */ token) => `token${token}` };

/** List all texts and functions with their paths. @param {unknown} part @param {string} [path] @returns {[string, unknown][]} */
function entries(part, path = "") {
  if (typeof part !== "object" || part === null) return [[path, part]];
  return Object.entries(part).flatMap(([key, item]) => entries(item, path ? `${path} ${key}` : key));
}

/** List the arguments to call a function with. @param {string} path @param {Function} f @returns {unknown[][]} */
function samples(path, f) {
  if (/problem|refused/.test(path)) return ["empty", "long", "letters"].map((kind) => [{ kind, name: "xaver", letters: "ëß", used: "xa" }]);
  if (path.startsWith("titles names")) return [[[21, 32, 43], speech]];
  const flags = /(titles letterOf|choice|told|weight|number|at)$/.test(path) ? [true, false] : [0];
  return [...flags.map((flag) => Array.from({ length: Math.max(f.length, 3) }, (_, i) => (i > 1 && typeof flag === "boolean" ? flag : 61 + i))), [1, 1, 1, 1, 1, 1, 1], [0, "", 0, "", 0, "", ""]];
}

/** @param {string} path @param {unknown} text @returns {string[]} */
function said(path, text) {
  if (typeof text === "string") return [text];
  assert(typeof text === "function", path);
  return samples(path, text).map((given) => {
    const told = text(...given);
    assert.equal(typeof told, "string", path);
    assert.doesNotMatch(told, /undefined|NaN|\[object|=>/, path);
    return told;
  });
}

test("the page has all languages of the lesson", () => {
  assert.deepEqual(Object.keys(CATALOGUES).sort(), Object.keys(LANGUAGES).sort());
});

for (const [code, catalogue] of Object.entries(OTHERS)) {
  test(`${code}: all texts are translated`, () => {
    const paths = entries(ENGLISH).map(([path]) => path);
    assert.deepEqual(entries(catalogue).map(([path]) => path).sort(), [...paths].sort());
    const translated = new Map(entries(catalogue));
    for (const [path, english] of entries(ENGLISH)) {
      const [before, after] = [said(path, english), said(path, translated.get(path))];
      before.forEach((text, i) => {
        const numbers = (/** @type {string} */ told) => [...new Set(told.replace(/(\d)[.,\u202f\u00a0](\d{3})/g, "$1$2").match(/\d+/g) ?? [])].sort();
        assert.deepEqual(numbers(after[i]), numbers(text), `${code} ${path}: ${after[i]}`);
        assert.equal(after[i].split("*").length, text.split("*").length, `${code} ${path}`);
        assert.doesNotMatch(after[i], ENGLISH_WORDS, `${code} ${path}`);
      });
      if (typeof english === "string" && english === translated.get(path)) assert(SHARED[code].includes(path.replaceAll(" ", ".")), `${code} ${path}: ${english}`);
    }
  });
}

test("French punctuation is preceded by a no-break space", () => {
  for (const [path, text] of entries(CATALOGUES.fr)) {
    for (const told of said(path, text)) assert.doesNotMatch(told, / [:;!?»](?!\w)|« /, path);
  }
});
