// The program's source beside its graph: marks the line of the current step and the lines that made nodes. Lines may be missing.

import { element, fill, scroller, set, write } from "../../dom.js";
import { source as say } from "../../languages/languages.js";
import { Timeline } from "../walk/timeline.js";

export class Source {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {import("../../model/document.js").Files} */
    this.files = new Map();
    this.shown = "";
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {Map<number, HTMLElement>} by number */
    this.lines = new Map();
    this.title = element("h2");
    this.list = element("ol", { class: "lines" });
    this.scroller = scroller(say.title, this.list);
    this.timeline = new Timeline(act);
    this.element = element("section", { class: "source" }, this.timeline.element, this.title, this.scroller);
  }

  /** @param {import("../../model/model.js").Model} model */
  update(model) {
    const { graph, moment, selected, document } = model;
    this.timeline.update(model);
    const files = document?.files ?? new Map();
    if (files !== this.files) [this.files, this.shown, this.graph] = [files, "", null];
    this.element.hidden = !this.files.size && this.timeline.element.hidden;
    const node = graph.nodes[moment.active ?? selected?.place ?? -1];
    const known = graph.nodes.find(({ source }) => source && this.files.has(source.file));
    const line = node?.source && this.files.has(node.source.file) ? node.source : null;
    const file = line?.file ?? (this.shown || known?.source?.file);
    if (file && (file !== this.shown || graph !== this.graph)) this.#show(file, graph);
    for (const marked of this.list.querySelectorAll("[aria-current]")) set(marked, "aria-current", null);
    const current = line && this.lines.get(line.line);
    if (!current) return;
    set(current, "aria-current", "step");
    this.#reveal(current);
  }

  /** @param {string} file @param {import("../../core/graph.js").Graph} graph */
  #show(file, graph) {
    [this.shown, this.graph] = [file, graph];
    /** @type {Map<number, string>} the last node that each line made */
    const made = new Map();
    for (const { source, name } of graph.nodes) if (source?.file === file) made.set(source.line, name);
    write(this.title, file.split(/[\\/]/).pop() ?? file);
    set(this.title, "title", file);
    const lines = [...(this.files.get(file) ?? [])];
    this.lines = new Map(lines.map(([number, text]) => [number, this.#line(number, text, made.get(number))]));
    fill(this.list, ...this.lines.values());
  }

  /** @param {number} number @param {string} text @param {string | undefined} node the last node that the line made, if any */
  #line(number, text, node) {
    const code = element("code", {}, text || " ");
    const [indent] = /^\s*/.exec(text) ?? [""];
    code.style.setProperty("--indent", String(indent.replaceAll("\t", "    ").length)); // indents wrapped lines, too
    if (node === undefined) return element("li", { "data-line": number }, code);
    const choose = () => this.act({ selected: node, operand: -1 });
    return element("li", { "data-line": number, class: "made" }, element("button", { type: "button", onclick: choose }, code));
  }

  /** Scroll the list, but not the page, until a line is visible. @param {HTMLElement} line */
  #reveal(line) {
    const [inside, around] = [line.getBoundingClientRect(), this.scroller.getBoundingClientRect()];
    if (inside.top >= around.top && inside.bottom <= around.bottom) return;
    this.scroller.scrollTop += inside.top - around.top - around.height / 2;
  }
}
