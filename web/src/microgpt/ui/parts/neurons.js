// The hidden neurons at the selected place.

import { element } from "../../../dom.js";
import { say } from "../../texts.js";
import { Cells } from "./cells.js";
import { scaleOf } from "../palette.js";
import { Legend, part, Readout, tell } from "../picture.js";

const { neurons: words } = say;
const ACROSS = 16;

export class Neurons {
  /** @param {import("./cells.js").Board} board */
  constructor(board) {
    this.readout = new Readout();
    this.legend = new Legend();
    this.told = element("p", { class: "told-of" });
    this.cells = new Cells(board, { title: words.picture, tell: (row, column) => words.neuron(row * ACROSS + column), read: this.readout.read, largest: 36 });
    this.element = part("neurons", words.heading, words.intro, this.cells.element, this.told, this.readout.element, element("div", { class: "legends" }, this.legend.element));
  }

  /** @param {import("../view.js").View} view */
  update(view) {
    const all = 4 * view.lesson.config.width;
    const nodes = Array.from({ length: all }, (_, i) => view.find(`place${view.place}.mlp.hidden.${i}`));
    const most = scaleOf(nodes, view.numbers);
    this.cells.show({ rows: Array(all / ACROSS).fill(""), columns: Array(ACROSS).fill(""), nodes, most, isShare: false }, view);
    tell(this.told, words.told(nodes.filter((node) => view.opened.data[node] > 0).length, all));
    this.legend.update(view, most, false);
  }
}
