// The prediction of the next letter: a bar chart of probabilities above the logits, with a mark at the actual letter.

import { button, element } from "../../../dom.js";
import { drawn, rounded } from "../../../stage/svg.js";
import { say } from "../../texts.js";
import { Cells } from "./cells.js";
import { four, percent } from "../numbers.js";
import { scaleOf } from "../palette.js";
import { Legend, part, Readout, tell } from "../picture.js";
import { largestOf } from "../view.js";

/** @typedef {import("../view.js").View} View */

const { prediction: words } = say;
const HEIGHT = 150; // pixels of the bars
const HEAD = 18; // pixels above the highest bar
const NAMED = 4;

export class Prediction {
  /** @type {View | null} */
  #view = null;

  /** @param {import("./cells.js").Board} board */
  constructor(board) {
    this.readout = new Readout();
    this.legend = new Legend();
    this.bars = drawn("svg", { class: "bars", width: 0, height: HEIGHT, "aria-hidden": "true" });
    this.told = element("p", { class: "told-of" });
    this.likeliest = element("p", { class: "note" });
    this.cells = new Cells(board, { title: words.picture, tell: (_, letter) => words.logit(this.#letter(letter)), read: this.readout.read, largest: 30, above: this.bars, onDrawn: () => this.#draw() });
    const open = button(words.loss, () => this.#view && board.choose(this.#view.find(`loss.${this.#view.place}`), null));
    this.element = part("prediction", words.heading, words.intro, this.cells.element, this.told, this.likeliest, open, this.readout.element, element("div", { class: "legends" }, this.legend.element));
  }

  /** @param {View} view */
  update(view) {
    this.#view = view;
    const letters = Array.from({ length: view.lesson.end + 1 }, (_, letter) => view.lesson.letter(letter));
    const nodes = letters.map((_, letter) => view.find(`place${view.place}.logit.${letter}`));
    const most = scaleOf(nodes, view.numbers);
    this.cells.show({ rows: [""], columns: letters, nodes, most, isShare: false }, view);
    this.legend.update(view, most, false);
    this.#say(view);
  }

  /** @param {View} view */
  #say(view) {
    const shares = view.probabilities(view.place);
    const share = shares[view.opened.targets[view.place]];
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]);
    const loss = view.opened.data[view.find(`loss.${view.place}`)];
    const rank = order.indexOf(view.opened.targets[view.place]) + 1;
    tell(this.told, words.told(view.target(view.place), percent(share), rank, four(loss)));
    tell(this.likeliest, words.likeliest(order.slice(0, NAMED).map((letter) => words.one(this.#letter(letter), percent(shares[letter]))).join(", ")));
  }

  /** Return a letter of the alphabet; "" for the end. @param {number} letter */
  #letter(letter) {
    const { lesson } = this.#view ?? {};
    return !lesson || letter === lesson.end ? "" : lesson.letter(letter);
  }

  #draw() {
    const { geometry } = this.cells;
    const view = this.#view;
    if (!geometry || !view) return;
    const { left, size, width } = geometry;
    const shares = view.probabilities(view.place);
    const highest = Math.max(shares[largestOf(shares)], 0.1);
    const height = (/** @type {number} */ letter) => rounded((shares[letter] / highest) * (HEIGHT - 2 * HEAD));
    const bars = shares.map((_, letter) => drawn("rect", { x: left + letter * size, y: HEIGHT - height(letter), width: size - 2, height: height(letter) }));
    const shown = ticks(highest).map((share) => ({ share, y: rounded(HEIGHT - (share / highest) * (HEIGHT - 2 * HEAD)) }));
    const rules = drawn("path", { class: "rule", d: shown.map(({ y }) => `M0 ${y}H${width}`).join("") });
    const named = shown.map(({ share, y }) => text(percent(share), width - 2, y - 3, "end", "tick"));
    const target = view.opened.targets[view.place];
    bars[target].classList.add("target");
    this.bars.setAttribute("width", String(width));
    this.bars.replaceChildren(rules, ...bars, ...named, ...pointer(left + (target + 0.5) * size - 1, HEIGHT - height(target), width));
  }
}

/** Return the ticks of the probability axis. @param {number} highest */
function ticks(highest) {
  const every = highest > 0.45 ? 0.25 : highest > 0.18 ? 0.1 : 0.05;
  return [1, 2, 3, 4].map((i) => i * every).filter((share) => share <= highest);
}

/** Draw a pointer to the bar of the actual next letter. @param {number} x @param {number} y @param {number} width */
function pointer(x, y, width) {
  const anchor = x < width * 0.2 ? "start" : x > width * 0.8 ? "end" : "middle";
  const at = { start: Math.max(x - 5, 0), middle: x, end: Math.min(x + 5, width) }[anchor];
  return [text(words.target, at, y - 12, anchor, "target-of"), drawn("path", { class: "pointer", d: `M${rounded(x)} ${y - 2}l-5 -7h10z` })];
}

/** @param {string} told @param {number} x @param {number} y @param {string} anchor @param {string} name */
function text(told, x, y, anchor, name) {
  const made = drawn("text", { x: rounded(x), y: rounded(y), "text-anchor": anchor, class: name });
  made.textContent = told;
  return made;
}
