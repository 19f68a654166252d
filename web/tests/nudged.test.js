// A nudge in the graph: changed values agree with the formulas, and the quotient is described as it was computed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modeler } from "../src/model/model.js";
import { nudgeCaption, nudgeMarks } from "../src/model/nudges.js";
import { bare, decoded, encoded } from "../src/model/state.js";
import { nudgeSentence } from "../src/panels/check/nudged.js";

const modelOf = modeler(null);

/** @param {string} program @param {Record<string, number>} values @param {string} selected @param {Partial<import("../src/model/state.js").State>} [change] */
function checked(program, values, selected, change) {
  const model = modelOf({ ...bare(), program, values: new Map(Object.entries(values)), mode: "check", position: Infinity, selected, h: 1e-3, ...change });
  const marks = nudgeMarks(model);
  assert(marks);
  const named = [...marks.traces].map(([place, trace]) => /** @type {const} */ ([model.graph.nodes[place].name, trace]));
  return { model, ...marks, traces: Object.fromEntries(named) };
}

test("nodes that depend on the nudged node are recomputed and marked", () => {
  const { traces, quotient } = checked("e = a*b; d = e + c; L = d*f", { a: 2, b: -3, c: 10, f: -2 }, "a");
  assert.deepEqual(Object.keys(traces), ["a", "e", "d", "L"]);
  const shown = Object.values(traces).map(({ kind, data, change, turn }) => [kind, data, change, turn]);
  assert.deepEqual(shown, [["own", "2", "0.001", 0], ["moved", "-6.003", "-0.003", 1], ["moved", "3.997", "-0.003", 2], ["moved", "-7.994", "+0.006", 3]]);
  assert.deepEqual(quotient, {
    ...{ above: "L(a+h) − L(a−h)", brief: "L(+h) − L(−h)", below: "2h", value: "6" },
    ...{ name: "∂L/∂a", gradient: "6", verdict: "agrees", kind: "agrees" },
  });
});

test("a root with a long name has a short numerator", () => {
  assert.equal(checked("relu(x)*b", { x: 1, b: 2 }, "x").quotient.brief, "(+h) − (−h)");
  assert.equal(checked("relu(x)*b", { x: 1, b: 2 }, "x", { method: "forward" }).quotient.brief, "(+h) − (0)");
});

test("the forward method divides by h", () => {
  const { quotient, traces } = checked("x*x", { x: 3 }, "x", { method: "forward" });
  assert.deepEqual([quotient.above.endsWith("(x)"), quotient.below, quotient.value, quotient.kind], [true, "h", "6.001", "agrees"]);
  assert.equal(traces.x.mark, "+h");
});

test("the gradient is hidden until the walk reaches it", () => {
  const { quotient } = checked("x*x", { x: 3 }, "x", { position: 2 });
  assert.deepEqual([quotient.value, quotient.gradient, quotient.verdict, quotient.kind], ["6", "?", "", ""]);
  const early = modelOf({ ...bare(), program: "x*x", values: new Map([["x", 3]]), mode: "check", position: 1, selected: "x" });
  assert.equal(nudgeMarks(early), null);
});

test("overwriting shows the wrong gradient beside the quotient", () => {
  const { quotient } = checked("f = a + a", { a: 3 }, "a", { overwrite: true });
  assert.deepEqual([quotient.value, quotient.gradient, quotient.kind], ["2", "1", "differs"]);
});

test("kinks, comparisons and nonfinite numbers", () => {
  const kink = checked("y = relu(x)", { x: 0 }, "x").quotient;
  assert.deepEqual([kink.value, kink.kind, kink.verdict], ["0.5", "unclear", "kink"]);
  const compared = checked("c = less(x, 1); y = where(c, 2*x, 5*x)", { x: 0.5 }, "x");
  assert.deepEqual([compared.traces.c.kind, compared.traces.c.change, compared.quotient.value], ["still", "0", "2"]);
  const flat = checked("r = relu(x); y = r + 1", { x: -2 }, "x");
  assert.deepEqual([flat.traces.r.kind, flat.traces.y.kind, flat.quotient.value, flat.quotient.kind], ["still", "still", "0", "agrees"]);
  const edge = checked("y = sqrt(x)", { x: 0 }, "x").quotient;
  assert.deepEqual([edge.below, edge.kind, edge.gradient], ["h", "unclear", "inf"]);
  const nan = checked("y = x*b", { x: NaN, b: 2 }, "x");
  assert.deepEqual([nan.quotient.kind, nan.quotient.verdict, nan.quotient.value], ["unclear", "not finite", "nan"]);
  const infinite = checked("y = x*b", { x: Infinity, b: 2 }, "x");
  assert.equal(infinite.quotient.kind, "unclear");
});

test("captions describe the nudge", () => {
  const { model } = checked("y = x*x", { x: 3 }, "x");
  assert.equal(nudgeCaption(model, 0), "nudged by 0.001, from 3");
  assert.equal(nudgeCaption(model, 1), "9.006001 after the nudge, a change of +0.006001, difference quotient 6, gradient to compare 6, agrees");
});

test("chapter links contain h only if it was changed", () => {
  const start = { ...bare(), program: "x", values: new Map([["x", 1]]) };
  const { state } = decoded("chapter=check&beat=2", start);
  assert.equal(encoded(state), "chapter=check&beat=2");
  const moved = encoded({ ...state, h: 1e-7 });
  assert.equal(moved, "chapter=check&beat=2&h=1e-07");
  assert.equal(decoded(moved, start).state.h, 1e-7);
});

test("nudges of huge and tiny numbers are described", () => {
  for (const [x, h] of [[0, 5e-324], [1e-300, 0], [1e300, 0], [1, 1e300], [Infinity, 0], [NaN, 1e-300]]) {
    const model = modelOf({ ...bare(), program: "x", values: new Map([["x", x]]), mode: "check", position: Infinity, selected: "x", h });
    assert.match(nudgeSentence(model), /^(with x \+|x cannot be nudged)/);
  }
});
