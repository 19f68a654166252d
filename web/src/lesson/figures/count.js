// The cost of all gradients: one run of the program per nudged leaf, or one backward pass.

import { button, element, fill, write } from "../../dom.js";
import { general } from "../../core/numbers.js";
import { figures as say } from "../../languages/languages.js";
import { Replay } from "../../walk/replay.js";

/** @typedef {import("../../model/model.js").Model} Model */

const TICK = 260; // milliseconds per run
const H = 1e-6; // size of a nudge: the quotient is accurate to the digits shown
const DIGITS = 4;

export class Count {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.runs = 0;
    this.isBack = false; // whether the backward pass has been run
    this.timer = 0;
    /** @type {Model | null} */
    this.model = null;
    this.nudges = row(say.nudges, say.runNudges, () => this.#nudge());
    this.backward = row(say.backward, say.runBackward, () => this.#sweep());
    this.found = element("tbody");
    const headings = [say.leaf, say.nudges, say.backward].map((heading) => element("th", { scope: "col" }, heading));
    this.table = element("table", { hidden: true }, element("thead", {}, element("tr", {}, ...headings)), this.found);
    this.element = element("div", { class: "figure count" }, this.nudges.element, this.backward.element, this.table);
  }

  /** @param {Model} model */
  update(model) {
    if (model.graph !== this.model?.graph) [this.runs, this.isBack] = [0, false];
    this.model = model;
    write(this.nudges.told, this.runs ? say.runs(this.runs) : "–");
    write(this.backward.told, this.isBack ? say.oneBackward : "–");
    const leaves = this.#leaves().length;
    this.nudges.bar.style.setProperty("--share", String(this.runs / (leaves + 1)));
    this.backward.bar.style.setProperty("--share", String(this.isBack ? 2 / (leaves + 1) : 0));
    this.#compare(model);
  }

  /** Fill the table with the gradients of all leaves, by nudges and by the backward pass. @param {Model} model */
  #compare({ graph, walk }) {
    this.table.hidden = !this.runs && !this.isBack;
    const root = graph.nodes[graph.root].data;
    const replay = new Replay(graph);
    const rows = this.#leaves().map(({ name, place, data }, i) => {
      replay.select(place);
      const quotient = (replay.rootWith(data + H) - root) / H;
      const numbers = [i + 1 < this.runs ? quotient : null, this.isBack ? walk.right[place] : null];
      const cells = numbers.map((number) => element("td", {}, number === null ? "" : general(number, DIGITS)));
      return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
    });
    fill(this.found, ...rows);
  }

  /** Stop the animation. */
  close() {
    window.clearInterval(this.timer);
  }

  #leaves() {
    return /** @type {Model} */ (this.model).graph.nodes.filter(({ operands }) => !operands.length);
  }

  #nudge() {
    this.close();
    this.runs = 0;
    const leaves = this.#leaves();
    const known = /** @type {Model} */ (this.model).walk.forward.length;
    const run = () => {
      const leaf = leaves[this.runs - 1]; // the first run has no nudge
      this.runs += 1;
      this.act({ position: known, selected: leaf?.name ?? "", operand: -1 });
      if (this.runs > leaves.length) this.close();
    };
    this.timer = window.setInterval(run, TICK);
    run();
  }

  /** Run the backward pass; finish the remaining nudges at once. */
  #sweep() {
    this.close();
    if (this.runs) this.runs = this.#leaves().length + 1;
    this.isBack = true;
    this.act({ position: /** @type {Model} */ (this.model).last, selected: "" });
  }
}

/** @param {string} title @param {string} face @param {() => void} onclick */
function row(title, face, onclick) {
  const told = element("span", { role: "status" });
  const bar = element("div", { class: "bar" });
  return { told, bar, element: element("div", { class: "cost" }, element("h4", {}, title), button(face, onclick), bar, told) };
}
