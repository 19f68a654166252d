// Fields for the values of the leaves, which the reader can change.

import { element, fill, set, write } from "../../dom.js";
import { values as say } from "../../languages/languages.js";
import { plain, readNumber } from "../../core/numbers.js";
import { pointed } from "../../model/exercises/answers.js";

export const LISTED = 40; // leaves in the list; other leaves can be changed in the inspector
const LONG = 6; // letters; fields with a longer name get a line to themselves

export class Values {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {LeafField[]} */
    this.leaves = [];
    this.fields = element("div", { class: "fields" });
    this.more = element("p", { class: "note" });
    this.element = element("section", { class: "values" }, element("h2", {}, say.title), this.fields, this.more);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ graph, state }) {
    if (graph === this.graph) return;
    this.graph = graph;
    const leaves = graph.nodes.filter((node) => !node.operands.length);
    const shown = leaves.slice(0, LISTED);
    this.element.hidden = !leaves.length; // the expression has numbers only
    set(this.fields, "class", leaves.some(({ name }) => name.length > LONG) ? "fields wide" : "fields");
    if (shown.length !== this.leaves.length) {
      this.leaves = shown.map(() => new LeafField(this.act));
      fill(this.fields, ...this.leaves.map((field) => field.element));
    }
    shown.forEach((leaf, i) => this.leaves[i].update(leaf, state));
    fill(this.more, leaves.length > LISTED ? say.more(leaves.length - LISTED) : "");
  }

  /** Select the number in the first field. */
  focus() {
    this.leaves[0].input.focus();
    this.leaves[0].input.select();
  }
}

/** A field for a leaf's value. If the input is not a number, it shows an error and keeps the old value. */
export class LeafField {
  /** @type {import("../../types.js").Node | null} */
  #leaf = null;

  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {ReadonlyMap<string, number>} */
    this.values = new Map();
    this.name = element("bdi");
    this.problem = element("span", { class: "problem", role: "alert" });
    this.input = element("input", {
      type: "text",
      inputmode: "text",
      spellcheck: "false",
      autocomplete: "off",
      onchange: () => this.#change(),
    });
    this.element = element("div", { class: "field" }, element("label", {}, this.name, this.input), this.problem);
  }

  /** @param {import("../../types.js").Node} leaf @param {import("../../model/state.js").State} state */
  update(leaf, { values }) {
    this.values = values;
    if (leaf === this.#leaf) return; // keeps what the reader is typing
    this.#leaf = leaf;
    write(this.name, leaf.name);
    set(this.name, "title", leaf.name);
    set(this.input, "data-leaf", leaf.name);
    this.input.value = plain(leaf.data);
    this.#refuse(false, "");
  }

  #change() {
    const leaf = /** @type {import("../../types.js").Node} */ (this.#leaf);
    const number = readNumber(pointed(this.input.value));
    if (number === null) return this.#refuse(true, say.noNumber(this.input.value));
    this.act({ values: new Map([...this.values, [leaf.name, number]]) });
    return this.#refuse(leaf === this.#leaf, ""); // the page shows why: a hand-made node depends on it
  }

  /** @param {boolean} isRefused @param {string} problem */
  #refuse(isRefused, problem) {
    set(this.input, "aria-invalid", isRefused && "true");
    write(this.problem, problem);
  }
}
