// A plot of a function of one operand with its tangent: the slope is the local derivative.

import { element, set, write } from "../../dom.js";
import { short } from "../../core/numbers.js";
import { figures as say } from "../../languages/languages.js";
import { Plot } from "../plot.js";
import { Player } from "./player.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../types.js").Row} Row */

const REACH = 4; // minimum range of the plot on either side of 0
const [FRAMES, PAUSE] = [30, 60]; // of the sweep along the curve, in milliseconds

export class Tangent {
  /**
   * @param {Extract<import("../../model/chapters.js").Figure, { kind: "tangent" }>} figure
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   */
  constructor({ node, by }, act) {
    this.node = node;
    this.by = by;
    this.act = act;
    /** @type {Model | null} */
    this.model = null;
    this.reach = REACH;
    this.plot = new Plot();
    this.player = new Player();
    const oninput = () => {
      this.player.stop();
      this.#move(Number(this.slider.value));
    };
    this.slider = element("input", { type: "range", step: "any", oninput });
    this.told = element("p", { class: "readout", "aria-live": "polite" });
    this.element = element("div", { class: "figure tangent" }, this.plot.element, this.slider, this.told);
  }

  /** @param {Model} model */
  update(model) {
    if (model.graph === this.model?.graph) return;
    this.model = model;
    const { operand } = this.#parts();
    if (Math.abs(operand.data) > this.reach) this.reach = Math.ceil(Math.abs(operand.data)) + 1; // does not shrink again, so that the plot is stable during a drag
    set(this.slider, "min", -this.reach);
    set(this.slider, "max", this.reach);
    this.slider.value = String(operand.data);
    set(this.slider, "aria-label", operand.name);
    this.#draw(operand.data);
  }

  /** Move the operand along the curve, from the left to its number. */
  begin() {
    const { state } = /** @type {Model} */ (this.model);
    const to = this.#parts().operand.data;
    let frame = 0;
    const step = () => {
      frame += 1;
      if (frame < FRAMES) this.#move(((FRAMES - frame) * -this.reach + frame * to) / FRAMES);
      else this.act({ values: state.values });
      return frame < FRAMES;
    };
    this.player.start(step, PAUSE);
  }

  close() {
    this.player.stop();
  }

  /** Move the operand to a number, up to rounding, by changing the leaf that is added to it. @param {number} to */
  #move(to) {
    const { graph, state } = /** @type {Model} */ (this.model);
    const leaf = graph.nodes.find(({ name }) => name === this.by);
    if (!leaf) return;
    const number = round(leaf.data + to - this.#parts().operand.data);
    this.act({ values: new Map([...state.values, [this.by, number]]) });
  }

  #parts() {
    const { nodes } = /** @type {Model} */ (this.model).graph;
    const node = /** @type {import("../../types.js").Node} */ (nodes.find(({ name }) => name === this.node));
    return { node, operand: nodes[node.operands[0]], row: /** @type {Row} */ (node.row) };
  }

  /** @param {number} at */
  #draw(at) {
    const { node, operand, row } = this.#parts();
    const out = row.forward(at, NaN, NaN);
    const slope = row.partials[0](at, NaN, NaN, out);
    this.plot.show(say.plot(node.name, operand.name), { names: [node.name, operand.name], f: (x) => row.forward(x, NaN, NaN), over: [-this.reach, this.reach], at, slope });
    const values = [say.value(operand.name, short(at)), say.value(node.name, short(out)), say.slope(short(slope))];
    set(this.slider, "aria-valuetext", short(at));
    write(this.told, values.join("; "));
  }
}

/** Round to two decimals. @param {number} number */
function round(number) {
  return Math.round(100 * number) / 100;
}
