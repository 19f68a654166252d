// The inspector of the selected number: value, gradient, how they are computed, operands, users, source line and paths.

import { button, element, fill, icon, set, write } from "../../dom.js";
import { plain } from "../../core/numbers.js";
import { scalarOf } from "../scalar.js";
import { say } from "../texts.js";
import { four, six } from "./numbers.js";
import { PathList } from "./path.js";
import { tell } from "./picture.js";
import { Source } from "./source.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("../protocol.js").Link} Link */
/** @typedef {import("../protocol.js").Scalar} Scalar */

const { inspector: words } = say;
const SIGNS = { back: "M10 2L4 8l6 6V2z", forward: "M6 2l6 6-6 6V2z", close: "M3 4l5 4-5 4 1 1 4-4 4 4 1-1-4-4 4-4-1-1-4 4-4-4z" };
const LISTED = 6; // operands or users in a list

export class Inspector {
  /** @type {View | null} */
  #view = null;
  #node = -1; // the node whose links are shown
  /** @type {Float64Array} the gradients of all nodes */
  #grad = new Float64Array();
  /** The history of selected names; `#at` is the current index. @type {string[]} */
  #history = [];
  #at = -1;

  /**
   * @param {import("../document.js").Lesson} lesson
   * @param {{ choose: (name: string) => void, path: (kind: "here" | "token" | "") => void, leave: () => void }} act
   */
  constructor(lesson, act) {
    this.lesson = lesson;
    this.act = act;
    this.back = button(icon(SIGNS.back), () => this.#turn(-1), { "aria-label": words.back, title: words.back });
    this.forward = button(icon(SIGNS.forward), () => this.#turn(1), { "aria-label": words.forward, title: words.forward });
    this.close = button("×", () => act.choose(""), { class: "quiet close", "aria-label": words.close, title: words.close });
    this.title = element("h2", { tabindex: -1, "aria-live": "polite" });
    this.name = element("code", { class: "name" });
    this.told = element("p", { class: "note" });
    this.prompt = element("div", { class: "prompt" }, this.told, element("p", { class: "note" }, words.begin), ...this.#beginnings());
    this.value = element("dd", { class: "value" });
    this.gradient = element("dd", { class: "gradient" });
    this.nudge = element("p", { class: "nudge" });
    this.sentence = element("p", { class: "sentence" });
    this.made = new Links(words.made, ({ data }) => data, ({ partial, amount }) => (Number.isNaN(partial) ? words.constant : words.gets(four(partial), four(amount))), act.choose);
    this.used = new Links(words.used, ({ amount }) => amount, (link) => words.gives(four(this.#grad[link.node]), four(link.partial)), act.choose);
    this.formulas = [1, 2, 3].map(() => element("p", { class: "formula" }));
    this.source = new Source(lesson.source);
    this.path = new PathList(lesson, act);
    this.body = element("div", { class: "body" }, ...this.#parts());
    const bar = element("div", { class: "bar-of" }, this.back, this.forward, element("span", { class: "note" }, words.title), this.close);
    this.element = element("aside", { class: "story", "aria-label": words.title, onkeydown: (/** @type {KeyboardEvent} */ { key }) => key === "Escape" && act.leave() }, bar, this.prompt, this.body);
    this.body.hidden = true;
  }

  /** Create buttons that select a number to start from. */
  #beginnings() {
    const weight = () => this.#view?.largestWeight(2, this.#view.place) ?? "";
    const beginnings = { loss: () => "loss", weight, parameter: () => "query.8.0" };
    const keys = /** @type {(keyof typeof beginnings)[]} */ (Object.keys(beginnings));
    return keys.map((key) => button(words.beginnings[key], () => this.act.choose(beginnings[key]())));
  }

  #parts() {
    const numbers = element("dl", {}, element("div", {}, element("dt", {}, words.value), this.value), element("div", {}, element("dt", {}, words.gradient), this.gradient));
    const why = element("div", { class: "why-so" }, element("h3", {}, words.because), this.nudge, this.sentence);
    const formulas = element("details", {}, element("summary", {}, words.formulas), ...this.formulas);
    return [this.title, this.name, numbers, why, this.used.element, this.made.element, this.source.element, this.path.element, formulas];
  }

  /** @param {View} view */
  update(view) {
    const { selected, choices } = view;
    this.#view = view;
    const isChosen = choices.node !== "";
    set(this.element, "data-open", isChosen);
    this.body.hidden = selected < 0;
    this.prompt.hidden = selected >= 0;
    write(this.told, isChosen ? words.gone : words.prompt);
    this.close.hidden = !isChosen;
    if (isChosen) this.#remember(choices.node);
    set(this.back, "aria-disabled", this.#at <= 0 && "true");
    set(this.forward, "aria-disabled", this.#at >= this.#history.length - 1 && "true");
    if (selected >= 0) this.#show(scalarOf(this.lesson, view.opened, selected), view);
  }

  /** Focus the title. */
  focus() {
    this.title.focus({ preventScroll: true });
  }

  /** @param {Scalar} scalar @param {View} view */
  #show(scalar, view) {
    const isOther = scalar.node !== this.#node;
    const hadFocus = this.body.matches(":focus-within");
    this.#node = scalar.node;
    this.#grad = view.opened.grad;
    set(this.title, "aria-live", view.isRunning ? "off" : "polite");
    write(this.title, scalar.title);
    write(this.name, scalar.name);
    this.name.hidden = scalar.name === scalar.title;
    write(this.value, six(scalar.data));
    write(this.gradient, six(scalar.grad));
    for (const [target, number] of /** @type {const} */ ([[this.value, scalar.data], [this.gradient, scalar.grad]])) {
      set(target, "data-value", number);
      set(target, "title", plain(number));
    }
    const isRoot = scalar.node === view.lesson.program.root;
    write(this.nudge, isRoot ? words.isRoot : words.nudge(four(Math.abs(scalar.grad)), Math.sign(scalar.grad)));
    tell(this.sentence, isRoot ? "" : because(scalar, view.opened.grad));
    this.used.update(scalar.users, isRoot || !scalar.users.length ? "" : null, isOther);
    this.made.update(scalar.operands, scalar.operands.length ? null : words.leaf, isOther);
    [scalar.computed, scalar.chainRule, scalar.sentence].forEach((text, i) => write(this.formulas[i], text));
    this.source.show(scalar.line);
    this.path.update(view);
    if (isOther) this.body.scrollTop = 0;
    if (hadFocus && !this.body.matches(":focus-within")) this.focus(); // the link that had the focus was removed
  }

  /** @param {string} name */
  #remember(name) {
    if (this.#history[this.#at] === name) return;
    this.#history = [...this.#history.slice(0, this.#at + 1), name];
    this.#at = this.#history.length - 1;
  }

  /** @param {number} by */
  #turn(by) {
    const name = this.#history[this.#at + by];
    if (name === undefined) return;
    this.#at += by;
    this.act.choose(name);
  }
}

/** Explain the gradient by the chain rule. @param {Scalar} scalar @param {Float64Array} gradients of all nodes */
function because({ grad, users }, gradients) {
  const terms = users.filter(({ amount }) => amount !== 0);
  if (!terms.length) return users.length ? words.isIdle : words.isUnused;
  if (terms.length === 1) return words.one(four(grad), four(gradients[terms[0].node]), four(terms[0].partial));
  const shown = largest(terms);
  const rest = terms.length - shown.length;
  return words.many(terms.length, [added(shown), rest ? words.others(rest) : ""].filter(Boolean).join(" + "), four(grad));
}

/** Format a sum of contributions. @param {readonly Link[]} terms */
function added(terms) {
  return terms.map(({ amount }, i) => (i && amount < 0 ? ` −\u00a0${four(-amount)}` : `${i ? " +\u00a0" : ""}${four(amount)}`)).join("");
}

/** A list of the operands or users of the selected number; of many, only those with the largest contributions. */
class Links {
  #isWhole = false;
  /** @type {readonly Link[]} */
  #links = [];
  /** @type {{ button: HTMLButtonElement, number: HTMLElement, told: HTMLElement }[]} */
  #rows = [];
  #shown = "";

  /**
   * @param {string} title @param {(link: Link) => number} number first number of a link @param {(link: Link) => string} told
   * @param {(name: string) => void} choose
   */
  constructor(title, number, told, choose) {
    this.number = number;
    this.told = told;
    this.choose = choose;
    this.list = element("ul", { class: "links" });
    this.none = element("p", { class: "note" });
    this.more = button("", () => this.#toggle(), { class: "quiet more" });
    this.element = element("div", { class: "links-of" }, element("h3", {}, title), this.none, this.list, this.more);
  }

  /** @param {readonly Link[]} links @param {string | null} none text to show instead of a list; "" hides the element @param {boolean} isOther whether the links belong to another node than before */
  update(links, none, isOther) {
    if (isOther) this.#isWhole = false;
    this.#links = links;
    this.element.hidden = none === "";
    write(this.none, none ?? "");
    this.#draw();
  }

  #toggle() {
    this.#isWhole = !this.#isWhole;
    this.#draw();
  }

  #draw() {
    const few = largest(this.#links);
    const shown = this.#isWhole ? this.#links : few;
    this.more.hidden = few.length === this.#links.length;
    write(this.more, this.#isWhole ? words.fewer : words.all(this.#links.length));
    const key = shown.map(({ node, position }) => `${node}:${position}`).join();
    if (key !== this.#shown) this.#build(shown);
    this.#shown = key;
    shown.forEach((link, i) => {
      const row = this.#rows[i];
      write(row.number, six(this.number(link)));
      write(row.told, this.told(link));
      set(row.button, "title", link.sentence);
      set(row.button, "data-amount", link.amount);
    });
  }

  /** @param {readonly Link[]} links */
  #build(links) {
    this.#rows = links.map(({ node, name, title }) => {
      const [number, told] = [element("span", { class: "number" }), element("span", { class: "amount" })];
      const face = element("span", { class: "face" }, element("span", { class: "title" }, title), number, told);
      return { number, told, button: button(face, () => this.choose(name), { "aria-disabled": node < 0 && "true", "data-node": name }) };
    });
    fill(this.list, ...this.#rows.map((row) => element("li", {}, row.button)));
  }
}

/** Select the links with the largest contributions, in order; leave out zero contributions unless all are zero. @param {readonly Link[]} links */
function largest(links) {
  const size = (/** @type {Link} */ { amount }) => Math.abs(amount) || 0;
  const giving = links.filter((link) => size(link) > 0);
  const kept = new Set([...(giving.length ? giving : links)].sort((a, b) => size(b) - size(a)).slice(0, LISTED));
  return links.filter((link) => kept.has(link));
}
