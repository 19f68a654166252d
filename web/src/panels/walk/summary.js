// Facts about a program's graph that Python found, and problems; each leads to the part that it names.

import { button, element, fill, write } from "../../dom.js";
import { summary as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { said } from "../../core/names.js";
import { innermost } from "../../walk/modules/modules.js";

const MOST = 6; // findings

export class Summary {
  /** @param {(place: number) => void} onPlace selects a node and opens its part */
  constructor(onPlace) {
    this.onPlace = onPlace;
    /** @type {unknown} the facts in the list */
    this.made = null;
    this.findings = element("ul", { class: "findings", lang: "en" });
    this.trouble = element("div", {}, element("h2", {}, say.findings), this.findings);
    this.facts = element("p");
    this.caption = element("p", {}, say.largest);
    this.largest = element("ul");
    this.zeros = element("ul", { lang: "en" });
    this.whole = element("div", {}, element("h2", {}, say.title), this.facts, this.caption, this.largest, this.zeros);
    this.element = element("section", { class: "summary" }, this.trouble, this.whole);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ document, pass, graph, whole, state }) {
    const isOwn = document !== null && !state.values.size && (!pass || pass.number === document.passes.own);
    this.element.hidden = !isOwn || !(document.findings.length || document.summary);
    if (this.element.hidden || !document || document === this.made) return;
    this.made = document;
    const { findings, summary } = document;
    this.trouble.hidden = !findings.length;
    this.whole.hidden = !summary;
    fill(this.findings, ...findings.slice(0, MOST).map((finding) => this.#item(finding)));
    if (!summary) return;
    write(this.facts, say.facts(summary.nodes, summary.parameters, summary.depth));
    const largest = summary.largest.map(({ place, grad }) => {
      const { name, label } = graph.nodes[place];
      const where = label ? "" : ` (${innermost(whole, place).name})`;
      return element("li", {}, this.#link(`${said(name)}${where}: ${short(grad)}`, place));
    });
    this.caption.hidden = !largest.length;
    fill(this.largest, ...largest);
    fill(this.zeros, ...summary.zeros.map((zero) => this.#item(zero)));
  }

  /** @param {import("../../model/document.js").Told} told */
  #item({ sentence, places }) {
    return element("li", {}, this.#link(sentence, places[0]));
  }

  /** @param {string} text @param {number} place */
  #link(text, place) {
    return button(text, () => this.onPlace(place), { class: "link" });
  }
}
