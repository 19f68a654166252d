// A plot of the error of the difference quotient against the step: truncation error for large steps, rounding for tiny ones.

import { set, write } from "../../dom.js";
import { checks as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { drawn, rounded } from "../../stage/svg.js";
import { text } from "../train/curve.js";
import { nudgesOf } from "../../walk/nudged.js";
import { COARSEST, FINEST } from "./step.js";

const [WIDTH, HEIGHT] = [340, 200];
const MARGIN = { left: 44, right: 12, top: 26, bottom: 26 };
const DENSITY = 6; // points per power of ten
const LEAST = 1e-14; // smaller errors are drawn at this height, as hollow dots
const APART = 30; // a side of the curve gets a label if its error exceeds the minimum by this factor

const POWERS = Array.from({ length: (COARSEST - FINEST) * DENSITY + 1 }, (_, i) => FINEST + i / DENSITY);

export class ErrorCurve {
  constructor() {
    /** @type {unknown[]} the inputs of the drawn curve */
    this.shown = [];
    this.isDrawn = false;
    this.grid = drawn("g", { class: "grid" });
    this.dots = drawn("g", { class: "dots" });
    this.point = drawn("circle", { class: "point", r: 6 });
    this.rounding = drawn("text", { class: "side", x: MARGIN.left + 30, y: 14 });
    this.bending = drawn("text", { class: "side", "text-anchor": "end", x: WIDTH - MARGIN.right, y: 14 });
    this.element = drawn("svg", { class: "plot errors", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, this.grid, this.dots, this.rounding, this.bending, this.point);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ walk, nudge, state }) {
    const shown = [walk, nudge?.place, state.method];
    if (nudge && shown.some((item, i) => item !== this.shown[i])) {
      this.shown = shown;
      this.isDrawn = this.#draw(walk, nudge.place, state.method);
    }
    const isDrawn = nudge !== null && Number.isFinite(nudge.error) && this.isDrawn;
    this.element.toggleAttribute("hidden", !isDrawn);
    if (!isDrawn) return;
    const power = Math.log10(nudge.h);
    const isInside = power >= FINEST - 0.01 && power <= COARSEST + 0.01;
    set(this.point, "visibility", isInside ? null : "hidden");
    set(this.point, "cx", this.#x(power));
    set(this.point, "cy", this.#y(nudge.error));
  }

  /** Return whether there is a curve: far from 0, no step of its range has an error. @param {import("../../walk/steps.js").Walk} walk @param {number} place @param {"central" | "forward"} method */
  #draw(walk, place, method) {
    const errors = nudgesOf(walk, method, place, POWERS.map((power) => 10 ** power)).map(({ error }) => error);
    const drawable = POWERS.map((power, i) => ({ power, error: errors[i] })).filter(({ error }) => Number.isFinite(error));
    if (!drawable.length) return false;
    const sizes = drawable.map(({ error }) => Math.max(error, LEAST));
    this.high = Math.ceil(Math.log10(Math.max(...sizes, 10 * LEAST)) + 0.2);
    this.low = Math.floor(Math.log10(Math.min(...sizes)));
    const dot = (/** @type {typeof drawable[number]} */ { power, error }) =>
      drawn("circle", { class: error < LEAST ? "none" : "dot", r: 2.5, cx: this.#x(power), cy: this.#y(error) });
    this.dots.replaceChildren(...drawable.map(dot));
    const least = drawable.reduce((best, other) => (other.error < best.error ? other : best), drawable[0]);
    const isAbove = (/** @type {number} */ error) => error > APART * Math.max(least.error, LEAST);
    write(this.rounding, isAbove(Math.max(...errors.slice(0, DENSITY))) ? say.sides.rounding : "");
    write(this.bending, isAbove(Math.max(...errors.slice(-DENSITY))) ? say.sides.bending : "");
    set(this.element, "aria-label", say.curve(short(least.error), short(Number((10 ** least.power).toPrecision(1)))));
    this.#drawGrid();
    return true;
  }

  #drawGrid() {
    const [low, high] = [Number(this.low), Number(this.high)];
    const every = Math.ceil((high - low) / 5);
    const rows = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, i) => high - i * every);
    const lines = rows.map((power) => drawn("path", { d: `M${MARGIN.left},${this.#y(10 ** power)}H${WIDTH - MARGIN.right}` }));
    const heights = rows.map((power) => text(`1e${power}`, MARGIN.left - 5, this.#y(10 ** power) + 4, "end"));
    const steps = [-10, -7, -4, -1].map((power) => text(`1e${power}`, this.#x(power), HEIGHT - MARGIN.bottom + 20, "middle"));
    const names = [text("h", WIDTH - 2, HEIGHT - MARGIN.bottom + 20, "end"), text(say.error, 2, 13, "start")];
    this.grid.replaceChildren(...lines, ...heights, ...steps, ...names);
  }

  /** @param {number} power */
  #x(power) {
    return rounded(MARGIN.left + 8 + ((power - FINEST) / (COARSEST - FINEST)) * (WIDTH - MARGIN.left - MARGIN.right - 24));
  }

  /** @param {number} error */
  #y(error) {
    const [low, high] = [Number(this.low), Number(this.high)];
    const share = (high - Math.log10(Math.max(error, LEAST))) / (high - low);
    return rounded(MARGIN.top + Math.min(Math.max(share, 0), 1) * (HEIGHT - MARGIN.top - MARGIN.bottom));
  }
}
