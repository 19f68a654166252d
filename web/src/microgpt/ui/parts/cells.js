// A grid of numbers with a readout under the pointer and keyboard navigation. Each number can be selected.
//
// The numbers are drawn on a canvas. For the keyboard and assistive technology there is an ARIA grid with a single cell,
// the focused one; the arrow keys replace it by its neighbor.

import { element, set } from "../../../dom.js";
import { say } from "../../texts.js";
import { six } from "../numbers.js";
import { geometryOf, paint } from "../painter.js";

/** @typedef {import("../painter.js").Grid} Grid */
/** @typedef {import("../view.js").View} View */

/**
 * State shared by all grids of a page.
 * @typedef {object} Board
 * @property {import("../palette.js").Palette} palette
 * @property {(node: number, from: Cells | null) => void} choose gets the grid if a cell was selected by keyboard, otherwise null
 */

const MOVES = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity], PageUp: [-8, 0], PageDown: [8, 0] });

export class Cells {
  /** @type {Grid | null} */
  #grid = null;
  /** @type {View | null} */
  #view = null;
  #room = 0;
  #at = 0; // index of the focusable cell
  #isDrawn = true; // otherwise the next frame draws it
  #isSeen = false;
  /** @type {import("../painter.js").Geometry | null} */
  geometry = null;

