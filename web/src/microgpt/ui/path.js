// The strongest path from the loss to a number or to the letter just read, step by step.

import { button, element, fill, set, write } from "../../dom.js";
import { scalarOf } from "../scalar.js";
import { say } from "../texts.js";
import { four } from "./numbers.js";

/** @typedef {import("./view.js").View} View */

const { inspector: words } = say;
const ABOVE = 12; // pixels to keep above the list

export class PathList {
  #shown = "";

  /**
   * @param {import("../document.js").Lesson} lesson
   * @param {{ choose: (name: string) => void, path: (kind: "here" | "token" | "") => void }} act
   */
  constructor(lesson, act) {
    this.lesson = lesson;
    this.act = act;
    this.here = button(words.pathHere, () => act.path("here"));
    this.token = button(words.pathToken, () => act.path("token"));
    this.hide = button(words.pathHide, () => act.path(""), { class: "quiet" });
    this.told = element("p", { class: "note", role: "status" });
    this.list = element("ol", { class: "path-of" });
    this.element = element("div", { class: "paths-of" }, element("h3", {}, words.path), element("div", { class: "buttons" }, this.here, this.token, this.hide), this.told, this.list);
  }

  /** @param {View} view */
  update(view) {
    const { path, opened, selected } = view;
    this.hide.hidden = path === null;
    const told = path ? words.pathTold(path.nodes.length - 1, four(path.product), four(opened.grad[path.nodes[path.nodes.length - 1]])) : "";
    write(this.told, told);
    const key = path ? `${path.nodes.join()} ${opened.step}` : "";
    const isNew = key !== "" && this.#shown === "";
    if (key !== this.#shown) this.#build(view);
    this.#shown = key;
    if (isNew) this.#reveal();
    for (const item of this.list.children) set(item, "aria-current", item.getAttribute("data-node") === String(selected) && "true");
  }

  /** Scroll only the parent until the list is visible. */
  #reveal() {
    const scroller = this.element.parentElement;
    if (scroller) scroller.scrollTop += this.element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE;
  }

  /** @param {View} view */
  #build({ path, opened }) {
    const steps = path?.nodes.map((node, i) => this.#step(opened, node, i, path)) ?? [];
    fill(this.list, ...steps);
  }

  /** @param {import("../protocol.js").Opened} opened @param {number} node @param {number} i @param {import("../protocol.js").Path} path */
  #step(opened, node, i, path) {
    const { title, name, data, grad } = scalarOf(this.lesson, opened, node);
    const link = i ? scalarOf(this.lesson, opened, path.nodes[i - 1]).operands.find((/** @type {import("../protocol.js").Link} */ { position }) => position === path.positions[i]) : null;
    const numbers = element("span", { class: "amount" }, words.both(four(data), four(grad)));
    const face = element("span", { class: "face" }, element("span", { class: "title" }, title), numbers);
    return element("li", { "data-node": node }, link ? element("p", { class: "note" }, link.sentence) : null, button(face, () => this.act.choose(name)));
  }
}
