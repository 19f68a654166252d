// Training: a name a step, one after the other, as examples/microgpt.py does it; and a way back to every step.

import { readNames } from "./names.js";
import { Update } from "./update.js";

/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./protocol.js").NameProblem} NameProblem */
/** @typedef {import("./protocol.js").Opened} Opened */

const BETWEEN_COPIES = 25; // steps: so many are taken again, at the most, to return to one

/** Trains the model of a lesson. The same names give the same numbers: nothing in it is random. */
export class Trainer {
  #data;
  #grad;
  #reached;
  #update;
  /** What to return to: copies of the weights, by step. @type {Map<number, import("./update.js").Copy>} */
  #copies = new Map();
  step = 0;
  /** @type {number[]} by step, as far as training has come */
  losses = [];
  /** @type {readonly string[]} */
  names = [];
  /** @type {readonly NameProblem[]} */
  problems = [];

  /**
   * @param {Lesson} lesson @param {readonly string[] | null} given names, in whatever letters; null for those of the lesson
   * @param {number} [steps] by which the rate has fallen to 0
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

  /** The weights as they are. */
  get weights() {
    return this.#update.weight;
  }

  /** The name that the next step is for; "" where there is none. */
  get name() {
    return this.names.length ? this.names[this.step % this.names.length] : "";
  }

  /** Whether there is another step to take. */
  get canGoOn() {
    return this.step < this.steps && this.names.length > 0;
  }

  /** Train on other names, from the beginning. @param {readonly string[]} given in whatever letters */
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

  /** Return to a step, or go on to it. @param {number} step */
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

  /** Both passes at the weights as they are. @param {string} [name] of letters of the alphabet, and not too long @returns {Opened} */
  open(name = this.name) {
    const loss = this.#pass(name);
    const program = this.#programFor(name);
    const data = this.#data.slice();
    const grad = this.#grad.slice();
    for (let node = 0; node < program.size; node += 1) if (!program.has(node)) data[node] = grad[node] = NaN;
    return { step: this.step, name, ...this.lesson.encode(name), loss, data, grad };
  }

  /**
   * Invent a name, letter by letter, with the weights as they are.
   * @param {number} temperature the lower, the likelier the letters @param {() => number} random from 0 to 1
   */
  sample(temperature, random) {
    const { program, end, config, logits } = this.lesson;
    const data = this.#data;
    data.set(this.weights);
    const tokens = [end];
    for (let place = 0, from = this.weights.length; place < config.places; place += 1) {
      data[this.lesson.tokens[place]] = tokens[place];
      data[this.lesson.targets[place]] = end; // its loss is of no interest
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

  /** Both passes for a name, at the weights as they are. @param {string} name @returns {number} the loss */
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

/** One of some choices, by the exponentials of their scores. @param {readonly number[]} scores @param {number} random from 0 to 1 */
function chosen(scores, random) {
  const largest = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - largest));
  let left = random * odds.reduce((total, odd) => total + odd, 0);
  const found = odds.findIndex((odd) => (left -= odd) < 0);
  return found < 0 ? odds.length - 1 : found;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). @param {number} seed */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
