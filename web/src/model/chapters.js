// The lesson: chapters made of beats, which are its screens. A beat sets up the stage and has a question or figure; its
// text is in the language files, by key. Beats set the same state that a reader sets by hand, so that the reader can
// continue in the lab.

import { evaluate, parse } from "../core/expression.js";
import { Walk } from "../walk/steps.js";
import { presetOf } from "./presets.js";
import { UNTRAINED } from "./training.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("../core/graph.js").Graph} Graph */

/**
 * A number computed from the graph: the data or gradient of a node, the local derivative of an edge ("L.0" is the first
 * operand of L), or a constant.
 * @typedef {{ data: string } | { gradient: string } | { local: string } | { number: number }} Quantity
 */

/**
 * A question. Known mistakes of a number are keyed by their feedback text; `right` is the index of the right choice,
 * with 0 for the first.
 * @typedef {{ kind: "number", answer: Quantity, mistakes?: Readonly<Record<string, Quantity>> }
 *   | { kind: "choice", right: number }
 *   | { kind: "order" }} Question
 */

/**
 * The figure beside a beat's text: "nudge" plots the root over a node that the reader nudges; "quotient" sets the step
 * of the nudge on the stage, down to 10**`finest`, and if `isCurved` plots the error over the step; "tangent" plots an
 * operation with its tangent, where the leaf `by` is added to the operand and moves it; "beside" compares the
 * contributions to a node with += and = (`isAlone`: only +=); "search" steps through micrograd's backward(); "descent"
 * runs gradient descent, with a switch for zero_grad if `isZeroed` is given; "count" counts passes; "lab" opens the lab.
 * @typedef {{ kind: "nudge", node: string }
 *   | { kind: "quotient", isCurved?: boolean, finest?: number }
 *   | { kind: "tangent", node: string, by: string }
 *   | { kind: "beside", node: string, isAlone?: boolean }
 *   | { kind: "search" }
 *   | { kind: "descent", parameters: readonly string[], rate: number, isZeroed?: boolean }
 *   | { kind: "count" }
 *   | { kind: "lab", mode: import("./state.js").Mode, data?: import("./training.js").Data }} Figure
 */

/**
 * @typedef {object} Beat
 * @property {string} key of its text
 * @property {string} at position of the walk: "start", "end", "seed", "known" (after the forward pass), or "known e"
 *   and "visited e" for a node
 * @property {string} [from] position where the animation that leads to the beat begins; by default the position of the
 *   beat before, or the start of another graph
 * @property {string} [preset] the graph from this beat on
 * @property {Readonly<Record<string, number>>} [values] replace the preset's values
 * @property {boolean} [overwrite]
 * @property {readonly string[]} [order] order of the visits
 * @property {string} [select] node, or an edge such as "L.0"
 * @property {number} [h] step by which the selected node is nudged on the stage
 * @property {Question} [ask]
 * @property {{ at?: string, values?: Readonly<Record<string, number>> }} [then] the stage after the answer
 * @property {Figure} [figure]
 */

/**
 * @typedef {object} Chapter
 * @property {keyof typeof import("../languages/en.js").lesson.chapters} key
 * @property {number} minutes that a learner needs, without haste
 * @property {readonly Beat[]} beats
 */

/** A neuron with one input, trained toward the target y in the chapter on training. */
const LEARNER = "o = tanh(w*x + b); L = (o - y)**2";

/** A network of two layers that fits on most stages. */
const SMALL_NETWORK = "h1 = tanh(w1*x + b1); h2 = tanh(w2*x + b2); o = v1*h1 + v2*h2 + c";
const SMALL_VALUES = { w1: 0.8, x: 1, b1: 0.1, w2: -0.6, b2: 0.2, v1: 1.2, v2: -0.7, c: 0.05 };

