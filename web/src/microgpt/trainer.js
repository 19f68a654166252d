// Training as in examples/microgpt.py, with one name per step. The trainer can return to any earlier step.

import { readNames } from "./names.js";
import { Update } from "./update.js";

/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./protocol.js").NameProblem} NameProblem */
/** @typedef {import("./protocol.js").Opened} Opened */

const BETWEEN_COPIES = 25; // steps between copies of the weights; returning to a step repeats fewer steps than this

/** Trainer of the model of a lesson. Training is deterministic: the same names give the same numbers. */
export class Trainer {
  #data;
  #grad;
  #reached;
  #update;
  /** Copies of the weights and the optimizer state, by step. @type {Map<number, import("./update.js").Copy>} */
  #copies = new Map();
  step = 0;
  /** @type {number[]} by step, up to the furthest step taken */
  losses = [];
  /** @type {readonly string[]} */
  names = [];
  /** @type {readonly NameProblem[]} */
  problems = [];

  /**
   * @param {Lesson} lesson @param {readonly string[] | null} given names in upper or lower case; null for the names of the lesson
   * @param {number} [steps] after which the learning rate is 0
   */
  constructor(lesson, given = null, steps = lesson.config.steps) {
    this.lesson = lesson;
    this.steps = steps;
    this.#data = lesson.program.numbers();
    this.#grad = new Float64Array(this.#data.length);
    this.#reached = new Uint8Array(this.#data.length);
    this.#update = new Update(lesson.update, lesson.weights.length);
    this.#start(given ?? lesson.names);
  }

  /** The current weights. */
  get weights() {
    return this.#update.weight;
  }

  /** The name that the next step trains on; "" for none. */
  get name() {
    return this.names.length ? this.names[this.step % this.names.length] : "";
  }

  /** Whether there is another step to take. */
  get canGoOn() {
    return this.step < this.steps && this.names.length > 0;
  }

  /** Train on other names, from the beginning. @param {readonly string[]} given in upper or lower case */
  setNames(given) {
    this.#start(given);
  }

  /** Take a step. @returns {number} the loss before it */
  advance() {
    if (!this.#copies.has(this.step) && this.step % BETWEEN_COPIES === 0) this.#copies.set(this.step, this.#update.copy());
    const loss = this.#pass(this.name);
    this.#update.gradient.set(this.#grad.subarray(0, this.weights.length));
    this.#update.run(this.step, (this.step / this.steps) * this.lesson.config.steps);
    this.losses[this.step] = loss;
    this.step += 1;
    return loss;
  }

  /** Return to an earlier step, or train up to a later one. @param {number} step */
  goTo(step) {
    const wanted = Math.max(0, Math.min(step, this.steps));
    const from = Math.min(wanted, this.losses.length);
    const copied = from - (from % BETWEEN_COPIES);
    const copy = this.#copies.get(copied);
    if (copy && (wanted < this.step || this.step < copied)) {
      this.#update.restore(copy);
      this.step = copied;
    }
    while (this.step < wanted && this.canGoOn) this.advance();
  }

  /** Run both passes with the current weights. @param {string} [name] must be valid: letters of the alphabet, and not too long @returns {Opened} */
  open(name = this.name) {
    const loss = this.#pass(name);
    const program = this.#programFor(name);
    const data = this.#data.slice();
    const grad = this.#grad.slice();
    for (let node = 0; node < program.size; node += 1) if (!program.has(node)) data[node] = grad[node] = NaN;
    return { step: this.step, name, ...this.lesson.encode(name), loss, data, grad };
  }

  /**
   * Sample a name, letter by letter, with the current weights.
   * @param {number} temperature lower temperatures prefer likely letters @param {() => number} random from 0 to 1
   */
  sample(temperature, random) {
    const { program, end, config, logits } = this.lesson;
    const data = this.#data;
    data.set(this.weights);
    const tokens = [end];
    for (let place = 0, from = this.weights.length; place < config.places; place += 1) {
      data[this.lesson.tokens[place]] = tokens[place];
      data[this.lesson.targets[place]] = end; // any target will do: the loss is not used
      const to = program.columns.sums[place] + 1;
      program.run(data, from, to);
      from = to;
      const token = chosen(logits[place].map((node) => data[node] / temperature), random());
      if (token === end) break;
      tokens.push(token);
    }
    return this.lesson.text(tokens.slice(1));
  }

  /** @param {readonly string[]} given */
  #start(given) {
    const { names, problems } = readNames(given, this.lesson.letters, this.lesson.longest);
    this.names = names;
    this.problems = problems;
    this.step = 0;
    this.losses = [];
    this.#copies.clear();
    this.#update.begin(this.lesson.weights);
  }

  /** @param {string} name */
  #programFor(name) {
    return this.lesson.programFor(name.length + 1);
  }

  /** Run both passes for a name with the current weights. @param {string} name @returns {number} the loss */
  #pass(name) {
    const program = this.#programFor(name);
    const { tokens, targets } = this.lesson.encode(name);
    this.#data.set(this.weights);
    this.#data.set(program.constants, program.size);
    tokens.forEach((token, place) => (this.#data[this.lesson.tokens[place]] = token));
    targets.forEach((target, place) => (this.#data[this.lesson.targets[place]] = target));
    const loss = program.forward(this.#data);
    this.#grad.fill(0);
    program.backward(this.#data, this.#grad, this.#reached);
    return loss;
  }
}

/** Sample an index from the softmax of the scores. @param {readonly number[]} scores @param {number} random from 0 to 1 */
function chosen(scores, random) {
  const largest = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - largest));
  let left = random * odds.reduce((total, odd) => total + odd, 0);
  const found = odds.findIndex((odd) => (left -= odd) < 0);
  return found < 0 ? odds.length - 1 : found;
}

/** Create a seeded generator (mulberry32) of random numbers from 0 to 1. @param {number} seed */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
