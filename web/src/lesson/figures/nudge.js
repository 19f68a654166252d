// A plot of the root as a function of a node that the reader nudges. It compares the difference quotient with the
// gradient.

import { element, set, write } from "../../dom.js";
import { digits, short } from "../../core/numbers.js";
import { figures as say } from "../../languages/languages.js";
import { Replay } from "../../walk/replay.js";
import { Plot } from "../plot.js";

/** @typedef {import("../../model/model.js").Model} Model */

const REACH = 1.5; // range of the plot and the slider on either side

export class Nudge {
  /** @param {Extract<import("../../model/chapters.js").Figure, { kind: "nudge" }>} figure */
  constructor({ node }) {
    this.node = node;
    /** @type {Model | null} */
    this.model = null;
    this.plot = new Plot();
    const range = { min: -REACH, max: REACH, step: 0.001, value: 0.5 };
    this.slider = element("input", { type: "range", ...range, "aria-label": `${say.nudge} ${node}`, oninput: () => this.#draw() });
    this.moved = element("p");
    this.quotient = element("p", { class: "quotient" });
    this.gradient = element("p", { class: "gradient" });
    const told = element("div", { class: "readout", "aria-live": "polite" }, this.moved, this.quotient, this.gradient);
    this.element = element("div", { class: "figure nudge" }, this.plot.element, this.slider, told);
  }

  /** @param {Model} model */
  update(model) {
    if (model.graph === this.model?.graph) return;
    this.model = model;
    this.#draw();
  }

  #draw() {
    const { graph, walk } = /** @type {Model} */ (this.model);
    const node = graph.nodes.find(({ name }) => name === this.node);
    if (!node) return;
    const root = graph.nodes[graph.root];
    const replay = new Replay(graph);
    replay.select(node.place);
    const f = (/** @type {number} */ x) => (x === node.data ? root.data : replay.rootWith(x));
    const [at, nudge, gradient] = [node.data, Number(this.slider.value), walk.right[node.place]];
    const other = at + nudge;
    const quotient = (f(other) - root.data) / (other - at);
    this.plot.show(say.plot(root.name, node.name), { names: [root.name, node.name], f, over: [at - REACH, at + REACH], at, slope: gradient, other });
    set(this.slider, "aria-valuetext", short(nudge));
    const changes = [say.moved(node.name, digits(at), digits(other)), say.moved(root.name, digits(root.data), digits(f(other)))];
    write(this.moved, changes.join("; "));
    write(this.quotient, other === at ? say.noQuotient : say.quotient(root.name, node.name, digits(quotient)));
    write(this.gradient, say.gradient(digits(gradient)));
  }
}
