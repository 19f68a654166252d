// While a question is open, the stage hides its answer: in moments, in accessible names and at the ends of paths.

import assert from "node:assert/strict";
import { test } from "node:test";
import { short } from "../src/core/numbers.js";
import { edgeCaption, nodeCaption } from "../src/model/captions.js";
import { CHAPTERS, chapterOf, quantityIn, stageOf } from "../src/model/chapters.js";
import { modeler } from "../src/model/model.js";
import { nudgeMarks } from "../src/model/nudges.js";
import { PRESETS } from "../src/model/presets.js";
import { bare, stateOf } from "../src/model/state.js";
import { veiled, withoutAnswer } from "../src/model/exercises/hide_answers.js";
import { waysOf } from "../src/panels/walk/paths.js";
import { edgeKey } from "../src/walk/passes.js";

/** @typedef {import("../src/model/model.js").Model} Model */

const modelOf = modeler(null);

/** Every beat with a question, while the question is open and after it is answered. */
const ASKED = CHAPTERS.flatMap((chapter) =>
  chapter.beats.flatMap(({ key, ask }, i) => {
    if (!ask) return [];
    const model = modelOf({ ...bare(), ...stageOf(chapter, i) });
    return [{ where: `${chapter.key} ${key}`, ask, answered: model, open: veiled(model, ask) }];
  }),
);

/** Return the accessible names of boxes and lines. @param {Model} model */
function accessibleNames(model) {
  const { graph } = model;
  const edges = graph.nodes.flatMap(({ place, operands }) => operands.flatMap((operand, i) => (operand < 0 ? [] : [edgeCaption(model, edgeKey(place, i))])));
  return { nodes: graph.nodes.map(({ place }) => nodeCaption(model, place)), edges };
}

test("paths show no products while a question is open", () => {
  for (const { where, open, ask } of ASKED) {
    for (const { place } of open.graph.nodes) {
      const ways = waysOf(open, place);
      assert(ways.every(({ end }) => end === ""), where);
      if (ask.kind === "choice") assert.deepEqual(ways, [], where);
    }
  }
});

test("paths show products after the answer", () => {
  const { answered } = /** @type {typeof ASKED[number]} */ (ASKED.find(({ where }) => where === "back predict"));
  assert.deepEqual(waysOf(answered, 0).map(({ end }) => end), ["= 10"]);
});

test("boxes and names hide the number in question", () => {
  for (const { where, open, ask } of ASKED) {
    if (ask.kind !== "number" || "number" in ask.answer) continue;
    const [asked] = Object.values(ask.answer);
    const { graph, moment } = open;
    const node = graph.nodes.find(({ name }) => name === asked.split(".")[0]);
    assert(node, where);
    if ("gradient" in ask.answer) assert.equal(moment.gradients[node.place], null, where);
    if ("data" in ask.answer) assert.equal(moment.known[node.place], false, where);
    const { nodes, edges } = accessibleNames(open);
    if (!("local" in ask.answer)) assert.doesNotMatch(nodes[node.place], /gradient -?\d/, where);
    const isBackward = [...moment.contributions].length;
    assert.equal(edges.filter((name) => name.includes("local derivative")).length, isBackward, where);
  }
});

test("names contain local derivatives after the answer", () => {
  const { answered, open } = /** @type {typeof ASKED[number]} */ (ASKED.find(({ where }) => where === "saturation slope"));
  assert(accessibleNames(answered).edges.includes("line from n to o, operand 1, local derivative 1 - o² = 0.5"));
  assert(accessibleNames(open).edges.includes("line from n to o, operand 1"));
});

test("the gradient in question and its contributions are hidden", () => {
  const model = modelOf({ ...bare(), ...stageOf(/** @type {import("../src/model/chapters.js").Chapter} */ (chapterOf("own")), 0) });
  const place = model.graph.nodes.findIndex(({ name }) => name === "a");
  assert.equal(model.moment.gradients[place], 6);
  const moment = withoutAnswer(model.moment, model, { kind: "number", answer: { gradient: "a" } });
  assert.equal(moment.gradients[place], null);
  assert(!moment.visited[place]);
  assert([...moment.contributions].every(([, contribution]) => contribution.place !== place));
  assert.equal([...moment.contributions].length, [...model.moment.contributions].length - 1);
});

test("the quotient in question is hidden", () => {
  for (const { where, open, answered } of ASKED.filter(({ open }) => open.nudge)) {
    const quotient = nudgeMarks(open)?.quotient;
    assert.deepEqual([quotient?.value, quotient?.gradient, quotient?.verdict, quotient?.kind], ["?", "?", "", ""], where);
    assert.notEqual(nudgeMarks(answered)?.quotient.value, "?", where);
  }
  assert(ASKED.some(({ open }) => open.nudge));
});

test("exercises show local derivatives only after hints", () => {
  const start = modelOf({ ...stateOf(PRESETS[0]), mode: "exercises", exercise: 2 });
  assert(start.isAsking);
  assert(!accessibleNames(start).edges.some((name) => name.includes("local derivative")));
  const hinted = modelOf({ ...stateOf(PRESETS[0]), mode: "exercises", exercise: 2, position: start.moment.position + 2 });
  assert.equal(accessibleNames(hinted).edges.filter((name) => name.includes("local derivative")).length, [...hinted.moment.contributions].length);
  assert(!modelOf({ ...stateOf(PRESETS[0]), mode: "exercises", exercise: 2, position: Infinity }).isAsking);
});

test("numbers in the lesson's texts agree with the stage", () => {
  const chapter = /** @type {import("../src/model/chapters.js").Chapter} */ (CHAPTERS.find(({ key }) => key === "check"));
  const told = (/** @type {string} */ key) => {
    const model = modelOf({ ...bare(), ...stageOf(chapter, chapter.beats.findIndex((beat) => beat.key === key)) });
    return { model, quotient: nudgeMarks(model)?.quotient };
  };
  const { nudge } = told("quotient").model;
  assert.deepEqual([nudge?.up, nudge?.down].map((number) => short(Number(number))), ["-7.9994", "-8.0006"]);
  assert.deepEqual([told("drawn").quotient?.kind, told("drawn").quotient?.value], ["agrees", "6"]);
  assert.deepEqual([told("caught").quotient?.kind, told("caught").quotient?.value, told("caught").quotient?.gradient], ["differs", "-3", "3"]);
  assert.deepEqual([told("bent").quotient?.kind, told("bent").model.nudge?.backprop.toFixed(6)], ["unclear", "-1.500000"]);
  const { ask } = chapter.beats[0];
  assert(ask?.kind === "number");
  assert.equal(quantityIn(ask.answer, told("quotient").model.graph), 6);
});
