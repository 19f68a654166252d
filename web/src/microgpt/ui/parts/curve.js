// The loss curve: one dot per step, and a running mean. The plot is a slider that returns to any step.

import { element, set, write } from "../../../dom.js";
import { drawn, rounded } from "../../../stage/svg.js";
import { say } from "../../texts.js";
import { four } from "../numbers.js";

const { curve: words } = say;
const HEIGHT = 190;
const MARGIN = { left: 30, right: 20, top: 10, bottom: 24 };
const HIGHEST = 4; // initial upper end of the loss axis
const SPAN = 50; // steps in the running mean
const DOTS = 1500; // at most
const FALLBACK = 420; // width in pixels before layout
const MOVES = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 50, PageDown: -50, Home: -Infinity, End: Infinity });

export class Curve {
  /** @type {number[]} by step */
  #losses = [];
  /** The sum of all losses before a step. @type {number[]} */
  #sums = [0];
  #step = 0;
  #steps = 1;
  #width = FALLBACK;
  #isDrawn = true; // otherwise the next frame draws it
  #isHeld = false;

  /**
   * @param {{ go: (step: number) => void, run: (step: number) => void }} act go to a step taken before; train up to a step
   * @param {number} tokens size of the vocabulary, for the loss of a uniform guess
   */
  constructor(act, tokens) {
    this.go = act.go;
    this.chance = Math.log(tokens);
    this.axes = drawn("g", { class: "axes" });
    this.dots = drawn("path", { class: "dots" });
    this.mean = drawn("path", { class: "mean" });
    this.here = drawn("path", { class: "here" });
    this.knob = drawn("circle", { class: "knob", r: 6 });
    this.svg = drawn("svg", { "aria-hidden": "true", height: HEIGHT }, this.axes, this.dots, this.mean, this.here, this.knob);
    this.told = element("p", { class: "note told-at" });
    this.field = element("div", { class: "slider", role: "slider", tabindex: 0, "aria-label": words.name, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onKey(event) }, this.svg);
    this.#listen();
    const legend = element("p", { class: "note key-of" }, words.dots, " · ", words.mean(SPAN));
    this.target = element("input", { type: "number", min: 0, required: true });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      act.run(this.target.valueAsNumber);
    };
    const form = element("form", { onsubmit }, element("label", {}, words.to, this.target), element("button", {}, words.go));
    const head = element("div", { class: "curve-of" }, element("h3", {}, words.title), form);
    this.element = element("div", { class: "curve" }, head, legend, this.field, this.told, element("p", { class: "note" }, words.hint));
    new ResizeObserver(([{ contentRect: { width } }]) => {
      if (!width || width === this.#width) return;
      this.#width = width;
      this.#drawSoon();
    }).observe(this.field);
  }

  /** The number of steps with a known loss. */
  get furthest() {
    return this.#losses.length;
  }

  /** The loss at the current step, or of the last step taken if the current one was not taken yet; NaN for none. */
  get loss() {
    return this.#losses[Math.min(this.#step, this.furthest - 1)] ?? NaN;
  }

  /** The running mean of the losses before the current step; NaN if there are fewer than `SPAN`. */
  get recent() {
    return this.#step < SPAN ? NaN : this.#meanAt(Math.min(this.#step, this.furthest) - 1);
  }

