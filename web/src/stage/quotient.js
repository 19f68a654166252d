// The difference quotient in the root's box: a fraction with its value, then the gradient and the verdict.

import { set, write } from "../dom.js";
import { oneLine } from "../core/names.js";
import { drawn, shortened } from "./svg.js";

/**
 * A nudged node or one of its dependents: the texts that replace its data.
 * @typedef {object} Trace
 * @property {"own" | "moved" | "still"} kind "still" if the nudge does not change the node
 * @property {string} key caption before the data
 * @property {string} data
 * @property {string} mark caption before the change
 * @property {string} change
 * @property {number} turn distance from the nudged node in edges
 */

/**
 * Texts of the quotient in the root's box. If the numerator `above` is too wide, it is written as `brief`.
 * @typedef {object} Quotient
 * @property {string} above
 * @property {string} brief
 * @property {string} below
 * @property {string} value
 * @property {string} name of the gradient
 * @property {string} gradient
 * @property {string} verdict
 * @property {"agrees" | "differs" | "unclear" | ""} kind "" if it is hidden
 */

/** @typedef {{ traces: ReadonlyMap<number, Trace>, quotient: Quotient }} NudgeMarks `traces` by node index */

export const QUOTIENT = { width: 232, height: 82 };

const FONT = 12;
const NUMBER = 14;
const EDGE = 10;
const WIDEST = 118; // maximum width of the numerator
const SIGNS = { agrees: "✓", differs: "✗", unclear: "?", "": "" };

export class QuotientBlock {
  /** @param {number} width of the box @param {number} top @param {import("./svg.js").Ruler} ruler */
  constructor(width, top, ruler) {
    this.width = width;
    this.ruler = ruler;
    const text = (/** @type {string} */ kind, /** @type {number} */ y, x = EDGE) => drawn("text", { class: kind, x, y: top + y });
    this.top = top;
    this.above = text("term", 17);
    this.below = text("term", 35);
    this.bar = drawn("path", { class: "over" });
    this.value = text("value", 26);
    this.name = text("key", 55);
    this.gradient = text("value gradient", 55);
    this.verdict = text("verdict", 74);
    const rule = drawn("path", { class: "rule", d: `M1,${top + 0.5}H${width - 1}` });
    this.element = drawn("g", { class: "quotient" }, rule, this.above, this.bar, this.below, this.value, this.name, this.gradient, this.verdict);
  }

  /** @param {Quotient | null} quotient */
  paint(quotient) {
    set(this.element, "display", quotient ? null : "none"); // until the box is drawn without it
    if (!quotient) return;
    set(this.element, "class", `quotient ${quotient.kind}`);
    const { ruler, width } = this;
    const measured = (/** @type {string} */ text) => ruler.width(text, FONT);
    const above = shortened(measured(quotient.above) > WIDEST ? quotient.brief : quotient.above, WIDEST, measured);
    const term = Math.ceil(Math.max(measured(above), measured(quotient.below)));
    const name = shortened(oneLine(quotient.name), WIDEST, measured);
    const start = EDGE + Math.max(term + 8, Math.ceil(measured(name)) + 10);
    for (const [part, words] of /** @type {const} */ ([[this.above, above], [this.below, quotient.below]])) {
      write(part, words);
      set(part, "x", EDGE + term / 2);
    }
    set(this.bar, "d", `M${EDGE - 2},${this.top + 22}h${term + 4}`);
    this.#put(this.value, `= ${quotient.value}`, start, width - start - EDGE, NUMBER);
    write(this.name, name);
    this.#put(this.gradient, `= ${quotient.gradient}`, start, width - start - EDGE, NUMBER);
    this.#put(this.verdict, [SIGNS[quotient.kind], quotient.verdict].filter(Boolean).join(" "), EDGE, width - 2 * EDGE, FONT);
  }

  /** @param {SVGTextElement} target @param {string} text @param {number} x @param {number} room @param {number} size */
  #put(target, text, x, room, size) {
    write(target, text);
    set(target, "x", x);
    const isTight = this.ruler.width(text, size, 600) > room;
    set(target, "textLength", isTight ? room : null);
    set(target, "lengthAdjust", isTight ? "spacingAndGlyphs" : null);
  }
}
