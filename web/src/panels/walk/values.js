// Fields for the values of the leaves, which the reader can change. Many leaves are folded, with a search.

import { element, fill, set, write } from "../../dom.js";
import { folds, values as say } from "../../languages/languages.js";
import { withBrackets } from "../../core/names.js";
import { plain, readNumber } from "../../core/numbers.js";
import { pointed } from "../../model/exercises/answers.js";

export const LISTED = 20; // more leaves are folded; the inspector shows the field of the selected one
const MOST = 40; // fields at a time
const LONG = 6; // letters; fields with a longer name get a line to themselves

export class Values {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {readonly import("../../types.js").Node[]} all leaves */
    this.known = [];
    /** @type {import("../../model/state.js").State | null} */
    this.state = null;
    /** @type {LeafField[]} */
    this.leaves = [];
    this.fields = element("div", { class: "fields" });
    this.more = element("p", { class: "note" });
    const oninput = () => this.#list();
    this.search = element("input", { type: "search", "aria-label": say.search, placeholder: say.search, oninput });
    this.title = element("summary");
    this.all = element("details", {}, this.title, this.search, this.fields, this.more);
    this.element = element("section", { class: "values" }, this.all);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ graph, state }) {
    if (graph === this.graph) return;
    const before = this.known.length;
    this.graph = graph;
    this.state = state;
    this.known = graph.nodes.filter((node) => !node.operands.length);
    this.element.hidden = !this.known.length; // the expression has numbers only
    const isFolded = this.known.length > LISTED;
    if (this.known.length !== before) this.all.open = !isFolded;
    this.search.hidden = !isFolded;
    write(this.title, isFolded ? `${say.title} (${this.known.length})` : say.title);
    this.#list();
  }

  /** List the leaves whose names contain the searched text. */
  #list() {
    const text = this.search.hidden ? "" : withBrackets(this.search.value.trim()).toLowerCase();
    const leaves = this.known.filter(({ name }) => name.toLowerCase().includes(text));
    const shown = leaves.slice(0, MOST);
    set(this.fields, "class", shown.some(({ name }) => name.length > LONG) ? "fields wide" : "fields");
    if (shown.length !== this.leaves.length) {
      this.leaves = shown.map(() => new LeafField(this.act));
      fill(this.fields, ...this.leaves.map((field) => field.element));
    }
    shown.forEach((leaf, i) => this.state && this.leaves[i].update(leaf, this.state));
    write(this.more, leaves.length > MOST ? folds.more(leaves.length - MOST) : "");
  }

  /** Select the number in the first field. */
  focus() {
    this.all.open = true;
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
