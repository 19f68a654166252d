// What is printed: black on white and without controls, in place of all that is on the screen.

import { element, fill } from "../../dom.js";
import { paper as say } from "../../languages/languages.js";

/** @typedef {import("../../model/framing.js").Framing} Framing */

export class Paper {
  constructor() {
    this.element = element("div", { class: "paper" });
  }

  /** Whether there is something on it. */
  get isFilled() {
    return this.element.hasChildNodes();
  }

  /**
   * @param {Framing} framing what a teacher has put around the graph: the note stands first, the question last
   * @param {string} title @param {...(Node | null | undefined)} parts
   */
  fill({ note, question }, title, ...parts) {
    const name = element("p", { class: "line" }, say.name);
    const heading = element("div", { class: "head" }, element("h1", {}, title), name);
    const asked = question ? [element("p", { class: "asks" }, question), line()] : [];
    fill(this.element, heading, note ? element("p", { class: "teacher" }, note) : null, ...parts, ...asked);
  }

  /** Take all off it again. */
  clear() {
    fill(this.element);
  }
}

/** A line to write an answer on. */
export function line() {
  return element("p", { class: "line" }, say.answer);
}

/** A table for reading only. @param {Element} table */
export function printed(table) {
  const copy = /** @type {Element} */ (table.cloneNode(true));
  for (const control of copy.querySelectorAll("button")) control.replaceWith(control.textContent ?? "");
  return copy;
}
