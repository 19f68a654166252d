// A plot of the root as a function of a leaf that the reader nudges. It compares the difference quotient with the
// gradient.

import { element, set, write } from "../../dom.js";
import { digits, short } from "../../core/numbers.js";
import { figures as say } from "../../languages/languages.js";
import { Replay } from "../../walk/replay.js";
import { Plot } from "../plot.js";
import { Player } from "./player.js";

/** @typedef {import("../../model/model.js").Model} Model */

const REACH = 1.5; // range of the plot and the slider on either side
const [FIRST, FRAMES, PAUSE] = [0.5, 20, 60]; // the first nudge, its frames, and the milliseconds between them

export class Nudge {
  /**
   * @param {Extract<import("../../model/chapters.js").Figure, { kind: "nudge" }>} figure
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   */
  constructor({ node }, act) {
    this.node = node;
    this.act = act;
    /** @type {Model | null} */
    this.model = null;
    this.plot = new Plot();
    const range = { min: -REACH, max: REACH, step: 0.001, value: 0 };
    this.slider = element("input", { type: "range", ...range, "aria-label": `${say.nudge} ${node}`, oninput: () => this.#move() });
    this.moved = element("p");
    this.quotient = element("p", { class: "quotient" });
    this.gradient = element("p", { class: "gradient" });
    const told = element("div", { class: "readout", "aria-live": "polite" }, this.moved, this.quotient, this.gradient);
    this.element = element("div", { class: "figure nudge" }, this.plot.element, this.slider, told);
    this.player = new Player();
  }

  /** @param {Model} model */
  update(model) {
    this.model ??= model;
    const leaf = model.graph.nodes.find(({ name }) => name === this.node);
    if (leaf) this.#draw(leaf.data);
  }

  /** Move the leaf to the right. */
  begin() {
    const step = () => {
      this.slider.value = String(Number(this.slider.value) + FIRST / FRAMES);
      this.#move();
      return Number(this.slider.value) < FIRST;
    };
    this.player.start(step, PAUSE);
  }

  close() {
    this.player.stop();
  }

  /** Change the leaf by as much as the slider says. */
  #move() {
    const { state } = /** @type {Model} */ (this.model);
    this.act({ values: new Map([...state.values, [this.node, this.#leaf.data + Number(this.slider.value)]]) });
  }

  /** The leaf before it was nudged. */
  get #leaf() {
    const { graph } = /** @type {Model} */ (this.model);
    return /** @type {import("../../types.js").Node} */ (graph.nodes.find(({ name }) => name === this.node));
  }

  /** @param {number} other nudged number */
  #draw(other) {
    const { graph, walk } = /** @type {Model} */ (this.model);
    const node = this.#leaf;
    const root = graph.nodes[graph.root];
    const replay = new Replay(graph);
    replay.select(node.place);
    const f = (/** @type {number} */ x) => (x === node.data ? root.data : replay.rootWith(x));
    const [at, gradient] = [node.data, walk.right[node.place]];
    const quotient = (f(other) - root.data) / (other - at);
    this.plot.show(say.plot(root.name, node.name), { names: [root.name, node.name], f, over: [at - REACH, at + REACH], at, slope: gradient, other });
    set(this.slider, "aria-valuetext", short(other - at));
    const changes = [say.moved(node.name, digits(at), digits(other)), say.moved(root.name, digits(root.data), digits(f(other)))];
    write(this.moved, changes.join("; "));
    write(this.quotient, other === at ? say.noQuotient : say.quotient(root.name, node.name, digits(quotient)));
    write(this.gradient, say.gradient(digits(gradient)));
  }
}
