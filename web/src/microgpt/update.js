// The update of all weights at once: runs the recorded update of one weight on columns of numbers.

/** @import { Row } from "../types.js" */
/** @typedef {{ weight: Float64Array, mean: Float64Array, square: Float64Array }} Copy */
/** @import { Program } from "./program.js" */

export class Update {
  /** Columns by slot; null for slots with one number for all weights. @type {(Float64Array | null)[]} */
  #columns = [];

  /** @param {Program} program the update of one weight @param {number} count of weights */
  constructor(program, count) {
    this.program = program;
    this.single = program.numbers(); // numbers that are the same for all weights
    this.weight = new Float64Array(count);
    this.gradient = new Float64Array(count);
    this.mean = new Float64Array(count);
    this.square = new Float64Array(count);
    for (const name of /** @type {const} */ (["weight", "gradient", "mean", "square"])) this.#columns[program.find(name)] = this[name];
    for (let node = 0; node < program.size; node += 1) {
      if (program.operandsOf(node).some((slot) => this.#columns[slot])) this.#columns[node] = new Float64Array(count);
    }
    this.spread = new Float64Array(count);
  }

  /** Set the initial weights and clear Adam's moments. @param {Float64Array} weights */
  begin(weights) {
    this.weight.set(weights);
    this.mean.fill(0);
    this.square.fill(0);
  }

  /** Copy the state, to return to it later. @returns {Copy} */
  copy() {
    return { weight: this.weight.slice(), mean: this.mean.slice(), square: this.square.slice() };
  }

  /** @param {Copy} kept */
  restore({ weight, mean, square }) {
    this.weight.set(weight);
    this.mean.set(mean);
    this.square.set(square);
  }

  /** Update all weights by their gradients. @param {number} count of previous updates @param {number} done progress of the learning rate schedule, in steps of the document */
  run(count, done) {
    const { program, single } = this;
    single[program.find("count")] = count;
    single[program.find("done")] = done;
    for (let node = 0; node < program.size; node += 1) {
      const { row } = program.rules[program.kinds[node]];
      if (row) this.#compute(node, row);
    }
    const [weight, mean, square] = program.outputs.map((node) => /** @type {Float64Array} */ (this.#columns[node]));
    this.restore({ weight, mean, square });
  }

  /** @param {number} node @param {Row} row */
  #compute(node, row) {
    const slots = this.program.operandsOf(node);
    const out = this.#columns[node];
    if (out) {
      const [x, y = x] = Array.from(slots, (slot) => this.#columns[slot] ?? this.spread.fill(this.single[slot]));
      filled(row, x, y, out);
    } else {
      const [x, y] = Array.from(slots, (slot) => this.single[slot]);
      this.single[node] = row.forward(x, y, NaN);
    }
  }
}

/** Apply an operation to columns. The most frequent operations of Adam are written out, with bitwise the same results. @param {Row} row @param {Float64Array} x @param {Float64Array} y @param {Float64Array} out */
function filled({ name, forward }, x, y, out) {
  if (name === "mul") for (let i = 0; i < out.length; i += 1) out[i] = x[i] * y[i];
  else if (name === "add") for (let i = 0; i < out.length; i += 1) out[i] = x[i] + y[i];
  else if (name === "div") for (let i = 0; i < out.length; i += 1) out[i] = x[i] / y[i];
  else for (let i = 0; i < out.length; i += 1) out[i] = forward(x[i], y[i], NaN);
}
