// Results: answers are counted per question, and the code to hand in detects typing errors.

import assert from "node:assert/strict";
import { test } from "node:test";

import { checksum, code, forget, json, record, solved, summary } from "../src/model/exercises/results.js";

/** @param {string} key @param {string} answer @param {boolean} isRight @param {boolean} [hinted] @param {import("../src/model/exercises/results.js").Kind} [kind] */
function answer(key, answer, isRight, hinted = false, kind = "exercise") {
  record({ kind, key, answer, isRight, hinted }, new Date(0));
}

test("answers are counted per question", () => {
  assert.deepEqual(summary(), { asked: 0, right: 0, first: 0, alone: 0, tries: 0 });
  answer("a", "1", false);
  answer("a", "2", true);
  answer("b", "1", false);
  answer("c", "3", true, true);
  answer("d", "3", true);
  answer("d", "3", true, true); // a hint after the right answer does not count
  answer("a", "x", true, false, "lesson");
  assert.deepEqual(summary(), { asked: 5, right: 4, first: 2, alone: 3, tries: 7 });
  const file = JSON.parse(json());
  assert.deepEqual(file.summary, summary());
  assert.equal(file.code, code());
  assert.equal(file.gradwalk, "results");
  assert.deepEqual(file.questions[0], {
    ...{ kind: "exercise", key: "a", right: true, first: false, alone: true, tries: 2, shown: false, hinted: false },
    answers: [
      { answer: "1", right: false, hinted: false, at: "1970-01-01T00:00:00.000Z" },
      { answer: "2", right: true, hinted: false, at: "1970-01-01T00:00:00.000Z" },
    ],
  });
  assert.deepEqual([...solved("exercise")].map(([key, { alone }]) => [key, alone]), [["a", true], ["c", false], ["d", true]]);
  assert.deepEqual([...solved("lesson").keys()], ["a"]);
  forget();
  assert.deepEqual(summary(), { asked: 0, right: 0, first: 0, alone: 0, tries: 0 });
});

test("shown answers do not count as tries or solutions", () => {
  answer("a", "1", false, false, "lesson");
  answer("a", "", false, false, "lesson");
  answer("b", "", false, false, "lesson");
  answer("b", "7", true, false, "lesson");
  assert.deepEqual(summary(), { asked: 2, right: 1, first: 0, alone: 0, tries: 2 });
  const [a, b] = JSON.parse(json()).questions;
  assert.deepEqual([a.shown, a.right, a.tries, a.answers.length], [true, false, 1, 1]);
  assert.deepEqual([b.shown, b.first, b.tries, b.answers.length], [true, false, 1, 1]);
  forget();
});

test("typing errors in a code are detected", () => {
  for (let i = 0; i < 30; i++) answer(`${i}`, "1", i % 3 === 0);
  const right = code();
  const isCode = (/** @type {string} */ text) => text.at(-3) === "-" && checksum(text.slice(0, -3)) === text.slice(-2);
  assert(isCode(right));
  for (let i = 0; i < right.length; i++) {
    for (const letter of "0123456789-AKZ") {
      const typed = right.slice(0, i) + letter + right.slice(i + 1);
      if (typed !== right) assert(!isCode(typed), typed);
    }
    const swapped = right.slice(0, i) + (right[i + 1] ?? "") + right[i] + right.slice(i + 2);
    if (swapped !== right) assert(!isCode(swapped), swapped);
  }
});
