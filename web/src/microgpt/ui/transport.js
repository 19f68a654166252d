// The bar at the bottom of the page: training controls, and a switch between values and gradients.

import { button, element, icon, set, write } from "../../dom.js";
import { say } from "../texts.js";
import { PACES } from "./address.js";
import { four } from "./numbers.js";

const { transport: words } = say;
const SIGNS = { restart: "M3 2h2v5l8-5v12L5 9v5H3z", back: "M11 2v12L3 8z", step: "M5 2l8 6-8 6z", train: "M4 2l10 6-10 6z", pause: "M4 2h3v12H4zM9 2h3v12H9z" };

/** @typedef {import("./address.js").Choices} Choices */

export class Transport {
  /** @param {{ toggle: () => void, step: () => void, back: () => void, restart: () => void, act: (change: Partial<Choices>) => void }} act */
  constructor(act) {
    this.train = button(null, act.toggle, { class: "main" });
    this.step = button(icon(SIGNS.step), act.step, named(words.step));
    this.back = button(icon(SIGNS.back), act.back, named(words.back));
    this.restart = button(icon(SIGNS.restart), act.restart, named(words.restart));
    this.at = element("b", {});
    this.loss = element("span", {});
    this.rate = element("span", {});
    this.state = element("p", { class: "at" }, this.at, this.loss, this.rate);
    const paces = PACES.map((pace) => element("option", { value: pace }, words.pace(pace)));
    this.pace = element("select", { "aria-label": words.speed, title: words.speed, onchange: () => act.act({ pace: Number(this.pace.value) }) }, ...paces);
    const kinds = /** @type {const} */ (["data", "grad"]);
    this.kinds = kinds.map((shows) => element("input", { type: "radio", name: "shows", value: shows, onchange: () => act.act({ shows }) }));
    const labels = kinds.map((kind, i) => element("label", {}, this.kinds[i], words.kinds[kind]));
    const choice = element("fieldset", { class: "segments" }, element("legend", {}, words.shows), ...labels);
    this.element = element("section", { class: "transport", "aria-label": words.title }, element("div", { class: "buttons" }, this.restart, this.back, this.train, this.step), this.state, this.pace, choice);
    this.showRunning(false);
  }

  /** @param {{ step: number, steps: number, loss: number, rate: number, running: boolean }} progress @param {number} until the step that a link leads to; 0 for none */
  update({ step, steps, loss, rate, running }, until) {
    this.showRunning(running);
    write(this.at, until ? words.catching(until) : words.at(step, steps));
    write(this.loss, Number.isFinite(loss) ? words.loss(four(loss)) : "");
    write(this.rate, running && rate && this.pace.value === "0" ? words.pace(Math.round(rate)) : "");
    set(this.state, "data-step", step);
    set(this.state, "data-rate", rate);
    for (const [control, isOff] of /** @type {const} */ ([[this.back, step === 0], [this.restart, step === 0 && !running], [this.step, step >= steps], [this.train, step >= steps]])) set(control, "aria-disabled", isOff && "true");
  }

  /** @param {Choices} choices */
  choose({ pace, shows }) {
    this.pace.value = String(pace);
    for (const kind of this.kinds) kind.checked = kind.value === shows;
  }

  /** @param {boolean} isRunning */
  showRunning(isRunning) {
    if (this.train.dataset.running === String(isRunning)) return;
    this.train.dataset.running = String(isRunning);
    this.train.replaceChildren(icon(isRunning ? SIGNS.pause : SIGNS.train), element("span", { class: "word" }, isRunning ? words.pause : words.train));
  }
}

/** @param {string} name */
function named(name) {
  return { "aria-label": name, title: name };
}
