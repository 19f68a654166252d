// The graph as a table with one row per box of the drawing, also for screen readers.

import { button, element, fill, set, table, write } from "../../dom.js";
import { twin as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { written } from "../../walk/words.js";

export class Twin {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.shape = ""; // a key of the table's rows; if only numbers change, the rows are kept
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {{ place: number, row: HTMLTableRowElement, made: Element, data: Element, gradient: Element, status: Element }[]} */
    this.rows = [];
    this.body = element("tbody");
    const all = table(say.title, say.columns, this.body);
    this.element = element("details", { class: "twin", open: true }, element("summary", {}, say.title), all);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ graph, scene, moment, selected }) {
    const shape = scene.items.map(({ key, place, part }) => (part ? `${key} ${part.places.length}` : `${place} ${graph.nodes[place].name}`)).join("\n");
    if (shape === this.shape && graph !== this.graph) {
      this.graph = graph;
      for (const { place, made } of this.rows) write(made, madeAs(graph.nodes[place], graph));
    } else if (shape !== this.shape) {
      [this.shape, this.graph, this.rows] = [shape, graph, []];
      fill(this.body, ...scene.items.map((item) => (item.part ? this.#part(item.part) : this.#node(graph, item.place))));
    }
    for (const { place, row, data, gradient, status } of this.rows) {
      const grad = moment.gradients[place];
      write(data, moment.known[place] ? short(graph.nodes[place].data) : say.unknown);
      write(gradient, grad === null ? say.unknown : short(grad));
      write(status, moment.active === place ? say.active : moment.visited[place] ? say.visited : "");
      set(row, "aria-current", moment.active === place && "step");
      set(row, "data-selected", selected?.place === place);
    }
  }

  /** @param {import("../../core/graph.js").Graph} graph @param {number} place */
  #node(graph, place) {
    const node = graph.nodes[place];
    const select = button(node.name, () => this.act({ selected: node.name, operand: -1 }));
    const [data, gradient, status] = [element("td"), element("td"), element("td")];
    const name = element("th", { scope: "row" }, select);
    const made = element("td", { class: "made" }, madeAs(node, graph));
    const row = element("tr", {}, name, made, data, gradient, status);
    this.rows.push({ place, row, made, data, gradient, status });
    return row;
  }

  /** @param {import("../../types.js").Part} part */
  #part(part) {
    const open = button(part.name, () => this.act({ open: part.key }));
    const size = element("td", { colspan: 4 }, say.nodes(part.places.length));
    return element("tr", {}, element("th", { scope: "row" }, open), size);
  }
}

/** @param {import("../../types.js").Node} node @param {import("../../core/graph.js").Graph} graph */
function madeAs(node, graph) {
  return node.operands.length ? written(node, graph, false) : say.leaf;
}