  /** Clear the curve for a new training. @param {number} steps in total */
  begin(steps) {
    [this.#losses, this.#sums, this.#steps] = [[], [0], steps];
    this.target.max = String(steps);
    this.show(0, []);
  }

  /**
   * Add losses and move to a step.
   * @param {number} step @param {readonly number[]} losses of the steps before `step` @param {number} [wanted] position of the slider, if another step was requested
   */
  show(step, losses, wanted = step) {
    losses.forEach((loss, i) => {
      const at = step - losses.length + i;
      this.#losses[at] = loss;
      this.#sums[at + 1] = this.#sums[at] + loss;
    });
    this.#step = wanted;
    this.#drawSoon();
  }

  #drawSoon() {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#isDrawn = true;
    set(this.svg, "width", this.#width);
    const [x, y] = [this.#across, this.#up()];
    const every = Math.ceil(this.furthest / DOTS);
    const dots = this.#losses.map((loss, step) => (step % every ? "" : `M${x(step)} ${y(loss)}h0`));
    const means = this.#losses.map((_, step) => (step % every ? "" : `L${x(step)} ${y(this.#meanAt(step))}`));
    set(this.dots, "d", dots.join(""));
    set(this.mean, "d", means.join("").replace("L", "M"));
    this.#drawAxes(y);
    const height = this.furthest ? y(this.#meanAt(Math.max(this.#step - 1, 0))) : y(this.chance);
    set(this.here, "d", `M${x(this.#step)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}`);
    set(this.knob, "cx", x(this.#step));
    set(this.knob, "cy", height);
    this.#tell();
  }

  /** The function from steps to x coordinates. */
  get #across() {
    const room = this.#width - MARGIN.left - MARGIN.right;
    return (/** @type {number} */ step) => rounded(MARGIN.left + (room * step) / this.#steps);
  }

  /** Create the function from losses to y coordinates. @returns {(loss: number) => number} */
  #up() {
    const highest = Math.max(HIGHEST, this.#meanAt(this.furthest - 1) || 0);
    const room = HEIGHT - MARGIN.top - MARGIN.bottom;
    return (loss) => rounded(HEIGHT - MARGIN.bottom - (room * Math.min(loss, highest)) / highest);
  }

  /** Compute the running mean of the losses at a step. @param {number} step */
  #meanAt(step) {
    const from = Math.max(step + 1 - SPAN, 0);
    return (this.#sums[step + 1] - this.#sums[from]) / (step + 1 - from);
  }

  /** @param {(loss: number) => number} y */
  #drawAxes(y) {
    const [bottom, right] = [HEIGHT - MARGIN.bottom, this.#width - MARGIN.right];
    const ticks = [0, 1, 2, 3, 4].filter((loss) => y(loss) >= MARGIN.top);
    const rules = drawn("path", { class: "rule", d: ticks.map((loss) => `M${MARGIN.left} ${y(loss)}H${right}`).join("") });
    const chance = drawn("path", { class: "chance", d: `M${MARGIN.left} ${y(this.chance)}H${right}` });
    const heights = ticks.map((loss) => text(String(loss), MARGIN.left - 8, y(loss) + 4, "end"));
    const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => share * this.#steps).filter(Number.isInteger);
    const numbers = steps.map((step) => text(String(step), this.#across(step), bottom + 16, "middle"));
    this.axes.replaceChildren(rules, chance, ...heights, ...numbers, text(words.chance, right, y(this.chance) - 5, "end"));
  }

  #tell() {
    const { loss } = this;
    const isTaken = this.#step < this.furthest;
    const mean = this.#meanAt(isTaken ? this.#step : this.furthest - 1);
    const told = Number.isNaN(loss) ? words.none : words.at(this.#step, isTaken, four(loss), four(mean));
    write(this.told, told);
    for (const [name, value] of Object.entries({ valuemin: 0, valuemax: this.furthest, valuenow: this.#step, valuetext: told })) set(this.field, `aria-${name}`, value);
    set(this.field, "data-loss", Number.isNaN(loss) ? null : loss);
  }

  // Input

  #listen() {
    this.field.addEventListener("pointerdown", (event) => {
      this.#isHeld = true;
      this.field.setPointerCapture(event.pointerId);
      this.#point(event);
    });
    this.field.addEventListener("pointermove", (event) => this.#isHeld && this.#point(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) this.field.addEventListener(end, () => (this.#isHeld = false));
  }

  /** @param {PointerEvent} event */
  #point({ clientX }) {
    const { left } = this.field.getBoundingClientRect();
    const room = this.#width - MARGIN.left - MARGIN.right;
    this.#goTo(Math.round(((clientX - left - MARGIN.left) / room) * this.#steps));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const by = MOVES[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#goTo(this.#step + by);
  }

  /** @param {number} step */
  #goTo(step) {
    const to = Math.min(Math.max(step, 0), this.furthest);
    if (to === this.#step) return;
    this.#step = to; // moves at once, without waiting for the worker
    this.#drawSoon();
    this.go(to);
  }
}

/** @param {string} words @param {number} x @param {number} y @param {"end" | "middle"} anchor */
function text(words, x, y, anchor) {
  const made = drawn("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}
