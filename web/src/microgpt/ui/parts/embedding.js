// The letter embeddings, the place embeddings and their sums, with one row for each letter read.

import { element } from "../../../dom.js";
import { say } from "../../texts.js";
import { Cells } from "./cells.js";
import { scaleOf } from "../palette.js";
import { Legend, part, Readout } from "../picture.js";

/** @typedef {import("../view.js").View} View */

const { embedding: words } = say;
const SIGNS = { letters: "", places: "+", sums: "=" };

/** @typedef {keyof typeof SIGNS} Kind */

export class Embedding {
  /** @type {View | null} */
  #view = null;

  /** @param {import("./cells.js").Board} board */
  constructor(board) {
    this.readout = new Readout(say.cells.hint);
    this.legends = { letters: new Legend(), sums: new Legend() };
    const kinds = /** @type {Kind[]} */ (Object.keys(SIGNS));
    this.cells = kinds.map((kind) => new Cells(board, { title: words.pictures[kind], tell: (row, column) => this.#tell(kind, row, column), read: this.readout.read, largest: 22 }));
    const figures = kinds.map((kind, i) => element(
      "figure",
      { "data-sign": SIGNS[kind] },
      element("figcaption", {}, words.pictures[kind]),
      this.cells[i].element,
    ));
    const legends = element("div", { class: "legends" }, this.legends.letters.element, this.legends.sums.element);
    this.element = part("embedding", words.heading, words.intro, element("div", { class: "sum-of" }, ...figures), this.readout.element, legends);
  }

  /** @param {View} view */
  update(view) {
    this.#view = view;
    const columns = Array(view.lesson.config.width).fill("");
    const rows = Array.from({ length: view.places }, (_, place) => view.read(place) || "·");
    const nodes = (/** @type {(place: number, i: number) => string} */ name) => rows.flatMap((_, place) => columns.map((_, i) => view.find(name(place, i))));
    const { tokens } = view.opened;
    const letters = nodes((place, i) => `letters.${tokens[place]}.${i}`);
    const places = nodes((place, i) => `places.${place}.${i}`);
    const sums = nodes((place, i) => `place${place}.embed.x.${i}`);
    const small = scaleOf([...letters, ...places], view.numbers);
    const large = scaleOf(sums, view.numbers);
    const all = /** @type {const} */ ([[letters, small], [places, small], [sums, large]]);
    all.forEach(([nodes, most], i) => this.cells[i].show({ rows, columns, nodes, most, isShare: false, current: view.place }, view));
    this.legends.letters.update(view, small, false);
    this.legends.sums.update(view, large, false);
  }

  /** @param {Kind} kind @param {number} place @param {number} i */
  #tell(kind, place, i) {
    const letter = this.#view?.read(place) ?? "";
    if (kind === "letters") return words.letter(letter, i);
    return kind === "places" ? words.place(place, i) : words.sum(place, letter, i);
  }
}