/** The lesson of fifteen minutes, in order. @type {readonly Chapter[]} */
export const ROUTE = [
  {
    key: "back",
    minutes: 3,
    beats: [
      { key: "start", preset: "product", at: "start" },
      { key: "forward", at: "known" },
      {
        key: "predict",
        at: "known",
        ask: { kind: "number", answer: { gradient: "a" }, mistakes: { one: { number: 1 }, change: { number: 0.1 }, own: { data: "a" }, root: { data: "f" } } },
        then: { values: { a: 2.01 } },
      },
      { key: "seed", at: "seed", from: "known" },
      { key: "flows", at: "visited f" },
      {
        key: "sum",
        at: "visited f",
        select: "e.1",
        ask: { kind: "number", answer: { gradient: "b" }, mistakes: { one: { number: 1 }, own: { data: "b" }, beside: { number: 20 } } },
        then: { at: "end" },
      },
    ],
  },
  {
    key: "pattern",
    minutes: 2,
    beats: [
      { key: "again", preset: "loss", at: "visited d" },
      {
        key: "practice",
        at: "visited d",
        select: "e.0",
        ask: { kind: "number", answer: { gradient: "a" }, mistakes: { local: { local: "e.0" }, unswapped: { gradient: "b" }, copied: { gradient: "e" } } },
        then: { at: "end" },
      },
    ],
  },
  {
    key: "neuron",
    minutes: 3,
    beats: [
      { key: "meet", preset: "neuron", at: "known" },
      { key: "slope", at: "known", select: "o", figure: { kind: "tangent", node: "o", by: "b" } },
      { key: "half", at: "visited o", from: "known" },
      {
        key: "weight",
        at: "visited x1w1x2w2",
        select: "x1w1.1",
        ask: { kind: "number", answer: { gradient: "w1" }, mistakes: { upstream: { gradient: "x1w1" }, local: { data: "x1" }, unswapped: { gradient: "x1" }, own: { data: "w1" } } },
        then: { at: "visited x1w1" },
      },
      { key: "zero", at: "visited x1w1", from: "visited x1w1x2w2", select: "x2w2.1", ask: { kind: "choice", right: 0 } },
    ],
  },
  {
    key: "twice",
    minutes: 2,
    beats: [
      {
        key: "both",
        preset: "square",
        at: "seed",
        ask: { kind: "number", answer: { gradient: "a" }, mistakes: { one: { number: 3 }, value: { data: "f" } } },
        then: { at: "end" },
      },
      { key: "lost", at: "end", from: "seed", overwrite: true, figure: { kind: "beside", node: "a" } },
    ],
  },
  {
    key: "order",
    minutes: 2,
    beats: [
      { key: "turns", preset: "diamond", at: "visited d" },
      { key: "puzzle", at: "seed", ask: { kind: "order" } },
      { key: "early", at: "end", from: "seed", order: ["b", "d", "c", "a"] },
      { key: "late", at: "end", from: "seed", order: ["d", "c", "b", "a"] },
    ],
  },
  {
    key: "sort",
    minutes: 2,
    beats: [
      { key: "append", preset: "diamond", at: "known", from: "start", ask: { kind: "choice", right: 1 } },
      { key: "search", at: "known", figure: { kind: "search" } },
    ],
  },
  { key: "now", minutes: 1, beats: [{ key: "done", preset: "product", at: "end", from: "start" }] },
];