  /**
   * @param {Board} board
   * @param {object} options
   * @param {string} options.title
   * @param {(row: number, column: number) => string} options.tell describes a cell
   * @param {(text: string) => void} options.read gets the description of the cell under the pointer
   * @param {number} [options.largest] maximum size of a cell in pixels
   * @param {() => void} [options.onDrawn]
   * @param {Element} [options.above] a picture above the grid
   */
  constructor(board, { title, tell, read, largest = 22, onDrawn, above }) {
    this.board = board;
    this.options = { title, tell, read, largest, onDrawn };
    this.canvas = element("canvas", { "aria-hidden": "true", width: 0, height: 0 });
    this.cell = this.#made();
    this.row = element("div", { role: "row" }, this.cell);
    this.grid = element("div", { class: "grid", role: "grid", "aria-label": title, "aria-describedby": "cells-help", onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onKey(event) }, this.row);
    this.sheet = element("div", { class: "sheet" }, this.canvas, this.grid);
    this.element = element("div", { class: "cells" }, above, this.sheet);
    this.sheet.addEventListener("pointermove", (event) => this.#point(event));
    this.sheet.addEventListener("pointerleave", () => read(""));
    this.sheet.addEventListener("click", (event) => this.#onClick(event));
    board.palette.follow(() => this.#drawSoon());
    window.addEventListener("beforeprint", () => this.#draw()); // grids outside the window are not drawn until they are printed
    new ResizeObserver(([{ contentRect }]) => this.#fit(Math.floor(contentRect.width))).observe(this.element);
    new IntersectionObserver(([{ isIntersecting }]) => this.#see(isIntersecting), { rootMargin: "100px" }).observe(this.element);
  }

  /** @param {Grid} grid @param {View} view */
  show(grid, view) {
    const isResized = grid.rows.length !== this.#grid?.rows.length || grid.columns.length !== this.#grid.columns.length;
    [this.#grid, this.#view] = [grid, view];
    if (isResized) this.#measure();
    if (!(grid.nodes[this.#at] >= 0)) this.#at = Math.max([...Array.from(grid.nodes)].findIndex((node) => node >= 0), 0);
    this.#place();
    this.#drawSoon();
  }

  /** @param {number} room width in pixels */
  #fit(room) {
    if (room === this.#room || !room) return;
    this.#room = room;
    this.#measure();
    this.#place();
    this.#drawSoon();
  }

  #measure() {
    if (!this.#grid || !this.#room) return;
    this.geometry = geometryOf(this.#grid, this.#room, this.options.largest);
    this.sheet.style.width = `${this.geometry.width}px`;
    this.sheet.style.height = `${this.geometry.height}px`;
    this.element.classList.toggle("scroll", this.geometry.width > this.#room);
  }

  /** @param {boolean} isSeen */
  #see(isSeen) {
    this.#isSeen = isSeen;
    if (isSeen) this.#drawSoon();
  }

  #drawSoon() {
    if (!this.#isDrawn || !this.#isSeen) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#isDrawn = true;
    if (!this.#grid || !this.#view || !this.geometry) return;
    paint(this.canvas, this.#grid, this.geometry, this.#view, this.board.palette.colors);
    this.options.onDrawn?.();
  }

  // Readout

  /** Return the row and column of a cell. @param {number} i */
  #spot(i) {
    const across = this.#grid?.columns.length ?? 1;
    return [Math.floor(i / across), i % across];
  }

  /** Describe a cell and its numbers. @param {number} i */
  #told(i) {
    const node = this.#grid?.nodes[i] ?? -1;
    if (!this.#view || node < 0) return "";
    const { data, grad } = this.#view.opened;
    const [row, column] = this.#spot(i);
    return say.cells.at(this.options.tell(row, column), six(data[node]), six(grad[node]));
  }

  // The focused cell

  #made() {
    return element("div", { role: "gridcell", tabindex: 0, onfocus: () => this.options.read(this.#told(this.#at)), onblur: () => this.options.read("") });
  }

  /** Position the focusable cell over its place in the picture. */
  #place() {
    const { geometry } = this;
    const grid = this.#grid;
    const view = this.#view;
    if (!geometry || !grid || !view) return;
    const [row, column] = this.#spot(this.#at);
    const node = grid.nodes[this.#at];
    set(this.grid, "aria-rowcount", grid.rows.length);
    set(this.grid, "aria-colcount", grid.columns.length);
    set(this.row, "aria-rowindex", row + 1);
    const side = `${geometry.size - 1}px`;
    Object.assign(this.cell.style, { left: `${geometry.left + column * geometry.size}px`, top: `${geometry.top + row * geometry.size}px`, width: side, height: side });
    const isSpoken = view.isRunning && this.cell.matches(":focus"); // during training, a screen reader would never stop
    if (!isSpoken) set(this.cell, "aria-label", this.#told(this.#at));
    for (const [name, value] of Object.entries({
      "aria-colindex": column + 1,
      "aria-selected": String(node === view.selected),
      "data-node": view.lesson.program.names[node] ?? "",
      "data-value": view.opened.data[node],
      "data-grad": view.opened.grad[node],
    })) set(this.cell, name, value);
  }

  /** Focus another cell. @param {number} i */
  #go(i) {
    this.#at = i;
    const before = this.cell;
    this.cell = this.#made();
    this.#place();
    this.row.append(this.cell);
    this.cell.focus({ preventScroll: true });
    before.remove();
    this.cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(this.#at, this);
    }
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const to = this.#beside(move);
    if (to !== this.#at) this.#go(to);
  }

  /** Return the last cell in a direction. @param {[number, number]} move */
  #beside([down, across]) {
    const grid = this.#grid;
    if (!grid) return this.#at;
    const [row, column] = this.#spot(this.#at);
    const kept = (/** @type {number} */ number, /** @type {number} */ count) => Math.min(Math.max(number, 0), count - 1);
    let to = kept(row + down, grid.rows.length) * grid.columns.length + kept(column + across, grid.columns.length);
    while (!(grid.nodes[to] >= 0) && to !== this.#at) to -= Math.sign(down) * grid.columns.length + Math.sign(across);
    return to;
  }

  // Pointer

  /** Return the cell under the pointer; -1 for none. @param {MouseEvent} event */
  #under({ clientX, clientY }) {
    const { geometry } = this;
    const grid = this.#grid;
    if (!geometry || !grid) return -1;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((clientX - box.left - geometry.left) / geometry.size);
    const row = Math.floor((clientY - box.top - geometry.top) / geometry.size);
    const isInside = column >= 0 && row >= 0 && column < grid.columns.length && row < grid.rows.length;
    const i = row * grid.columns.length + column;
    return isInside && grid.nodes[i] >= 0 ? i : -1;
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const i = this.#under(event);
    this.options.read(i < 0 ? "" : this.#told(i));
    this.sheet.classList.toggle("pointed", i >= 0);
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const i = this.#under(event);
    if (i < 0) return;
    this.#at = i;
    this.#place();
    this.cell.focus({ preventScroll: true });
    this.#choose(i, null);
    this.cell.scrollIntoView({ block: "nearest" }); // on a phone, the inspector covers the bottom of the page
  }

  /** @param {number} i @param {Cells | null} from */
  #choose(i, from) {
    const node = this.#grid?.nodes[i] ?? -1;
    if (node >= 0) this.board.choose(node, from);
  }

  /** Focus the current cell. */
  focus() {
    this.cell.focus();
  }
}
