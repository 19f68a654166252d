// What is selected, or where the walk stands: a node's whole chain-rule sum, or what one edge passes back.

import { button, element, fill, set } from "../dom.js";
import { inspector as say } from "../english/page.js";
import { plain, short } from "../core/numbers.js";
import { chainRule, edgeStory, written } from "../walk/words.js";
import { LeafField, LISTED } from "./values.js";

const MOST = 100; // terms of a sum

/** @typedef {import("../walk/words.js").EdgeStory} EdgeStory */
/** @typedef {import("../model/model.js").Model} Model */

const ROUNDING = 1e-9; // of a gradient

export class Inspector {
  /** @param {(change: Partial<import("../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {unknown[]} what is shown now */
    this.shown = [];
    this.body = element("div", { tabindex: -1 });
    this.leaf = new LeafField(act);
    this.element = element("section", { class: "inspector" }, element("h2", {}, say.title), this.body, this.leaf.element);
  }

  /** @param {Model} model */
  update(model) {
    const { selected, graph, moment, state } = model;
    const node = selected ?? graph.nodes[moment.active ?? -1];
    const shown = [node, state.operand, moment.position, model.shown, graph];
    if (shown.every((item, i) => item === this.shown[i])) return;
    this.shown = shown;
    const isLeaf = node !== undefined && state.operand < 0 && !node.operands.length;
    const isListed = state.mode === "walk" && graph.nodes.filter(({ operands }) => !operands.length).indexOf(node) < LISTED;
    this.leaf.element.hidden = !isLeaf || isListed;
    if (isLeaf) this.leaf.update(node, state);
    set(this.body, "aria-live", selected ? "polite" : "off"); // the walk's own steps are told already
    const hadFocus = this.body.matches(":focus-within");
    if (!node) fill(this.body, element("p", { class: "note" }, say.nothing));
    else if (selected && state.operand >= 0) fill(this.body, ...this.#edge(model, `${node.place}:${state.operand}`));
    else fill(this.body, ...this.#node(model, node));
    if (hadFocus) this.body.focus(); // the link that had it is gone
  }

  /** @param {Model} model @param {import("../types.js").Node} node */
  #node({ graph, shown, moment }, node) {
    const facts = [
      node.operands.length ? fact(say.made, written(node, graph)) : [],
      node.row ? fact(say.operation, node.row.words) : [],
      fact(say.data, moment.known[node.place] ? plain(node.data) : say.open),
      node.source ? fact(say.source, `${node.source.file.split(/[\\/]/).pop()}:${node.source.line}`) : [],
    ].flat();
    return [
      element("p", { class: "name" }, node.name),
      element("dl", {}, ...facts),
      element("h3", {}, say.sum),
      ...this.#sum(graph, shown.order.includes(node.place) ? chainRule(shown, node.place, moment) : null),
    ];
  }

  /** @param {import("../core/graph.js").Graph} graph @param {import("../walk/words.js").ChainRule | null} rule null where no gradient flows */
  #sum(graph, rule) {
    if (!rule) return [element("p", { class: "note" }, say.unused)];
    const terms = rule.terms.slice(0, MOST).map((story) => this.#term(story, graph.nodes[story.user].name));
    const total = element("li", { class: "total" }, this.#total(rule));
    const more = rule.terms.length > MOST ? element("li", {}, say.more(rule.terms.length - MOST)) : null;
    const sum = element("ul", { class: "sum" }, ...terms, more, total);
    return [element("p", { class: "symbolic" }, rule.symbolic), terms.length ? sum : element("p", { class: "note" }, say.root)];
  }

  /** What has come together, and what should have. @param {import("../walk/words.js").ChainRule} rule */
  #total({ total, right, terms }) {
    if (total === null) return say.open;
    const isWhole = terms.every(({ status }) => status !== "waiting");
    const isOff = isWhole && Math.abs(total - right) > ROUNDING * Math.abs(right);
    return isOff ? say.wrongTotal(short(total), short(right)) : say.total(short(total));
  }

  /** @param {EdgeStory} story @param {string} user name of the node that passes it back */
  #term(story, user) {
    const isLost = story.status === "late" || story.status === "overwritten";
    const numbers = `${story.upstream === null ? "?" : short(story.upstream)} · ${short(story.local)}`;
    const result = story.amount === null ? "" : ` = ${short(story.amount)}`;
    const choose = () => this.act({ selected: user, operand: story.position });
    return element(
      "li",
      { "data-lost": isLost, "data-waiting": story.status === "waiting" },
      button(story.symbolic, choose, { class: "link" }),
      element("span", { class: "numbers" }, ` = ${numbers}${result}`),
      isLost ? element("span", { class: "why" }, say.lost(story.because)) : null,
    );
  }

  /** @param {Model} model @param {string} key */
  #edge({ graph, shown, moment }, key) {
    const story = edgeStory(shown, key, moment);
    const [from, to] = [graph.nodes[story.place].name, graph.nodes[story.user].name];
    const isLost = story.status === "late" || story.status === "overwritten";
    if (story.status === "inert") return [element("p", { class: "name" }, `${from} → ${to}`), element("p", {}, say.inert)];
    const inTable = story.formula && story.formula !== story.written ? fact(say.formula, say.rule("xyz"[story.position] ?? "", story.formula)) : [];
    const arrived = story.amount === null ? say.open : `${short(Number(story.upstream))} · ${short(story.local)} = ${short(story.amount)}`;
    return [
      element("p", { class: "name" }, `${from} → ${to}`),
      element(
        "dl",
        {},
        ...fact(say.local, [...new Set([story.derivative, story.written, short(story.local)])].filter(Boolean).join(" = ")),
        ...inTable,
        ...fact(say.contribution, `${story.symbolic} = ${arrived}`),
      ),
      isLost ? element("p", { class: "why" }, say.lost(story.because)) : null,
      element("p", {}, story.sentence),
      button(say.back(to), () => this.act({ selected: to, operand: -1 })),
    ];
  }
}

/** A term and what it is, for a list. @param {string} term @param {string} what */
function fact(term, what) {
  return [element("dt", {}, term), element("dd", {}, what)];
}
