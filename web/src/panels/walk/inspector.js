// The inspector of the selected node or the current step: the node's chain-rule sum, or the contribution of one edge.

import { button, element, fill, set } from "../../dom.js";
import { earlier as before, folds, inspector as say, operations } from "../../languages/languages.js";
import { plain, short } from "../../core/numbers.js";
import { derivative, joined, math, number, row, sign, typeset } from "../../mathml.js";
import { few, isLong, said } from "../../core/names.js";
import { chainRule, edgeStory, namedPartial, written } from "../../walk/words.js";
import { pathList } from "./paths.js";
import { LeafField, LISTED } from "./values.js";

/** @typedef {import("../../walk/words.js").EdgeStory} EdgeStory */
/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../core/graph.js").Graph} Graph */

const ROUNDING = 1e-9; // relative rounding error of a gradient

export class Inspector {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {unknown[]} the inputs of the current content */
    this.shown = [];
    this.isWhole = false; // whether all operands and terms are shown, not only a few
    /** @type {Model | null} */
    this.model = null;
    this.body = element("div", { tabindex: -1 });
    this.leaf = new LeafField(act);
    this.element = element("section", { class: "inspector" }, element("h2", {}, say.title), this.body, this.leaf.element);
  }

  /** @param {Model} model */
  update(model) {
    const { selected, graph, moment, state } = model;
    const node = selected ?? graph.nodes[moment.active ?? -1];
    const shown = [node, state.operand, moment.position, model.shown, graph];
    if (node !== this.shown[0]) this.isWhole = false;
    this.model = model;
    if (shown.every((item, i) => item === this.shown[i])) return;
    this.shown = shown;
    const isLeaf = node !== undefined && state.operand < 0 && !node.operands.length;
    const isListed = isLeaf && state.mode === "walk" && graph.nodes.filter(({ operands }) => !operands.length).length <= LISTED;
    this.leaf.element.hidden = !isLeaf || isListed;
    if (isLeaf) this.leaf.update(node, state);
    set(this.body, "aria-live", selected ? "polite" : "off"); // the transport already announces the steps of the walk
    const hadFocus = this.body.matches(":focus-within");
    if (!node) fill(this.body, element("p", { class: "note" }, say.nothing));
    else if (selected && state.operand >= 0) fill(this.body, ...this.#edge(model, `${node.place}:${state.operand}`));
    else fill(this.body, ...this.#node(model, node));
    for (const wide of this.body.querySelectorAll(".symbolic")) set(wide, "tabindex", wide.scrollWidth > wide.clientWidth && 0); // scrollable by keyboard
    if (hadFocus) this.body.focus(); // the link that had the focus was removed
  }

  /** @param {Model} model @param {import("../../types.js").Node} node */
  #node(model, node) {
    const { graph, shown, moment, stored, pass, state, walk } = model;
    const earlier = state.values.size ? undefined : pass?.earlier.find(({ place }) => place === node.place);
    const facts = [
      node.operands.length ? fact(say.made, ...this.#folded((isWhole) => written(node, graph, isWhole))) : [],
      node.row ? fact(say.operation, operations.words(node.row.name, node.row.words)) : [],
      fact(say.data, moment.known[node.place] ? plain(node.data) : say.open),
      node.source ? fact(say.source, `${node.source.file.split(/[\\/]/).pop()}:${node.source.line}`) : [],
    ].flat();
    return [
      element("p", { class: "name" }, ...this.#folded((isWhole) => said(node.name, isWhole))),
      element("dl", {}, ...facts),
      element("h3", {}, say.sum),
      ...this.#sum(graph, node, shown.order.includes(node.place) ? chainRule(shown, node.place, moment) : null, stored.get(node.place)),
      ...pathList(model, node.place, this.isWhole, () => this.#switch()),
      earlier ? element("p", { class: "why" }, before.told(short(walk.right[node.place]), short(earlier.grad), short(earlier.now), earlier.since)) : null,
    ];
  }

  /**
   * @param {Graph} graph @param {import("../../types.js").Node} node
   * @param {import("../../walk/words.js").ChainRule | null} rule null where no gradient flows
   * @param {number} [stored] the gradient before the pass
   */
  #sum(graph, node, rule, stored) {
    if (!rule) return [element("p", { class: "note" }, say.unused)];
    const { terms } = rule;
    const symbolic = element("p", { class: "symbolic" }, wholeRule(graph, node, rule));
    if (!terms.length) return [symbolic, element("p", { class: "note" }, say.root)];
    const items = few(terms, this.isWhole, (count) => count).map((item) => {
      return typeof item === "object" ? this.#term(graph, item) : element("li", { class: "between" }, this.isWhole ? folds.more(item) : this.#switch(folds.more(item)));
    });
    const less = isLong(terms) && this.isWhole ? element("li", { class: "between" }, this.#switch()) : null;
    const before = stored === undefined ? null : element("li", {}, say.stored(short(stored)));
    const total = element("li", { class: "total" }, this.#total(rule, stored));
    return [symbolic, element("ul", { class: "sum" }, before, ...items, less, total)];
  }

  /** Show a text, and if it is folded, a button for the whole text. @param {(isWhole: boolean) => string} told @returns {(string | Element)[]} */
  #folded(told) {
    return [told(this.isWhole), ...(told(true) === told(false) ? [] : [" ", this.#switch()])];
  }

  /** Create a button that shows long names and lists whole, or folds them again. @param {string} [whole] its text while they are folded */
  #switch(whole = folds.whole) {
    return button(this.isWhole ? folds.less : whole, () => {
      this.isWhole = !this.isWhole;
      this.shown = [this.shown[0]];
      if (this.model) this.update(this.model);
    }, { class: "link" });
  }

  /** Describe the sum of the contributions so far, and the correct gradient. @param {import("../../walk/words.js").ChainRule} rule @param {number} [stored] */
  #total({ total, right: fresh, terms }, stored = 0) {
    const right = fresh + stored;
    if (total === null) return say.open;
    const isWhole = terms.every(({ status }) => status !== "waiting");
    const isOff = isWhole && Math.abs(total - right) > ROUNDING * Math.abs(right);
    return isOff ? say.wrongTotal(short(total), short(right)) : say.total(short(total));
  }

  /** @param {Graph} graph @param {EdgeStory} story */
  #term(graph, story) {
    const isLost = story.status === "late" || story.status === "overwritten";
    const isKnown = this.model?.moment.known[story.user];
    const numbers = `${story.upstream === null ? "?" : short(story.upstream)} · ${isKnown ? short(story.local) : "?"}`;
    const result = story.amount === null ? "" : ` = ${short(story.amount)}`;
    const choose = () => this.act({ selected: graph.nodes[story.user].name, operand: story.position });
    const product = math(story.symbolic, factors(graph, story));
    product.setAttribute("aria-hidden", "true"); // the accessible name of a button is plain text
    const face = element("span", {}, element("span", { class: "spoken" }, story.symbolic), product);
    return element(
      "li",
      { "data-lost": isLost, "data-waiting": story.status === "waiting" },
      button(face, choose, { class: "link" }),
      element("span", { class: "numbers" }, ` = ${numbers}${result}`),
      isLost ? element("span", { class: "why" }, say.lost(story.because)) : null,
    );
  }

  /** @param {Model} model @param {string} key */
  #edge({ graph, shown, moment }, key) {
    const story = edgeStory(shown, key, moment);
    const [from, to] = [story.place, story.user].map((place) => said(graph.nodes[place].name));
    const isLost = story.status === "late" || story.status === "overwritten";
    if (story.status === "inert") return [element("p", { class: "name" }, `${from} → ${to}`), element("p", {}, say.inert)];
    const inTable = story.formula && story.formula !== story.written ? fact(say.formula, say.rule("xyz"[story.position] ?? "", story.formula)) : [];
    const arrived = story.amount === null ? say.open : `${short(Number(story.upstream))} · ${short(story.local)} = ${short(story.amount)}`;
    return [
      element("p", { class: "name" }, `${from} → ${to}`),
      element(
        "dl",
        {},
        ...fact(say.local, localRule(graph, story, moment.known[story.user])),
        ...inTable,
        ...fact(say.contribution, element("span", {}, math(story.symbolic, factors(graph, story)), ` = ${arrived}`)),
      ),
      isLost ? element("p", { class: "why" }, say.lost(story.because)) : null,
      element("p", {}, story.sentence),
      button(say.back(to), () => this.act({ selected: graph.nodes[story.user].name, operand: -1 })),
    ];
  }
}

/**
 * Write d root / d node as the sum of its products; a long sum is folded.
 * @param {Graph} graph @param {import("../../types.js").Node} node @param {import("../../walk/words.js").ChainRule} rule
 */
function wholeRule(graph, node, { symbolic, terms }) {
  const products = few(terms, false).map((term) => (typeof term === "string" ? sign(term) : factors(graph, term)));
  const sum = node.place === graph.root ? number("1") : terms.length ? joined(products, "+") : number("0");
  return math(symbolic, derivative("d", graph.nodes[graph.root].name, node.name), sign("="), sum);
}

/** Write d root / d user · ∂ user / ∂ operand. @param {Graph} graph @param {EdgeStory} story */
function factors({ nodes, root }, { user, place }) {
  const names = [root, user, place].map((i) => nodes[i].name);
  return row(derivative("d", names[0], names[1]), sign("·"), derivative("∂", names[1], names[2]));
}

/** Write ∂ user / ∂ operand = its formula = its number, if that is known. @param {Graph} graph @param {EdgeStory} story @param {boolean} isKnown */
function localRule(graph, { user, place, position, derivative: named, written: formula, local }, isKnown) {
  const known = isKnown ? short(local) : "";
  const said = [...new Set([named, formula, known])].filter(Boolean).join(" = ");
  const partial = namedPartial(graph.nodes[user], position, graph);
  const shown = partial === null || formula === known ? [] : [typeset(partial)];
  const sides = [derivative("∂", graph.nodes[user].name, graph.nodes[place].name), ...shown, ...(known ? [number(known)] : [])];
  return math(said, joined(sides, "="));
}

/** Create a term and its description for a description list. @param {string} term @param {...(string | Element)} what */
function fact(term, ...what) {
  return [element("dt", {}, term), element("dd", {}, ...what)];
}
