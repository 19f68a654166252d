// The generated names, latest first.

import { button, element, set, write } from "../../../dom.js";
import { say } from "../../texts.js";

const { samples: words } = say;
const KEPT = 8; // rows

export class Samples {
  /** @type {ReadonlySet<string>} */
  #taught = new Set();

  /** @param {(temperature: number) => void} invent */
  constructor(invent) {
    this.range = element("input", { type: "range", min: 0.1, max: 1.5, step: 0.1, value: 0.5, oninput: () => this.#tell() });
    this.warmth = element("output", {});
    this.list = element("ol", { class: "invented", "aria-live": "off" });
    this.none = element("p", { class: "note" }, words.none);
    const slider = element("label", { class: "warmth" }, element("span", {}, words.temperature), this.range, this.warmth);
    const more = button(words.more, () => invent(this.temperature));
    this.element = element("div", { class: "samples" }, element("h3", {}, words.title), element("p", { class: "note" }, words.intro), this.none, this.list, slider, more);
    this.#tell();
  }

  get temperature() {
    return Number(this.range.value);
  }

  /** @param {readonly string[]} names the training names */
  begin(names) {
    this.#taught = new Set(names);
    this.list.replaceChildren();
    this.none.hidden = false;
  }

  /** @param {number} step @param {readonly string[]} samples */
  put(step, samples) {
    this.none.hidden = true;
    const names = samples.map((name) => element("li", {}, name || words.nothing, name && !this.#taught.has(name) ? element("small", {}, words.isNew) : null));
    this.list.prepend(element("li", {}, element("span", { class: "note" }, words.at(step)), element("ul", {}, ...names)));
    while (this.list.children.length > KEPT) this.list.lastElementChild?.remove();
  }

  #tell() {
    const told = words.warmth(this.temperature.toFixed(1));
    write(this.warmth, told);
    set(this.range, "aria-valuetext", told);
  }
}
