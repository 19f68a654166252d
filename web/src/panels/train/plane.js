// The (x1, x2) plane with points of two classes, colored by the output of a network, with its decision boundary.

import { element, set, write } from "../../dom.js";
import { training } from "../../languages/languages.js";
import { contour } from "../../learn/contour.js";
import { general } from "../../core/numbers.js";
import { drawn } from "../../stage/svg.js";

/** @typedef {import("../../learn/points.js").Point} Point */
/** @typedef {{ low: number, high: number }} Range */

export const CELLS = 45; // grid points per row
const SIZE = 300; // width and height in the coordinates of the drawing
const NEAR = 14; // a click this close to a point selects it, in the same coordinates
const SURE = 0.42; // opacity for an output of 1 or more
const COLORS = [[0, 114, 200], [226, 108, 10]]; // blue and orange: distinct for color-blind readers, on light and dark backgrounds

export class Plane {
  /** @type {readonly Point[]} */
  #points = [];
  /** @type {{ x: Range, y: Range }} */
  #ranges = { x: { low: -1.5, high: 1.5 }, y: { low: -1.5, high: 1.5 } };

  /** @param {(x1: number, x2: number, near: number) => void} onclick near: index of the point that was clicked; -1 for none */
  constructor(onclick) {
    const { points: say } = training;
    this.canvas = element("canvas", { width: CELLS, height: CELLS, "aria-hidden": "true" });
    this.line = drawn("path", { class: "between" });
    this.one = drawn("path", { class: "one" });
    this.other = drawn("path", { class: "other" });
    this.chosen = drawn("circle", { class: "chosen", r: 9 });
    this.svg = drawn("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" }, this.line, this.one, this.other, this.chosen);
    this.svg.addEventListener("click", (event) => this.#click(event, onclick));
    this.across = element("p", { class: "note across" });
    this.up = element("p", { class: "note up" });
    const classes = element("p", { class: "note classes" }, sign("one"), ` ${say.classes.one}  `, sign("other"), ` ${say.classes.other}`);
    this.element = element("div", { class: "plane" }, element("div", { class: "field-of-plane" }, this.canvas, this.svg), element("div", { class: "legend" }, classes, this.across, this.up));
  }

  /** Replace the points. @param {readonly Point[]} points */
  place(points) {
    this.#points = points;
    this.#ranges = { x: rangeOf(points.map(({ x1 }) => x1)), y: rangeOf(points.map(({ x2 }) => x2)) };
    set(this.one, "d", points.filter(({ y }) => y > 0).map((point) => this.#disc(point)).join(""));
    set(this.other, "d", points.filter(({ y }) => y < 0).map((point) => this.#square(point)).join(""));
    const { x, y } = this.#ranges;
    write(this.across, `x1 → ${general(x.low, 3)} … ${general(x.high, 3)}`);
    write(this.up, `x2 ↑ ${general(y.low, 3)} … ${general(y.high, 3)}`);
  }

  /** The coordinates of the grid points, row by row from the top. */
  get grid() {
    const { x, y } = this.#ranges;
    const share = (/** @type {number} */ i) => i / (CELLS - 1);
    const rows = Array.from({ length: CELLS * CELLS }, (_, i) => Math.floor(i / CELLS));
    return {
      x1: Float64Array.from(rows, (_, i) => x.low + share(i % CELLS) * (x.high - x.low)),
      x2: Float64Array.from(rows, (row) => y.high - share(row) * (y.high - y.low)),
    };
  }

  /** Color the plane by a network's outputs on the grid. @param {ArrayLike<number>} outputs */
  color(outputs) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const image = context.createImageData(CELLS, CELLS);
    const { data } = image;
    for (let i = 0; i < outputs.length; i += 1) {
      const output = outputs[i];
      const color = COLORS[output > 0 ? 0 : 1];
      for (let channel = 0; channel < 3; channel += 1) data[4 * i + channel] = color[channel];
      data[4 * i + 3] = Number.isNaN(output) ? 0 : 255 * SURE * Math.min(0.35 + 0.65 * Math.abs(output), 1);
    }
    context.putImageData(image, 0, 0);
    const at = (/** @type {number} */ cells) => Math.round((10 * SIZE * cells) / (CELLS - 1)) / 10;
    set(this.line, "d", contour(outputs, CELLS).map(([from, to]) => `M${at(from[0])} ${at(from[1])}L${at(to[0])} ${at(to[1])}`).join(""));
  }

  /** Mark the point whose numbers are in the graph. @param {number} place -1 for none */
  mark(place) {
    const point = this.#points[place];
    this.chosen.style.display = point ? "" : "none";
    if (!point) return;
    const [x, y] = this.#spot(point);
    set(this.chosen, "cx", x);
    set(this.chosen, "cy", y);
  }

  /** Set the accessible name. @param {string} name */
  call(name) {
    set(this.svg, "aria-label", name);
  }

  /** @param {Point} point */
  #spot({ x1, x2 }) {
    const { x, y } = this.#ranges;
    return [(SIZE * (x1 - x.low)) / (x.high - x.low), (SIZE * (y.high - x2)) / (y.high - y.low)].map((place) => Math.round(place * 10) / 10);
  }

  /** @param {Point} point */
  #disc(point) {
    const [x, y] = this.#spot(point);
    return `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`;
  }

  /** @param {Point} point */
  #square(point) {
    const [x, y] = this.#spot(point);
    return `M${x - 3.5} ${y - 3.5}h7v7h-7z`;
  }

  /** @param {MouseEvent} event @param {(x1: number, x2: number, near: number) => void} onclick */
  #click({ clientX, clientY }, onclick) {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    const [across, down] = [(clientX - left) / width, (clientY - top) / height];
    const { x, y } = this.#ranges;
    const distances = this.#points.map((point) => {
      const [column, row] = this.#spot(point);
      return Math.hypot(column - SIZE * across, row - SIZE * down);
    });
    const least = Math.min(...distances);
    onclick(x.low + across * (x.high - x.low), y.high - down * (y.high - y.low), least <= NEAR ? distances.indexOf(least) : -1);
  }
}

/** Draw the symbol of a class. @param {"one" | "other"} name */
export function sign(name) {
  const shape = name === "one" ? drawn("circle", { class: name, cx: 6, cy: 6, r: 5 }) : drawn("rect", { class: name, x: 1.5, y: 1.5, width: 9, height: 9 });
  return drawn("svg", { viewBox: "0 0 12 12", class: "sign", "aria-hidden": "true" }, shape);
}

/** Return a range around the numbers with a margin, or -1.5 to 1.5 if they all lie within it. @param {readonly number[]} numbers @returns {Range} */
function rangeOf(numbers) {
  const [low, high] = numbers.reduce(([least, most], number) => [Math.min(least, number), Math.max(most, number)], [Infinity, -Infinity]);
  if (!(low < -1.5 || high > 1.5)) return { low: -1.5, high: 1.5 };
  const room = 0.1 * (high - low) || 1;
  return { low: low - room, high: high + room };
}
