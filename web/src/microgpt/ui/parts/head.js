// One attention head at the selected letter: query, keys, scores, weights, values and the weighted sum of the values.

import { element } from "../../../dom.js";
import { say } from "../../texts.js";
import { rich } from "../../../rich.js";
import { Cells } from "./cells.js";
import { scaleOf } from "../palette.js";
import { Readout } from "../picture.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./cells.js").Board} Board */

const { attention: words } = say;

/** Whether a part has one row for every attended letter. */
const PARTS = /** @type {const} */ ({ query: false, key: true, score: true, weight: true, value: true, found: false });

/** @typedef {keyof typeof PARTS} Part */

export class HeadInside {
  /** @type {View | null} */
  #view = null;

  /** @param {Board} board @param {(change: Partial<import("../address.js").Choices>) => void} act @param {number} heads */
  constructor(board, act, heads) {
    this.readout = new Readout();
    this.choices = Array.from({ length: heads }, (_, head) => element("input", { type: "radio", name: "head", value: head, onchange: () => act({ head }) }));
    const labels = this.choices.map((choice, head) => element("label", {}, choice, words.head(head)));
    const parts = /** @type {Part[]} */ (Object.keys(PARTS));
    this.cells = parts.map((part) => new Cells(board, { title: words.parts[part], tell: (row, column) => this.#tell(part, row, column), read: this.readout.read, largest: 22 }));
    const figures = parts.map((part, i) => element("figure", { "data-part": part, "data-wide": PARTS[part] }, element("figcaption", {}, words.parts[part]), this.cells[i].element));
    this.steps = element("div", { class: "steps-inside" }, ...figures);
    this.element = element(
      "div",
      { class: "inside" },
      element("h3", {}, words.inside),
      element("p", { class: "intro" }, ...rich(words.why)),
      element("fieldset", { class: "segments" }, element("legend", { class: "spoken" }, words.inside), ...labels),
      this.steps,
      this.readout.element,
    );
  }

  /** @param {View} view */
  update(view) {
    this.#view = view;
    this.choices.forEach((choice, head) => (choice.checked = head === view.choices.head));
    this.steps.style.setProperty("--letters", String(view.place + 1));
    const parts = /** @type {Part[]} */ (Object.keys(PARTS));
    parts.forEach((part, i) => this.#show(part, this.cells[i], view));
  }

  /** @param {Part} part @param {Cells} cells @param {View} view */
  #show(part, cells, view) {
    const seen = PARTS[part] ? [...Array(view.place + 1).keys()] : [view.place];
    const size = part === "score" || part === "weight" ? 1 : view.lesson.config.width / view.lesson.config.heads;
    const rows = Array(size).fill("");
    const columns = PARTS[part] ? seen.map((place) => view.read(place) || "·") : [" "];
    const nodes = rows.flatMap((_, i) => seen.map((place) => view.find(this.#name(part, view, place, i))));
    const isShare = part === "weight" && view.choices.shows === "data";
    cells.show({ rows, columns, nodes, most: isShare ? 1 : scaleOf(nodes, view.numbers), isShare }, view);
  }

  /** @param {Part} part @param {View} view @param {number} seen @param {number} i */
  #name(part, view, seen, i) {
    const { config } = view.lesson;
    const { head } = view.choices;
    const own = (head * config.width) / config.heads + i;
    const here = `place${view.place}.attention`;
    /** @type {Record<Part, string>} */
    const names = {
      query: `${here}.query.${own}`,
      key: `place${seen}.attention.key.${own}`,
      score: `${here}.head${head}.score.${seen}`,
      weight: `${here}.head${head}.weight.${seen}`,
      value: `place${seen}.attention.value.${own}`,
      found: `${here}.head${head}.found.${i}`,
    };
    return names[part];
  }

  /** @param {Part} part @param {number} row @param {number} column */
  #tell(part, row, column) {
    const view = this.#view;
    if (!view) return "";
    const { head } = view.choices;
    if (!PARTS[part]) return words.own(words.parts[part], head, row);
    const isOne = part === "score" || part === "weight";
    return words.cell(words.parts[part], head, column, view.read(column), isOne ? -1 : row);
  }
}
