// A button that opens the lab with the graph of the lesson, where readers try their own numbers.

import { button, element } from "../../dom.js";
import { figures as say } from "../../languages/languages.js";
import { UNTRAINED } from "../../model/training.js";
import { RATE } from "../../panels/train/points.js";

export class Lab {
  /**
   * @param {Extract<import("../../model/chapters.js").Figure, { kind: "lab" }>} figure
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   */
  constructor({ mode, data = "" }, act) {
    const open = () => act({ chapter: "", mode, training: { ...UNTRAINED, data, rate: data ? RATE : UNTRAINED.rate } });
    this.element = element("div", { class: "figure" }, button(say.lab, open, { class: "main" }));
  }

  update() {}
}
