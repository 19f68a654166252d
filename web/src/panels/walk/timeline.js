// A slider over the passes of a program, and a curve of the root's value over all passes.

import { button, element, fill, set, write } from "../../dom.js";
import { timeline as say } from "../../languages/languages.js";
import { plain, short } from "../../core/numbers.js";
import { alike } from "../../model/passes.js";
import { drawn } from "../../stage/svg.js";
import { figure } from "./pass_curve.js";

/** @typedef {import("../../model/passes.js").Pass} Pass */

export class Timeline {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {readonly Pass[]} the passes that have a graph */
    this.shown = [];
    this.at = 0;
    /** @type {readonly Pass[]} the passes in the curve */
    this.drawn = [];
    this.slider = element("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": say.slider,
      oninput: () => this.#go(this.slider.valueAsNumber),
    });
    this.back = button("‹", () => this.#go(this.at - 1), { "aria-label": say.back, title: say.back });
    this.next = button("›", () => this.#go(this.at + 1), { "aria-label": say.next, title: say.next });
    this.told = element("p", { class: "pass-told" });
    this.range = element("p", { class: "range" });
    this.curve = drawn("svg", { class: "losses", role: "img", viewBox: "0 0 300 60", preserveAspectRatio: "none" });
    this.note = element("p", { class: "note", role: "status" });
    this.losses = element("div", { class: "losses-of" }, this.range, this.curve, this.note);
    const controls = element("div", { class: "passes" }, this.back, this.slider, this.next);
    this.element = element("section", { class: "timeline-of", "aria-label": say.title }, this.told, controls, this.losses);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ document, pass, graph, moment, last }) {
    const all = document?.passes.all ?? [];
    this.element.hidden = all.length < 2 || !pass;
    if (!pass || this.element.hidden) return;
    this.shown = all.filter((one) => one.isKept);
    this.at = this.shown.indexOf(pass);
    this.isAtEnd = moment.position === last; // kept in passes with more or fewer nodes
    set(this.slider, "max", this.shown.length - 1);
    this.slider.value = String(this.at);
    const told = say.pass(pass.number, document?.passes.count ?? all.length, pass.line?.line ?? null);
    set(this.slider, "aria-valuetext", told);
    write(this.told, told);
    for (const [control, isLast] of /** @type {const} */ ([[this.back, this.at === 0], [this.next, this.at === this.shown.length - 1]])) {
      set(control, "aria-disabled", isLast && "true");
    }
    this.#draw(alike(all, pass), pass, graph.nodes[graph.root].name);
  }

  /** @param {readonly Pass[]} passes @param {Pass} pass the current one @param {string} name of the root */
  #draw(passes, pass, name) {
    this.losses.hidden = passes.length < 2;
    if (this.losses.hidden) return;
    const numbers = passes.map(({ data }) => data);
    const [first, last] = [numbers[0], numbers[numbers.length - 1]];
    write(this.range, say.range(name, short(pass.data), short(first), short(last)));
    set(this.curve, "aria-label", say.curve(name, passes.length, short(first), short(last), short(Math.min(...numbers))));
    if (this.drawn.length !== passes.length || this.drawn[0] !== passes[0]) {
      this.drawn = passes;
      const words = passes.map((one) => say.point(one.number, name, plain(one.data)));
      fill(this.curve, ...figure(numbers, words, (i) => this.#choose(passes[i])));
    }
    const columns = this.curve.querySelectorAll(".column");
    columns.forEach((column, i) => set(column, "data-current", passes[i] === pass));
    write(this.note, "");
  }

  /** @param {Pass} pass */
  #choose(pass) {
    if (pass.isKept) this.#show(pass);
    else write(this.note, say.notKept(pass.number, plain(pass.data)));
  }

  /** @param {number} at */
  #go(at) {
    const pass = this.shown[at];
    if (pass) this.#show(pass);
  }

  /** @param {Pass} pass */
  #show({ number }) {
    this.act({ pass: number, values: new Map(), ...(this.isAtEnd && { position: Infinity }) });
  }
}
