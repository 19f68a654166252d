// The contributions to one node in the backward pass, accumulated with += and, next to it, overwritten with =.

import { element, fill } from "../../dom.js";
import { short } from "../../core/numbers.js";
import { figures as say } from "../../languages/languages.js";
import { Walk } from "../../walk/steps.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../types.js").Contribution} Contribution */

export class Beside {
  /** @param {Extract<import("../../model/chapters.js").Figure, { kind: "beside" }>} figure */
  constructor({ node, isAlone }) {
    this.node = node;
    this.ledgers = (isAlone ? [false] : [false, true]).map((overwrite) => {
      const list = element("ol", { class: "ledger" });
      const heading = element("h4", {}, overwrite ? say.overwrites : say.adds);
      return { overwrite, heading, list, element: element("div", { class: overwrite ? "overwrites" : "adds" }, heading, list) };
    });
    const columns = element("div", { class: "columns" }, ...this.ledgers.map((ledger) => ledger.element));
    this.element = element("div", { class: "figure beside" }, element("h3", {}, say.comes(node)), columns);
  }

  /** @param {Model} model */
  update({ graph, shown }) {
    const node = graph.nodes.find(({ name }) => name === this.node);
    if (!node) return;
    for (const { overwrite, heading, list } of this.ledgers) {
      const { backward } = new Walk(graph, shown.order, overwrite);
      const came = backward.flatMap(({ contributions }) => contributions.filter(({ place }) => place === node.place));
      heading.hidden = came.some(({ late }) => late); // late contributions are not added
      fill(list, ...came.map((contribution) => entry(contribution, graph.nodes[contribution.giver].name, overwrite)));
    }
  }
}

/** @param {Contribution} contribution @param {string} giver @param {boolean} overwrite */
function entry({ before, amount, after, late, again }, giver, overwrite) {
  const sum = `${short(before)} ${amount < 0 ? "-" : "+"} ${short(Math.abs(amount))} = ${short(after)}`;
  const isLost = late || (overwrite && again);
  const told = late ? short(amount) : overwrite ? short(after) : sum;
  const from = late ? say.lateFrom(giver) : say.from(giver);
  return element("li", { "data-lost": isLost, "data-late": late }, element("span", {}, from), element("b", {}, told));
}
