// The weight matrices.

import { element, write } from "../../../dom.js";
import { say } from "../../texts.js";
import { Cells } from "./cells.js";
import { scaleOf } from "../palette.js";
import { Legend, part, Readout } from "../picture.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {{ name: string, rows: number, columns: number }} Matrix */

const { weights: words } = say;
const BY_HEAD = ["query", "key", "value"]; // matrices whose rows belong to heads

export class Weights {
  /** @type {View | null} */
  #view = null;

  /** @param {import("./cells.js").Board} board @param {import("../../document.js").Lesson} lesson */
  constructor(board, { matrices, letters }) {
    this.board = board;
    this.readout = new Readout();
    this.matrices = matrices.map((matrix) => ({ matrix, legend: new Legend(), rows: rowsOf(matrix, letters), cells: this.#cellsOf(matrix) }));
    const figures = this.matrices.map(({ matrix: { name }, cells, legend }) => element(
      "figure",
      { "data-matrix": name },
      element("figcaption", {}, element("b", {}, words.titles[name] ?? name), element("span", { class: "note" }, words.about[name] ?? "")),
      cells.element,
      legend.element,
    ));
    this.problem = element("p", { class: "problem", role: "alert" });
    this.element = part("weights", words.heading, words.intro, element("div", { class: "read-out" }, element("div", { class: "matrices" }, ...figures), this.readout.element), this.#finder(), this.problem);
  }

  /** @param {View} view */
  update(view) {
    this.#view = view;
    const { width, heads } = view.lesson.config;
    for (const { matrix, cells, legend, rows } of this.matrices) {
      const first = view.lesson.program.find(`${matrix.name}.0.0`);
      const nodes = Int32Array.from({ length: matrix.rows * matrix.columns }, (_, i) => first + (isTurned(matrix) ? turned(matrix, i) : i));
      const most = scaleOf(nodes, view.numbers);
      const parts = BY_HEAD.includes(matrix.name) ? width / heads : 0;
      const partsAcross = matrix.name === "mix" ? width / heads : 0;
      cells.show({ rows, columns: Array(isTurned(matrix) ? matrix.rows : matrix.columns).fill(""), nodes, most, isShare: false, parts, partsAcross }, view);
      legend.update(view, most, false);
    }
  }

  /** @param {Matrix} matrix */
  #cellsOf(matrix) {
    const title = words.matrix(words.titles[matrix.name] ?? matrix.name);
    const tell = (/** @type {number} */ row, /** @type {number} */ column) => (isTurned(matrix) ? words.cell(title, column, row) : words.cell(title, row, column));
    return new Cells(this.board, { title, tell, read: this.readout.read });
  }

  /** Create a form that selects a number by name. */
  #finder() {
    const field = element("input", { type: "text", name: "number", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: words.example });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#find(field.value.trim());
    };
    return element("form", { class: "finder", onsubmit }, element("label", {}, words.find, field), element("button", {}, words.go));
  }

  /** @param {string} name */
  #find(name) {
    const node = this.#view?.find(name) ?? -1;
    write(this.problem, node < 0 ? words.unknown(name) : "");
    if (node >= 0) this.board.choose(node, null);
  }
}

/** Return the row headings of a matrix. @param {Matrix} matrix @param {string} letters */
function rowsOf(matrix, letters) {
  const isByLetter = matrix.name === "letters" || matrix.name === "unembed";
  return Array.from({ length: isTurned(matrix) ? matrix.columns : matrix.rows }, (_, row) => (isByLetter ? letters[row] ?? "·" : ""));
}

/** Return whether a matrix is so tall that it is drawn transposed. @param {Matrix} matrix */
function isTurned({ rows, columns }) {
  return rows > 2 * columns;
}

/** Return the index in a matrix for a cell of its transposed drawing. @param {Matrix} matrix @param {number} i */
function turned({ rows, columns }, i) {
  return (i % rows) * columns + Math.floor(i / rows);
}