/** Chapters to read after the lesson, in any order. @type {readonly Chapter[]} */
export const FURTHER = [
  {
    key: "nudge",
    minutes: 3,
    beats: [
      { key: "see", preset: "product", at: "known", select: "a", figure: { kind: "nudge", node: "a" } },
      { key: "promise", at: "known", select: "c", ask: { kind: "choice", right: 0 } },
      { key: "kept", at: "known", select: "c", figure: { kind: "nudge", node: "c" } },
    ],
  },
  {
    key: "saturation",
    minutes: 3,
    beats: [
      { key: "steepest", preset: "neuron", at: "known", values: { b: 5 }, select: "o", figure: { kind: "tangent", node: "o", by: "b" }, ask: { kind: "choice", right: 1 } },
      {
        key: "slope",
        at: "seed",
        values: { b: 6.8813735870195432 },
        select: "o.0",
        ask: { kind: "number", answer: { local: "o.0" }, mistakes: { value: { data: "o" }, unsquared: { number: 0.2929 } } },
        then: { at: "visited o" },
      },
      { key: "saturated", at: "end", from: "known", values: { b: 12 }, select: "o", figure: { kind: "tangent", node: "o", by: "b" } },
      { key: "vanished", preset: LEARNER, values: { w: 4, x: 1.5, b: 2, y: -0.8 }, at: "end", figure: { kind: "descent", parameters: ["w", "b"], rate: 0.1 } },
    ],
  },
  {
    key: "paths",
    minutes: 4,
    beats: [
      {
        key: "paths",
        preset: "twice",
        at: "visited f",
        ask: { kind: "number", answer: { gradient: "a" }, mistakes: { first: { number: 3 }, second: { number: -6 } } },
        then: { at: "end" },
      },
      { key: "met", at: "end", from: "seed", select: "a", figure: { kind: "beside", node: "a" } },
      { key: "which", preset: "loss", at: "seed", ask: { kind: "choice", right: 2 } },
      { key: "early", preset: "reuse", at: "end", from: "seed", order: ["e", "c", "d", "a", "b"], figure: { kind: "beside", node: "c", isAlone: true } },
    ],
  },
  {
    key: "check",
    minutes: 5,
    beats: [
      {
        key: "quotient",
        preset: "loss",
        at: "known",
        select: "a",
        h: 1e-4,
        ask: {
          kind: "number",
          answer: { gradient: "a" },
          mistakes: { change: { number: 0.0012 }, half: { number: 3 }, step: { number: 12 }, up: { number: 0.0006 } },
        },
      },
      { key: "drawn", at: "end", select: "a", h: 1e-4, figure: { kind: "quotient", finest: -5 } },
      { key: "notice", preset: "twice", at: "seed", select: "a", h: 1e-4, ask: { kind: "choice", right: 2 } },
      { key: "caught", at: "end", overwrite: true, select: "a", h: 1e-4, figure: { kind: "quotient", finest: -5 } },
      { key: "bent", preset: "neuron", at: "end", select: "x1", h: 0.1, figure: { kind: "quotient", finest: -5 } },
      { key: "small", at: "end", select: "x1", h: 0.1, ask: { kind: "choice", right: 1 } },
      { key: "rounded", at: "end", select: "x1", h: 1e-10, figure: { kind: "quotient", isCurved: true } },
    ],
  },
  {
    key: "training",
    minutes: 5,
    beats: [
      { key: "loss", preset: LEARNER, values: { w: -0.6, x: 1.5, b: 0.2, y: 0.2 }, at: "end" },
      { key: "which", at: "end", select: "w", ask: { kind: "choice", right: 0 } },
      { key: "descend", at: "end", figure: { kind: "descent", parameters: ["w", "b"], rate: 0.1 } },
      { key: "rate", at: "end", ask: { kind: "choice", right: 2 } },
      { key: "large", at: "end", figure: { kind: "descent", parameters: ["w", "b"], rate: 2.5 } },
      { key: "again", at: "end", select: "w", ask: { kind: "choice", right: 1 } },
      { key: "unzeroed", at: "end", figure: { kind: "descent", parameters: ["w", "b"], rate: 0.3, isZeroed: false } },
    ],
  },
  {
    key: "passes",
    minutes: 4,
    beats: [
      { key: "runs", preset: SMALL_NETWORK, values: SMALL_VALUES, at: "known", ask: { kind: "number", answer: { number: 9 }, mistakes: { plain: { number: 8 }, one: { number: 1 }, central: { number: 16 } } } },
      { key: "count", at: "known", figure: { kind: "count" } },
      { key: "million", at: "end", ask: { kind: "choice", right: 0 } },
      { key: "once", at: "end", from: "seed" },
    ],
  },
  {
    key: "own",
    minutes: 3,
    beats: [
      { key: "expression", preset: "loss", at: "end", figure: { kind: "lab", mode: "walk" } },
      { key: "points", preset: "network", at: "known", figure: { kind: "lab", mode: "train", data: "moons" } },
      { key: "program", preset: "softmax", at: "end" },
    ],
  },
];

