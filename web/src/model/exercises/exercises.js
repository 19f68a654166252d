// Questions about gradients: four from the lesson, then an endless sequence of increasing difficulty.

import { evaluate, parse } from "../../core/expression.js";
import { presetOf } from "../presets.js";
import { pathCounts } from "../../walk/paths.js";
import { gradients } from "../../walk/steps.js";

/**
 * @typedef {object} Exercise
 * @property {string} key identifies the question
 * @property {string} program
 * @property {ReadonlyMap<string, number>} values
 * @property {string} root the node to differentiate
 * @property {string} by the node to differentiate by
 */

// Questions from the lesson.
/** @type {readonly (readonly [preset: string, root: string, by: string])[]} */
const LESSON = [
  ["product", "f", "a"],
  ["product", "f", "b"],
  ["neuron", "o", "w1"],
  ["diamond", "d", "a"],
];

const TOLERANCE = 0.01; // relative, because answers are worked out by hand
const MOST_PATHS = 5;
const [SMALLEST, LARGEST] = [0.05, 500]; // range of absolute answers; others are tedious to work out

/** Return the question with the given number, counted from 0. @param {number} number @returns {Exercise} */
export function exercise(number) {
  const given = LESSON[number];
  return given ? lesson(...given) : generated(number);
}

/** Return whether an answer is the gradient within the tolerance. @param {number} answer @param {number} gradient */
export function isRight(answer, gradient) {
  return Math.abs(answer - gradient) <= TOLERANCE * Math.abs(gradient);
}

/** Compute the right answer. @param {Exercise} exercise */
export function answerTo(exercise) {
  const { graph, place } = asked(exercise);
  return gradients(graph)[place];
}

/** Count the paths from the root to the node in question. @param {Exercise} exercise */
function pathsOf(exercise) {
  const { graph, place } = asked(exercise);
  return pathCounts(graph)[place];
}

/** Return the graph of a question, and the index of its node. @param {Exercise} exercise */
export function asked({ program, values, by }) {
  const graph = evaluate(parse(program), values);
  return { graph, place: graph.nodes.findIndex(({ name }) => name === by) };
}

/** @param {string} key @param {string} root @param {string} by @returns {Exercise} */
function lesson(key, root, by) {
  const { program, values } = /** @type {import("../presets.js").Preset} */ (presetOf(key));
  return { key: `${key}.${by}`, program, values: new Map(Object.entries(values)), root, by };
}

/** Generate graphs from a number until one makes a suitable question. @param {number} number @returns {Exercise} */
function generated(number) {
  for (let attempt = 0; ; attempt++) {
    const candidate = random(number, dice(1000 * number + attempt));
    const size = Math.abs(answerTo(candidate));
    const isFair = size >= SMALLEST && size <= LARGEST;
    if (isFair && pathsOf(candidate) >= pathsAt(number)) return candidate;
  }
}

/** Return the minimum number of paths in a question. @param {number} number */
function pathsAt(number) {
  return Math.min(1 + Math.floor((number - LESSON.length) / 4), MOST_PATHS);
}

/**
 * Generate a graph of operations on leaves and earlier results. Higher numbers give more operations and more repeated
 * use of nodes.
 * @param {number} number @param {(sides: number) => number} roll @returns {Exercise}
 */
function random(number, roll) {
  const level = number - LESSON.length;
  const steps = Math.min(2 + Math.floor(level / 3), 7);
  const leaves = ["a", "b", "c", "x", "y"].slice(0, Math.min(2 + Math.floor(level / 4), 5));
  const values = new Map(leaves.map((name) => [name, roll(9) - 4 || 5]));
  /** @type {string[]} */
  const lines = [];
  const results = "defghkmn";
  let unused = [...leaves];
  for (let i = 0; i < steps; i++) {
    const name = results[i];
    const previous = results[i - 1] ?? unused[0]; // uses every result, so that all of them lead to the root
    const others = [...leaves, ...results.slice(0, Math.max(i - 1, 0))];
    const other = unused.find((leaf) => leaf !== previous) ?? others[roll(others.length)];
    const line = operation(level, previous, other, roll);
    const names = new Set(line.match(/[a-z]\w*/g));
    unused = unused.filter((leaf) => !names.has(leaf));
    lines.push(`${name} = ${line}`);
  }
  const used = leaves.filter((leaf) => !unused.includes(leaf));
  const program = lines.join("; ");
  const kept = new Map([...values].filter(([name]) => used.includes(name)));
  return { key: `generated.${number}`, program, values: kept, root: results[steps - 1], by: used[roll(used.length)] };
}

/**
 * Generate an operation on a result and another node.
 * @param {number} level @param {string} left @param {string} right @param {(sides: number) => number} roll
 */
function operation(level, left, right, roll) {
  const simple = [`${left}*${right}`, `${left} + ${right}`, `${left} - ${right}`];
  const squares = [`${left}*${left}`, `${left}**2`, `${left} + ${left}`, `3*${left}`];
  const functions = [`tanh(${left}/4)`, `relu(${left})`, `${left}/2`, `maximum(${left}, ${right})`];
  const choices = [...simple, ...simple, ...(level > 1 ? squares : []), ...(level > 5 ? functions : [])];
  return choices[roll(choices.length)];
}

/** Return a seeded die that rolls numbers in [0, sides): mulberry32 by Tommy Ettinger, public domain. @param {number} seed */
function dice(seed) {
  let state = seed >>> 0;
  return (/** @type {number} */ sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}
