// Gradient descent on the graph of the stage, step by step, with a loss curve. zero_grad can be switched off.

import { button, element, fill, set, write } from "../../dom.js";
import { short } from "../../core/numbers.js";
import { figures as say, training } from "../../languages/languages.js";
import { descend, NONE } from "../../learn/descent.js";
import { UNTRAINED } from "../../model/training.js";
import { LossCurve } from "../../panels/train/curve.js";
import { Player } from "./player.js";

/** @typedef {import("../../model/model.js").Model} Model */

const MANY = 10; // steps per click
const PAUSE = 250; // milliseconds between them

export class Descent {
  /**
   * @param {Extract<import("../../model/chapters.js").Figure, { kind: "descent" }>} figure
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   */
  constructor({ parameters, rate, isZeroed }, act) {
    this.act = act;
    this.parameters = parameters;
    this.rate = rate;
    /** @type {Model | null} */
    this.model = null;
    /** @type {ReadonlyMap<string, number>} the initial values */
    this.start = NONE;
    /** @type {ReadonlyMap<string, number>} the gradients after the last pass */
    this.stored = NONE;
    this.steps = 0;
    this.curve = new LossCurve();
    this.player = new Player();
    this.moves = element("ul", { class: "moves" });
    this.taken = element("p", { class: "note", role: "status" });
    this.zeroes = element("input", { type: "checkbox", checked: isZeroed ?? true });
    const buttons = [
      button(say.step, () => this.#take(1), { class: "main" }),
      button(say.steps, () => this.#take(MANY)),
      button(say.restart, () => this.#restart()),
    ];
    this.element = element(
      "div",
      { class: "figure descent" },
      isZeroed === undefined ? null : element("label", {}, this.zeroes, ` ${say.zeroes}`),
      element("p", { class: "note" }, `${say.rate} ${rate}`),
      element("div", { class: "buttons" }, ...buttons),
      this.moves,
      this.curve.element,
      this.taken,
    );
  }

  /** @param {Model} model */
  update(model) {
    if (!this.model) {
      this.start = model.state.values;
      this.curve.put(0, lossOf(model));
    }
    if (this.steps === 0) set(this.moves, "hidden", true);
    this.model = model;
    write(this.taken, say.taken(this.steps));
  }

  /** Take steps one after the other. @param {number} count */
  #take(count) {
    let left = count;
    const step = () => {
      left -= 1;
      this.#step();
      return left > 0;
    };
    this.player.start(step, PAUSE);
  }

  #step() {
    const { rate, parameters } = this;
    const isZeroed = this.zeroes.checked;
    const { graph, state } = /** @type {Model} */ (this.model);
    const done = descend(graph, { parameters, rate, isZeroed, stored: this.stored });
    this.stored = done.gradients;
    this.steps += 1;
    this.#tell(done.moves.filter(({ isParameter }) => isParameter));
    this.act({ values: new Map([...state.values, ...done.values]), training: { ...state.training, isZeroed, stored: this.stored } });
    this.curve.put(this.steps, lossOf(/** @type {Model} */ (this.model)));
  }

  close() {
    this.player.stop();
  }

  /** @param {readonly import("../../learn/descent.js").Move[]} moves */
  #tell(moves) {
    const lines = moves.map((move) => training.moved(move.name, short(move.before), short(this.rate), factor(move), short(move.after)));
    set(this.moves, "hidden", null);
    fill(this.moves, ...lines.map((line) => element("li", {}, line)));
  }

  #restart() {
    this.player.stop();
    this.stored = NONE;
    this.steps = 0;
    this.curve.clear();
    this.act({ values: this.start, training: UNTRAINED });
    this.curve.put(0, lossOf(/** @type {Model} */ (this.model)));
  }
}

/** @param {Model} model */
function lossOf({ graph }) {
  return graph.nodes[graph.root].data;
}

/** Write the gradient that a step uses, as a sum if gradients were accumulated, in parentheses if needed. @param {import("../../learn/descent.js").Move} move */
function factor({ stored, fresh, gradient }) {
  if (stored) return `(${short(stored)} ${fresh < 0 ? "−" : "+"} ${short(Math.abs(fresh))})`;
  return gradient < 0 ? `(${short(gradient)})` : short(gradient);
}
