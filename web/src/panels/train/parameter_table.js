// A table of the leaves: which ones are parameters, and their gradients. Below it, the size of the gradient in each layer.

import { button, element, fill, table, write } from "../../dom.js";
import { training } from "../../languages/languages.js";
import { general, short } from "../../core/numbers.js";
import { leavesOf, usualParameters } from "../../learn/descent.js";
import { layersOf } from "../../learn/flow.js";

const MOST = 60; // leaves in the table
const NAMED = 4; // parameters of a layer that are listed by name
const DECADES = 8; // powers of ten that the length of a bar covers

/** @typedef {import("../../learn/descent.js").Move} Move */
/** @typedef {import("../../core/graph.js").Graph} Graph */

export class Parameters {
  /** @type {{ name: string, box: HTMLInputElement, value: HTMLElement, gradient: HTMLElement }[]} */
  #rows = [];
  #names = "";

  /** @param {(names: readonly string[] | null) => void} onchoice gets null for the default parameters */
  constructor(onchoice) {
    this.onchoice = onchoice;
    /** @type {readonly string[]} */
    this.chosen = [];
    /** @type {readonly string[]} */
    this.all = [];
    this.body = element("tbody");
    this.more = element("p", { class: "note" });
    this.element = element(
      "details",
      { open: true, class: "parameters" },
      element("summary", {}, training.parameters),
      element(
        "div",
        { class: "buttons" },
        button(training.usual, () => onchoice(null)),
        button(training.all, () => onchoice(this.all)),
        button(training.none, () => onchoice([])),
      ),
      table(training.parameters, training.columns, this.body),
      this.more,
    );
  }

  /** @param {readonly string[]} chosen names @param {readonly Move[]} moves of all leaves in the next step */
  update(chosen, moves) {
    this.chosen = chosen;
    this.all = moves.map(({ name }) => name);
    const shown = moves.slice(0, MOST);
    const names = JSON.stringify(shown.map(({ name }) => name));
    if (names !== this.#names) {
      this.#names = names;
      this.#rows = shown.map(({ name }) => this.#row(name));
      fill(this.body, ...this.#rows.map(({ name, box, value, gradient }) => element("tr", {}, element("th", { scope: "row" }, element("label", {}, box, name)), value, gradient)));
      write(this.more, moves.length > MOST ? training.more(moves.length - MOST) : "");
    }
    const learned = new Set(chosen);
    shown.forEach(({ name, before, gradient: grad }, i) => {
      const { box, value, gradient } = this.#rows[i];
      box.checked = learned.has(name);
      write(value, short(before));
      write(gradient, short(grad));
    });
  }

  /** @param {string} name */
  #row(name) {
    const onchange = () => this.onchoice(box.checked ? this.all.filter((other) => other === name || this.chosen.includes(other)) : this.chosen.filter((other) => other !== name));
    const box = element("input", { type: "checkbox", "aria-label": training.learn(name), onchange });
    return { name, box, value: element("td"), gradient: element("td") };
  }
}

/** Return the names of the parameters: the chosen ones or the defaults, without leaves that have a data column. @param {Graph} graph @param {readonly string[] | null} learned @param {ReadonlyMap<string, unknown> | undefined} columns */
export function parametersOf(graph, learned, columns) {
  const known = new Set(leavesOf(graph).map(({ name }) => name));
  return (learned ?? usualParameters(graph)).filter((name) => known.has(name) && !columns?.has(name));
}

export class Flow {
  constructor() {
    const { flow: say } = training;
    this.list = element("ol", { class: "layers" });
    this.note = element("p", { class: "note" });
    this.element = element("details", { class: "flow", open: true }, element("summary", {}, say.title), element("p", { class: "note" }, say.intro), this.list, this.note);
  }

  /** @param {Graph} graph @param {readonly Move[]} moves */
  update(graph, moves) {
    const learned = moves.filter(({ isParameter }) => isParameter);
    const layers = layersOf(graph, new Map(learned.map(({ name, gradient }) => [name, gradient])));
    this.element.hidden = layers.length < 2;
    if (layers.length < 2 || !this.element.open) return;
    const largest = Math.max(...layers.map(({ size }) => size).filter(Number.isFinite));
    if (this.list.children.length !== layers.length) fill(this.list, ...layers.map(layerItem));
    layers.forEach((layer, i) => fillLayer(/** @type {HTMLElement} */ (this.list.children[i]), layer, largest));
    const [near, far] = [layers[0], layers[layers.length - 1]];
    write(this.note, near.size > 0 ? training.flow.vanishes(general(far.size / near.size, 3)) : "");
  }
}

function layerItem() {
  return element("li", {}, element("span"), element("span", { class: "bar" }, element("span")), element("span", { class: "size" }));
}

/** @param {HTMLElement} item @param {import("../../learn/flow.js").Layer} layer @param {number} largest */
function fillLayer(item, { behind, names, size, local }, largest) {
  const { flow: say } = training;
  const [told, bar, number] = /** @type {HTMLElement[]} */ ([...item.children]);
  write(told, say.layer(behind, names.slice(0, NAMED), Math.max(names.length - NAMED, 0)));
  const share = size > 0 ? Math.max(1 + Math.log10(size / largest) / DECADES, 0.01) : 0;
  const filled = /** @type {HTMLElement} */ (bar.children[0]);
  filled.style.width = `${Math.round(1000 * Math.min(share, 1)) / 10}%`;
  write(number, [short(size), local === null ? "" : say.local(general(local, 3))].filter(Boolean).join("; "));
}
