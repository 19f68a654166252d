// The reader's choices for training, and their encoding in a link.

import { isRunnable } from "../learn/batch.js";
import { leavesOf, NONE } from "../learn/descent.js";
import { KINDS } from "../learn/points.js";
import { plain, readNumber } from "../core/numbers.js";

/** @typedef {import("../learn/points.js").Point} Point */
/** @typedef {import("../learn/points.js").Kind | "own" | ""} Data */

/**
 * @typedef {object} Training
 * @property {number} rate
 * @property {readonly string[] | null} learned names of the parameters; null for the default ones
 * @property {boolean} isZeroed whether gradients are zeroed before each pass
 * @property {ReadonlyMap<string, number>} stored gradients left by earlier passes, if they are not zeroed
 * @property {Data} data data set; "" for the graph's own numbers
 * @property {number} seed for the points and the initial weights
 * @property {readonly Point[]} own reader's own points
 */

/** @type {Training} */
export const UNTRAINED = { rate: 0.1, learned: null, isZeroed: true, stored: NONE, data: "", seed: 1, own: [] };

/** @type {readonly Data[]} */
export const DATA = [...KINDS, "own"];
export const LINKED = 200; // maximum number of points in a link

/** Reset the choices that depend on the graph. @param {Training} training @returns {Training} */
export function restarted(training) {
  return { ...training, learned: null, stored: NONE };
}

/**
 * Return whether a program has comparisons. Their results are constants in the graph, so the graph is not valid for
 * other numbers.
 * @param {string} program
 */
export function compares(program) {
  return /[<>\u2264\u2265]/.test(program);
}

/**
 * Return whether points can be used with a program's graph: it has leaves x1, x2 and y and can be run on other numbers.
 * @param {import("../core/graph.js").Graph} graph @param {string} program "" for a document
 */
export function takesPoints(graph, program) {
  if (!program || compares(program)) return false;
  const names = new Set(leavesOf(graph).map(({ name }) => name));
  return ["x1", "x2", "y"].every((name) => names.has(name)) && isRunnable(graph);
}

/**
 * Drop choices that do not fit the graph; return the same object if all fit.
 * @param {Training} training @param {import("../core/graph.js").Graph} graph @param {string} program "" for a document
 * @returns {Training}
 */
export function fittedTraining(training, graph, program) {
  const leaves = new Set(leavesOf(graph).map(({ name }) => name));
  const learned = training.learned?.filter((name) => leaves.has(name)) ?? null;
  const kept = new Map([...training.stored].filter(([name]) => leaves.has(name)));
  const stored = training.isZeroed ? NONE : kept.size === training.stored.size ? training.stored : kept;
  const data = training.data && takesPoints(graph, program) ? training.data : "";
  const isSame = learned?.length === training.learned?.length && stored === training.stored && data === training.data;
  return isSame ? training : { ...training, learned, stored, data };
}

/** Add the choices that differ from the default to a link's parts. @param {URLSearchParams} parts @param {Training} training */
export function writeTraining(parts, { rate, learned, isZeroed, stored, data, seed, own }) {
  if (rate !== UNTRAINED.rate) parts.set("rate", plain(rate));
  if (learned) parts.set("learn", JSON.stringify(learned));
  if (!isZeroed) parts.set("zero", "off");
  if (stored.size) parts.set("grads", JSON.stringify([...stored].map(([name, number]) => [name, plain(number)])));
  if (data) parts.set("data", data);
  if (seed !== UNTRAINED.seed) parts.set("seed", String(seed));
  if (data === "own" && own.length && own.length <= LINKED) parts.set("points", own.map(({ x1, x2, y }) => [x1, x2, y].join("_")).join("*"));
}

/**
 * Readers of the keys of a link; they return null for invalid text.
 * @type {Record<string, (text: string) => Partial<Training> | null>}
 */
export const TRAINING_READERS = {
  rate(text) {
    const rate = readNumber(text);
    return rate !== null && isRate(rate) ? { rate } : null;
  },
  learn(text) {
    const names = parsed(text);
    return Array.isArray(names) && names.every((name) => typeof name === "string") ? { learned: names } : null;
  },
  zero: (text) => (text === "off" ? { isZeroed: false } : null),
  grads(text) {
    const pairs = parsed(text);
    if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((item) => typeof item === "string"))) return null;
    const numbers = pairs.map(([name, number]) => /** @type {const} */ ([name, readNumber(number)]));
    return numbers.every(([, number]) => number !== null) ? { stored: new Map(numbers.map(([name, number]) => [name, Number(number)])) } : null;
  },
  data(text) {
    const data = DATA.find((known) => known === text);
    return data ? { data } : null;
  },
  seed: (text) => (/^\d{1,6}$/.test(text) ? { seed: Number(text) } : null),
  points(text) {
    const own = text.split("*").map(pointOf);
    return own.length <= LINKED && own.every((point) => point !== null) ? { own } : null;
  },
};

/** Return whether a number is a valid learning rate. @param {number} rate */
export function isRate(rate) {
  return rate > 0 && Number.isFinite(rate);
}

/** @param {string} text @returns {Point | null} */
function pointOf(text) {
  const numbers = text.split("_").map((part) => readNumber(part));
  const [x1, x2, y] = numbers;
  const isPoint = numbers.length === 3 && numbers.every((number) => number !== null && Number.isFinite(number));
  return isPoint && (y === 1 || y === -1) ? { x1: Number(x1), x2: Number(x2), y } : null;
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
