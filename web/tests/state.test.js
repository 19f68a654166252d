// Links: every state survives encoding and decoding, and no fragment does harm.

import assert from "node:assert/strict";
import { test } from "node:test";

import { modeler } from "../src/model/model.js";
import { PRESETS } from "../src/model/presets.js";
import { DATA } from "../src/model/training.js";
import { encodedAnswer } from "../src/model/exercises/ask.js";
import { unframed } from "../src/model/framing.js";
import { bare, decoded, encoded, MODES, stateOf, within } from "../src/model/state.js";

/** @typedef {import("../src/model/state.js").State} State */

const NAMES = ["a", "é", "名", "x1", "a,b", "a:b", "100%", "%2C", "%3A%", "=&#+", " ", "\n", "__proto__", "constructor", "<b>", "😀"];
const NUMBERS = [0, -0, 1, -1.5, 0.1, 1e-320, 1e300, 123456789.123, NaN, Infinity, -Infinity];
const PROGRAMS = ["tanh(x*w + b)", "e = a + b; f = e*c", "a%2", "é*名 & = #", "<script>", "a\nb", "", ...PRESETS.map((p) => p.program)];

/** Return a Park-Miller generator of numbers from 0 up to 1. @param {number} seed */
function random(seed) {
  let state = seed % 2147483647 || 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** @param {() => number} draw */
function choices(draw) {
  const whole = (/** @type {number} */ sides) => Math.floor(draw() * sides);
  /** @template Item @param {readonly Item[]} items */
  const one = (items) => items[whole(items.length)];
  /** @template Item @param {readonly Item[]} items */
  const some = (items) => items.filter(() => draw() < 0.3);
  const flip = () => draw() < 0.5;
  return { whole, one, some, flip };
}

/** @param {() => number} draw @returns {State} */
function anyState(draw) {
  const { whole, one, some, flip } = choices(draw);
  const preset = one(PRESETS);
  const start = flip() ? stateOf(preset) : { ...bare(), program: one(PROGRAMS) };
  return {
    ...start,
    values: flip() ? start.values : new Map(some(NAMES).map((name) => [name, one(NUMBERS)])),
    position: flip() ? 0 : whole(10_000_000),
    mode: one(MODES),
    order: flip() ? [] : some(NAMES),
    overwrite: flip(),
    selected: flip() ? "" : one(NAMES),
    operand: flip() ? -1 : whole(9),
    open: flip() ? "" : `part ${whole(99)}+${whole(999)}`,
    h: flip() ? 0 : one([1e-4, 0.5, 1e-300, 3]),
    method: one(/** @type {const} */ (["central", "forward"])),
    training: anyTraining(draw),
  };
}

/** @param {() => number} draw @returns {import("../src/model/training.js").Training} */
function anyTraining(draw) {
  const { whole, one, some, flip } = choices(draw);
  const data = flip() ? "" : one(DATA);
  return {
    rate: flip() ? 0.1 : one([0.5, 3, 1e-7, 1e300]),
    learned: flip() ? null : some(NAMES),
    isZeroed: flip(),
    stored: new Map(some(NAMES).map((name) => [name, one(NUMBERS)])),
    data,
    seed: whole(1_000_000),
    own: data === "own" ? some(NUMBERS).filter(Number.isFinite).map((x1) => ({ x1: x1 + 0, x2: 0 - x1, y: one([1, -1]) })) : [],
  };
}

test("states survive encoding and decoding", () => {
  const draw = random(1);
  for (let i = 0; i < 3000; i++) {
    const state = anyState(draw);
    const fragment = encoded(state);
    const start = state.program || state.mode === "exercises" ? stateOf(PRESETS[0]) : bare(); // the start of the lesson or of a document
    const { state: again, problems } = decoded(fragment, start);
    assert.deepEqual(problems, [], fragment);
    if (state.mode === "exercises") {
      assert.deepEqual(again, { ...start, mode: "exercises", exercise: state.exercise });
      continue;
    }
    // Links store only the values that differ from the preset, and never remove one.
    const expected = PRESETS.find(({ program }) => program === state.program);
    const values = expected ? new Map([...Object.entries(expected.values), ...state.values]) : state.values;
    assert.deepEqual(new Map([...again.values].sort()), new Map([...values].sort()), fragment);
    assert.deepEqual({ ...again, values: null }, { ...state, values: null }, fragment);
    assert.equal(encoded({ ...again, values: state.values }), fragment);
  }
});

test("fragments contain only characters that need no escaping", () => {
  const draw = random(2);
  for (let i = 0; i < 500; i++) assert.match(encoded(anyState(draw)), /^[\w.~!*'()+%&=-]*$/);
});

test("fragments contain only differences from the start", () => {
  assert.equal(encoded(bare()), "");
  assert.equal(encoded(stateOf(PRESETS[1])), "show=neuron");
  assert.equal(encoded({ ...stateOf(PRESETS[1]), position: 3 }), "show=neuron&step=3");
});

const KEYS = "show f at mode step order write node operand exercise open h method rate learn zero grads data seed points".split(" ");
const TEXTS = [
  ..."0 1 -1 1e9 99999999999999999999 NaN null true walk neuron = += forward sideways a:1 a:1,b a:b:1 a:x : , [] {} [1] [[]]".split(" "),
  ..."__proto__ constructor toString hasOwnProperty valueOf %E0%A4%A %ZZ % %00".split(" "),
  ...['["a"]', '["a",1]', '{"length":1}', "<img src=x onerror=alert(1)>", "a*b", "((((", "tanh(", "x".repeat(300), "\ud800"],
];

test("invalid fragments never throw and are reported", () => {
  const draw = random(3);
  const { one, whole } = choices(draw);
  const models = modeler(null);
  for (let i = 0; i < 4000; i++) {
    const pairs = Array.from({ length: whole(5) }, () => `${one([...KEYS, ...KEYS, ...TEXTS])}=${one(TEXTS)}`);
    const { state, problems } = decoded(pairs.join("&"), stateOf(PRESETS[0]));
    assert.deepEqual(Object.keys(state).sort(), Object.keys(bare()).sort());
    assert(problems.every((problem) => problem.length < 700));
    assert(Object.getPrototypeOf(state) === Object.prototype);
    try {
      const model = models(state);
      assert(model.state.position >= 0 && model.state.position <= model.last);
    } catch (error) {
      assert(error instanceof Error && ["ExpressionError", "GraphError"].includes(error.name), `${pairs.join("&")}: ${error}`);
    }
  }
});

test("unknown keys are reported, including names from Object.prototype", () => {
  for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty", "x", ""]) {
    const { state, problems } = decoded(`${key}=1`, bare());
    assert.deepEqual(state, bare());
    assert.deepEqual(problems, [`The link contains ${key}=1, which is not valid here and is ignored.`]);
  }
});

test("links over the length limit are not parsed", (context) => {
  const parsing = context.mock.method(globalThis, "URLSearchParams", () => assert.fail("it is parsed"));
  const { state, problems } = decoded(`f=${"a+".repeat(1_000_000)}a`, bare());
  assert.deepEqual(state, bare());
  assert.deepEqual(problems, ["The link is 2,000,003 characters long; the limit is 1,000,000."]);
  assert.equal(parsing.mock.callCount(), 0);
});

test("a teacher's framing survives encoding and decoding", () => {
  for (const framing of [
    unframed(),
    { ...unframed(), language: "fr", theme: /** @type {const} */ ("dark"), note: "Read <b>this</b> & that\nfirst", isEmbedded: true },
    { ...unframed(), note: "x".repeat(500), isPresented: true },
    { ...unframed(), question: "What is ∂L/∂a?", answer: encodedAnswer("-0.25; a quarter & less", "What is ∂L/∂a?") },
    { ...unframed(), question: "Why + and not =?" },
  ]) {
    const fragment = within("show=neuron&step=3", framing);
    const { framing: again, state, problems } = decoded(fragment, stateOf(PRESETS[0]));
    assert.deepEqual([again, problems], [framing, []]);
    assert.equal(encoded(state), "show=neuron&step=3");
  }
  const long = `ask=${"x".repeat(301)}`;
  for (const key of ["lang=xx", "theme=pink", "embed=yes", "present=2", `note=${"x".repeat(501)}`, long, "ask=", "ask=+", "answer=2.0123456789abc"]) {
    const { framing, problems } = decoded(key, bare());
    assert.deepEqual(framing, unframed());
    assert.match(problems[0], /is not valid here and is ignored\.$/);
  }
  for (const answer of ["0.25", "", "2.", `2.${"a".repeat(2000)}`]) {
    const { framing, problems } = decoded(`ask=why&answer=${answer}`, bare());
    assert.deepEqual([framing.question, framing.answer, problems.length], ["why", "", 1], answer);
  }
});

test("a link that is too long is ignored entirely", () => {
  const { state, problems } = decoded(`show=neuron&node=${"x".repeat(1_000_000)}`, bare());
  assert.deepEqual(state, bare());
  assert.deepEqual(problems, ["The link is 1,000,017 characters long; the limit is 1,000,000."]);
});

test("own expressions and documents begin at the end, presets before the first step", () => {
  const positions = (/** @type {string} */ fragment) => {
    const model = modeler(null)(decoded(fragment, stateOf(PRESETS[0])).state);
    return [model.state.position, model.graph.nodes.length, model.last];
  };
  assert.deepEqual(positions("f=x*y"), [7, 3, 7]);
  assert.deepEqual(positions("f=x*y&step=0"), [0, 3, 7]);
  assert.deepEqual(positions("f=x*y&mode=check"), [7, 3, 7]);
  assert.deepEqual(positions("show=square"), [0, 2, 5]);
  assert.deepEqual(positions("show=square&mode=train"), [5, 2, 5]);
  const { state } = modeler(null)({ ...bare(), program: "x*y" });
  assert.equal(encoded({ ...state, position: 0 }), "f=x*y&at=x%3A1.0%2Cy%3A1.0&step=0");
});

test("the root is selected at the end of the walk over an own program", () => {
  const selected = (/** @type {string} */ fragment) => modeler(null)(decoded(fragment, stateOf(PRESETS[0])).state).selected?.name;
  assert.equal(selected("f=x*y"), "x*y");
  assert.equal(selected("f=x*y&step=6"), undefined);
  assert.equal(selected("f=x*y&node=x"), "x");
  assert.equal(selected("f=x*y&mode=check"), undefined);
  assert.equal(selected("show=square&step=99"), undefined);
});
