// The frame of a picture: heading and explanation above, readout and legend below.

import { element, fill, set, write } from "../../dom.js";
import { rich } from "../../rich.js";
import { say } from "../texts.js";
import { six } from "./numbers.js";

/** @typedef {import("./view.js").View} View */

/** Create a part of the page; `key` is its id for links. @param {string} key @param {string} heading @param {string} intro @param {...(Node | string | null)} children */
export function part(key, heading, intro, ...children) {
  const title = element("h2", { id: key, tabindex: -1 }, heading);
  return element("section", { class: `part ${key}`, "aria-labelledby": key }, title, element("p", { class: "intro" }, ...rich(intro)), ...children);
}

/** A line that describes the cell under the pointer. */
export class Readout {
  /** @param {string} [hint] shown when no cell is pointed at */
  constructor(hint = "") {
    this.element = element("p", { class: "note readout" }, hint);
    this.read = (/** @type {string} */ text) => write(this.element, text || hint);
  }
}

/** A color scale with labels at its ends. */
export class Legend {
  constructor() {
    this.title = element("span", {});
    this.low = element("span", { class: "number" });
    this.bar = element("span", { class: "bar", "aria-hidden": "true" });
    this.high = element("span", { class: "number" });
    this.signs = element("span", { class: "signs" });
    this.element = element("p", { class: "legend" }, this.title, this.low, this.bar, this.high, this.signs);
  }

  /** @param {View} view @param {number} most @param {boolean} isShare */
  update(view, most, isShare) {
    write(this.title, isShare ? say.cells.shares : say.cells.scale[view.choices.shows]);
    write(this.low, isShare ? "0" : six(-most));
    write(this.high, isShare ? "1" : six(most));
    write(this.signs, isShare ? "" : say.cells.negative);
    set(this.bar, "data-share", isShare);
  }
}

/** The current text of each element. @type {WeakMap<HTMLElement, string>} */
const told = new WeakMap();

/** Write a formatted text, but only if it has changed. @param {HTMLElement} target @param {string} text */
export function tell(target, text) {
  if (told.get(target) === text) return;
  told.set(target, text);
  fill(target, ...rich(text));
}
