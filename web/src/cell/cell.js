// A cell for the visitor's own Python program: it runs in Pyodide, and the page shows its graph.

import { button, element, fill, set, write } from "../dom.js";
import { cell as say } from "../languages/languages.js";
import { EXAMPLES } from "./examples.js";
import { Session } from "./session.js";

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {keyof typeof EXAMPLES} Example */

const LONGEST = 30_000; // characters of output to keep

export class Cell {
  #isRunning = false;

  /**
   * @param {import("./protocol.js").Python} python where to load it from
   * @param {(text: string) => boolean} show shows a walk, given as JSON; returns false if the walk is invalid
   */
  constructor(python, show) {
    this.show = show;
    this.session = new Session(python, (reply) => this.#hear(reply));
    const options = Object.keys(EXAMPLES).map((key) => element("option", { value: key }, say.names[/** @type {Example} */ (key)]));
    this.examples = element("select", { "aria-label": say.examples, onchange: () => this.#offer() }, element("option", { value: "" }, say.example), ...options);
    this.text = element("textarea", {
      rows: 12,
      "aria-label": say.program,
      "aria-describedby": "cell-status",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      wrap: "off",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onKey(event),
    });
    this.text.value = EXAMPLES.neuron;
    this.runs = button(say.run, () => this.#run(), { class: "main", title: say.runKey });
    this.stops = button(say.stop, () => this.#stop(), { hidden: true });
    this.status = element("p", { class: "status", id: "cell-status", role: "status" });
    this.loading = element("progress", { hidden: true, "aria-label": say.loading });
    this.output = element("pre", { class: "output", tabindex: 0, role: "region", "aria-label": say.output });
    const bar = element("div", { class: "bar" }, this.runs, this.stops, this.examples, this.loading, this.status);
    this.element = element("section", { class: "cell", "aria-label": say.title, hidden: true }, this.text, this.output, bar);
    this.toggle = button(say.title, () => this.#turn(), { title: say.toggle, "aria-expanded": "false" });
  }

  /** Take over the state of the cell of the page in another language; a running program is not continued. @param {Cell} before */
  follow(before) {
    this.text.value = before.text.value;
    this.output.textContent = before.output.textContent;
    if (!before.element.hidden) this.#turn();
  }

  close() {
    this.session.close();
  }

  /** Open or close the cell. */
  #turn() {
    this.element.hidden = !this.element.hidden;
    set(this.toggle, "aria-expanded", String(!this.element.hidden));
    if (this.element.hidden) return;
    this.#load();
    this.text.focus();
  }

  #load() {
    if (!this.session.isReady) write(this.status, say.loading);
    this.session.start();
  }

  #offer() {
    const program = EXAMPLES[/** @type {Example} */ (this.examples.value)];
    this.examples.value = "";
    this.text.focus();
    this.text.select();
    if (!document.execCommand("insertText", false, program)) this.text.value = program; // unlike an assignment, execCommand can be undone
    this.text.setSelectionRange(0, 0);
    this.text.scrollTop = 0;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    event.stopPropagation(); // the page has single-letter shortcuts
    if (event.key !== "Enter") return;
    if (event.ctrlKey || event.shiftKey || event.metaKey) {
      event.preventDefault();
      this.#run();
      return;
    }
    const before = this.text.value.slice(0, this.text.selectionStart);
    const [indent] = /^[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1)) ?? [""];
    const deeper = before.endsWith(":") ? "    " : "";
    if (document.execCommand("insertText", false, `\n${indent}${deeper}`)) event.preventDefault();
  }

  #run() {
    if (this.#isRunning) return;
    fill(this.output);
    this.#be(true);
    write(this.status, this.session.isReady ? say.running : say.loading);
    this.session.run(this.text.value);
  }

  #stop() {
    this.session.close();
    this.#begin(say.stopped);
  }

  /** Load Python for the next program. @param {string} status */
  #begin(status) {
    this.#be(false);
    write(this.status, status);
    this.session.start();
  }

  /** @param {boolean} isRunning */
  #be(isRunning) {
    const hadFocus = this.stops.matches(":focus") || this.runs.matches(":focus");
    this.#isRunning = isRunning;
    [this.runs.hidden, this.stops.hidden] = [isRunning, !isRunning];
    if (hadFocus) (isRunning ? this.stops : this.runs).focus();
  }

  /** @param {Reply} reply */
  #hear(reply) {
    switch (reply.type) {
      case "loading":
        [this.loading.max, this.loading.value, this.loading.hidden] = [reply.of, reply.done, false];
        return;
      case "ready":
        this.loading.hidden = true;
        if (this.#isRunning) write(this.status, say.running);
        else if (this.status.textContent === say.loading) write(this.status, say.ready);
        return;
      case "output":
        return this.#print(reply.text);
      case "answer":
        this.#be(false);
        return this.#told(JSON.parse(reply.text));
      case "failed":
        this.loading.hidden = true;
        this.#be(false);
        return write(this.status, say.failed(reply.text));
      case "ended":
        return this.#begin(say.ended(reply.text));
    }
  }

  /** @param {{ document: object | null } | { error: string, line: number | null }} answer */
  #told(answer) {
    if ("error" in answer) {
      this.#print(answer.error);
      write(this.status, answer.line === null ? say.wrong : say.wrongLine(answer.line));
      if (answer.line !== null) this.#mark(answer.line);
    } else if (answer.document === null) write(this.status, say.nothing);
    else if (this.show(JSON.stringify(answer.document))) write(this.status, say.shown);
  }

  /** Select a line of the program. @param {number} line counted from 1 */
  #mark(line) {
    const lines = this.text.value.split("\n");
    const begin = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.text.focus();
    this.text.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
  }

  /** @param {string} text */
  #print(text) {
    const all = (this.output.textContent ?? "") + text;
    this.output.textContent = all.slice(-LONGEST);
    this.output.scrollTop = this.output.scrollHeight;
  }
}
