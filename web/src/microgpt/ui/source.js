// The source line that created a number, with the lines around it.

import { element, fill, set, write } from "../../dom.js";
import { say } from "../texts.js";

const AROUND = 3; // lines shown before and after

export class Source {
  #shown = 0;

  /** @param {{ file: string, text: string }} source */
  constructor({ file, text }) {
    this.file = file;
    this.lines = text.split("\n");
    this.title = element("h3");
    this.list = element("ol", { class: "lines" });
    const scroller = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": file }, this.list);
    this.element = element("div", { class: "source-of" }, this.title, scroller);
  }

  /** @param {number} line counted from 1; 0 for none */
  show(line) {
    this.element.hidden = line < 1;
    if (line < 1 || line === this.#shown) return;
    this.#shown = line;
    write(this.title, say.inspector.line(this.file, line));
    const first = Math.max(line - AROUND, 1);
    const shown = this.lines.slice(first - 1, line + AROUND);
    fill(this.list, ...shown.map((text, i) => {
      const item = element("li", { class: "made", "data-line": first + i }, element("code", {}, text || " "));
      set(item, "aria-current", first + i === line && "true");
      return item;
    }));
  }
}
