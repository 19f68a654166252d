// The loss curve: an SVG with axes, a readout for mouse and keyboard, and marks where the learning rate was changed.

import { element, set, write } from "../../dom.js";
import { short } from "../../core/numbers.js";
import { training } from "../../languages/languages.js";
import { drawn } from "../../stage/svg.js";

const MOST = 2000; // most recent points to keep
const HEIGHT = 150;
const MARGIN = { left: 52, right: 10, top: 8, bottom: 22 };
const TICKS = 4;
const FALLBACK = 320; // width in pixels before layout

/** @typedef {{ step: number, loss: number }} Entry */
/** @typedef {(number: number) => number} Scale maps a number to pixels */

export class LossCurve {
  /** @type {Entry[]} in the order of their steps */
  #entries = [];
  /** @type {{ step: number, text: string }[]} */
  #marks = [];
  /** @type {Entry | null} the entry in the readout */
  #read = null;
  #width = FALLBACK;
  #isDrawn = true; // otherwise the next frame draws it

  constructor() {
    const { curve: say } = training;
    this.grid = drawn("g", { class: "grid" });
    this.marks = drawn("path", { class: "mark" });
    this.line = drawn("path", { class: "line" });
    this.dot = drawn("circle", { class: "dot", r: 4 });
    this.svg = drawn("svg", { "aria-hidden": "true" }, this.grid, this.marks, this.line, this.dot);
    this.log = element("input", { type: "checkbox", onchange: () => this.#draw() });
    this.told = element("p", { class: "note told-at" });
    this.field = element("div", { class: "field-of-curve", role: "slider", tabindex: 0, "aria-label": say.title, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onKey(event) }, this.svg);
    this.field.addEventListener("pointermove", (event) => this.#point(event));
    this.field.addEventListener("pointerdown", (event) => this.#point(event));
    this.field.addEventListener("pointerleave", () => this.#readOut(null));
    this.field.addEventListener("blur", () => this.#readOut(null));
    const head = element("div", { class: "curve-head" }, element("h3", {}, say.title), element("label", {}, this.log, say.log));
    this.element = element("div", { class: "curve" }, head, this.field, this.told);
    new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width || contentRect.width === this.#width) return;
      this.#width = contentRect.width;
      this.#draw();
    }).observe(this.field);
    this.#draw();
  }

  /** The number of points. */
  get length() {
    return this.#entries.length;
  }

  /** Set the loss after `step` steps, and remove the points of that step and of later steps. @param {number} step @param {number} loss */
  put(step, loss) {
    const entries = this.#entries;
    while (entries.length && entries[entries.length - 1].step >= step) entries.pop();
    entries.push({ step, loss });
    if (entries.length > MOST) entries.splice(0, entries.length - MOST);
    this.#drawSoon();
  }

  /** Mark a step at which a setting was changed. @param {number} step @param {string} text */
  mark(step, text) {
    this.#marks = [...this.#marks.filter((mark) => mark.step !== step), { step, text }];
    this.#drawSoon();
  }

  /** Remove all points and marks. */
  clear() {
    this.#entries = [];
    this.#marks = [];
    this.#read = null;
    this.#drawSoon();
  }

  /** Draw once with the next frame, however many points are added until then. */
  #drawSoon() {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#isDrawn = true;
    const entries = this.#entries.filter(({ loss }) => Number.isFinite(loss) && (!this.log.checked || loss > 0));
    set(this.svg, "viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    set(this.svg, "width", this.#width);
    set(this.svg, "height", HEIGHT);
    const [across, up] = this.#scales(entries);
    set(this.line, "d", pathOf(entries, across.to, up.to));
    const first = entries[0]?.step ?? 0;
    const marks = this.#marks.filter(({ step }) => step >= first);
    set(this.marks, "d", marks.map(({ step }) => `M${across.to(step)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}`).join(""));
    this.grid.replaceChildren(...this.#axes(across, up));
    this.#tell(across.to, up.to);
  }

  /** Compute both scales, with their ticks. @param {readonly Entry[]} entries */
  #scales(entries) {
    const isLog = this.log.checked;
    const losses = entries.map(({ loss }) => loss);
    const [low, high] = [lowest(losses, isLog), Math.max(...losses, isLog ? 0 : 1e-12)];
    const [first, last] = [entries[0]?.step ?? 0, Math.max(entries.at(-1)?.step ?? 0, (entries[0]?.step ?? 0) + 5)];
    const right = this.#width - MARGIN.right;
    const bottom = HEIGHT - MARGIN.bottom;
    const across = scale([first, last], [MARGIN.left, right], false);
    const up = scale(low < high ? [low, high] : isLog ? [low / 2 || 0.1, low * 2 || 1] : [low - 1, low + 1], [bottom, MARGIN.top], isLog);
    return [across, up];
  }

  /** @param {ReturnType<typeof scale>} across @param {ReturnType<typeof scale>} up */
  #axes(across, up) {
    const bottom = HEIGHT - MARGIN.bottom;
    const right = this.#width - MARGIN.right;
    const lines = drawn("path", { class: "rule", d: [...up.ticks.map((tick) => `M${MARGIN.left} ${up.to(tick)}H${right}`), `M${MARGIN.left} ${MARGIN.top}V${bottom}`].join("") });
    const losses = up.ticks.map((tick) => text(short(Number(tick.toPrecision(3))), MARGIN.left - 6, up.to(tick) + 4, "end"));
    const whole = across.ticks.filter(Number.isInteger);
    const steps = whole.map((tick) => text(String(tick), across.to(tick), bottom + 15, "middle"));
    return [lines, ...losses, ...steps];
  }

  /** Show the entry in the readout, or a summary of the curve. @param {Scale} across @param {Scale} up */
  #tell(across, up) {
    const { curve: say } = training;
    const [first, last] = [this.#entries[0], this.#entries.at(-1)];
    const shown = this.#read ?? last;
    const isSeen = shown && Number.isFinite(shown.loss) && (!this.log.checked || shown.loss > 0);
    this.dot.style.display = isSeen ? "" : "none";
    if (isSeen) for (const [name, value] of Object.entries({ cx: across(shown.step), cy: up(shown.loss) })) set(this.dot, name, value);
    const at = shown ? say.at(shown.step, short(shown.loss)) : say.empty;
    const mark = this.#marks.findLast(({ step }) => shown && step <= shown.step);
    write(this.told, [at, mark?.text].filter(Boolean).join("; "));
    set(this.field, "aria-valuemin", first?.step ?? 0);
    set(this.field, "aria-valuemax", last?.step ?? 0);
    set(this.field, "aria-valuenow", shown?.step ?? 0);
    const whole = first && last ? say.summary(first.step, last.step, short(first.loss), short(last.loss)) : say.empty;
    set(this.field, "aria-valuetext", this.#read ? at : whole);
  }

  /** @param {Entry | null} entry */
  #readOut(entry) {
    this.#read = entry;
    this.#drawSoon();
  }

  /** @param {PointerEvent} event */
  #point({ clientX }) {
    const { left, width } = this.field.getBoundingClientRect();
    const entries = this.#entries;
    if (!entries.length) return;
    const [first, last] = [entries[0].step, Math.max(entries[entries.length - 1].step, entries[0].step + 5)];
    const share = (((clientX - left) * this.#width) / width - MARGIN.left) / (this.#width - MARGIN.left - MARGIN.right);
    this.#readOut(nearestTo(entries, first + share * (last - first)));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const entries = this.#entries;
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    if (!by || !entries.length) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.#read ? entries.indexOf(this.#read) : entries.length - 1;
    this.#readOut(entries[Math.min(Math.max(at + by, 0), entries.length - 1)]);
  }
}

/** Return the entry with the closest step. @param {readonly Entry[]} entries @param {number} step */
function nearestTo(entries, step) {
  return entries.reduce((best, entry) => (Math.abs(entry.step - step) < Math.abs(best.step - step) ? entry : best));
}

/** Return the lower end of the loss axis: 0 unless a loss is negative; on a log scale, the smallest loss. @param {readonly number[]} losses @param {boolean} isLog */
function lowest(losses, isLog) {
  const low = Math.min(...losses, isLog ? Infinity : losses[0] ?? 0);
  if (isLog) return Number.isFinite(low) ? low : 0.1;
  return Math.min(low, 0);
}

/**
 * @param {readonly [number, number]} domain @param {readonly [number, number]} pixels @param {boolean} isLog
 * @returns {{ to: Scale, ticks: readonly number[] }}
 */
function scale([low, high], [start, end], isLog) {
  const at = isLog ? Math.log10 : (/** @type {number} */ number) => number;
  const share = (/** @type {number} */ number) => (at(number) - at(low)) / (at(high) - at(low) || 1);
  return { to: (number) => Math.round((start + share(number) * (end - start)) * 10) / 10, ticks: isLog ? powers(low, high) : even(low, high) };
}

/** Return ticks at round numbers, evenly spaced. @param {number} low @param {number} high */
function even(low, high) {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** Return ticks at powers of ten, skipping some if there are too many. @param {number} low @param {number} high */
function powers(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (last < first) return [low, high];
  const step = Math.ceil((last - first + 1) / (TICKS + 1));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}

/** @param {readonly Entry[]} entries @param {Scale} across @param {Scale} up */
function pathOf(entries, across, up) {
  return entries.map(({ step, loss }, i) => `${i ? "L" : "M"}${across(step)} ${up(loss)}`).join("");
}

/** @param {string} words @param {number} x @param {number} y @param {"start" | "middle" | "end"} anchor */
export function text(words, x, y, anchor) {
  const made = drawn("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}
