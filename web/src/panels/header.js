// What is shown: a graph of the lesson, an expression of the reader's own, or a file; the link to it; and the theme.

import { button, element, fill, set, write } from "../dom.js";
import { header as say, presets } from "../english/page.js";
import { PRESETS, presetOf } from "../model/presets.js";
import { STARTS, stateOf } from "../model/state.js";

/** @typedef {"auto" | "light" | "dark"} Theme */

export class Header {
  /**
   * @param {(change: Partial<import("../model/state.js").State>) => void} act
   * @param {{ open: (text: string) => void, close: () => void, theme: (theme: Theme) => void, link: () => string, isPage: boolean }} page
   */
  constructor(act, page) {
    this.act = act;
    this.page = page;
    this.program = "";
    /** @type {import("../model/state.js").Mode} */
    this.mode = "walk";
    this.exercise = 0;
    const options = PRESETS.map(({ key, title }) => element("option", { value: key }, title));
    this.presets = element(
      "select",
      { "aria-label": say.presets, onchange: () => this.#show(this.presets.value) },
      element("option", { value: "" }, presets.own),
      ...options,
    );
    this.input = element("input", {
      type: "text",
      class: "program",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-label": say.expression,
      "aria-describedby": "problem",
    });
    this.problem = element("pre", { class: "problem", id: "problem", role: "alert" });
    this.lesson = element("p", { class: "note" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.act({ program: this.input.value, ...this.#start() });
    };
    this.form = element("form", { onsubmit }, this.presets, this.input, element("button", { class: "main" }, say.draw));
    this.title = element("p", { class: "of" });
    this.file = element("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => this.#read() });
    this.copied = element("span", { role: "status", class: "note" });
    const themes = /** @type {const} */ (["auto", "light", "dark"]).map((theme) =>
      element("option", { value: theme }, say.themes[theme]),
    );
    const theme = element("select", { "aria-label": say.theme }, ...themes);
    theme.addEventListener("change", () => page.theme(/** @type {Theme} */ (theme.value)));
    this.keys = element("input", { type: "checkbox", checked: true });
    this.help = help(this.keys);
    this.link = button(say.link, () => this.#copy());
    this.home = button(say.home, page.close, { hidden: true });
    const tools = element(
      "div",
      { class: "tools" },
      this.copied,
      this.home,
      ...(page.isPage
        ? [this.link, button(say.file, () => this.file.click()), this.file]
        : []),
      theme,
      button("?", () => this.help.showModal(), { "aria-label": say.help }),
    );
    const brand = element("h1", {}, say.name);
    this.element = element("header", {}, brand, this.title, this.form, tools, this.problem, this.lesson, this.help);
  }

  /** @param {import("../model/model.js").Model} model */
  update({ state, program, document }) {
    [this.mode, this.exercise] = [state.mode, state.exercise];
    this.form.hidden = document !== null;
    write(this.title, document ? document.of : "");
    if (program !== this.program) {
      this.program = program;
      this.input.value = program;
    }
    const preset = PRESETS.find((known) => known.program === program);
    this.presets.value = preset?.key ?? "";
    write(this.lesson, document || !preset || state.mode === "exercises" ? "" : preset.lesson);
    this.fail("");
  }

  /** Leave a program in its field to be mended. @param {string} program */
  keep(program) {
    this.input.value = program;
  }

  /** Show what is wrong with what was typed, linked or opened. @param {string} problem @param {"program" | ""} [of] */
  fail(problem, of = "") {
    write(this.problem, problem);
    set(this.input, "aria-invalid", of === "program" && "true");
  }

  /** While a file is shown it can be closed, and there is no link to it. @param {boolean} isAway */
  showHome(isAway) {
    this.home.hidden = !isAway;
    this.link.hidden = isAway;
  }

  /** Whether single letters are keys: those who speak to their machine can switch that off. */
  get hasKeys() {
    return this.keys.checked;
  }

  /** Another graph is shown in the same mode, but not as an exercise. */
  #start() {
    const mode = this.mode === "exercises" ? "walk" : this.mode;
    return { mode, position: STARTS[mode] };
  }

  /** @param {string} key */
  #show(key) {
    const preset = presetOf(key);
    if (preset) this.act({ ...stateOf(preset), exercise: this.exercise, ...this.#start() });
    else this.input.select();
  }

  async #read() {
    const file = this.file.files?.[0];
    if (!file) return;
    this.file.value = ""; // the same file can be opened again
    this.page.open(await file.text());
  }

  async #copy() {
    const link = this.page.link();
    try {
      await navigator.clipboard.writeText(link);
      fill(this.copied, say.copied);
    } catch {
      fill(this.copied, say.notCopied); // the address bar has it too
    }
    window.setTimeout(() => fill(this.copied), 4000);
  }
}

/** The signs and the keys, in a dialog. @param {HTMLInputElement} hasKeys */
function help(hasKeys) {
  const keys = say.keys.flatMap(([key, meaning]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)]);
  const close = element("form", { method: "dialog" }, element("button", { class: "main" }, say.close));
  const legend = say.signs.map((sign) => element("li", {}, sign));
  const title = element("h2", {}, say.help);
  return element("dialog", { "aria-label": say.help }, title, element("ul", {}, ...legend), element("dl", {}, ...keys), element("label", {}, hasKeys, ` ${say.letters}`), close);
}
