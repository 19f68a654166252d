// The generated names, latest first, and whether they are in the data.

import { button, element, set, write } from "../../../dom.js";
import { say } from "../../texts.js";
import { tell } from "../picture.js";

const { samples: words } = say;
const KEPT = 20; // rows

// Trained on the names of examples/names.txt for 20,000 steps, the model has a loss of 2.1 on 300 names that were held out.
// It reaches a loss far below that by memorizing names: with 25 or 50 names, about one name in five that it writes is
// then in the data.
const MEMORIZED = 1.5;

export class Samples {
  /** @type {ReadonlySet<string>} */
  #taught = new Set();

  /** @param {() => void} invent */
  constructor(invent) {
    this.range = element("input", { type: "range", min: 0.1, max: 1.5, step: 0.1, value: 0.5, oninput: () => this.#tell() });
    this.warmth = element("output", {});
    this.list = element("ol", { class: "invented", "aria-live": "off", tabindex: 0, "aria-label": words.title });
    this.counted = element("p", { class: "note counted" });
    this.memorized = element("p", { class: "memorized", role: "status" });
    const slider = element("label", { class: "warmth" }, element("span", {}, words.temperature), this.range, this.warmth);
    const row = element("div", { class: "buttons" }, button(words.more, invent), slider);
    this.element = element("div", { class: "samples" }, element("h3", {}, words.title), this.list, this.counted, row);
    this.#tell();
  }

  get temperature() {
    return Number(this.range.value);
  }

  /** @param {readonly string[]} names the training names */
  begin(names) {
    this.#taught = new Set(names);
    this.list.replaceChildren();
    this.judge(NaN);
  }

  /** @param {number} step @param {readonly string[]} samples */
  put(step, samples) {
    const names = samples.map((name) => {
      const isKnown = this.#taught.has(name);
      return element("li", {}, ...(name ? [`${name} `, element("small", { "data-known": String(isKnown) }, isKnown ? words.isKnown : words.isNew)] : [words.nothing]));
    });
    this.list.prepend(element("li", {}, element("span", { class: "note" }, words.at(step)), element("ul", {}, ...names)));
    while (this.list.children.length > KEPT) this.list.lastElementChild?.remove();
    const count = (/** @type {boolean} */ isKnown) => this.list.querySelectorAll(`[data-known="${isKnown}"]`).length;
    write(this.counted, words.counted(count(true), count(false)));
  }

  /** Tell whether the model has memorized the names. @param {number} mean of the last losses */
  judge(mean) {
    tell(this.memorized, mean < MEMORIZED ? words.memorized(this.#taught.size, mean.toFixed(1)) : "");
  }

  #tell() {
    const told = words.warmth(this.temperature.toFixed(1));
    write(this.warmth, told);
    set(this.range, "aria-valuetext", told);
  }
}
