// The numbers that the reader may change, and the way contributions are written: += or =.

import { element, fill, set } from "../dom.js";
import { values as say } from "../english/page.js";
import { plain, readNumber } from "../numbers.js";

const MOST = 40; // inputs; leaves beyond are changed where they are selected
const LONG = 6; // letters of a name that leaves no room for a second field beside it

export class Values {
  /** @param {(change: Partial<import("../state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {import("../graph.js").Graph | null} */
    this.graph = null;
    this.fields = element("div", { class: "fields" });
    this.more = element("p", { class: "note" });
    this.accumulate = this.#choice(false, "+=", say.accumulate);
    this.overwrite = this.#choice(true, "=", say.overwrite);
    this.element = element(
      "section",
      { class: "values" },
      element("h2", {}, say.title),
      this.fields,
      this.more,
      element(
        "fieldset",
        { class: "switch" },
        element("legend", {}, say.writing),
        this.accumulate.element,
        this.overwrite.element,
      ),
    );
  }

  /** @param {import("../model.js").Model} model */
  update({ graph, state }) {
    this.accumulate.input.checked = !state.overwrite;
    this.overwrite.input.checked = state.overwrite;
    if (graph === this.graph) return;
    this.graph = graph;
    const leaves = graph.nodes.filter((node) => !node.operands.length);
    set(this.fields, "class", leaves.some(({ name }) => name.length > LONG) ? "fields wide" : "fields");
    fill(this.fields, ...leaves.slice(0, MOST).map((leaf) => leafField(leaf, state.values, this.act)));
    fill(this.more, leaves.length > MOST ? say.more(leaves.length - MOST) : "");
  }

  /** @param {boolean} overwrite @param {string} sign @param {string} meaning */
  #choice(overwrite, sign, meaning) {
    const onchange = () => this.act({ overwrite });
    const input = element("input", { type: "radio", name: "writing", onchange });
    return { input, element: element("label", {}, input, element("code", {}, sign), ` ${meaning}`) };
  }
}

/**
 * A field for a leaf's number. What is no number is said, and the number stays as it was.
 * @param {import("../types.js").Node} leaf @param {ReadonlyMap<string, number>} values
 * @param {(change: Partial<import("../state.js").State>) => void} act
 */
export function leafField(leaf, values, act) {
  const problem = element("span", { class: "problem", role: "alert" });
  const input = element("input", {
    type: "text",
    inputmode: "text",
    spellcheck: "false",
    autocomplete: "off",
    value: plain(leaf.data),
    "data-leaf": leaf.name,
    onchange() {
      const number = readNumber(input.value);
      set(input, "aria-invalid", number === null && "true");
      fill(problem, number === null ? say.noNumber(input.value) : "");
      if (number !== null) act({ values: new Map([...values, [leaf.name, number]]), position: 0 });
    },
  });
  return element("label", { class: "field" }, element("bdi", { title: leaf.name }, leaf.name), input, problem);
}
