// The printed version: black on white, without controls, instead of the content of the screen.

import { element, fill } from "../../dom.js";
import { paper as say } from "../../languages/languages.js";

/** @typedef {import("../../model/framing.js").Framing} Framing */

export class Paper {
  constructor() {
    this.element = element("div", { class: "paper" });
  }

  /** Whether the paper has content. */
  get isFilled() {
    return this.element.hasChildNodes();
  }

  /**
   * @param {Framing} framing a teacher's note, which comes first, and question, which comes last
   * @param {string} title @param {...(Node | null | undefined)} parts
   */
  fill({ note, question }, title, ...parts) {
    const name = element("p", { class: "line" }, say.name);
    const heading = element("div", { class: "head" }, element("h1", {}, title), name);
    const asked = question ? [element("p", { class: "asks" }, question), line()] : [];
    fill(this.element, heading, note ? element("p", { class: "teacher" }, note) : null, ...parts, ...asked);
  }

  /** Remove all content. */
  clear() {
    fill(this.element);
  }
}

/** Create a line to write an answer on. */
export function line() {
  return element("p", { class: "line" }, say.answer);
}

/** Copy a table without its buttons. @param {Element} table */
export function printed(table) {
  const copy = /** @type {Element} */ (table.cloneNode(true));
  for (const control of copy.querySelectorAll("button")) control.replaceWith(control.textContent ?? "");
  return copy;
}