/** @type {readonly Chapter[]} */
export const CHAPTERS = [...ROUTE, ...FURTHER];

/** @param {string} key @returns {Chapter | undefined} */
export function chapterOf(key) {
  return CHAPTERS.find((chapter) => chapter.key === key);
}

/** Return the program and values in effect at a beat. @param {Chapter} chapter @param {number} number of the beat */
function given({ beats }, number) {
  const since = beats.slice(0, number + 1).findLastIndex(({ preset }) => preset);
  const { preset: key = "", values = {} } = beats[since];
  const preset = presetOf(key) ?? { program: key, values: {} };
  return { program: preset.program, values: { ...preset.values, ...values, ...beats[number].values } };
}

/**
 * Compute the state at a beat.
 * @param {Chapter} chapter @param {number} number of the beat, from 0
 * @param {boolean} [isAnswered] whether the question of the beat has been answered
 * @returns {Pick<State, "chapter" | "beat" | "program" | "values" | "mode" | "position" | "order" | "overwrite" | "selected" | "operand" | "open" | "h" | "method" | "training">}
 */
export function stageOf(chapter, number, isAnswered = false) {
  const { then, ...asked } = chapter.beats[number];
  const beat = { ...asked, ...(isAnswered && then) };
  const { program, values: numbers } = given(chapter, number);
  const values = new Map(Object.entries({ ...numbers, ...(isAnswered && then?.values) }));
  const [selected, operand] = (beat.select ?? "").split(".");
  const isPuzzle = beat.ask?.kind === "order" || beat.order !== undefined;
  return {
    chapter: chapter.key,
    beat: number,
    program,
    values,
    mode: isPuzzle ? "order" : beat.h ? "check" : "walk",
    position: positionAt(evaluate(parse(program), values), beat.at),
    order: beat.order ?? [],
    overwrite: beat.overwrite ?? false,
    selected,
    operand: operand === undefined ? -1 : Number(operand),
    open: "",
    h: beat.h ?? 0,
    method: "central",
    training: UNTRAINED,
  };
}

/**
 * Return the position where the animation that leads to a beat begins.
 * @param {Chapter} chapter @param {number} number of the beat @param {Pick<State, "program" | "values" | "position">} before
 */
export function departureOf(chapter, number, before) {
  const { from } = chapter.beats[number];
  const { program, values } = stageOf(chapter, number);
  if (from) return positionAt(evaluate(parse(program), values), from);
  const isSame = before.program === program && [...values].every(([name, value]) => Object.is(before.values.get(name), value));
  return isSame ? before.position : 0;
}

/** Return the number of steps taken at a position of the walk. @param {Graph} graph @param {string} at as in a beat */
function positionAt(graph, at) {
  const [what, name] = at.split(" ");
  const { forward, steps } = new Walk(graph);
  if (what === "start") return 0;
  if (what === "end") return steps.length;
  if (what === "known" && !name) return forward.length;
  const kind = { known: "forward", visited: "backward", seed: "seed" }[what];
  return steps.findIndex((step) => step.kind === kind && (!name || graph.nodes[step.place].name === name)) + 1;
}

/** Compute a quantity of a graph. @param {Quantity} quantity @param {Graph} graph */
export function quantityIn(quantity, graph) {
  if ("number" in quantity) return quantity.number;
  const walk = new Walk(graph);
  const placeOf = (/** @type {string} */ name) => graph.nodes.findIndex((node) => node.name === name);
  if ("data" in quantity) return graph.nodes[placeOf(quantity.data)].data;
  if ("gradient" in quantity) return walk.right[placeOf(quantity.gradient)];
  const [name, position] = quantity.local.split(".");
  return graph.nodes[placeOf(name)].partials[Number(position)];
}
