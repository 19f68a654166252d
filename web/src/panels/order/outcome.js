// The result of a finished walk: wrong gradients, what each one lost and why, and the number of valid orders.

import { element, fill, set, write } from "../../dom.js";
import { outcomes as say } from "../../languages/languages.js";
import { bracketed, said } from "../../core/names.js";
import { short } from "../../core/numbers.js";
import { wrongSentence } from "../../walk/words.js";

const MOST = 60; // reasons and table rows

/** @typedef {import("../../walk/steps.js").Walk} Walk */

export class Outcome {
  constructor() {
    /** @type {Walk | null} the walk that is shown */
    this.told = null;
    this.verdict = element("p", { class: "verdict", role: "status" });
    this.orders = element("p");
    this.reasons = element("ul", { class: "reasons" });
    this.rows = element("tbody");
    const table = element("table", { "aria-label": say.gradients }, this.rows);
    this.element = element("section", { class: "outcome" }, this.verdict, this.orders, this.reasons, table);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state, walk, shown, isPlaced, moment, last }) {
    const isWhole = state.mode === "order" ? isPlaced : shown.wrong.length > 0;
    const isEnd = isWhole && moment.position === last;
    this.element.hidden = !isEnd;
    if (!isEnd || shown === this.told) return;
    this.told = shown;
    const { wrong, isLegal, overwrite } = shown;
    set(this.verdict, "data-verdict", wrong.length ? "wrong" : "right");
    write(this.verdict, wrong.length ? say.someWrong(wrong.length) : say.allRight);
    const legal = walk.legalOrders; // the same for every order, and slow to count
    const count = legal === null ? say.uncounted : say.legal(legal, isLegal);
    write(this.orders, overwrite ? `${count} ${say.overwriting}` : count);
    const sentences = wrong.slice(0, MOST).map((item) => wrongSentence(shown, item));
    const more = wrong.length > MOST ? [say.more(wrong.length - MOST)] : [];
    fill(this.reasons, ...[...sentences, ...more].map((sentence) => element("li", {}, sentence)));
    fill(this.rows, ...shown.order.slice(0, MOST).map((place) => row(shown, place)));
  }
}

/** Create a table row with a node's gradient, and the correct gradient if it is wrong. @param {Walk} walk @param {number} place */
function row({ graph, gradients, right, wrong }, place) {
  const [root, name] = [graph.root, place].map((index) => bracketed(said(graph.nodes[index].name)));
  const isWrong = wrong.some((item) => item.place === place);
  return element(
    "tr",
    { "data-wrong": isWrong },
    element("th", { scope: "row" }, say.derivative(root, name)),
    element("td", {}, short(Number(gradients[place]))),
    element("td", {}, isWrong ? say.wrong(short(right[place])) : say.right),
  );
}
