// The lesson: every beat has a text in each language, and no answer equals a listed mistake.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate, parse } from "../src/core/expression.js";
import { LANGUAGES } from "../src/languages/languages.js";
import { countOf, sumOf } from "../route.js";
import { CHAPTERS, departureOf, quantityIn, ROUTE, stageOf } from "../src/model/chapters.js";
import { unframed } from "../src/model/framing.js";
import { isRight } from "../src/model/exercises/exercises.js";
import { modeler } from "../src/model/model.js";
import { PRESETS } from "../src/model/presets.js";
import { bare, decoded, encoded, stateOf } from "../src/model/state.js";

const START = stateOf(PRESETS[0]);

/** Every beat with its chapter and index. @type {[import("../src/model/chapters.js").Chapter, import("../src/model/chapters.js").Beat, number][]} */
const BEATS = CHAPTERS.flatMap((chapter) => chapter.beats.map((beat, i) => /** @type {[typeof chapter, typeof beat, number]} */ ([chapter, beat, i])));

test("every beat has a text in every language", () => {
  for (const [code, { lesson }] of Object.entries(LANGUAGES)) {
    assert.deepEqual(Object.keys(lesson.chapters), CHAPTERS.map(({ key }) => key), code);
    for (const chapter of CHAPTERS) {
      const { beats } = /** @type {{ beats: Record<string, any> }} */ (lesson.chapters[chapter.key]);
      assert.deepEqual(Object.keys(beats), chapter.beats.map(({ key }) => key), `${code} ${chapter.key}`);
      for (const { key, ask } of chapter.beats) {
        const where = `${code} ${chapter.key} ${key}`;
        const words = beats[key];
        assert.equal(typeof words, ask ? "object" : "string", where);
        if (ask?.kind === "number") assert.deepEqual(Object.keys(words.mistakes).sort(), Object.keys(ask.mistakes ?? {}).sort(), where);
        if (ask?.kind === "choice") assert.equal(words.options.length, words.feedback.length, where);
        if (ask?.kind === "choice") assert(ask.right < words.options.length, where);
      }
    }
  }
});

test("answers and mistakes are all different", () => {
  for (const [chapter, { key, ask }, i] of BEATS) {
    if (ask?.kind !== "number") continue;
    const { program, values } = stageOf(chapter, i);
    const graph = evaluate(parse(program), values);
    const numbers = [ask.answer, ...Object.values(ask.mistakes ?? {})].map((quantity) => quantityIn(quantity, graph));
    numbers.forEach((number, at) => {
      assert(Number.isFinite(number), `${chapter.key} ${key}`);
      for (const other of numbers.slice(0, at)) assert(!isRight(number, other) && !isRight(other, number), `${chapter.key} ${key}: ${number}`);
    });
  }
});

test("every beat has a valid stage", () => {
  const modelOf = modeler(null);
  for (const [chapter, { key, at, select }, i] of BEATS) {
    const stage = stageOf(chapter, i);
    const { state, selected } = modelOf({ ...bare(), ...stage });
    if (select) assert.equal(selected?.name, select.split(".")[0], `${chapter.key} ${key}`);
    if (stage.mode !== "order") assert.equal(state.position, stage.position, `${chapter.key} ${key}`);
    if (at !== "start") assert(stage.position > 0, `${chapter.key} ${key}`);
  }
});

test("links restore the beat", () => {
  for (const [chapter, , i] of BEATS) {
    const state = { ...bare(), ...stageOf(chapter, i), done: CHAPTERS.slice(0, 2).map(({ key }) => key) };
    const link = encoded(state);
    assert.deepEqual(decoded(link, START), { state, framing: unframed(), problems: [] }, link);
  }
});

test("links keep values changed in a beat", () => {
  const stage = stageOf(CHAPTERS[0], 2);
  const state = { ...bare(), ...stage, values: new Map([...stage.values, ["a", 7]]) };
  assert.match(encoded(state), /at=/);
  assert.deepEqual(decoded(encoded(state), START).state, state);
});

test("invalid chapters and beats in links are reported", () => {
  for (const link of ["chapter=nothing", "chapter=neuron&beat=99", "beat=1", "done=x"]) {
    assert.equal(decoded(link, START).problems.length, 1, link);
  }
});

test("the lesson takes fifteen minutes", () => {
  for (const code of Object.keys(LANGUAGES)) {
    const { screens, words, questions, minutes } = sumOf(ROUTE.map((chapter) => countOf(chapter, code)));
    assert(screens <= 25 && words <= 900 && questions <= 8 && minutes <= 15, `${code}: ${screens} screens, ${words} words, ${questions} questions, ${minutes} minutes`);
  }
  assert.equal(sumOf(ROUTE.map((chapter) => countOf(chapter, "en"))).stated, 15);
});

test("chapters take the minutes that they state", () => {
  for (const chapter of CHAPTERS.filter(({ key }) => key !== "own")) { // the learner's own data take their own time
    const { minutes, stated } = countOf(chapter, "en");
    assert(Math.abs(minutes - stated) <= 1.5, `${chapter.key}: ${minutes} minutes, ${stated} stated`);
  }
});

test("an answer leads to a valid stage", () => {
  for (const [chapter, { key, then }, i] of BEATS) {
    const [open, answered] = [stageOf(chapter, i), stageOf(chapter, i, true)];
    if (then) assert.notDeepEqual([answered.position, answered.values], [open.position, open.values], `${chapter.key} ${key}`);
    else assert.deepEqual(answered, open, `${chapter.key} ${key}`);
  }
});

test("an animation leads from each beat to the next", () => {
  const known = stageOf(ROUTE[0], 1);
  assert.equal(departureOf(ROUTE[0], 3, stageOf(ROUTE[0], 2, true)), known.position, "the seed, after a has changed");
  assert.equal(departureOf(ROUTE[0], 1, stageOf(ROUTE[0], 0)), 0);
  assert.equal(departureOf(ROUTE[2], 0, stageOf(ROUTE[1], 1)), 0, "another graph");
});
